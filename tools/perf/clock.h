/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock -- times in nanoseconds
 */
#ifndef PERF_CLOCK_H
#define PERF_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t
clock_read(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Since some point in the past, the same for all processes of a host. */
static inline uint64_t
clock_now(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

#endif
