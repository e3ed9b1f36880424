/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * idle -- polls in a row that found nothing
 *
 * A thread that polls for long gives the processor to the other end, if that has to run on the same
 * one.
 */
#ifndef PERF_IDLE_H
#define PERF_IDLE_H

#include <sched.h>

#define IDLE_POLLS 1000u

struct idle {
	unsigned int polls;
};

static inline void
idle_again(struct idle *idle)
{
	if (++idle->polls < IDLE_POLLS)
		return;
	idle->polls = 0;
	sched_yield();
}

static inline void
idle_end(struct idle *idle)
{
	idle->polls = 0;
}

#endif
