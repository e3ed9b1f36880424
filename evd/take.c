/* SPDX-License-Identifier: BSD-3-Clause */
#include "evd/fast.h"

static void
evd_copy_posted(void *event, const struct evd_posted *posted, unsigned int size)
{
	if (posted->is_short)
		evd_event_copy_short(event, posted->event);
	else
		memcpy(event, posted->event, size);
}

bool
evd_take_oldest(struct evd *evd, void *event, struct evd_effect *effect)
{
	const struct evd_record *record;
	const struct evd_posted *posted;

	switch (evd_queue_take(&evd->queue, &record, &posted)) {
	case EVD_COMPLETION:
	case EVD_RELEASED:
		evd_convert_taken(evd, record, event, effect);
		return true;
	case EVD_POSTED:
		evd_copy_posted(event, posted, evd->cfg.event_size);
		evd->taken++;
		return true;
	case EVD_NOTHING:
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

void
evd_leave_with_effect(struct evd *evd, const struct evd_effect *effect)
{
	if (effect->code) {
		evd->pins++;
		evd_unlock(evd);
		evd_run_effect(evd, effect);
		evd_lock(evd);
		evd->pins--;
	}
	evd_leave(evd);
}

/* ---- dequeue: one event ---- */

/* Polls for the dequeue of an empty queue. */
static int
evd_dequeue_poll(struct evd *evd) REQUIRES(core_locks.trigger)
{
	const uint64_t polls = evd->calls.polls, found = evd->calls.polls_found;
	int r = 0;

	if (evd->cfg.ops)
		r = evd_poll_at_once(evd, 1);
	evd->calls.dequeue_polls += evd->calls.polls - polls;
	evd->calls.dequeue_polls_found += evd->calls.polls_found - found;
	return r;
}

int
evd_dequeue_locked(struct evd_ref ref, void *event)
{
	struct evd *evd = ref.evd;
	struct evd_effect effect;
	int r = 0;

	if (evd->direct != ref.serial) {
		r = evd_is(ref) ? -EBUSY : -ENODEV; /* a thread waits, or the EVD was freed */
		evd->calls.dequeues += r == -EBUSY;
		evd_unlock(evd);
		return r;
	}
	evd->calls.dequeues++;
	if (evd_queue_count(&evd->queue) == 0)
		r = evd_dequeue_poll(evd);
	effect.code = 0;
	if (evd_queue_count(&evd->queue) == 0) {
		if (evd->overflowed)
			r = -EOVERFLOW;
		else if (r == 0)
			r = -EAGAIN;
		evd_error_returned(evd);
	} else {
		(void)evd_take(evd, event, &effect);
		evd->calls.dequeued++;
		r = 0;
	}
	if (effect.code)
		evd_leave_with_effect(evd, &effect);
	else
		evd_unlock(evd); /* no free can have begun in this section */
	return r;
}

int
evd_dequeue(struct evd_ref ref, void *event)
{
	evd_lock(ref.evd);
	return evd_dequeue_locked(ref, event);
}

int
evd_take_polled_rest(struct evd *evd, const struct evd_batch *batch, int n, unsigned int made)
{
	int result;

	(void)evd_polled_into(evd, batch, n, made, &result);
	evd->calls.dequeue_polls++;
	evd->calls.dequeue_polls_found += n > 0;
	if (made == 0)
		return -1;
	evd->calls.dequeues++;
	evd->calls.dequeued++;
	return (int)made;
}

/* ---- and several ---- */

/*
 * No event can be taken.  Polls; if nothing is queued, takes what it finds at once as far as it
 * can.
 */
static unsigned int
evd_poll_several(struct evd *evd, void *events, unsigned int most, int *error)
    REQUIRES(core_locks.trigger)
{
	const uint64_t polls = evd->calls.polls, found = evd->calls.polls_found;
	void *next = events;
	unsigned int n = 0, got;

	if (evd_queue_load(&evd->queue) > 0) {
		*error = evd_poll(evd, 1);
	} else {
		do {
			got = evd_poll_into(evd, next, most - n, error);
			next = evd_event_at(next, evd->cfg.event_size, got);
			n += got;
		} while (got == EVD_BATCH && n < most && evd_queue_load(&evd->queue) == 0);
		/*
		 * A batch that made no event may have been full: the device queue may hold one
		 * behind it.
		 */
		if (n == 0 && *error > 0)
			*error = evd_poll(evd, 1);
	}
	evd->calls.dequeue_polls += evd->calls.polls - polls;
	evd->calls.dequeue_polls_found += evd->calls.polls_found - found;
	return n;
}

int
evd_dequeue_several(struct evd_ref ref, unsigned int most, void *events)
{
	struct evd *evd = evd_enter(ref);
	struct evd_effect effect;
	unsigned int n = 0;
	int error = 0;

	if (!evd)
		return -ENODEV;
	evd->calls.dequeues++;
	if (evd->waiting) {
		evd_unlock(evd);
		return -EBUSY;
	}
	effect.code = 0;
	if (evd_queue_count(&evd->queue) == 0)
		n = evd_poll_several(evd, events, most, &error);
	n += evd_take_queued(evd, evd_event_at(events, evd->cfg.event_size, n), most - n, &effect);
	if (n) {
		evd->calls.dequeued++;
	} else {
		if (evd->overflowed)
			error = -EOVERFLOW;
		else if (error >= 0)
			error = -EAGAIN;
		evd_error_returned(evd);
	}
	if (effect.code)
		evd_leave_with_effect(evd, &effect);
	else
		evd_unlock(evd); /* no free can have begun in this section */
	return n ? (int)n : error;
}
