/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/debug.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define DEBUG_ERRORS 1u

void
debug_error(const char *format, ...)
{
	const char *types = getenv("DAT_DBG_TYPE");
	char text[512];
	va_list args;
	int saved = errno;

	if (!types || !(strtoul(types, NULL, 0) & DEBUG_ERRORS))
		return;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	fprintf(stderr, "rearm: %s\n", text); /* one call: lines of two threads do not mix */
	errno = saved;
}
