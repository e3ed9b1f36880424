/* SPDX-License-Identifier: BSD-3-Clause */
/* crowd -- threads of a test, and what they wait for and choose */
#ifndef REARM_TEST_STRESS_CROWD_H
#define REARM_TEST_STRESS_CROWD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/dt.h"

/* A number from the environment, or another one. */
static inline int
crowd_number(const char *name, int other)
{
	const char *text = getenv(name);

	return text ? atoi(text) : other;
}

static inline pthread_t
crowd_start(void *(*body)(void *), void *arg)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, body, arg), 0);
	return thread;
}

/* Waits until the condition is true; fails the test if it does not become true. */
#define CROWD_AWAIT(condition) \
	do { \
		int ms_ = 0; \
		while (!(condition)) { \
			if (++ms_ > (int)runner_stretch(60000)) \
				ck_abort_msg("it did not come: %s", #condition); \
			dt_nap_ms(1); \
		} \
	} while (0)

/* 0 .. n - 1 */
static inline int
crowd_choose(unsigned int *seed, int n)
{
	*seed = *seed * 1103515245u + 12345u;
	return (int)((*seed >> 16) % (unsigned int)n);
}

#endif
