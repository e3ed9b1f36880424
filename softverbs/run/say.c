/* SPDX-License-Identifier: BSD-3-Clause */
#include "say.h"
#include "softverbs/device/show.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *standard;
static const char *program = "softverbs-run";

static void
say_text(FILE *to, const char *text)
{
	const size_t size = 4 * strlen(text) + 1; /* of bytes that are all replaced */
	char *shown = malloc(size);

	if (shown)
		fprintf(to, "%s\n", soft_show(shown, size, text));
	free(shown);
}

static void
say_formatted(bool named, const char *format, va_list arguments)
{
	const int saved = errno;
	char *text = NULL, *line = NULL;

	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	if (text && asprintf(&line, "%s%s%s", named ? program : "", named ? ": " : "", text) < 0)
		line = NULL;
	if (line)
		say_text(standard ? standard : stderr, line);
	free(text);
	free(line);
	errno = saved;
}

void
soft_say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say_formatted(false, format, arguments);
	va_end(arguments);
}

void
soft_wrong(struct argp_state *state, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say_formatted(true, format, arguments);
	va_end(arguments);
	argp_state_help(state, standard ? standard : stderr, ARGP_HELP_STD_ERR);
	exit(argp_err_exit_status);
}

/* A message of the C library is one write, of a line. */
static ssize_t
say_write(void *unused, const char *bytes, size_t size)
{
	char *text = strndup(bytes, size);
	const size_t length = text ? strlen(text) : 0;

	(void)unused;
	if (length && text[length - 1] == '\n')
		text[length - 1] = '\0';
	if (text)
		say_text(standard, text);
	free(text);
	return (ssize_t)size;
}

void
soft_say_begin(const char *name)
{
	FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = say_write });

	program = name;
	if (!stream)
		return;
	setvbuf(stream, NULL, _IONBF, 0);
	standard = stderr;
	stderr = stream;
}

void
soft_say_end(void)
{
	if (!standard)
		return;
	fclose(stderr);
	stderr = standard;
}
