/* SPDX-License-Identifier: BSD-3-Clause */
#include "fair.h"
#include "sleep.h"

#include <time.h>

/* It is over so long after its time in any case. */
#define LIMIT (200 * SOFT_MILLISECOND)

/*
 * The number of threads that are ready is read once in this time: what two queues hold until the
 * same moment is given up at once, not with the time between that it takes to read the folder.
 */
#define FRESH (200 * SOFT_MICROSECOND)

static _Atomic uint64_t counted_at;
static atomic_uint counted;
static _Atomic uint64_t counting; /* processor time that this took */

static uint64_t
fair_clock(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * SOFT_SECOND + (uint64_t)time.tv_nsec;
}

static unsigned int
fair_count_ready(uint64_t now)
{
	if (now - counted_at >= FRESH) {
		const uint64_t begin = fair_clock(CLOCK_THREAD_CPUTIME_ID);

		counted = soft_sleep_count_ready();
		counting += fair_clock(CLOCK_THREAD_CPUTIME_ID) - begin;
		counted_at = soft_now();
	}
	return counted;
}

/* What the process has had, without the time of the checker. */
static uint64_t
fair_processor(void)
{
	return fair_clock(CLOCK_PROCESS_CPUTIME_ID) - counting;
}

void
soft_fair_begin(struct soft_fair *fair, uint64_t length)
{
	*fair = (struct soft_fair){ soft_now(), fair_processor(), length };
}

bool
soft_fair_is_over(const struct soft_fair *fair)
{
	const uint64_t now = soft_now(), passed = now - fair->begin;

	if (passed < fair->length)
		return false;
	if (passed - fair->length >= LIMIT)
		return true;
	return fair_processor() - fair->processor >= fair->length * fair_count_ready(now);
}
