/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress -- the thread that does what no consumer's call does
 *
 * It runs timers and moves data between processes.  It blocks all signals and cannot be
 * cancelled; runtime.c starts and joins it.
 *
 * What a function that it calls may find, when its object has been removed or used again:
 *
 * - The function of a watch finds its object.  Watches are removed on this thread, which takes one
 *   event from the kernel at a time, so none can be on its way to what is gone.
 * - The function of a timer may run when the timer has been cancelled or set again.  Its object is
 *   there all the same: a queue pair has a reference for its timer, a completion queue waits for
 *   the function before it goes (soft_timer_stop), and the timers of the door and of the
 *   connection manager live as long as the process.  The function takes the lock of the object and
 *   acts on what it finds there: a stall or silence whose deadline has come, an id that is in the
 *   list.  It never acts on what the timer was set for.
 * - A message of another process names what it means by a number that says which use of a place it
 *   is: an id has a count of uses in its number, an answer the epoch of the queue pair, a link the
 *   process that was found at its slot when it was made.
 */
#ifndef SOFT_PROGRESS_H
#define SOFT_PROGRESS_H

#include "soft.h"

/*
 * A descriptor the thread waits for.  Any thread may add or change one; it is removed on
 * the progress thread only, so that no event of it can be on its way to a function that is
 * gone.
 */
struct soft_watch {
	int fd;
	void (*fn)(struct soft_watch *watch, uint32_t events);
};

/* 0 or -errno. */
int soft_progress_start(void);

/* Ends and joins the thread. */
void soft_progress_stop(void);

/* Makes the thread look at its timers; no effect without a thread. */
void soft_progress_wake(void);

/* `events` as for epoll; 0 or -errno. */
int soft_watch_add(struct soft_watch *watch, uint32_t events);
int soft_watch_change(struct soft_watch *watch, uint32_t events);
void soft_watch_remove(struct soft_watch *watch);

/* In a forked child: closes what the thread of the parent uses. */
void soft_progress_reset(void);

#endif
