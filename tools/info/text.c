/* SPDX-License-Identifier: BSD-3-Clause */
#include "text.h"
#include "tools/printable.h"

#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 80
#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */
#define CHARACTER_MAX 4		   /* bytes of a character of UTF-8 */

/*
 * The bytes of the character at the beginning of a text; 0 if it has none.  Jansson knows what is
 * UTF-8.
 */
static size_t
text_character(const char *text, size_t left)
{
	json_t *character = NULL;
	size_t n;

	for (n = 1; n <= CHARACTER_MAX && n <= left && character == NULL; n++)
		character = json_stringn(text, n);
	if (character == NULL)
		return 0;
	json_decref(character);
	return n - 1;
}

json_t *
text_json(const char *text)
{
	json_t *json = text != NULL ? json_string(text) : json_null();
	const size_t length = text != NULL ? strlen(text) : 0;
	size_t n, used = 0, in;
	char *valid;

	if (json != NULL)
		return json;
	valid = malloc(length * strlen(REPLACEMENT) + 1);
	if (valid == NULL)
		err(1, NULL);
	for (in = 0; in < length; in += n != 0 ? n : 1) {
		n = text_character(text + in, length - in);
		memcpy(valid + used, n != 0 ? text + in : REPLACEMENT,
		    n != 0 ? n : strlen(REPLACEMENT));
		used += n != 0 ? n : strlen(REPLACEMENT);
	}
	json = json_stringn(valid, used);
	free(valid);
	return json;
}

json_t *
text_format(const char *format, ...)
{
	json_t *json;
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		err(1, NULL);
	va_end(args);
	json = text_json(text);
	free(text);
	return json;
}

/* Jansson escapes all but DEL, which is in strings alone. */
static int
text_write(const char *bytes, size_t size, void *unused)
{
	(void)unused;
	for (; size > 0; bytes++, size--)
		if ((*bytes == 0x7f ? fputs("\\u007f", stdout) : putchar(*bytes)) == EOF)
			return -1;
	return 0;
}

bool
text_dump(const json_t *report)
{
	return json_dump_callback(report, text_write, NULL, JSON_INDENT(2) | JSON_ENSURE_ASCII) ==
	       0;
}

static void
text_put(const char *text, size_t length)
{
	const char *end = text + length;
	size_t n;

	for (; text < end; text += n != 0 ? n : 1) {
		n = printable_length(text);
		if (n != 0)
			fwrite(text, 1, n, stdout);
		else
			printf("\\x%02x", (unsigned int)(unsigned char)*text);
	}
}

/* How many bytes fit into a line with so much room: up to a blank, or a longer word. */
static size_t
text_fit(const char *text, size_t room)
{
	size_t fit = 0, end;

	for (end = strcspn(text, " ");; end += 1 + strcspn(text + end + 1, " ")) {
		if (fit != 0 && end > room)
			return fit;
		fit = end;
		if (text[end] == '\0')
			return fit;
	}
}

void
text_print(int indent, int width, const char *label, const char *text)
{
	const int column = indent + width;
	size_t fit;

	printf("%*s", indent, "");
	text_put(label, strlen(label));
	if (*text != '\0' && (int)strlen(label) < width)
		printf("%*s", width - (int)strlen(label), "");
	else if (*label != '\0' && *text != '\0')
		printf("\n%*s", column, "");
	for (;;) {
		fit = text_fit(text, (size_t)(COLUMNS - 1 - column));
		text_put(text, fit);
		putchar('\n');
		text += fit;
		if (*text == '\0')
			return;
		text++;
		printf("%*s", column, "");
	}
}

int
text_width(const char *text)
{
	int width = 0;
	size_t n;

	for (; *text != '\0'; text += n != 0 ? n : 1) {
		n = printable_length(text);
		width += n != 0 ? 1 : PRINTABLE_MAX;
	}
	return width;
}

void
text_print_cell(const char *text, int width)
{
	const int blanks = width - text_width(text);

	text_put(text, strlen(text));
	if (width > 0)
		printf("%*s", blanks > 0 ? blanks : 1, "");
}
