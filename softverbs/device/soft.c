/* SPDX-License-Identifier: BSD-3-Clause */
#include "soft.h"
#include "cancel.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

uint64_t
soft_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SOFT_SECOND + (uint64_t)ts.tv_nsec;
}

uint32_t
soft_random32(void)
{
	SOFT_UNCANCELLED;
	uint32_t value;

	/*
	 * getrandom() fills up to 256 bytes once the pool of the kernel is seeded; before, use
	 * the clock.
	 */
	if (getrandom(&value, sizeof value, GRND_NONBLOCK) != sizeof value)
		value = (uint32_t)(soft_now() * 2654435761u);
	return value;
}

/*
 * Calls the C library, so that a checker that interposes close() knows that the number is free
 * again; with cancellation disabled.
 */
void
soft_close(int fd)
{
	int state, saved = errno;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	(void)close(fd);
	pthread_setcancelstate(state, NULL);
	errno = saved;
}
