/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cancel -- where a thread of the program may be cancelled
 *
 * A thread that ends inside of a call would keep locks, and the objects of others could never be
 * destroyed.  So there are three kinds of calls:
 *
 *	SOFT_UNCANCELLED	begins each call that creates, destroys, connects, registers or
 *				queries.  The request stays pending, and the thread ends later.
 *	SOFT_CANCEL_POINT	begins the calls that wait for events.  The thread ends when the
 *				call begins, or in the one system call in which it sleeps; the event
 *				that it waits for stays.
 *	neither			the calls of the data path, and those that only compute.  What they
 *				call is no cancellation point; test/tree/check-cancel lists them.
 *
 * The first two are also for threads with asynchronous cancellation.
 */
#ifndef SOFT_DEVICE_CANCEL_H
#define SOFT_DEVICE_CANCEL_H

#include "soft.h"

#include <pthread.h>

/*
 * Ends the calling thread if a request to cancel it is on its way; for one whose type was
 * asynchronous before.  glibc before 2.41 sends it as a signal, which would end the thread in its
 * next cancellation point, even where cancellation is disabled.
 */
void soft_cancel_settle(void);

/* How the thread is cancelled outside of the call. */
struct soft_cancel {
	int state, type;
};

/* Returns the type that the thread had. */
static inline int
soft_cancel_change_type(void)
{
	int type;

	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
	if (type != PTHREAD_CANCEL_DEFERRED)
		soft_cancel_settle();
	return type;
}

static inline struct soft_cancel
soft_cancel_disable(void)
{
	struct soft_cancel was;

	was.type = soft_cancel_change_type();
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was.state);
	return was;
}

static inline void
soft_cancel_restore(const struct soft_cancel *was)
{
	pthread_setcancelstate(was->state, NULL);
	if (was->type != PTHREAD_CANCEL_DEFERRED)
		pthread_setcanceltype(was->type, NULL);
}

/* The first declaration of a function; until its end. */
#define SOFT_UNCANCELLED \
	const struct soft_cancel uncancelled_ \
	    __attribute__((cleanup(soft_cancel_restore), unused)) = soft_cancel_disable()

/* Ends the thread if it was cancelled before. */
static inline int
soft_cancel_defer(void)
{
	pthread_testcancel();
	return soft_cancel_change_type();
}

static inline void
soft_cancel_resume(const int *type)
{
	if (*type != PTHREAD_CANCEL_DEFERRED)
		pthread_setcanceltype(*type, NULL);
}

/* The same for a function that waits. */
#define SOFT_CANCEL_POINT \
	const int deferred_ __attribute__((cleanup(soft_cancel_resume), unused)) = \
	    soft_cancel_defer()

#endif
