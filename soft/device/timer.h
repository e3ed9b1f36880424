/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timer -- callbacks on the progress thread at a time of CLOCK_MONOTONIC
 *
 * Timers are part of the object they serve and need no memory of their own.  A callback
 * runs with no lock held.  soft_timer_cancel() says whether it kept the callback from
 * starting; soft_timer_stop() also waits for one that had started, and takes back the time
 * that the callback set anew.
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

/* Sets the time, also of a timer already queued; true if it was not queued before. */
bool soft_timer_set(struct soft_timer *timer, uint64_t when);
bool soft_timer_cancel(struct soft_timer *timer);

/* No lock that the callback takes may be held. */
void soft_timer_stop(struct soft_timer *timer);

/* For the progress thread: runs what is due and returns the next time, or UINT64_MAX. */
uint64_t soft_timer_run(void);

/* In a forked child: forgets all timers. */
void soft_timer_reset(void);

#endif
