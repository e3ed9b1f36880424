/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cancel -- calls of the registry inside of which a thread is not cancelled
 *
 * They take locks, read files, load libraries and call a provider to create or destroy an adapter.
 * A thread that ended there would keep a lock, or a reference.  The request to cancel it stays
 * pending.
 */
#ifndef REARM_DAT_CANCEL_H
#define REARM_DAT_CANCEL_H

#include <pthread.h>

/*
 * Ends the calling thread if a request to cancel it is on its way; for one whose type was
 * asynchronous before.  glibc before 2.41 sends it as a signal, which would end the thread in its
 * next cancellation point, even where cancellation is disabled.
 */
void cancel_settle(void);

/* How the thread is cancelled outside of the call. */
struct cancel {
	int state, type;
};

static inline struct cancel
cancel_disable(void)
{
	struct cancel was;

	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &was.type);
	if (was.type != PTHREAD_CANCEL_DEFERRED)
		cancel_settle();
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was.state);
	return was;
}

static inline void
cancel_restore(const struct cancel *was)
{
	pthread_setcancelstate(was->state, NULL);
	if (was->type != PTHREAD_CANCEL_DEFERRED)
		pthread_setcanceltype(was->type, NULL);
}

/* The first declaration of a function; until its end. */
#define REGISTRY_UNCANCELLED \
	const struct cancel uncancelled_ __attribute__((cleanup(cancel_restore), unused)) = \
	    cancel_disable()

#endif
