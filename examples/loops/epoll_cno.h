/* SPDX-License-Identifier: BSD-3-Clause */
/* epoll_cno -- a CNO in an epoll loop */
#ifndef LOOPS_EPOLL_CNO_H
#define LOOPS_EPOLL_CNO_H

#include "cno_source.h"

#include <sys/epoll.h>

/* Return 0, or -1 with errno. */
int epoll_cno_add(int epoll, struct cno_source *source);
int epoll_cno_remove(int epoll, struct cno_source *source);

/* For an event that epoll_wait() has returned: its data.ptr is the source. */
void epoll_cno_dispatch(const struct epoll_event *event);

#endif
