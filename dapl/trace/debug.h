/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * debug -- debug lines, which the environment selects
 *
 * DAT_DBG_TYPE and DAT_DBG_DEST are the registry's variables; DAPL_DBG_TYPE and DAPL_DBG_DEST are
 * OpenFabrics' provider's, with its values.  doc/debugging.md has them all.
 */
#ifndef REARM_DAPL_DEBUG_H
#define REARM_DAPL_DEBUG_H

#include <stdbool.h>

#include <dat2/dat_log.h>

enum dapl_debug_class {
	DAPL_DEBUG_ERRORS = 1,	/* the reason of a failure */
	DAPL_DEBUG_CALLS = 2,	/* each call with its arguments */
	DAPL_DEBUG_RESULTS = 4, /* what it returned */
	DAPL_DEBUG_CONNECTIONS =
	    8,		       /* events of the connection manager and new states of endpoints */
	DAPL_DEBUG_HINTS = 16, /* why a call was refused: hint.h */
};

/* Constant after dapl_debug_setup(), which a provider's first initialisation calls. */
extern unsigned int dapl_debug_classes;

static inline bool
dapl_debug_wants(unsigned int classes)
{
	return __builtin_expect(dapl_debug_classes & classes, 0);
}

/* dat_rearm_log(), if the registry has it. */
typedef DAT_RETURN dapl_debug_log_fn(DAT_LOG_LEVEL level, const char *line);

/*
 * Reads the environment, once a process.  Lines go to `log`, unless it is NULL or returns an error,
 * and to the destinations of the environment.
 */
void dapl_debug_setup(dapl_debug_log_fn *log);

/*
 * Until it is called with NULL, errors of this thread are printed as those of dat_ia_open() of the
 * adapter: opening it has many steps.
 */
void dapl_debug_open(const char *adapter);

/* Prints a line. Keeps errno. */
void dapl_debug_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a line if errors are selected. Keeps errno. */
void dapl_debug_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
