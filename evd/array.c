/* SPDX-License-Identifier: BSD-3-Clause */
/* array -- a dequeue that takes several events */
#include "evd/trigger.h"

/* No event can be taken.  Polls; if nothing is queued, takes what it finds at once as far as it can. */
static unsigned int
evd_poll_several(struct evd *evd, DAT_EVENT *events, unsigned int most, int *error)
    REQUIRES(core_locks.trigger)
{
	const uint64_t polls = evd->calls.polls, found = evd->calls.polls_found;
	unsigned int n = 0, got;

	if (evd_queue_load(&evd->queue) > 0) {
		*error = evd_poll(evd, 1);
	} else {
		do {
			got = evd_poll_into(evd, &events[n], most - n, error);
			n += got;
		} while (got == EVD_BATCH && n < most && evd_queue_load(&evd->queue) == 0);
		/* A batch that made no event may have been full: the device queue may hold one behind it. */
		if (n == 0 && *error > 0)
			*error = evd_poll(evd, 1);
	}
	evd->calls.dequeue_polls += evd->calls.polls - polls;
	evd->calls.dequeue_polls_found += evd->calls.polls_found - found;
	return n;
}

int
evd_dequeue_several(struct evd_ref ref, unsigned int most, DAT_EVENT *events)
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
	n += evd_take_queued(evd, &events[n], most - n, &effect);
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
