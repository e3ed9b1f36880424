/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spin -- how long, and how often, a thread polls before it sleeps
 *
 * To sleep and be woken costs a thread much more than a poll, and costs the thread that wakes it a
 * system call.  A thread that expects its event soon therefore polls for a while first.  This is
 * worth at most what a sleep costs, so a spin is bounded in time.  How often a thread spins follows
 * from what it got by it: after a spin that was in vain the next wait does not spin, then the next
 * three, then seven, and so on up to SPIN_RESTS; after one that ended with an event the next wait
 * spins again.  So a consumer whose events come late loses one spin in 64 waits, and one whose
 * events begin to come soon finds out within 64 waits.
 *
 * A thread does not spin if it has to pump the loop that it belongs to.  It holds no lock between
 * two polls, so other threads can post, modify and free.
 *
 *     if (spin_begins(&spin)) {
 *             spin_start(&run, &spin, deadline);
 *             do
 *                     ... polls, with the lock; takes what it finds, and ends if there is a reason
 *                     to ...
 *             while (spin_goes_on(&run) && ... drops the lock, spin_pause(), takes the lock ...);
 *             spin_ended(&spin, ... it was found ...);
 *     }
 */
#ifndef REARM_EVD_SPIN_H
#define REARM_EVD_SPIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evd/loop.h"

#define SPIN_RESTS 63

/* The owner embeds it, and guards it. */
struct spin {
	uint64_t most_ns;	/* a spin lasts at most so long; 0: there is none */
	unsigned int rests;	/* waits without a spin after the last one */
	unsigned int rest;	/* of these are still to come */
	uint64_t spins, served; /* so far; those that ended with an event */
};

struct spin_run {
	uint64_t end; /* as os_clock_ns() */
	unsigned int polls;
};

/* Whether the calling thread, which has found nothing, spins before it sleeps. */
static inline bool
spin_begins(struct spin *spin)
{
	if (spin->most_ns == 0)
		return false;
	if (spin->rest > 0) {
		spin->rest--;
		return false;
	}
	return loop_to_pump() == NULL;
}

void spin_start(struct spin_run *run, const struct spin *spin, uint64_t deadline);
/* After a poll that found nothing. */
bool spin_goes_on(struct spin_run *run);
/* Between two polls: lets the other thread of the core run. */
void spin_pause(void);
void spin_ended(struct spin *spin, bool served);

#endif
