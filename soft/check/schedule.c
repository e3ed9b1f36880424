/* SPDX-License-Identifier: BSD-3-Clause */
#include "schedule.h"

/* So many choices of a kind are made at full strength. */
#define KEEN 96

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
	return schedule->made[kind] <= KEEN;
}

/* How often the answer is yes, in 16 choices; each queue has its own habits. */
static unsigned int
schedule_habit(const struct soft_schedule *schedule, enum soft_choice kind)
{
	static const unsigned int habits[] = { 3, 8, 13, 16 };

	return habits[schedule_mix(schedule->key + kind) % (sizeof habits / sizeof *habits)];
}

void
soft_schedule_init(struct soft_schedule *schedule, uint64_t seed, unsigned int queue)
{
	*schedule = (struct soft_schedule){ .key = schedule_mix(schedule_mix(seed) ^ queue) };
}

uint32_t
soft_schedule_choose(struct soft_schedule *schedule, enum soft_choice kind)
{
	const uint64_t x = schedule_mix(
	    schedule->key ^ schedule_mix((uint64_t)kind << 32 | ++schedule->made[kind]));

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
	if (!schedule_is_keen(schedule, kind))
		most /= 8;
	return 1 + random % most;
}
