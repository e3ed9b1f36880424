/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/say.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PEER_LINES 10 /* a second */
#define NOTICE 128    /* bytes of the line about other lines */

static const char *program = "iser";

/* Guards what follows, and no other line takes the room that poll() has found. */
static pthread_mutex_t say_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long say_unsaid; /* lines, since the last one that was written */
static unsigned int say_of_peers;
static time_t say_second; /* in which so many lines about peers were written */

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

/* With the lock. */
static bool
say_is_too_much(bool of_peer)
{
	const time_t now = time(NULL);

	if (!of_peer)
		return false;
	if (say_second != now)
		say_of_peers = 0;
	say_second = now;
	return say_of_peers++ >= PEER_LINES;
}

/*
 * Serving does not wait for the reader of standard error, which may be a pipe or a terminal that no
 * one reads: what finds no room, or no reader, is counted.  One write(), so that lines of several
 * threads and processes do not mix.
 */
static void
say_write(const char *shown, size_t used, bool of_peer)
{
	struct pollfd room = { .fd = STDERR_FILENO, .events = POLLOUT };
	char text[PIPE_BUF];
	int n = 0;

	pthread_mutex_lock(&say_lock);
	if (say_is_too_much(of_peer) || poll(&room, 1, 0) == 0) {
		say_unsaid++;
	} else {
		if (say_unsaid)
			n = snprintf(text, NOTICE, "%s: %lu messages are left out here\n", program,
			    say_unsaid);
		if (used > sizeof text - (size_t)n - 1)
			used = sizeof text - (size_t)n - 1;
		memcpy(text + n, shown, used);
		used += (size_t)n;
		text[used++] = '\n';
		/* Where a write fails, no output is left to report it on; later there may be. */
		say_unsaid = write(STDERR_FILENO, text, used) < 0 ? say_unsaid + 1 : 0;
	}
	pthread_mutex_unlock(&say_lock);
}

static void
say_line(bool of_peer, const char *format, va_list args, const char *tail)
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
	say_write(shown, say_escape(shown, sizeof shown, line, used), of_peer);
}

void
say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line(false, format, args, "");
	va_end(args);
}

void
say_of_peer(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line(true, format, args, "");
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
	say_line(false, format, args, tail);
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
