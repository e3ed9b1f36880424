/* SPDX-License-Identifier: BSD-3-Clause */
#include "epoll_rearm.h"

#include <errno.h>

enum { BUDGET = 64 }; /* of a turn: then the other descriptors are served */

int
epoll_rearm_add(int epoll, struct rearm_loop *loop)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = loop };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, rearm_loop_fd(loop), &event) ? -errno : 0;
}

void
epoll_rearm_remove(int epoll, struct rearm_loop *loop)
{
	(void)epoll_ctl(epoll, EPOLL_CTL_DEL, rearm_loop_fd(loop), NULL);
}

int
epoll_rearm_wait(int epoll, struct rearm_loop *loop, struct epoll_event *events, int n, int timeout)
{
	int found, limit, others = 0;

	/* Callbacks are due, or will be at the limit. */
	if (rearm_loop_trywait(loop, &limit) == -EAGAIN)
		limit = 0;
	if (limit >= 0 && (timeout < 0 || limit < timeout))
		timeout = limit;
	found = epoll_wait(epoll, events, n, timeout);
	for (int i = 0; i < found; i++)
		if (events[i].data.ptr != loop)
			events[others++] = events[i];
	(void)rearm_loop_dispatch(loop, BUDGET, 0);
	return found < 0 ? found : others;
}
