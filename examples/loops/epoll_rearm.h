/* SPDX-License-Identifier: BSD-3-Clause */
/* epoll_rearm -- the callbacks of a loop of librearm without threads, around epoll_wait() */
#ifndef EPOLL_REARM_H
#define EPOLL_REARM_H

#include <rearm/rearm.h>
#include <sys/epoll.h>

/* 0, or -errno. */
int epoll_rearm_add(int epoll, struct rearm_loop *loop);

/* Before rearm_loop_free(). */
void epoll_rearm_remove(int epoll, struct rearm_loop *loop);

/*
 * epoll_wait(), which also makes the callbacks.  It returns when there was something to do: how
 * many events of other descriptors are in `events`, which may be 0 before the time is over.  The
 * `data.ptr` of these is not the loop.
 */
int epoll_rearm_wait(
    int epoll, struct rearm_loop *loop, struct epoll_event *events, int n, int timeout);

#endif
