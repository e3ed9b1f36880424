/* SPDX-License-Identifier: BSD-3-Clause */
#include "evd/trigger.h"

/* Completions per call to the device: enough to pay for its lock, few enough for the cache. */
#define EVD_BATCH 32

bool
evd_wanted(const struct evd *evd)
{
	unsigned int count = evd_queue_loud(&evd->queue);

	switch (evd_taker(evd)) {
	case EVD_TAKER_WAITER:
		return count >= (unsigned int)evd->threshold;
	case EVD_TAKER_UPCALL:
		if (evd->policy == DAT_UPCALL_MANY)
			return count > 0;
		/* One at a time, also while upcalls of an earlier MANY are still running: the
		 * return that ends the last of them kicks. */
		if (evd->in_progress)
			return false;
		return evd->policy == DAT_UPCALL_NORIFY ? evd->news : count > 0;
	case EVD_TAKER_CNO:
		return evd->news;
	case EVD_TAKER_NOBODY:
		break;
	}
	return false;
}

/* Sorts one polled completion into the stash, its endpoint's hold, or nowhere. */
static bool
admit(struct evd *evd, const void *record)
{
	const struct evd_source_ops *ops = evd->cfg.ops;
	enum evd_verdict verdict = EVD_TAKE;
	struct evd_hold *hold = NULL;

	if (ops->sort)
		verdict = ops->sort(evd->cfg.source, record, &hold);
	if (verdict == EVD_DROP)
		return false;
	evd->counters.dto_events++;
	if (verdict == EVD_HOLD && evd_queue_hold(hold, record) == 0)
		return false; /* counts from its release on */
	if (verdict == EVD_TAKE_QUIETLY) {
		evd_queue_keep_quiet(&evd->queue, record);
		return false;
	}
	evd_queue_keep(&evd->queue, record);
	return true;
}

int
evd_poll(struct evd *evd, unsigned int enough, unsigned int *added)
{
	const struct evd_source_ops *ops = evd->cfg.ops;
	struct evd_queue *q = &evd->queue;
	unsigned int open, room;
	unsigned char *batch;
	void *start;
	int n;

	if (!ops)
		return 0;
	while (evd_queue_loud(q) < enough) {
		room = evd_queue_room(q, EVD_BATCH, &start);
		if (room == 0) {
			evd->blind = true;
			return 0;
		}
		batch = start;
		n = ops->poll(evd->cfg.source, batch, (int)room);
		if (n < 0 && !evd->overflowed)
			return n;
		if (n < 0) {
			/* Of a device queue that overflowed nothing is to be expected any more:
			 * what waits for it, a barrier for one, has waited long enough. */
			evd->device_over = true;
			n = 0;
		}
		if ((unsigned int)n > room)
			return -EIO; /* the device wrote where it was not asked to */
		open = q->posted_open;
		for (int i = 0; i < n; i++)
			if (admit(evd, batch + (size_t)i * evd->cfg.raw_size))
				evd->news = true;
		evd_queue_polled(q, (unsigned int)n, (unsigned int)n < room);
		if (q->posted_open != open)
			evd->news = true; /* a barrier opened */
		if (n > 0 && q->quiet && evd_queue_loud(q) == evd_queue_count(q))
			evd->news = true; /* full of quiet ones: somebody has to make room */
		/* Nothing tells the taker of this: the stash was full, or no arm was to be had. */
		if ((evd->blind || evd->put_off) && n > 0) {
			evd->blind = false;
			evd_kick(evd);
		}
		if (added)
			*added += (unsigned int)n;
		if ((unsigned int)n < room)
			return 0;
	}
	return 0;
}

int
evd_arm(struct evd *evd, bool *exact)
{
	const struct evd_source_ops *ops = evd->cfg.ops;
	int r;

	*exact = false;
	if (!ops || evd->armed)
		return 0;
	if (evd->device_over)
		return 0;
	r = ops->arm(evd->cfg.source, evd->solicited_only);
	if (r < 0) {
		evd->counters.arm_failures++;
		return r;
	}
	evd->armed = true;
	evd->counters.arms++;
	*exact = r == 0 && ops->exact_hint;
	return 1;
}

/* How many items must count before evd_wanted() can turn true by polling. */
static unsigned int
enough_for(const struct evd *evd)
{
	/* A taker that is told, not fed, has seen what is queued: only something new counts. */
	if (!evd->waiting && (!evd_policy_calls(evd->policy) || evd->policy == DAT_UPCALL_NORIFY))
		return evd_queue_loud(&evd->queue) + 1;
	return evd->waiting ? (unsigned int)evd->threshold : 1;
}

