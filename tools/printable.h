/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * printable -- texts of someone else, as they may be shown: of other processes and users, of the
 * other end of a connection, of files, of libraries
 *
 * A program that prints such a text as it is lets it move the cursor, change what was printed
 * before, or pretend to be another line.
 */
#ifndef REARM_TOOLS_PRINTABLE_H
#define REARM_TOOLS_PRINTABLE_H

#include <err.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A byte of a text takes so many at most. */
#define PRINTABLE_MAX 4

/*
 * Controls of Unicode: a second set of control characters, line separators, and what changes the
 * direction.
 */
static inline bool
printable_is_control(uint32_t character)
{
	return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0xad ||
	       character == 0x61c || (character >= 0x200b && character <= 0x200f) ||
	       (character >= 0x2028 && character <= 0x202e) ||
	       (character >= 0x2060 && character <= 0x206f) || character == 0xfeff ||
	       (character >= 0xd800 && character < 0xe000) || character > 0x10ffff;
}

/*
 * The bytes of the character at the beginning of a text; 0 if it is none of UTF-8 that may be
 * shown.
 */
static inline size_t
printable_length(const char *text)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char first = (unsigned char)*text;
	const size_t n = first < 0x80 ? 1 :
			 first < 0xc0 ? 0 :
			 first < 0xe0 ? 2 :
			 first < 0xf0 ? 3 :
			 first < 0xf8 ? 4 :
					0;
	uint32_t character = n == 1 ? first : first & (0x7fu >> n);

	for (size_t i = 1; i < n; i++) {
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			return 0;
		character = character << 6 | ((unsigned char)text[i] & 0x3f);
	}
	return n == 0 || character < least[n] || printable_is_control(character) ? 0 : n;
}

/* Copies a text, with \xNN for each byte that is not to be shown; truncates what does not fit. */
static inline const char *
printable(char *to, size_t size, const char *text)
{
	char *out = to, *const end = to + size - 1;
	size_t n;

	while (*text != '\0') {
		n = printable_length(text);
		if (end - out < (n != 0 ? (ptrdiff_t)n : PRINTABLE_MAX))
			break;
		if (n != 0)
			memcpy(out, text, n);
		else
			snprintf(
			    out, PRINTABLE_MAX + 1, "\\x%02x", (unsigned int)(unsigned char)*text);
		out += n != 0 ? n : PRINTABLE_MAX;
		text += n != 0 ? n : 1;
	}
	*out = '\0';
	return to;
}

/* Refuses arguments that have control characters: messages repeat them, those of argp, too. */
static inline void
printable_arguments(int argc, char **argv, int status)
{
	char shown[256];

	for (int i = 0; i < argc; i++)
		for (const char *c = argv[i]; *c != '\0'; c += printable_length(c))
			if (printable_length(c) == 0 && i == 0) {
				/* The name, which errx() prints. */
				fprintf(stderr, "the name of the program cannot be shown: %s\n",
				    printable(shown, sizeof shown, argv[i]));
				exit(status);
			} else if (printable_length(c) == 0)
				errx(status, "argument %d has a character that cannot be shown: %s",
				    i, printable(shown, sizeof shown, argv[i]));
}

#endif
