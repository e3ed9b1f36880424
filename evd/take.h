/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * take -- how an event leaves an EVD
 *
 * It is removed from the queue and built in the memory of the consumer, and its effect runs.  What
 * keeps the ways apart is what they may leave out, an instruction in 130 each (bench/limits):
 *
 *   evd_take()           one event of any kind, if there is one
 *   evd_take_queued()    several, until one has an effect
 *   evd_build_event()    of a record that the caller removes: the next upcall of a series
 *   evd_poll_into()      nothing is queued: what a poll finds does not enter the queue (rearm.h)
 *   evd_take_direct()    and its kin: the front end builds the event, and no call is made (fast.h)
 *
 * evd_take_oldest() and evd_convert_taken() are parts of the first.
 */
#ifndef REARM_EVD_TAKE_H
#define REARM_EVD_TAKE_H

#include "evd/rearm.h"

/* The events that were taken by any call. */
static inline uint64_t
evd_taken(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	return evd->taken + evd->taken_directly;
}

/* Builds the event of a record that leaves the queue. */
static inline void
evd_build_event(struct evd *evd, const struct evd_record *record, void *event,
    struct evd_effect *effect) REQUIRES(core_locks.trigger)
{
	evd->cfg.ops->convert(evd->cfg.source, record, event, effect);
	evd->taken++;
}

/* The same for a record that has left it. */
static inline void
evd_convert_taken(struct evd *evd, const struct evd_record *record, void *event,
    struct evd_effect *effect) REQUIRES(core_locks.trigger)
{
	evd_build_event(evd, record, event, effect);
	evd_check_refill(evd);
}

/* evd_take() for a queue that may have items of every kind. */
bool evd_take_oldest(struct evd *evd, void *event, struct evd_effect *effect)
    REQUIRES(core_locks.trigger);

/* Removes the oldest item and builds its event; false if no item can be taken. */
static inline bool
evd_take(struct evd *evd, void *event, struct evd_effect *effect) REQUIRES(core_locks.trigger)
{
	if (!evd_queue_begins_with_completion(&evd->queue))
		return evd_take_oldest(evd, event, effect);
	evd_convert_taken(evd, evd_queue_take_completion(&evd->queue), event, effect);
	return true;
}

/*
 * Takes what is queued, up to `most` events, until one has an effect.  Returns how many are in
 * `events`.
 */
static inline unsigned int
evd_take_queued(struct evd *evd, void *events, unsigned int most, struct evd_effect *effect)
    REQUIRES(core_locks.trigger)
{
	const unsigned int size = evd->cfg.event_size;
	unsigned int n = 0;

	for (; n < most && !effect->code && evd_take(evd, events, effect); n++)
		events = (char *)events + size;
	return n;
}

/* Without another poll: the next wait or dequeue finds what the device has. */
static inline int
evd_known_more(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	return (int)evd_queue_count(&evd->queue);
}

/* Runs the effect of a completion that was taken.  The event is claimed, or the EVD pinned. */
void evd_run_effect(struct evd *evd, const struct evd_effect *effect) NO_CORE_LOCK;

/* As evd_leave(), for a section that took an event: runs the effect first, not locked and with
 * the EVD pinned. */
void evd_leave_with_effect(struct evd *evd, const struct evd_effect *effect)
    RELEASE(core_locks.trigger);

/* As evd_dequeue(), for a caller that has the lock; drops it. */
int evd_dequeue_locked(struct evd_ref ref, void *event) RELEASE(core_locks.trigger);

#endif
