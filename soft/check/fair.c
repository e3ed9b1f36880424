/* SPDX-License-Identifier: BSD-3-Clause */
#include "fair.h"
#include "sleep.h"

#include <time.h>

/* It is over so long after its time in any case. */
#define LIMIT (200 * SOFT_MILLISECOND)

static uint64_t
fair_processor(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * SOFT_SECOND + (uint64_t)time.tv_nsec;
}

void
soft_fair_begin(struct soft_fair *fair, uint64_t length)
{
	*fair = (struct soft_fair){ soft_now(), fair_processor(), length };
}

bool
soft_fair_is_over(const struct soft_fair *fair)
{
	const uint64_t passed = soft_now() - fair->begin;

	if (passed < fair->length)
		return false;
	if (passed - fair->length >= LIMIT)
		return true;
	return fair_processor() - fair->processor >= fair->length * soft_sleep_count_ready();
}
