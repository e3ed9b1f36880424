/* SPDX-License-Identifier: BSD-3-Clause */
#include "complaint.h"
#include "soft/soft_arm.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

static void (*_Atomic complaint_place)(const char *text);

void
soft_complain_to(void (*place)(const char *text))
{
	complaint_place = place;
}

void
soft_complain(const char *format, ...)
{
	void (*place)(const char *text) = complaint_place;
	char text[4608]; /* a path, and why */
	int saved = errno;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (place)
		place(text);
	else
		fprintf(stderr, "softverbs: %s\n", text);
	errno = saved;
}
