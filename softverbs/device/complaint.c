/* SPDX-License-Identifier: BSD-3-Clause */
#include "cancel.h"
#include "complaint.h"
#include "softverbs/soft_arm.h"

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

const char *
soft_show(char *to, size_t size, const char *text)
{
	static const char digits[] = "0123456789abcdef";
	char *out = to, *const end = to + size - 1;

	for (; *text; text++) {
		const unsigned char byte = (unsigned char)*text;

		if (end - out < (byte >= ' ' && byte <= '~' ? 1 : 4))
			break;
		if (byte >= ' ' && byte <= '~') {
			*out++ = *text;
			continue;
		}
		*out++ = '\\';
		*out++ = 'x';
		*out++ = digits[byte >> 4];
		*out++ = digits[byte & 15];
	}
	*out = '\0';
	return to;
}

void
soft_complain(const char *format, ...)
{
	SOFT_UNCANCELLED;
	void (*place)(const char *text) = complaint_place;
	char text[4608], shown[4608]; /* a path, and why */
	int saved = errno;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	soft_show(shown, sizeof shown, text);
	if (place)
		place(shown);
	else
		fprintf(stderr, "softverbs: %s\n", shown);
	errno = saved;
}
