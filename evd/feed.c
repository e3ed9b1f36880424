/* SPDX-License-Identifier: BSD-3-Clause */
/* feed -- posted events enter an EVD; what its owner does to the queue */
#include "evd/rearm.h"

static void
evd_count_posted(struct evd *evd, enum evd_stream stream) REQUIRES(core_locks.trigger)
{
	switch (stream) {
	case EVD_STREAM_SOFTWARE:
		evd->counters.software++;
		break;
	case EVD_STREAM_REQUEST:
		evd->counters.requests++;
		break;
	case EVD_STREAM_COMPLETION:
		evd->counters.completions++;
		break;
	case EVD_STREAM_CONNECTION:
		evd->counters.connections++;
		break;
	case EVD_STREAM_ASYNC:
		evd->counters.asyncs++;
		break;
	}
}

/*
 * As evd_enter().  Before the first post it makes room for posted events, without the lock.  If
 * there is no memory for it, and no other post has made it, there is still none.
 */
static struct evd *
evd_enter_to_post(struct evd_ref ref) TRY_ACQUIRE(core_locks.trigger) UNCHECKED
{
	struct evd *evd = evd_enter(ref);

	if (!evd || evd->queue.posted.length)
		return evd;
	evd_unlock(evd);
	(void)evd_reserve(ref, 0);
	return evd_enter(ref);
}

int
evd_post_ordered(
    struct evd_ref ref, enum evd_stream stream, const void *event, const struct evd_order *order)
{
	struct evd *evd = evd_enter_to_post(ref);
	struct evd_queue *q;
	unsigned int before;
	struct evd_posted *place;
	int r = 0;

	if (!evd)
		return -ENODEV;
	q = &evd->queue;
	if (evd_posted_count(&q->posted) == 0)
		evd->refusing = false;
	before = evd_queue_signalled(q);
	place = evd_queue_post(q, order, stream == EVD_STREAM_SOFTWARE);
	if (place) {
		memcpy(place->event, event, evd->cfg.event_size);
		evd_count_posted(evd, stream);
	} else {
		r = q->posted.length ? -ENOSPC : -ENOMEM;
	}
	/* A closed event counts when it opens; the sink that is woken polls and finds it. */
	if (evd_queue_has_closed(q))
		evd->drained = false;
	if (evd_queue_signalled(q) != before)
		evd_attend(evd, EVD_HAS_ENTERED);
	evd_wake_sink(evd);
	evd_unlock(evd);
	return r;
}

int
evd_post(struct evd_ref ref, enum evd_stream stream, const void *event)
{
	static const struct evd_order none;

	return evd_post_ordered(ref, stream, event, &none);
}

void
evd_hold_begin(struct evd_ref ref, struct evd_hold *hold)
{
	struct evd *evd = evd_enter(ref);

	if (!evd)
		return;
	hold->active = true;
	evd_unlock(evd);
}

void
evd_hold_end(struct evd_ref ref, struct evd_hold *hold)
{
	struct evd *evd = evd_enter(ref);
	bool signalled;

	if (!evd)
		return;
	signalled = hold->count > hold->numbered;
	evd_queue_release(&evd->queue, hold);
	if (signalled) {
		evd_attend(evd, EVD_HAS_ENTERED);
		evd_wake_sink(evd);
	}
	evd_unlock(evd);
}

/*
 * Events that waited for a purged barrier count from now on.  `signalled`: one of them wakes a
 * sink.
 */
static void
evd_end_purge(struct evd *evd, bool signalled) REQUIRES(core_locks.trigger)
{
	evd_report_refill(evd);
	if (signalled) {
		evd_attend(evd, EVD_HAS_ENTERED);
		evd_wake_sink(evd);
	}
}

void
evd_purge(struct evd_ref ref, struct evd_hold *hold,
    bool (*match_record)(const struct evd_record *record, const void *key),
    bool (*match_event)(const void *event, const void *key), const void *key)
{
	struct evd *evd = evd_enter(ref);
	bool signalled;

	if (!evd)
		return;
	signalled = evd_queue_purge(&evd->queue, hold, match_record, match_event, key);
	evd_end_purge(evd, signalled);
	evd_unlock(evd);
}

void
evd_purge_endpoint(struct evd_ref ref, const void *endpoint, bool (*match)(const void *event))
{
	struct evd *evd = evd_enter(ref);
	bool signalled;

	if (!evd)
		return;
	signalled = evd_queue_purge_endpoint(&evd->queue, endpoint, match);
	evd_end_purge(evd, signalled);
	evd_unlock(evd);
}

void
evd_set_depth(struct evd_ref ref, unsigned int depth)
{
	struct evd *evd = evd_enter(ref);

	if (!evd)
		return;
	evd_queue_set_depth(&evd->queue, depth);
	evd_unlock(evd);
}

int
evd_refresh(struct evd_ref ref)
{
	struct evd *evd = evd_enter(ref);
	int r;

	if (!evd)
		return -ENODEV;
	r = evd_poll_for_source(evd);
	evd_wake_sink(evd);
	evd_unlock(evd);
	return r;
}

bool
evd_mark_overflow(struct evd_ref ref)
{
	struct evd *evd = evd_enter(ref);
	bool first;

	if (!evd)
		return false;
	first = !evd->overflowed;
	if (first) {
		evd->overflowed = true;
		evd_set_bare(evd);
		evd_error_returned(evd); /* calls return the overflow from now on */
		evd->counters.overflows++;
		evd_wake_sink(evd);
	}
	evd_unlock(evd);
	return first;
}

bool
evd_mark_refusal(struct evd_ref ref)
{
	struct evd *evd = evd_enter(ref);
	bool first;

	if (!evd)
		return false;
	first = !evd->overflowed && !evd->refusing;
	if (first) {
		evd->refusing = true;
		evd->counters.overflows++;
	}
	evd_unlock(evd);
	return first;
}
