/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include <dat2/dat_log.h>

#include "dat/cancel.h"
#include "dat/debug.h"
#include "dat/log.h"

static pthread_once_t log_once = PTHREAD_ONCE_INIT;
static unsigned long log_mask = LOG_ERRORS;
static unsigned long log_destinations;

/* Readers call the function; a reader may become one again, so writers must not come first. */
static pthread_rwlock_t log_lock = PTHREAD_RWLOCK_INITIALIZER;
static DAT_LOG_FUNC log_function; /* under log_lock, as is its context */
static DAT_PVOID log_context;
static __thread bool log_is_inside; /* this thread is in the function */

/*
 * False if there is no function, or this thread is in it.  The function gets no byte that is not
 * printable.
 */
static bool
log_call_function(DAT_LOG_LEVEL level, const char *text)
{
	char line[DEBUG_ESCAPED(DEBUG_LINE_MAX)];
	bool called = false;
	int state;

	if (log_is_inside)
		return false;
	debug_escape(line, sizeof line, text);
	/* A thread that is cancelled in the function would keep the lock. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_rwlock_rdlock(&log_lock);
	if (log_function != NULL) {
		log_is_inside = true;
		log_function(log_context, level, line);
		log_is_inside = false;
		called = true;
	}
	pthread_rwlock_unlock(&log_lock);
	pthread_setcancelstate(state, NULL);
	return called;
}

static void
log_write(enum log_class class, const char *line)
{
	const bool is_error = class == LOG_ERRORS;
	bool called = log_call_function(is_error ? DAT_LOG_ERROR : DAT_LOG_DEBUG, line);

	if (!called || log_destinations != 0)
		debug_write(log_destinations, is_error, line);
}

/* What is wrong with a variable is printed, whatever the variable asks for. */
static void
log_read(const char *variable, const struct debug_word *words, unsigned long *value)
{
	char line[256] = "dat: ", *complaint = line + 5;

	(void)debug_read(variable, words, value, complaint, sizeof line - 5);
	if (*complaint != '\0')
		log_write(LOG_ERRORS, line);
}

static void
log_setup(void)
{
	log_read("DAT_DBG_DEST", debug_destination_words, &log_destinations);
	log_read("DAT_DBG_TYPE", debug_type_words, &log_mask);
}

void
log_message(enum log_class class, const char *format, ...)
{
	int saved = errno;
	char line[DEBUG_LINE_MAX];
	va_list args;
	int n;

	pthread_once(&log_once, log_setup);
	if ((log_mask & (unsigned long)class) != 0) {
		n = snprintf(line, sizeof line, "dat: ");
		va_start(args, format);
		vsnprintf(line + n, sizeof line - (size_t)n, format, args);
		va_end(args);
		log_write(class, line);
	}
	errno = saved;
}

DAT_RETURN DAT_API
dat_rearm_set_log(DAT_LOG_FUNC function, DAT_PVOID context)
{
	REGISTRY_UNCANCELLED;

	if (log_is_inside)
		return LOG_REFUSED("dat_rearm_set_log", DAT_INVALID_STATE, DAT_NO_SUBTYPE,
		    "the function that is set calls it");
	pthread_rwlock_wrlock(&log_lock);
	log_function = function;
	log_context = context;
	pthread_rwlock_unlock(&log_lock);
	return DAT_SUCCESS;
}

DAT_RETURN DAT_API
dat_rearm_log(DAT_LOG_LEVEL level, const char *line)
{
	REGISTRY_UNCANCELLED;

	if (line == NULL)
		return LOG_REFUSED("dat_rearm_log", DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
		    "argument 2: the line is NULL");
	return log_call_function(level, line) ? (DAT_RETURN)DAT_SUCCESS :
						DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE);
}
