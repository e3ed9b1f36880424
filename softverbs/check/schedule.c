/* SPDX-License-Identifier: BSD-3-Clause */
#include "schedule.h"

/* So many choices of a kind are made at full strength. */
#define KEEN 200

/* A thread that pauses each time waits so much longer for a completion. */
#define LONGER 10

/* The finalizer of splitmix64: every bit of the input changes every bit of the result. */
static uint64_t
schedule_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static bool
schedule_is_keen(const struct soft_schedule *schedule, enum soft_choice kind)
{
	return schedule->made[kind] <= KEEN || schedule->bias[kind] == SOFT_ALWAYS;
}

/* How often the answer is yes, in 16 choices; each queue has its own habits. */
static unsigned int
schedule_habit(const struct soft_schedule *schedule, enum soft_choice kind)
{
	static const unsigned int habits[] = { 3, 8, 13, 16 };
	const unsigned int habit =
	    habits[schedule_mix(schedule->key + kind) % (sizeof habits / sizeof *habits)];

	/* What comes after the request cannot come before it. */
	return kind == SOFT_CHOOSE_AFTER ? habit / 3 : habit;
}

void
soft_schedule_init(struct soft_schedule *schedule, uint64_t seed, unsigned int queue,
    const struct soft_moves *moves)
{
	const struct soft_move *move;

	*schedule = (struct soft_schedule){ .key = schedule_mix(schedule_mix(seed) ^ queue) };
	for (unsigned int kind = 0; kind < SOFT_MOVES && moves->given; kind++)
		schedule->bias[kind] = SOFT_NEVER;
	for (unsigned int i = 0; i < moves->count; i++) {
		move = &moves->moves[i];
		if (move->queue && move->queue != queue)
			continue;
		if (move->always)
			schedule->bias[move->choice] = SOFT_ALWAYS;
		else if (schedule->bias[move->choice] == SOFT_NEVER)
			schedule->bias[move->choice] = SOFT_BY_SEED;
	}
}

uint32_t
soft_schedule_choose(struct soft_schedule *schedule, enum soft_choice kind)
{
	const uint64_t x = schedule_mix(
	    schedule->key ^ schedule_mix((uint64_t)kind << 32 | ++schedule->made[kind]));

	if (schedule->bias[kind] == SOFT_NEVER)
		return 0;
	if (schedule->bias[kind] == SOFT_ALWAYS)
		return (uint32_t)(x >> 32) | 1;
	if (x % 16 >= schedule_habit(schedule, kind))
		return 0;
	if (!schedule_is_keen(schedule, kind) && x / 16 % 16)
		return 0;
	return (uint32_t)(x >> 32) | 1;
}

uint64_t
soft_schedule_time(
    const struct soft_schedule *schedule, enum soft_choice kind, uint32_t random, uint64_t most)
{
	/* Events of two queues that are held for the same time would never meet. */
	if (schedule->bias[kind] == SOFT_ALWAYS && kind != SOFT_CHOOSE_LATE)
		return kind == SOFT_CHOOSE_PAUSE ? LONGER * most : most;
	if (!schedule_is_keen(schedule, kind))
		most /= 8;
	return 1 + random % most;
}
