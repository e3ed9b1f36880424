/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dequeue -- the short way out of an EVD
 *
 * Most events are taken while completions, or software events, and nothing else are queued.
 * This header is for a front end that has a function of its own for that case: the parts are inline, and nothing in
 * them calls a function.  In every other case the front end calls evd_dequeue().
 *
 *     if (!evd_trylock(ref.evd))
 *             return ... evd_dequeue(ref, event) ...
 *     if (!evd_is_direct(ref) || ... the front end does not do this record here ...)
 *             return ... evd_dequeue_locked(ref, event) ...
 *     ... builds the event of evd_first_direct(ref.evd) ...
 *     evd_take_direct(ref.evd);
 *     evd_unlock(ref.evd);
 *
 * No free can begin in this section, so that no thread waits for its end.
 */
#ifndef REARM_EVD_DEQUEUE_H
#define REARM_EVD_DEQUEUE_H

#include "evd/trigger.h"

/* As evd_dequeue(), for a caller that has the lock; drops it. */
int evd_dequeue_locked(struct evd_ref ref, DAT_EVENT *event) RELEASE(core_locks.trigger);

/* Whether the EVD has no waiter, and two completions or more, and no other events. */
static inline bool
evd_is_direct(struct evd_ref ref) REQUIRES(core_locks.trigger)
{
	const struct evd *evd = ref.evd;

	return evd->direct == ref.serial && evd->queue.ring_count > 1 &&
	       evd_queue_has_only_completions(&evd->queue);
}

/* Whether the EVD has no waiter, and software events at the head of its posted events and nothing else. */
static inline bool
evd_is_direct_software(struct evd_ref ref) REQUIRES(core_locks.trigger)
{
	const struct evd_queue *q = &ref.evd->queue;
	const struct evd_posted *first = evd_posted_first(&q->posted);

	return ref.evd->direct == ref.serial && first && (q->ring_count | q->released_count) == 0 &&
	       first->event.event_number == DAT_SOFTWARE_EVENT;
}

/* Takes the first of them. */
static inline void
evd_take_direct_software(struct evd *evd, DAT_EVENT *event) REQUIRES(core_locks.trigger)
{
	evd_copy_software(event, evd_posted_take(&evd->queue.posted));
	evd->taken_directly++;
}

/* As evd_is_direct(), for a wait for one event, which must be allowed. */
static inline bool
evd_is_direct_for_wait(struct evd_ref ref) REQUIRES(core_locks.trigger)
{
	const struct evd *evd = ref.evd;

	return evd_is_direct(ref) && evd->waitable && !evd->closing &&
	       !evd_policy_calls(evd->policy);
}

/* The oldest record. */
static inline const struct evd_record *
evd_first_direct(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	return &evd->queue.ring_first->record;
}

/* Removes it.  The queue does not become empty, so nothing else follows from that. */
static inline void
evd_take_direct(struct evd *evd) REQUIRES(core_locks.trigger)
{
	evd_queue_remove_one_of_several(&evd->queue);
	evd->taken_directly++;
}

/*
 * Whether the EVD has no waiter, and one completion and nothing else, which can be taken directly too: the
 * device holds no completion for which there was no room, so no sink has to learn that there is room now.
 */
static inline bool
evd_is_direct_last(struct evd_ref ref) REQUIRES(core_locks.trigger)
{
	const struct evd *evd = ref.evd;

	return evd->direct == ref.serial && evd->queue.ring_count == 1 &&
	       !evd_is_full(evd->attention) && evd_queue_has_only_completions(&evd->queue);
}

static inline void
evd_take_direct_last(struct evd *evd) REQUIRES(core_locks.trigger)
{
	evd_queue_remove_last(&evd->queue);
	evd->taken_directly++;
}

/* The same for a wait.  Returns how many events are left, as far as is known without a poll. */
static inline int
evd_take_direct_for_wait(struct evd *evd) REQUIRES(core_locks.trigger)
{
	evd_queue_remove_one_of_several(&evd->queue);
	evd->taken++;
	evd->calls.waits++;
	evd->slept_waits = 0;
	return (int)evd->queue.ring_count;
}

/*
 * evd_wait() in two steps, for a front end that builds the event of a completion itself:
 *
 *     r = evd_wait_begin(ref, timeout, threshold, &blocked);
 *     if (r || !evd_queue_has_only_completions(...) || ... not a record that the front end does here ...)
 *             return ... evd_wait_end(ref.evd, r, blocked, event, nmore) ...
 *     ... builds the event of evd_first_direct(ref.evd) ...
 *     *nmore = evd_wait_take(ref.evd, blocked);
 *
 * evd_wait_begin() returns with the lock, which its caller has; the others drop it.
 */
int evd_wait_begin(struct evd_ref ref, DAT_TIMEOUT timeout, int threshold, bool *blocked)
    REQUIRES(core_locks.trigger);
int evd_wait_end(struct evd *evd, int r, bool blocked, DAT_EVENT *event, int *nmore)
    RELEASE(core_locks.trigger);

/* Without another poll: the next wait or dequeue finds what the device has. */
static inline int
evd_known_more(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	return (int)evd_queue_count(&evd->queue);
}

/* The EVD has its other sink again, if it has one and the wait blocked. */
static inline void
evd_wait_over(struct evd *evd, bool blocked) REQUIRES(core_locks.trigger)
{
	if (blocked && !evd->bare && evd->alive) {
		evd_set_bare(evd);
		evd_sink_changed(evd);
	}
}

/* For a queue that has only completions. */
static inline int
evd_wait_take(struct evd *evd, bool blocked) RELEASE(core_locks.trigger)
{
	int more;

	(void)evd_queue_take_completion(&evd->queue);
	evd->taken++;
	evd_check_refill(evd);
	more = (int)evd->queue.ring_count;
	evd_wait_over(evd, blocked);
	evd_unlock(evd); /* no free can have begun in this section */
	return more;
}

#endif
