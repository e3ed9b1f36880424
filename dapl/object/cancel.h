/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cancel -- where a thread of the program may be cancelled
 *
 * A thread that ends inside of a call would keep locks and references, and the adapter could never
 * be closed.  So there are three kinds of calls:
 *
 *	DAPL_UNCANCELLED	begins each call that may reach a cancellation point, in the C
 *				library or in the libraries of the device.  The request stays
 *				pending, and the thread ends later.
 *	DAPL_CANCEL_POINT	begins dat_evd_wait() and dat_cno_wait().  The thread ends when the
 *				call begins, or while it sleeps (evd/os.h), where it leaves the
 *				object as a wait without an event does.
 *	neither			the calls of the data path, which pay for nothing: what they call is
 *				no cancellation point.  A device whose posts are system calls is the
 *				exception: dapl_post_begin().
 *
 * The first two are also for threads with asynchronous cancellation.
 */
#ifndef REARM_DAPL_CANCEL_H
#define REARM_DAPL_CANCEL_H

#include "evd/os.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* How the thread is cancelled outside of the call. */
struct dapl_cancel {
	int state, type;
};

/* Returns the type that the thread had. */
static inline int
dapl_cancel_change_type(void)
{
	int type;

	(void)pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
	if (type != PTHREAD_CANCEL_DEFERRED)
		os_cancel_settle();
	return type;
}

static inline struct dapl_cancel
dapl_cancel_disable(void)
{
	struct dapl_cancel was;

	was.type = dapl_cancel_change_type();
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was.state);
	return was;
}

static inline void
dapl_cancel_restore(const struct dapl_cancel *was)
{
	(void)pthread_setcancelstate(was->state, NULL);
	if (was->type != PTHREAD_CANCEL_DEFERRED)
		(void)pthread_setcanceltype(was->type, NULL);
}

/* The first declaration of a function; until its end. */
#define DAPL_UNCANCELLED \
	const struct dapl_cancel uncancelled_ \
	    __attribute__((cleanup(dapl_cancel_restore), unused)) = dapl_cancel_disable()

/* Ends the thread if it was cancelled before. */
static inline int
dapl_cancel_defer(void)
{
	pthread_testcancel();
	return dapl_cancel_change_type();
}

static inline void
dapl_cancel_resume(const int *type)
{
	if (*type != PTHREAD_CANCEL_DEFERRED)
		(void)pthread_setcanceltype(*type, NULL);
}

/* The same for a function that waits. */
#define DAPL_CANCEL_POINT \
	const int deferred_ __attribute__((cleanup(dapl_cancel_resume), unused)) = \
	    dapl_cancel_defer()

/*
 * Posts and arms of a device may be system calls that are cancellation points, as those of
 * soft-RoCE.  Set when such a device is opened, by its vendor; never cleared.
 */
extern bool dapl_posts_may_cancel;
void dapl_cancel_expect(uint32_t vendor);

/* Around a post: returns the argument of dapl_post_end(). */
static inline int
dapl_post_begin(void)
{
	int state = PTHREAD_CANCEL_DISABLE;

	if (__builtin_expect(dapl_posts_may_cancel, false))
		(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	return state;
}

static inline void
dapl_post_end(int state)
{
	if (__builtin_expect(state != PTHREAD_CANCEL_DISABLE, false))
		(void)pthread_setcancelstate(state, NULL);
}

#endif
