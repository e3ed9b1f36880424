/* SPDX-License-Identifier: BSD-3-Clause */
/* feed -- notifications and posted events: what enters an EVD from outside */
#include "evd/trigger.h"

#include <limits.h>

void
evd_notified(struct evd *evd)
{
	os_lock(&evd->lock);
	if (!evd->alive) {
		/* Being destroyed: whoever destroys waits for just this acknowledgement. */
		const struct evd_source_ops *ops = evd->cfg.ops;
		void *source = evd->cfg.source;

		os_unlock(&evd->lock);
		ops->ack(source, 1);
		return;
	}
	evd->counters.notifications++;
	evd->fresh = true;
	if (++evd->unacked == EVD_ACK_BATCH) {
		evd->cfg.ops->ack(evd->cfg.source, evd->unacked);
		evd->unacked = 0;
	}
	evd->armed = false;
	evd_kick(evd);
	os_unlock(&evd->lock);
}

static void
count_posted(struct evd *evd, enum evd_stream stream)
{
	switch (stream) {
	case EVD_STREAM_SOFTWARE:
		evd->counters.software_events++;
		break;
	case EVD_STREAM_CR:
		evd->counters.cr_events++;
		break;
	case EVD_STREAM_CONNECTION:
		evd->counters.connection_events++;
		break;
	case EVD_STREAM_ASYNC:
		evd->counters.async_events++;
		break;
	case EVD_STREAM_DTO:
	case EVD_STREAM_RMR_BIND:
	case EVD_STREAMS:
		evd->counters.dto_events++;
		break;
	}
}

static int
post(struct evd *evd, enum evd_stream stream, const DAT_EVENT *event, bool barrier,
    struct evd_hold *hold)
{
	struct evd_queue *q = &evd->queue;
	DAT_EVENT copy = *event;
	unsigned int before;
	int r = -ENODEV;

	os_lock(&evd->lock);
	if (evd->alive) {
		copy.evd_handle = evd->cfg.handle;
		if (q->posted_count == 0)
			evd->refusing = false;
		before = evd_queue_loud(q);
		r = evd_queue_post(q, &copy, barrier);
		if (r == 0)
			count_posted(evd, stream);
		if (hold)
			evd_queue_release(q, hold);
		/* A barrier is news when it opens, which is for the kicked taker's look to find. */
		if (evd_queue_loud(q) != before)
			evd->news = true;
		evd_kick(evd);
	}
	os_unlock(&evd->lock);
	return r;
}

int
evd_post(struct evd *evd, enum evd_stream stream, const DAT_EVENT *event)
{
	return post(evd, stream, event, false, NULL);
}

int
evd_post_barrier(struct evd *evd, enum evd_stream stream, const DAT_EVENT *event)
{
	return post(evd, stream, event, true, NULL);
}

int
evd_post_release(struct evd *evd, enum evd_stream stream, const DAT_EVENT *event,
    struct evd_hold *hold)
{
	return post(evd, stream, event, false, hold);
}

void
evd_hold_begin(struct evd *evd, struct evd_hold *hold)
{
	os_lock(&evd->lock);
	hold->active = true;
	os_unlock(&evd->lock);
}

void
evd_purge(struct evd *evd, struct evd_hold *hold,
    bool (*match_raw)(const void *raw, const void *who),
    bool (*match_event)(const DAT_EVENT *event, const void *who), const void *who)
{
	struct evd_queue *q = &evd->queue;
	bool closed;

	os_lock(&evd->lock);
	if (evd->alive) {
		closed = evd_queue_has_closed(q);
		evd_queue_purge(q, hold, match_raw, match_event, who);
		evd_see_again(evd);
		/* What stood behind a purged barrier may count from now on. */
		if (closed && evd_queue_count(q)) {
			evd->news = true;
			evd_kick(evd);
		}
	}
	os_unlock(&evd->lock);
}

void
evd_set_depth(struct evd *evd, unsigned int depth)
{
	os_lock(&evd->lock);
	evd_queue_set_depth(&evd->queue, depth);
	os_unlock(&evd->lock);
}

int
evd_refresh(struct evd *evd)
{
	int r = -ENODEV;

	os_lock(&evd->lock);
	if (evd->alive) {
		r = evd_poll(evd, UINT_MAX, NULL);
		evd_kick(evd);
	}
	os_unlock(&evd->lock);
	return r;
}

bool
evd_mark_overflow(struct evd *evd)
{
	bool first;

	os_lock(&evd->lock);
	first = evd->alive && !evd->overflowed;
	if (first) {
		evd->overflowed = true;
		evd->counters.overflows++;
		evd_kick(evd);
	}
	os_unlock(&evd->lock);
	return first;
}

bool
evd_mark_refusal(struct evd *evd)
{
	bool first;

	os_lock(&evd->lock);
	first = evd->alive && !evd->overflowed && !evd->refusing;
	if (first) {
		evd->refusing = true;
		evd->counters.overflows++;
	}
	os_unlock(&evd->lock);
	return first;
}
