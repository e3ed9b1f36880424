/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fast -- the short ways into and out of an EVD
 *
 * Most events are taken while completions, or software events, and nothing else are queued.
 * This header is for a front end that has a function of its own for that case: the parts are
 * inline, and nothing in them calls a function.  In every other case the front end calls
 * evd_dequeue().
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
#ifndef REARM_EVD_FAST_H
#define REARM_EVD_FAST_H

#include "evd/take.h"

/* ---- dequeue ---- */

/* Whether the EVD has no waiter, and two completions or more, and no other events. */
static inline bool
evd_is_direct(struct evd_ref ref) REQUIRES(core_locks.trigger)
{
	const struct evd *evd = ref.evd;

	return evd->direct == ref.serial && evd->queue.ring_count > 1 &&
	       evd_queue_has_only_completions(&evd->queue);
}

/*
 * Whether the EVD has no waiter, and software events at the head of its posted events and nothing
 * else.
 */
static inline bool
evd_is_direct_software(struct evd_ref ref) REQUIRES(core_locks.trigger)
{
	const struct evd_queue *q = &ref.evd->queue;
	const struct evd_posted *first = evd_posted_first(&q->posted);

	return ref.evd->direct == ref.serial && first && (q->ring_count | q->released_count) == 0 &&
	       first->is_short;
}

/* Takes the first of them. */
static inline void
evd_take_direct_software(struct evd *evd, void *event) REQUIRES(core_locks.trigger)
{
	evd_event_copy_short(event, evd_posted_take(&evd->queue.posted)->event);
	evd->taken_directly++;
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
 * Whether the EVD has no waiter, and one completion and nothing else, which can be taken directly
 * too: the device holds no completion for which there was no room, so no sink has to learn that
 * there is room now.
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

/*
 * Whether the EVD has no waiter and nothing queued, and its source can build events when it is
 * polled.
 */
static inline bool
evd_is_direct_empty(struct evd_ref ref) REQUIRES(core_locks.trigger)
{
	const struct evd *evd = ref.evd;

	return evd->direct == ref.serial && evd->poll_into && evd_queue_load(&evd->queue) == 0 &&
	       !evd->overflowed;
}

/* Not inline: the poll has found what could not be taken at once, or has failed. */
int evd_take_polled_rest(struct evd *evd, const struct evd_batch *batch, int n, unsigned int made)
    REQUIRES(core_locks.trigger);

/*
 * Polls for the dequeue of up to `most` events, at most EVD_BATCH.  Returns how many it took; 0 if
 * there is none; -1 if it took none, and the general function follows.
 */
static inline __attribute__((always_inline)) int
evd_take_polled(struct evd *evd, void *events, unsigned int most) REQUIRES(core_locks.trigger)
{
	struct evd_batch batch;
	unsigned int made;
	int n, taken;

	taken = evd_poll_at_most(evd, events, most, &batch, &n, &made);
	if (taken > 0) {
		evd->at_once.dequeues++;
		return taken;
	}
	if (n == 0) {
		evd->drained = true;
		evd->at_once.looks++;
		return 0;
	}
	return evd_take_polled_rest(evd, &batch, n, made);
}

/* ---- wait ---- */

/* As evd_is_direct(), for a wait for one event, which must be allowed. */
static inline bool
evd_is_direct_for_wait(struct evd_ref ref) REQUIRES(core_locks.trigger)
{
	const struct evd *evd = ref.evd;

	return evd_is_direct(ref) && evd->waitable && !evd->closing &&
	       !evd_policy_calls(evd->policy);
}

/* As evd_take_direct().  Returns how many events are left, as far as is known without a poll. */
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
 *     if (r || !evd_queue_has_only_completions(...) || ... not a record that the front end does
 *     here ...)
 *             return ... evd_wait_end(ref.evd, r, blocked, event, nmore) ...
 *     ... builds the event of evd_first_direct(ref.evd) ...
 *     *nmore = evd_wait_take(ref.evd, blocked);
 *
 * evd_wait_begin() returns with the lock, which its caller has; the others drop it.
 */
int evd_wait_begin(struct evd_ref ref, uint32_t timeout, int threshold, bool *blocked)
    REQUIRES(core_locks.trigger);
int evd_wait_end(struct evd *evd, int r, bool blocked, void *event, int *nmore)
    RELEASE(core_locks.trigger);

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

/* ---- post a software event: evd_post() does the same for any event ---- */

/* The place of one more software event, which the caller writes; NULL if there is no room. */
static inline void *
evd_enter_software(struct evd *evd) REQUIRES(core_locks.trigger)
{
	struct evd_posted *entry;

	if (evd_posted_count(&evd->queue.posted) == 0)
		evd->refusing = false;
	entry = evd_queue_post_free(&evd->queue, true);
	return entry ? entry->event : NULL;
}

/* It is written: wakes the sink, and drops the lock. */
static inline void
evd_entered_software(struct evd *evd) RELEASE(core_locks.trigger)
{
	evd->counters.software++;
	evd_attend(evd, EVD_HAS_ENTERED);
	if (evd_sink(evd) != EVD_SINK_NONE)
		evd_wake_sink(evd);
	evd_unlock(evd);
}

#endif
