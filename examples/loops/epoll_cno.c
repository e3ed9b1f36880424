/* SPDX-License-Identifier: BSD-3-Clause */
#include "epoll_cno.h"

int
epoll_cno_add(int epoll, struct cno_source *source)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = source };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, source->fd, &event);
}

int
epoll_cno_remove(int epoll, struct cno_source *source)
{
	return epoll_ctl(epoll, EPOLL_CTL_DEL, source->fd, NULL);
}

void
epoll_cno_dispatch(const struct epoll_event *event)
{
	cno_source_dispatch(event->data.ptr);
}
