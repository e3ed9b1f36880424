/* SPDX-License-Identifier: BSD-3-Clause */
/* resize -- changes the length of the queue of an EVD, or of its ring only */
#include "evd/trigger.h"

#include <limits.h>

/*
 * Checks whether the queue may have this length.  Polls first: completions of the device count as
 * queued.
 */
static int
evd_check_length(struct evd *evd, unsigned int qlen) REQUIRES(core_locks.trigger)
{
	int r;

	if (evd->waiting)
		return -EBUSY;
	r = evd_poll(evd, UINT_MAX, NULL);
	if (r < 0)
		return r;
	return evd_queue_load(&evd->queue) > qlen ? -EAGAIN : 0;
}

int
evd_resize(struct evd_ref ref, unsigned int qlen)
{
	struct evd_queue fresh, old;
	size_t raw_size;
	struct evd *evd;
	int r;

	evd = evd_enter(ref);
	if (!evd)
		return -ENODEV;
	raw_size = evd->cfg.raw_size;
	evd_unlock(evd);
	r = evd_queue_init(&fresh, qlen, raw_size); /* without the lock, because it may take long */
	if (r)
		return r;
	old = fresh;
	evd = evd_enter(ref);
	if (!evd) {
		evd_queue_fini(&fresh);
		return -ENODEV;
	}
	r = evd_check_length(evd, qlen);
	if (r == 0) {
		old = evd->queue;
		evd_queue_move(&fresh, &old);
		evd->queue = fresh;
		evd->cfg.qlen = (int)qlen;
		/* A ring that was full has room now for completions that the device held back. */
		(void)evd_poll(evd, UINT_MAX, NULL);
		evd_attend_unsignalled(evd); /* a shorter ring may be full now */
	}
	/*
	 * The poll above may have taken completions whose notification is still due: wake the sink
	 * for them.
	 */
	evd_wake_sink(evd);
	evd_unlock(evd);
	evd_queue_fini(&old);
	return r;
}

/* Not locked.  0, -ENOMEM or -ENODEV. */
static int
evd_lengthen_ring(struct evd_ref ref, unsigned int length, size_t raw_size)
{
	struct evd_queue spare;
	struct evd *evd;
	int r;

	r = evd_queue_init_ring(&spare, length, raw_size);
	if (r)
		return r;
	evd = evd_enter(ref);
	if (evd) {
		if (evd->queue.qlen < length)
			evd_queue_lengthen_ring(&evd->queue, &spare);
		evd_unlock(evd);
	}
	evd_queue_fini(&spare);
	return evd ? 0 : -ENODEV;
}

int
evd_drain(struct evd_ref ref)
{
	struct evd *evd;
	unsigned int length;
	size_t raw_size;
	bool full;
	int r;

	do {
		evd = evd_enter(ref);
		if (!evd)
			return -ENODEV;
		r = evd_poll(evd, UINT_MAX, NULL);
		full = r == 0 && evd->queue.ring_count == evd->queue.qlen;
		length = 2 * evd->queue.qlen;
		if (length < evd->queue.depth)
			length = evd->queue.depth;
		raw_size = evd->queue.raw_size;
		evd_wake_sink(evd);
		evd_unlock(evd);
		if (full)
			r = evd_lengthen_ring(ref, length, raw_size);
	} while (full && r == 0);
	return r;
}
