/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *program = "iser";

static void
say_what_is_not_written(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return;
	say("standard output: %s", strerror(errno));
	_exit(EXIT_FAILURE);
}

void
say_init(const char *name)
{
	program = name;
	if (atexit(say_what_is_not_written) != 0)
		abort();
}

/*
 * What the other end or a file has named may be printed: \xNN stands for bytes that move the cursor
 * or end a line.
 */
static size_t
say_escape(char *to, size_t size, const char *text, size_t length)
{
	size_t used = 0;

	for (; length > 0 && used + 5 < size; text++, length--)
		if (*text >= ' ' && *text <= '~')
			to[used++] = *text;
		else
			used += (size_t)sprintf(
			    to + used, "\\x%02x", (unsigned int)(unsigned char)*text);
	return used;
}

/* One write() a line, so that lines of several threads and processes do not mix. */
static void
say_line(const char *format, va_list args, const char *tail)
{
	char line[1024], shown[4 * sizeof line];
	size_t size = sizeof line;
	size_t used;
	int n;

	n = snprintf(line, size, "%s: ", program);
	used = n < 0 ? 0 : (size_t)n;
	if (used < size) {
		n = vsnprintf(line + used, size - used, format, args);
		used += n < 0 ? 0 : (size_t)n;
	}
	if (used < size) {
		n = snprintf(line + used, size - used, "%s", tail);
		used += n < 0 ? 0 : (size_t)n;
	}
	if (used >= size)
		used = size - 1;
	used = say_escape(shown, sizeof shown - 1, line, used);
	shown[used++] = '\n';
	if (write(STDERR_FILENO, shown, used) < 0)
		return; /* no output is left to report it on */
}

void
say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line(format, args, "");
	va_end(args);
}

void
say_dat(const char *call, DAT_RETURN ret, const char *format, ...)
{
	char error[384], tail[448];
	va_list args;

	snprintf(
	    tail, sizeof tail, ": %s() says: %s", call, say_dat_error(ret, error, sizeof error));
	va_start(args, format);
	say_line(format, args, tail);
	va_end(args);
}

const char *
say_dat_error(DAT_RETURN ret, char *text, size_t size)
{
	const char *major = NULL, *minor = NULL;
	int length;

	if (dat_strerror(ret, &major, &minor) != DAT_SUCCESS || !major) {
		snprintf(text, size, "0x%08x", (unsigned int)ret);
		return text;
	}
	length = (int)strlen(major);
	if (length > 0 && major[length - 1] == '.')
		length--;
	if (minor && *minor && DAT_GET_SUBTYPE(ret) != DAT_NO_SUBTYPE)
		snprintf(text, size, "%.*s; %s", length, major, minor);
	else
		snprintf(text, size, "%.*s", length, major);
	return text;
}

const char *
say_event_name(DAT_EVENT_NUMBER number)
{
	switch (number) {
	case DAT_DTO_COMPLETION_EVENT:
		return "DTO_COMPLETION";
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
	case DAT_ASYNC_ERROR_EVD_OVERFLOW:
		return "EVD_OVERFLOW";
	case DAT_ASYNC_ERROR_IA_CATASTROPHIC:
		return "IA_CATASTROPHIC";
	case DAT_ASYNC_ERROR_EP_BROKEN:
		return "EP_BROKEN";
	case DAT_ASYNC_ERROR_TIMED_OUT:
		return "ASYNC_TIMED_OUT";
	case DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR:
		return "PROVIDER_INTERNAL_ERROR";
	case DAT_SOFTWARE_EVENT:
		return "SOFTWARE";
	default:
		return "unexpected event";
	}
}

const char *
say_dto_status(DAT_DTO_COMPLETION_STATUS status)
{
	switch (status) {
	case DAT_DTO_SUCCESS:
		return "SUCCESS";
	case DAT_DTO_ERR_FLUSHED:
		return "FLUSHED";
	case DAT_DTO_ERR_LOCAL_LENGTH:
		return "LOCAL_LENGTH";
	case DAT_DTO_ERR_LOCAL_EP:
		return "LOCAL_EP";
	case DAT_DTO_ERR_LOCAL_PROTECTION:
		return "LOCAL_PROTECTION";
	case DAT_DTO_ERR_BAD_RESPONSE:
		return "BAD_RESPONSE";
	case DAT_DTO_ERR_REMOTE_ACCESS:
		return "REMOTE_ACCESS";
	case DAT_DTO_ERR_REMOTE_RESPONDER:
		return "REMOTE_RESPONDER";
	case DAT_DTO_ERR_TRANSPORT:
		return "TRANSPORT";
	case DAT_DTO_ERR_RECEIVER_NOT_READY:
		return "RECEIVER_NOT_READY";
	case DAT_DTO_ERR_PARTIAL_PACKET:
		return "PARTIAL_PACKET";
	case DAT_RMR_OPERATION_FAILED:
		return "RMR_OPERATION_FAILED";
	default:
		return "unknown status";
	}
}
