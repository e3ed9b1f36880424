/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "dat/debug.h"

#define DEBUG_PATIENCE_MS 100 /* for a reader that is slow */
#define DEBUG_TURNS 1000

static atomic_flag debug_busy = ATOMIC_FLAG_INIT;
static atomic_ulong debug_unsaid; /* lines, since the last one that was written */

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
debug_add_words(const struct debug_word *words, char *complaint, size_t size)
{
	size_t used;

	for (; words->name != NULL; words++) {
		used = strlen(complaint);
		snprintf(complaint + used, size - used, " %s%s", words->name,
		    words[1].name != NULL ? "," : "");
	}
}

static void
debug_complain(const char *variable, const char *text, size_t length,
    const struct debug_word *words, char *complaint, size_t size)
{
	snprintf(complaint, size, "%s is ignored: \"%.*s\" is neither a number nor one of",
	    variable, length < 40 ? (int)length : 40, text);
	debug_add_words(words, complaint, size);
}

/*
 * 0xff asks for everything, as with other implementations, and not for something that is not here.
 */
static void
debug_check_bits(const char *variable, unsigned long bits, const struct debug_word *words,
    char *complaint, size_t size)
{
	const struct debug_word *word;
	unsigned long known = 0;

	for (word = words; word->name != NULL; word++)
		known |= word->bits;
	if ((bits & ~known) == 0 || (bits & known) == known)
		return;
	snprintf(complaint, size, "%s: the bits 0x%lx have no meaning; there is 0x%lx,", variable,
	    bits & ~known, known);
	debug_add_words(words, complaint, size);
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
	debug_check_bits(variable, bits, words, complaint, size);
	*value = bits;
	return true;
}

void
debug_escape(char *to, size_t size, const char *line)
{
	const char *end = to + size - 1;

	for (; *line != '\0' && to < end; line++) {
		if (*line >= ' ' && *line <= '~') {
			*to++ = *line;
			continue;
		}
		if (end - to < 4)
			break;
		to += sprintf(to, "\\x%02x", (unsigned int)(unsigned char)*line);
	}
	*to = '\0';
}

/* One at a time, or another line takes the room.  A forked child may find it taken for ever. */
static bool
debug_begin(void)
{
	for (int i = 0; i < DEBUG_TURNS; i++) {
		if (!atomic_flag_test_and_set(&debug_busy))
			return true;
		sched_yield();
	}
	return false;
}

/*
 * The thread may be the one that makes all upcalls: it does not wait for one who reads nothing.
 * What finds no room, or no reader, is counted: SIGPIPE would end the program.
 */
static void
debug_write_stderr(const char *line)
{
	struct pollfd room = { .fd = fileno(stderr), .events = POLLOUT };
	char text[PIPE_BUF]; /* for which a pipe that has room has room */
	const bool mine = debug_begin();
	int n = 0;

	if (poll(&room, 1, debug_unsaid ? 0 : DEBUG_PATIENCE_MS) == 0 ||
	    room.revents & (POLLERR | POLLHUP)) {
		debug_unsaid++;
	} else {
		if (debug_unsaid)
			n = snprintf(text, sizeof text, "dat: %lu lines are left out here\n",
			    atomic_exchange(&debug_unsaid, 0));
		n += snprintf(text + n, sizeof text - (size_t)n, "%s\n", line);
		if ((size_t)n >= sizeof text) {
			n = sizeof text;
			text[n - 1] = '\n';
		}
		if (write(room.fd, text, (size_t)n) < 0)
			debug_unsaid++;
	}
	if (mine)
		atomic_flag_clear(&debug_busy);
}

/* One call for each line, so that lines of several threads do not mix. */
void
debug_write(unsigned long destinations, bool is_error, const char *text)
{
	char line[DEBUG_ESCAPED(DEBUG_LINE_MAX)];

	debug_escape(line, sizeof line, text);
	if (destinations & DEBUG_SYSLOG)
		syslog(is_error ? LOG_ERR : LOG_DEBUG, "%s", line);
	if (destinations & DEBUG_STDOUT)
		fprintf(stdout, "%s\n", line);
	if ((destinations & (DEBUG_STDOUT | DEBUG_SYSLOG)) == 0)
		debug_write_stderr(line);
}
