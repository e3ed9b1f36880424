/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "dat/debug.h"

const struct debug_word debug_type_words[] = {
	{ "none", 0 },
	{ "errors", LOG_ERRORS },
	{ "general", LOG_GENERAL },
	{ "conf", LOG_CATALOG },
	{ "registry", LOG_REGISTRY },
	{ "connections", LOG_CONNECTIONS },
	{ "calls", LOG_CALLS },
	{ "hints", LOG_HINTS },
	{ "all", LOG_ERRORS | LOG_GENERAL | LOG_CATALOG | LOG_REGISTRY | LOG_CONNECTIONS |
		     LOG_CALLS | LOG_HINTS },
	{ NULL, 0 },
};

const struct debug_word debug_destination_words[] = {
	{ "stderr", 0 },
	{ "stdout", DEBUG_STDOUT },
	{ "syslog", DEBUG_SYSLOG },
	{ NULL, 0 },
};

static bool
debug_parse_word(
    const char *text, size_t length, const struct debug_word *words, unsigned long *value)
{
	for (; words->name != NULL; words++)
		if (strlen(words->name) == length && strncmp(words->name, text, length) == 0) {
			*value |= words->bits;
			return true;
		}
	return false;
}

static bool
debug_parse_number(const char *text, size_t length, unsigned long *value)
{
	unsigned long number;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	number = strtoul(text, &end, 0);
	*value |= number;
	return errno == 0 && end == text + length;
}

static void
debug_complain(const char *variable, const char *text, size_t length,
    const struct debug_word *words, char *complaint, size_t size)
{
	size_t used;

	snprintf(complaint, size, "%s is ignored: \"%.*s\" is neither a number nor one of",
	    variable, length < 40 ? (int)length : 40, text);
	for (; words->name != NULL; words++) {
		used = strlen(complaint);
		snprintf(complaint + used, size - used, " %s%s", words->name,
		    words[1].name != NULL ? "," : "");
	}
}

bool
debug_read(const char *variable, const struct debug_word *words, unsigned long *value,
    char *complaint, size_t size)
{
	const char *text = secure_getenv(variable);
	unsigned long bits = 0;
	size_t length;

	*complaint = '\0';
	if (text == NULL || *text == '\0')
		return false;
	for (;; text++) {
		length = strcspn(text, ",");
		if (!debug_parse_word(text, length, words, &bits) &&
		    !debug_parse_number(text, length, &bits)) {
			debug_complain(variable, text, length, words, complaint, size);
			return false;
		}
		text += length;
		if (*text == '\0')
			break;
	}
	*value = bits;
	return true;
}

/* One call for each line, so that lines of several threads do not mix. */
void
debug_write(unsigned long destinations, bool is_error, const char *line)
{
	if (destinations & DEBUG_SYSLOG)
		syslog(is_error ? LOG_ERR : LOG_DEBUG, "%s", line);
	if (destinations & DEBUG_STDOUT)
		fprintf(stdout, "%s\n", line);
	if ((destinations & (DEBUG_STDOUT | DEBUG_SYSLOG)) == 0)
		fprintf(stderr, "%s\n", line);
}
