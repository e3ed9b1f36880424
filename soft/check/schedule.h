/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * schedule -- the choices of the adversary for one completion queue
 *
 * The n-th choice of a kind is a function of the seed, the number of the queue (in the order of creation in the
 * process), the kind and n.  So a replay makes the same choices, in whatever order the threads ask for them.
 */
#ifndef SOFT_CHECK_SCHEDULE_H
#define SOFT_CHECK_SCHEDULE_H

#include "soft/device/soft.h"

enum soft_choice {
	SOFT_CHOOSE_HOLD,	/* the queue is not armed: the completion is held until it is */
	SOFT_CHOOSE_HOLD_ARMED, /* the queue is armed: the completion, and so its event, comes later */
	SOFT_CHOOSE_SPLIT,	/* completions that were held become visible in several parts */
	SOFT_CHOOSE_LATE,	/* the event comes later than its completion */
	SOFT_CHOOSE_MERGE, /* an event that is held answers a new request for notification, too */
	SOFT_CHOOSE_FIRST, /* the event comes before those of other queues of the channel */
	SOFT_CHOOSE_PAUSE, /* the thread that arms pauses before the request takes effect */
	SOFT_CHOOSE_FAIL,  /* the request for notification fails */
	SOFT_CHOICES
};

struct soft_schedule {
	uint64_t key; /* of the seed and the queue */
	uint32_t made[SOFT_CHOICES];
};

void soft_schedule_init(struct soft_schedule *schedule, uint64_t seed, unsigned int queue);

/* Makes the next choice of this kind: 0 if the answer is no, else a random number. */
uint32_t soft_schedule_choose(struct soft_schedule *schedule, enum soft_choice kind);

/*
 * A time from 1 to `most`.  After many choices it is shorter, and soft_schedule_choose() answers yes less often, so that
 * a long program is not slowed down all the time.
 */
uint64_t soft_schedule_time(
    const struct soft_schedule *schedule, enum soft_choice kind, uint32_t random, uint64_t most);

#endif