int
evd_look(struct evd *evd)
{
	unsigned int added = 0, before;
	bool exact;
	int r, armed;

	if (evd_wanted(evd)) {
		evd->fresh = false;
		return 1;
	}
	r = evd_poll(evd, enough_for(evd), &added);
	if (evd->fresh) {
		evd->fresh = false;
		if (r == 0 && added == 0 && evd_queue_count(&evd->queue) == 0)
			evd->counters.spurious_notifications++;
	}
	if (r < 0)
		return r;
	if (evd_wanted(evd))
		return 1;

	armed = evd_arm(evd, &exact);
	if (armed < 0)
		return armed;
	/*
	 * What was queued before the arm raises no notification, so the queue must be seen empty
	 * once more after it.  Only the pass that armed may trust the device's word for that.
	 */
	if (exact)
		return 0;
	before = evd_queue_count(&evd->queue);
	r = evd_poll(evd, enough_for(evd), NULL);
	if (r < 0)
		return r;
	if (armed && evd_queue_count(&evd->queue) > before)
		evd->counters.races_closed++;
	return evd_wanted(evd);
}

/* ---- handing the EVD to its taker ---- */

/*
 * What an owned EVD's run waits for may matter no more: the end of a back-off when something else
 * is wanted, a thread that may call out when a CNO is to be told in place of an upcall made.  And
 * the threads it is queued for may no longer be the ones that serve it: all of them may be parked
 * in upcalls, or the one, for what the others would do.  The same for an upcall whose thread owns
 * the EVD until it returns: it need not, once others may run beside it or a CNO takes the events.
 */
static void
hasten(struct evd *evd)
{
	const bool tell = evd_taker(evd) == EVD_TAKER_CNO;

	if (evd->caller && (tell || evd->policy == DAT_UPCALL_MANY)) {
		evd->caller = NULL;
		loop_ready(evd_home(evd), &evd->job);
	} else if (evd->job.on != evd_home(evd) && loop_unready(&evd->job)) {
		evd->put_off = false;
		loop_ready(evd_home(evd), &evd->job);
	} else if (evd->put_off && (evd->fault_delay || tell)) {
		evd->put_off = false;
		loop_hasten(&evd->job);
	}
}

void
evd_kick(struct evd *evd)
{
	switch (evd_taker(evd)) {
	case EVD_TAKER_WAITER:
		park_list_wake_all(&evd->waiters);
		break;
	case EVD_TAKER_UPCALL:
	case EVD_TAKER_CNO:
		if (!evd->alive)
			break;
		if (evd->owned) {
			evd->counters.busy_skips++;
			hasten(evd);
			break;
		}
		evd->owned = true;
		loop_ready(evd_home(evd), &evd->job);
		break;
	case EVD_TAKER_NOBODY:
		break;
	}
}

static void
channel_readable(void *arg)
{
	struct evd *evd = arg;

	os_lock(&evd->lock);
	if (!evd->alive || !evd->cfg.ops || !evd->cfg.ops->read) {
		os_unlock(&evd->lock); /* the slot's EVD went, or is another one by now */
		return;
	}
	evd->pins++;
	os_unlock(&evd->lock);
	if (evd->cfg.ops->read(evd->cfg.source) == 1)
		evd_notified(evd);
	os_lock(&evd->lock);
	evd->pins--;
	evd_leave(evd);
}

int
evd_list_channel(struct evd *evd)
{
	int r;

	if (evd->cfg.channel_fd < 0 || evd->channel.id)
		return 0;
	r = loop_add(evd->cfg.loop, evd->cfg.channel_fd, channel_readable, evd, &evd->channel);
	if (r == 0)
		evd->channel_watched = true;
	return r;
}

void
evd_taker_settle(struct evd *evd)
{
	enum evd_taker taker = evd_taker(evd);
	bool watch = taker == EVD_TAKER_UPCALL || taker == EVD_TAKER_CNO;

	if (evd->channel.id && watch != evd->channel_watched) {
		loop_watch(evd->cfg.loop, &evd->channel, watch);
		evd->channel_watched = watch;
	}
	evd->news = evd_queue_loud(&evd->queue) > 0;
}

void
evd_taker_changed(struct evd *evd)
{
	evd_taker_settle(evd);
	evd_kick(evd);
}

void
evd_see_again(struct evd *evd)
{
	if (evd->blind && evd->queue.raw_count == 0) {
		evd->blind = false;
		evd_kick(evd);
	}
}

bool
evd_take(struct evd *evd, DAT_EVENT *event, struct evd_effect *effect)
{
	const DAT_EVENT *posted;
	const void *record;

	switch (evd_queue_take(&evd->queue, &record, &posted)) {
	case EVD_ITEM_RAW:
	case EVD_ITEM_RELEASED:
		evd->cfg.ops->convert(evd->cfg.source, record, event, effect);
		event->evd_handle = evd->cfg.handle;
		evd->taken++;
		evd_see_again(evd);
		return true;
	case EVD_ITEM_POSTED:
		*event = *posted;
		evd->taken++;
		return true;
	case EVD_ITEM_NONE:
		break;
	}
	return false;
}

void
evd_run_effect(struct evd *evd, const struct evd_effect *effect)
{
	if (effect->code)
		evd->cfg.ops->effect(evd->cfg.source, effect);
}
