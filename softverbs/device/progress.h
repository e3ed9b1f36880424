/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress -- the thread that works when no consumer calls
 *
 * It runs timers and moves data between processes.  It blocks all signals and cannot be
 * cancelled; runtime.c starts and joins it.
 *
 * A function that it calls may run after its object was removed or used again:
 *
 * - The function of a watch always finds its object.  Watches are removed on this thread, which
 *   takes one event from the kernel at a time, so no event of a watch is pending when the watch
 *   is removed.
 * - The function of a timer may run after the timer was stopped or started again, but its object
 *   still exists: a queue pair has a reference for its timer, a completion queue waits for the
 *   function before it is freed (soft_timer_stop_and_wait), and the timers of the acceptor and of
 *   the connection manager live as long as the process.  The function takes the lock of the object
 *   and acts on the state that it finds: a stall or a timeout whose deadline has come, an id in
 *   the list.  It does not act on the purpose that the timer was started for.
 * - A message of another process names its object by a number that includes a use count: the
 *   number of an id has one, an answer has the epoch of the queue pair, and a link belongs to the
 *   process that was at its slot when it was created.
 */
#ifndef SOFT_PROGRESS_H
#define SOFT_PROGRESS_H

#include "soft.h"

/* The name of the thread. */
#define SOFT_PROGRESS_NAME "softverbs"

/*
 * A descriptor that the thread waits for.  Any thread may add or change a watch; only the progress
 * thread removes one, so that none of its events is pending.
 */
struct soft_watch {
	int fd;
	void (*fn)(struct soft_watch *watch, uint32_t events);
};

/* 0 or -errno. */
int soft_progress_start(void) REQUIRES(soft_locks.runtime);

/* Ends and joins the thread. */
void soft_progress_stop(void) REQUIRES(soft_locks.runtime) SOFT_NO_CM_LOCK;

/* Makes the thread check its timers; does nothing without a thread, or on the thread itself. */
void soft_progress_wake(void);

/* `events` as for epoll; 0 or -errno. */
int soft_watch_add(struct soft_watch *watch, uint32_t events) SOFT_NO_LEAF_LOCK;
int soft_watch_change(struct soft_watch *watch, uint32_t events) SOFT_NO_LEAF_LOCK;
void soft_watch_remove(struct soft_watch *watch) SOFT_NO_LEAF_LOCK;

/* In a forked child: closes what the thread of the parent uses. */
void soft_progress_reset(void);

#endif
