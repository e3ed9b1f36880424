/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frame -- the upcalls in progress: which of them a TEARDOWN, a free or a close waits for
 *
 * Each upcall has a frame on the stack of its thread, and so has a report of a failure.  A call
 * from inside an upcall of the EVD cannot wait for that upcall: it makes it exempt.  A thread that
 * closes an adapter makes all its upcalls exempt meanwhile (close.c).
 */
#ifndef REARM_EVD_FRAME_H
#define REARM_EVD_FRAME_H

#include "evd/trigger.h"

/* An upcall in progress, on the stack of its thread. */
struct upcall_frame {
	struct upcall_frame *outer;
	struct evd *evd;
	bool exempt; /* called TEARDOWN or free for its own EVD: no call from inside waits for it */
};

/* The upcall of this EVD that the calling thread is inside, or NULL. */
struct upcall_frame *evd_frame(const struct evd *evd) REQUIRES(core_locks.trigger);

/*
 * From now on no call from inside an upcall of the EVD waits for this upcall, or for the other
 * upcalls of its thread.
 */
void evd_frame_exempt(struct evd *evd, struct upcall_frame *frame) REQUIRES(core_locks.trigger);

/*
 * Waits until no upcall runs, except those that the calling thread is inside, those that wait here
 * too, and those whose threads close an adapter.  Drops and retakes the lock.
 */
void evd_await_upcalls(struct evd *evd) REQUIRES(core_locks.trigger);

/*
 * The number of upcalls for which the calling thread does not wait, because their threads close an
 * adapter.  Such a close may wait for the callback that the calling thread is inside.  It never
 * waits for a thread that is inside no callback.
 */
static inline int
evd_closers(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	return os_in_callback() ? evd->closers : 0;
}

/* Upcalls run, and the calling thread waits for none of them. */
static inline bool
evd_only_closers(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	return evd->in_progress > 0 && evd->in_progress == evd_closers(evd);
}

#endif
