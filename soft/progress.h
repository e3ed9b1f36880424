/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress -- the thread that does what no consumer's call does
 *
 * It runs timers and moves data between processes.  It blocks all signals and cannot be
 * cancelled; runtime.c starts and joins it.
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
