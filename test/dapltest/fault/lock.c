/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The locks of the library, counted on the thread that calls it.  A test can let something happen
 * between two of its lock sections.
 */
#include "fault.h"

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

/* Locks that the thread took while it could be cancelled; -1: they are not counted. */
static _Thread_local int bare = -1;

int
fault_locks_bare(int from)
{
	const int n = bare;

	bare = from;
	return n;
}

static void
count_bare(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_setcancelstate(state, NULL);
	bare += state == PTHREAD_CANCEL_ENABLE;
}

/* Locked and not yet unlocked; below zero: unlocked, and never locked. */
static _Thread_local int held;

/* Of the thread that set them. */
static _Thread_local int windows;
static _Thread_local void (*intruder)(void);

int
fault_locks_held(void)
{
	return held;
}

void
fault_window_at(int n, void (*intrude)(void))
{
	windows = n;
	intruder = intrude;
}

bool
fault_window_missed(void)
{
	const bool missed = windows > 0;

	windows = 0;
	return missed;
}

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int
__wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	held++;
	if (bare >= 0)
		count_bare();
	return __real_pthread_mutex_lock(mutex);
}

static void *
run(void *intrude)
{
	void (**call)(void) = intrude;

	(*call)();
	return NULL;
}

/*
 * On a thread of its own: on this one it would sleep at the place where the interrupted call
 * sleeps, and take the wake that is meant for that call.
 */
static void
let_intrude(void)
{
	pthread_t thread;
	int r;

	r = pthread_create(&thread, NULL, run, &intruder);
	assert(r == 0);
	r = pthread_join(thread, NULL);
	assert(r == 0);
	(void)r;
}

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int
__wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	const int r = __real_pthread_mutex_unlock(mutex);

	if (--held == 0 && windows > 0 && --windows == 0)
		let_intrude();
	return r;
}
