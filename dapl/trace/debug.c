/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/trace/debug.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dat/debug.h"

unsigned int dapl_debug_classes;

static unsigned long debug_destinations;
static dapl_debug_log_fn *debug_log;	   /* of the registry, or NULL */
static __thread const char *debug_adapter; /* this thread opens it */

/* The bits of DAPL_DBG_TYPE, as OpenFabrics' provider has them. */
enum {
	DEBUG_ERRORS = 0x0001,
	DEBUG_CONNECTIONS = 0x0008 | 0x0010,
	DEBUG_CALLS = 0x0100,
	DEBUG_RESULTS = 0x0200
};

static const struct debug_word debug_provider_words[] = {
	{ "none", 0 },
	{ "errors", DEBUG_ERRORS },
	{ "connections", DEBUG_CONNECTIONS },
	{ "calls", DEBUG_CALLS },
	{ "results", DEBUG_RESULTS },
	{ "all", DEBUG_ERRORS | DEBUG_CONNECTIONS | DEBUG_CALLS | DEBUG_RESULTS },
	{ NULL, 0 },
};

/* Which bits of a variable ask for which classes. */
struct request {
	unsigned long bits;
	unsigned int classes;
};

static const struct request debug_registry_bits[] = {
	{ LOG_ERRORS, DAPL_DEBUG_ERRORS },
	{ LOG_CONNECTIONS, DAPL_DEBUG_CONNECTIONS },
	{ LOG_CALLS, DAPL_DEBUG_CALLS | DAPL_DEBUG_RESULTS },
	{ LOG_HINTS, DAPL_DEBUG_HINTS },
	{ 0, 0 },
};

static const struct request debug_provider_bits[] = {
	{ DEBUG_ERRORS, DAPL_DEBUG_ERRORS },
	{ DEBUG_CONNECTIONS, DAPL_DEBUG_CONNECTIONS },
	{ DEBUG_CALLS, DAPL_DEBUG_CALLS },
	{ DEBUG_RESULTS, DAPL_DEBUG_RESULTS },
	{ 0, 0 },
};

/* What is wrong with the variables, if anything is. */
struct complaints {
	char text[4][256];
	int count;
};

static bool
debug_read_variable(const char *variable, const struct debug_word *words, unsigned long *value,
    struct complaints *complaints)
{
	char *text = complaints->text[complaints->count];
	bool valid = debug_read(variable, words, value, text, sizeof complaints->text[0]);

	complaints->count += *text != '\0';
	return valid;
}

/* False if the variable is not set, or not valid. */
static bool
debug_read_classes(const char *variable, const struct debug_word *words,
    const struct request *requests, struct complaints *complaints)
{
	unsigned long bits;

	if (!debug_read_variable(variable, words, &bits, complaints))
		return false;
	for (; requests->bits; requests++)
		if (bits & requests->bits)
			dapl_debug_classes |= requests->classes;
	return true;
}

/* The variables of the registry come first: if it is ours, it has complained about them. */
static void
debug_read_environment(void)
{
	struct complaints complaints = { .count = 0 };
	bool registry;

	registry =
	    debug_read_classes("DAT_DBG_TYPE", debug_type_words, debug_registry_bits, &complaints);
	debug_read_variable(
	    "DAT_DBG_DEST", debug_destination_words, &debug_destinations, &complaints);
	if (debug_log)
		complaints.count = 0;
	if (!debug_read_classes(
		"DAPL_DBG_TYPE", debug_provider_words, debug_provider_bits, &complaints) &&
	    !registry)
		dapl_debug_classes = DAPL_DEBUG_ERRORS;
	debug_read_variable(
	    "DAPL_DBG_DEST", debug_destination_words, &debug_destinations, &complaints);
	for (int i = 0; i < complaints.count; i++)
		dapl_debug_error("%s", complaints.text[i]);
}

void
dapl_debug_setup(dapl_debug_log_fn *log)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static bool done;
	int saved = errno;

	pthread_mutex_lock(&mutex);
	if (!done) {
		debug_log = log;
		debug_read_environment();
		done = true;
	}
	pthread_mutex_unlock(&mutex);
	errno = saved;
}

static void
debug_print(DAT_LOG_LEVEL level, const char *format, va_list args)
{
	char line[DEBUG_LINE_MAX], shown[DEBUG_ESCAPED(DEBUG_LINE_MAX)];
	int saved = errno, state, n;
	bool logged;

	/* A thread of the program may be inside of a call that is no cancellation point. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	n = snprintf(line, sizeof line, "rearm[%ld]: ", syscall(SYS_gettid));
	if (debug_adapter && level == DAT_LOG_ERROR)
		n += snprintf(
		    line + n, sizeof line - (size_t)n, "dat_ia_open(\"%.80s\"): ", debug_adapter);
	vsnprintf(line + n, sizeof line - (size_t)n, format, args);
	debug_escape(shown, sizeof shown, line);
	logged = debug_log && debug_log(level, shown) == DAT_SUCCESS;
	if (!logged || debug_destinations)
		debug_write(debug_destinations, level == DAT_LOG_ERROR, line);
	pthread_setcancelstate(state, NULL);
	errno = saved;
}

void
dapl_debug_open(const char *adapter)
{
	debug_adapter = adapter;
}

void
dapl_debug_line(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	debug_print(DAT_LOG_DEBUG, format, args);
	va_end(args);
}

void
dapl_debug_error(const char *format, ...)
{
	va_list args;

	if (!dapl_debug_wants(DAPL_DEBUG_ERRORS))
		return;
	va_start(args, format);
	debug_print(DAT_LOG_ERROR, format, args);
	va_end(args);
}
