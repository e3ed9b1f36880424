/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* secure_getenv */

#include "dapl/trace/debug.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <syslog.h>
#include <unistd.h>

#define LINE_MAX_BYTES 1024

unsigned int dapl_debug_classes;

static pthread_once_t debug_once = PTHREAD_ONCE_INIT;

enum { DEST_STDOUT = 1, DEST_SYSLOG = 2 };
static unsigned long debug_destinations;

/* Which bits of a variable ask for which class. */
struct request {
	unsigned long bits;
	enum dapl_debug_class class;
};

static const struct request debug_registry_bits[] = {
	{ 0x01, DAPL_DEBUG_ERRORS },
	{ 0x10, DAPL_DEBUG_CONNECTIONS },
	{ 0x20, DAPL_DEBUG_CALLS },
	{ 0x20, DAPL_DEBUG_RESULTS },
	{ 0, 0 },
};

static const struct request debug_provider_bits[] = {
	{ 0x0001, DAPL_DEBUG_ERRORS },
	{ 0x0008 | 0x0010, DAPL_DEBUG_CONNECTIONS },
	{ 0x0100, DAPL_DEBUG_CALLS },
	{ 0x0200, DAPL_DEBUG_RESULTS },
	{ 0, 0 },
};

/* Ignored in a program that runs with more privileges than its user. */
static bool
debug_read_number(const char *name, unsigned long *value)
{
	const char *text = secure_getenv(name);
	char *end;

	if (!text || !*text)
		return false;
	errno = 0;
	*value = strtoul(text, &end, 0);
	return errno == 0 && *end == '\0';
}

/* False when the variable is not set. */
static bool
debug_read_variable(const char *name, const struct request *requests)
{
	unsigned long bits;

	if (!debug_read_number(name, &bits))
		return false;
	for (; requests->bits; requests++)
		if (bits & requests->bits)
			dapl_debug_classes |= requests->class;
	return true;
}

static void
debug_read_environment(void)
{
	const bool registry = debug_read_variable("DAT_DBG_TYPE", debug_registry_bits);

	if (!debug_read_variable("DAPL_DBG_TYPE", debug_provider_bits) && !registry)
		dapl_debug_classes = DAPL_DEBUG_ERRORS;
	if (!debug_read_number("DAPL_DBG_DEST", &debug_destinations) &&
	    !debug_read_number("DAT_DBG_DEST", &debug_destinations))
		debug_destinations = 0;
}

void
dapl_debug_setup(void)
{
	int saved = errno;

	pthread_once(&debug_once, debug_read_environment);
	errno = saved;
}

static void
debug_print(const char *format, va_list args)
{
	char text[LINE_MAX_BYTES];
	int saved = errno, state;
	long thread = syscall(SYS_gettid);

	/* A thread of the program may be inside of a call that is no cancellation point. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	vsnprintf(text, sizeof text, format, args);
	/* One call each: lines of several threads do not mix. */
	if (debug_destinations & DEST_SYSLOG)
		syslog(LOG_DEBUG, "rearm[%ld]: %s", thread, text);
	if (debug_destinations & DEST_STDOUT)
		fprintf(stdout, "rearm[%ld]: %s\n", thread, text);
	if (!(debug_destinations & (DEST_STDOUT | DEST_SYSLOG)))
		fprintf(stderr, "rearm[%ld]: %s\n", thread, text);
	pthread_setcancelstate(state, NULL);
	errno = saved;
}

void
dapl_debug_line(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	debug_print(format, args);
	va_end(args);
}

void
dapl_debug_error(const char *format, ...)
{
	va_list args;

	if (!dapl_debug_wants(DAPL_DEBUG_ERRORS))
		return;
	va_start(args, format);
	debug_print(format, args);
	va_end(args);
}
