/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <syslog.h>

#include "dat/log.h"

enum { DEST_STDOUT = 1, DEST_SYSLOG = 2 };

static pthread_once_t log_once = PTHREAD_ONCE_INIT;
static unsigned long log_mask = LOG_ERRORS;
static unsigned long log_dest;

static unsigned long
log_read_number(const char *name, unsigned long otherwise)
{
	const char *text = secure_getenv(name);
	unsigned long value;
	char *end;

	if (text == NULL || *text == '\0')
		return otherwise;
	errno = 0;
	value = strtoul(text, &end, 0);
	return errno != 0 || *end != '\0' ? otherwise : value;
}

static void
log_setup(void)
{
	log_mask = log_read_number("DAT_DBG_TYPE", LOG_ERRORS);
	log_dest = log_read_number("DAT_DBG_DEST", 0);
}

void
log_message(enum log_class class, const char *format, ...)
{
	int saved = errno;
	char text[1024];
	va_list args;

	pthread_once(&log_once, log_setup);
	if ((log_mask & (unsigned long)class) != 0) {
		va_start(args, format);
		vsnprintf(text, sizeof text, format, args);
		va_end(args);

		/*
		 * One call for each message, so that messages of several threads do not mix within
		 * a line.
		 */
		if (log_dest & DEST_SYSLOG)
			syslog(class == LOG_ERRORS ? LOG_ERR : LOG_DEBUG, "dat: %s", text);
		if (log_dest & DEST_STDOUT)
			fprintf(stdout, "dat: %s\n", text);
		if ((log_dest & (DEST_STDOUT | DEST_SYSLOG)) == 0)
			fprintf(stderr, "dat: %s\n", text);
	}
	errno = saved;
}
