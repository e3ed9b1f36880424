/* SPDX-License-Identifier: BSD-3-Clause */
#include "evd/rearm.h"

#include <limits.h>

/* ---- poll ---- */

/* In the place of the source's function, until the refusal is reported. */
static struct evd_device_result
evd_poll_refused(void *source, struct evd_batch *batch)
{
	(void)source;
	(void)batch;
	return (struct evd_device_result){ -EIO };
}

/* A hold has dropped receives.  After an overflow each call fails in any case. */
static void
evd_begin_refusal(struct evd *evd) REQUIRES(core_locks.trigger)
{
	if (evd->overflowed)
		return;
	evd->refused = true;
	evd->poll = evd_poll_refused;
	evd->poll_into = NULL;
}

void
evd_end_refusal(struct evd *evd)
{
	evd->refused = false;
	evd->poll = evd->cfg.ops->poll;
	evd->poll_into = evd->cfg.ops->poll_into;
}

/*
 * The source was polled, with the result n, and there is more to do than evd_polled() does: counts
 * what stays of the batch.  1 if another poll is needed, which also returns the error for a
 * refusal; otherwise as evd_polled().  Not inline: most polls find nothing.
 */
static __attribute__((noinline)) int
evd_end_poll(struct evd *evd, const struct evd_batch *batch, int n) REQUIRES(core_locks.trigger)
{
	struct evd_queue *q = &evd->queue;
	const unsigned int open = q->posted.open.count;
	unsigned int queued;
	bool empty, opened, signalled;

	if (n < 0) {
		if (!evd->overflowed)
			return -EIO;
		/*
		 * A device queue that overran yields nothing more.  Barriers need not wait for it
		 * any longer.
		 */
		evd->device_over = evd->unarmable = true;
		n = 0;
	}
	if ((unsigned int)n > batch->room)
		return -EIO; /* the device returned more than was requested */
	evd->calls.polls_found += n > 0;
	empty = (unsigned int)n < batch->room;
	queued = evd_queue_end_batch(q, batch, (unsigned int)n, empty, &signalled);
	opened = q->posted.open.count != open;

	if (batch->refused)
		evd_begin_refusal(evd);
	evd->drained = empty && !batch->refused;
	evd->counters.completions += queued + batch->held;
	if (signalled)
		evd_attend(evd, EVD_HAS_ENTERED);
	evd_attend_unsignalled(evd);
	if (n > 0 || opened)
		evd_announce(evd);
	return !empty || batch->refused;
}

/*
 * The source was polled, with the result n.  1; 0 if the device queue is empty; or an error as
 * evd_poll().
 */
static inline int
evd_polled(struct evd *evd, const struct evd_batch *batch, int n) REQUIRES(core_locks.trigger)
{
	evd->calls.polls++;
	/* The usual end: the device queue is empty, and no event waits for that. */
	if (n != 0 || evd_queue_has_closed(&evd->queue))
		return evd_end_poll(evd, batch, n);
	evd->drained = true;
	return 0;
}

static inline int
evd_poll_by(struct evd *evd, evd_poll_function *poll) REQUIRES(core_locks.trigger)
{
	struct evd_batch batch;
	int n;

	evd_queue_begin_batch(&evd->queue, evd->batch, &batch);
	if (batch.room == 0) {
		evd_attend(evd, EVD_IS_FULL);
		return 0;
	}
	n = poll(evd->cfg.source, &batch).value;
	REARM_PROBE_INT(poll, evd->cfg.handle, n);
	return evd_polled(evd, &batch, n);
}

int
evd_poll_once(struct evd *evd)
{
	return evd_poll_by(evd, evd->poll);
}

int
evd_poll_for_source(struct evd *evd)
{
	int r = evd->cfg.ops != NULL;

	while (r > 0)
		r = evd_poll_by(evd, evd->cfg.ops->poll);
	if (evd->refused)
		evd->drained = false;
	return r < 0 ? r : 0;
}

unsigned int
evd_poll_first(struct evd *evd, int *result)
{
	const uint64_t before = evd->queue.polled;
	const int r = evd_poll(evd, 1);

	*result = r < 0 ? r : evd->queue.polled != before;
	return 0;
}

unsigned int
evd_polled_into(
    struct evd *evd, const struct evd_batch *batch, int n, unsigned int made, int *result)
{
	int r;

	evd->counters.completions += made;
	evd->taken += made;
	r = evd_polled(evd, batch, n);
	*result = r < 0 ? r : n > 0;
	return made;
}

int
evd_took_none(struct evd *evd, int n, unsigned int most)
{
	struct evd_batch batch;
	int r;

	evd_queue_begin_first_batch(&evd->queue, most, &batch);
	r = evd_polled(evd, &batch, n);
	return r > 0 ? -EIO : r; /* the device returned more than was requested */
}

/* ---- arm, and poll again ---- */

int
evd_poll_and_arm(struct evd *evd, bool found_empty)
{
	const bool notified = evd_is_notified(evd->attention);
	const uint64_t before = evd->queue.polled;
	unsigned int enough = 1;
	int r = 0;

	evd_attend(evd, EVD_IS_POLLED);
	if (evd_wants_upcall(evd))
		return 1;
	/* NOTIFY has a report of the queued events: only a new one counts. */
	if (evd->policy == EVD_POLICY_NOTIFY)
		enough += evd_queue_signalled(&evd->queue);
	if (!found_empty && !evd_is_watched(evd)) {
		r = evd_poll(evd, enough);
		if (r < 0)
			return r;
		if (evd_wants_upcall(evd))
			return 1;
	}
	if (notified && evd->queue.polled == before && evd_queue_count(&evd->queue) == 0)
		evd_note_spurious(evd);
	r = evd_arm_and_repoll(evd, enough, true);
	return r < 0 ? r : evd_wants_upcall(evd);
}

/*
 * After a notification there is a completion.  So a run for a CNO arms first: then one poll finds
 * all, and none follows.  Some devices answer an arm with a notification at once if completions
 * were not polled.  It is for nothing, and is seen as such by the run that it causes: from then on
 * some runs poll first.
 */
static bool
evd_arms_before_poll(struct evd *evd) REQUIRES(core_locks.trigger)
{
	if (evd->polls_first > 0) {
		evd->polls_first--;
		return false;
	}
	return evd_is_notified(evd->attention);
}

int
evd_poll_to_report(struct evd *evd)
{
	const bool notified = evd_is_notified(evd->attention);
	const uint64_t polled = evd->queue.polled;
	const enum evd_look look = evd_arms_before_poll(evd) ? EVD_LOOKS_AFTER : EVD_LOOKED;
	int found = 0, armed;

	evd_attend(evd, EVD_IS_POLLED);
	if (!evd->cfg.ops)
		return 0;
	if (look == EVD_LOOKED)
		found = evd_poll(evd, UINT_MAX);
	if (found < 0)
		return found;
	armed = evd_rearm(evd, UINT_MAX, look, &found);
	if (notified && found >= 0 && evd->queue.polled == polled &&
	    evd_queue_count(&evd->queue) == 0) {
		evd_note_spurious(evd);
		evd->polls_first = EVD_POLLS_FIRST;
	}
	if (armed < 0)
		return armed;
	return found < 0 ? found : 0;
}
