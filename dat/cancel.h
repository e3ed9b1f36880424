/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cancel -- calls of the registry inside of which a thread is not cancelled
 *
 * They take locks, read files, load libraries and call a provider to create or destroy an adapter.  A thread that
 * ended there would keep a lock, or a reference.  The request to cancel it stays pending.
 */
#ifndef REARM_DAT_CANCEL_H
#define REARM_DAT_CANCEL_H

#include <pthread.h>

static inline int
cancel_disable(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	return state;
}

static inline void
cancel_restore(const int *state)
{
	pthread_setcancelstate(*state, NULL);
}

/* The first declaration of a function; until its end. */
#define REGISTRY_UNCANCELLED \
	const int uncancelled_ __attribute__((cleanup(cancel_restore), unused)) = cancel_disable()

#endif
