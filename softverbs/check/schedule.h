/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * schedule -- the choices of the adversary for one completion queue
 *
 * The n-th choice of a kind is a function of the seed, the number of the queue (in the order of
 * creation in the process), the kind and n.  So a replay makes the same choices, in whatever order
 * the threads ask for them.  A list of moves can forbid a kind, or make the answer yes each time.
 */
#ifndef SOFT_CHECK_SCHEDULE_H
#define SOFT_CHECK_SCHEDULE_H

#include "moves.h"
#include "softverbs/device/soft.h"

/* What becomes of a choice. */
enum soft_bias { SOFT_BY_SEED, SOFT_NEVER, SOFT_ALWAYS };

struct soft_schedule {
	uint64_t key; /* of the seed and the queue */
	enum soft_bias bias[SOFT_CHOICES];
	uint32_t made[SOFT_CHOICES];
};

void soft_schedule_init(struct soft_schedule *schedule, uint64_t seed, unsigned int queue,
    const struct soft_moves *moves);

/* False if the list forbids this kind. */
static inline bool
soft_schedule_allows(const struct soft_schedule *schedule, enum soft_choice kind)
{
	return schedule->bias[kind] != SOFT_NEVER;
}

/* Makes the next choice of this kind: 0 if the answer is no, else a random number. */
uint32_t soft_schedule_choose(struct soft_schedule *schedule, enum soft_choice kind);

/*
 * A time from 1 to `most`, and at least that for most moves that are always made.  After many
 * choices it is shorter, and soft_schedule_choose() answers yes less often, so that a long program
 * is not slowed down all the time.
 */
uint64_t soft_schedule_time(
    const struct soft_schedule *schedule, enum soft_choice kind, uint32_t random, uint64_t most);

#endif
