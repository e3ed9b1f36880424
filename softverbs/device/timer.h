/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timer -- callbacks on the progress thread at a time of CLOCK_MONOTONIC
 *
 * A timer is part of the object that it serves and needs no memory of its own.  A callback runs
 * with no lock held.  soft_timer_stop() returns whether it prevented the callback;
 * soft_timer_stop_and_wait() also waits for a callback that had begun, and stops the timer again if
 * that callback started it.
 */
#ifndef SOFT_TIMER_H
#define SOFT_TIMER_H

#include "soft.h"

struct soft_timer {
	struct soft_timer *child, *next, *prev; /* pairing heap; prev is parent or left sibling */
	uint64_t when;
	void (*fn)(struct soft_timer *timer);
	bool queued;
};

void soft_timer_init(struct soft_timer *timer, void (*fn)(struct soft_timer *));

/* Starts the timer, or gives one that runs another time; true if it did not run before. */
bool soft_timer_start(struct soft_timer *timer, uint64_t when) SOFT_NO_LEAF_LOCK;
bool soft_timer_stop(struct soft_timer *timer) SOFT_NO_LEAF_LOCK;

/* The caller holds no lock that the callback takes. */
void soft_timer_stop_and_wait(struct soft_timer *timer) SOFT_NO_CM_LOCK;

/* For the progress thread: runs what is due and returns the next time, or UINT64_MAX. */
uint64_t soft_timer_run(void) SOFT_NO_CM_LOCK;

/* In a forked child: forgets all timers. */
void soft_timer_reset(void);

#endif
