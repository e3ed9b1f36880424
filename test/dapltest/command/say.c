/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <dat2/dat_event_str.h>

#include "cmd.h"

bool
cmd_fail(const char *format, ...)
{
	va_list args;

	flockfile(stderr);
	fputs("dapltest: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	funlockfile(stderr);
	return false;
}

/* `call` may be the text of the whole call: only its name is printed. */
bool
cmd_failed_call(const char *call, DAT_RETURN ret)
{
	const char *type = "", *detail = "";

	dat_strerror(ret, &type, &detail);
	return cmd_fail("%.*s: 0x%08x %s %s", (int)strcspn(call, "("), call, ret, type, detail);
}

bool
cmd_check(const char *call, DAT_RETURN ret)
{
	return ret == DAT_SUCCESS ? true : cmd_failed_call(call, ret);
}

bool
cmd_failed_event(DAT_EVENT_NUMBER came, DAT_EVENT_NUMBER due)
{
	return cmd_fail("event 0x%x (%s) came, not 0x%x (%s)", came, dat_event_str(came), due,
	    dat_event_str(due));
}

bool
cmd_failed_completion(const DAT_DTO_COMPLETION_EVENT_DATA *dto)
{
	return cmd_fail("operation %llu completed with status %d (%s)",
	    (unsigned long long)dto->user_cookie.as_64, (int)dto->status,
	    dat_dto_status_str(dto->status));
}
