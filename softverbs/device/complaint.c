/* SPDX-License-Identifier: BSD-3-Clause */
#include "cancel.h"
#include "complaint.h"
#include "softverbs/soft_arm.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static void (*_Atomic complaint_place)(const char *text);

void
soft_complain_to(void (*place)(const char *text))
{
	complaint_place = place;
}

bool
soft_stderr_is_read(void)
{
	struct pollfd error = { .fd = STDERR_FILENO };

	(void)poll(&error, 1, 0);
	return !(error.revents & (POLLERR | POLLHUP));
}

void
soft_complain_again(const char *text)
{
	if (complaint_place)
		soft_complain("%s", text);
}

void
soft_complain(const char *format, ...)
{
	SOFT_UNCANCELLED;
	void (*place)(const char *text) = complaint_place;
	char text[4608], shown[4608]; /* a path, and why */
	struct pollfd room = { .fd = STDERR_FILENO, .events = POLLOUT };
	int saved = errno;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	soft_show(shown, sizeof shown, text);
	if (place)
		place(shown);
	/* A thread of the device waits for no reader. */
	else if (poll(&room, 1, 100) != 0 && soft_stderr_is_read())
		fprintf(stderr, "softverbs: %.4000s\n", shown); /* PIPE_BUF is 4096 */
	errno = saved;
}
