/* SPDX-License-Identifier: BSD-3-Clause */
#include "fail.h"
#include "tools/printable.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void
fail(const char *format, ...)
{
	static atomic_flag failed = ATOMIC_FLAG_INIT;
	char text[1024], shown[PRINTABLE_MAX * sizeof text];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	while (atomic_flag_test_and_set(&failed))
		pause(); /* the other thread ends the process */
	/* The other end may have written the text. */
	fprintf(stderr, "%s: %s\n", program_invocation_short_name,
	    printable(shown, sizeof shown, text));
	_exit(1);
}

void
fail_errno(const char *what)
{
	fail("%s: %s", what, strerror(errno));
}

void
fail_dat(const char *call, DAT_RETURN ret)
{
	const char *type = "", *detail = "";

	if (ret == DAT_SUCCESS)
		return;
	dat_strerror(ret, &type, &detail);
	fail("%s: %s %s", call, type, detail);
}
