/* SPDX-License-Identifier: BSD-3-Clause */
#include "word.h"

#include <stdbool.h>
#include <string.h>

/* Not "~", which a shell replaces, nor "{". */
static const char plain[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789%+,-./:=@_";

static bool
word_is_printable(char byte)
{
	return byte >= ' ' && byte <= '~';
}

static void
word_print_quoted(FILE *stream, const char *word)
{
	fputc('\'', stream);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", stream);
		else
			fputc(*word, stream);
	fputc('\'', stream);
}

/* The form that has names for all bytes. */
static void
word_print_escaped(FILE *stream, const char *word)
{
	fputs("$'", stream);
	for (; *word; word++)
		if (!word_is_printable(*word))
			fprintf(stream, "\\%03o", (unsigned char)*word);
		else if (*word == '\'' || *word == '\\')
			fprintf(stream, "\\%c", *word);
		else
			fputc(*word, stream);
	fputc('\'', stream);
}

void
soft_word_print(FILE *stream, const char *word)
{
	size_t printable = 0;

	if (*word && !word[strspn(word, plain)]) {
		fputs(word, stream);
		return;
	}
	while (word_is_printable(word[printable]))
		printable++;
	(word[printable] ? word_print_escaped : word_print_quoted)(stream, word);
}

size_t
soft_word_size(const char *word)
{
	size_t size = sizeof "$''" - 1;

	for (; *word; word++)
		size += !word_is_printable(*word) || *word == '\'' ? 4 : *word == '\\' ? 2 : 1;
	return size;
}
