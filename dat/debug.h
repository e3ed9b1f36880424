/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * debug -- the variables for debug lines, and where lines go: for the registry and the provider
 *
 * The value of a variable is a number, or words with commas between them.  All variables are
 * ignored in a program that runs with more privileges than its user.
 *
 * A line may have a text of someone else in it: a name, a path, a word of dat.conf.  So every line
 * is made printable where it leaves the library, and nowhere else.
 */
#ifndef REARM_DAT_DEBUG_H
#define REARM_DAT_DEBUG_H

#include <stdbool.h>
#include <stddef.h>

/* A list of words ends with an entry without a name. */
struct debug_word {
	const char *name;
	unsigned long bits;
};

/* The bits of DAT_DBG_TYPE. */
enum log_class {
	LOG_ERRORS = 0x01,
	LOG_GENERAL = 0x02,
	LOG_CATALOG = 0x04,	/* the static registry: dat.conf and libraries */
	LOG_REGISTRY = 0x08,	/* the dynamic registry: providers that registered */
	LOG_CONNECTIONS = 0x10, /* this one and the next are for providers */
	LOG_CALLS = 0x20,
	LOG_HINTS = 0x40 /* why a call was refused */
};

/* Their words. */
extern const struct debug_word debug_type_words[];

enum { DEBUG_STDOUT = 1, DEBUG_SYSLOG = 2 };

/* The words of DAT_DBG_DEST and DAPL_DBG_DEST. */
extern const struct debug_word debug_destination_words[];

/*
 * Reads a variable.  False if it is not set, or not valid; *complaint is empty, or a text about
 * what is not valid.  A number may have bits that no word has: they have no effect, and are a
 * complaint unless all others are set, too.
 */
bool debug_read(const char *variable, const struct debug_word *words, unsigned long *value,
    char *complaint, size_t size);

/* Lines are shorter. */
#define DEBUG_LINE_MAX 1024

/*
 * Copies a line, with \xNN in place of every byte that is not printable ASCII: no text can move the
 * cursor of a terminal or pretend to be another line.  Truncates what does not fit.
 */
void debug_escape(char *to, size_t size, const char *line);

/* Room for a line of `bytes` after debug_escape(). */
#define DEBUG_ESCAPED(bytes) (4 * (bytes))

/* Writes a text as a line, made printable, to the destinations; without any, to standard error. */
void debug_write(unsigned long destinations, bool is_error, const char *text);

#endif
