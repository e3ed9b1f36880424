/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

static const char *
event_name(DAT_EVENT_NUMBER number)
{
	switch (number) {
	case DAT_DTO_COMPLETION_EVENT:
		return "a completion";
	case DAT_CONNECTION_REQUEST_EVENT:
		return "CONNECTION_REQUEST";
	case DAT_CONNECTION_EVENT_ESTABLISHED:
		return "ESTABLISHED";
	case DAT_CONNECTION_EVENT_PEER_REJECTED:
		return "PEER_REJECTED";
	case DAT_CONNECTION_EVENT_NON_PEER_REJECTED:
		return "NON_PEER_REJECTED";
	case DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR:
		return "ACCEPT_COMPLETION_ERROR";
	case DAT_CONNECTION_EVENT_DISCONNECTED:
		return "DISCONNECTED";
	case DAT_CONNECTION_EVENT_BROKEN:
		return "BROKEN";
	case DAT_CONNECTION_EVENT_TIMED_OUT:
		return "TIMED_OUT";
	case DAT_CONNECTION_EVENT_UNREACHABLE:
		return "UNREACHABLE";
	default:
		return "another";
	}
}

bool
cmd_failed_event(DAT_EVENT_NUMBER came, DAT_EVENT_NUMBER due)
{
	return cmd_fail(
	    "event 0x%x (%s) came, not 0x%x (%s)", came, event_name(came), due, event_name(due));
}

bool
cmd_failed_completion(const DAT_DTO_COMPLETION_EVENT_DATA *dto)
{
	static const char *const names[] = {
		[DAT_DTO_ERR_FLUSHED] = "flushed, the connection is gone",
		[DAT_DTO_ERR_LOCAL_LENGTH] = "LOCAL_LENGTH",
		[DAT_DTO_ERR_LOCAL_EP] = "LOCAL_EP",
		[DAT_DTO_ERR_LOCAL_PROTECTION] = "LOCAL_PROTECTION",
		[DAT_DTO_ERR_BAD_RESPONSE] = "BAD_RESPONSE",
		[DAT_DTO_ERR_REMOTE_ACCESS] = "REMOTE_ACCESS",
		[DAT_DTO_ERR_REMOTE_RESPONDER] = "REMOTE_RESPONDER",
		[DAT_DTO_ERR_TRANSPORT] = "TRANSPORT",
		[DAT_DTO_ERR_RECEIVER_NOT_READY] = "RECEIVER_NOT_READY",
		[DAT_DTO_ERR_PARTIAL_PACKET] = "PARTIAL_PACKET",
	};
	const size_t status = dto->status;
	const char *name = status < sizeof names / sizeof names[0] ? names[status] : NULL;

	return cmd_fail("operation %llu completed with status %zu (%s)",
	    (unsigned long long)dto->user_cookie.as_64, status, name ? name : "another");
}
