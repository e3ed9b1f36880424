/* SPDX-License-Identifier: BSD-3-Clause */
/* resize -- another length for the queue of a living EVD */
#include "evd/trigger.h"

#include <limits.h>

/* LOCKED.  Whether the queue may have this length; what the device holds is queued for that. */
static int
check(struct evd *evd, unsigned int qlen)
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
	os_unlock(&evd->lock);
	r = evd_queue_init(&fresh, qlen, raw_size); /* without the lock: it may take long */
	if (r)
		return r;
	old = fresh;
	evd = evd_enter(ref);
	if (!evd) {
		evd_queue_fini(&fresh);
		return -ENODEV;
	}
	r = check(evd, qlen);
	if (r == 0) {
		old = evd->queue;
		evd_queue_move(&fresh, &old);
		evd->queue = fresh;
		evd->cfg.qlen = (int)qlen;
		/* A stash that was full has room now for what the device held back. */
		(void)evd_poll(evd, UINT_MAX, NULL);
		evd_attend_quiet(evd); /* and one that had room may be full */
	}
	/* What was polled here is somebody's to take, be its notification on the way or not. */
	evd_kick(evd);
	os_unlock(&evd->lock);
	evd_queue_fini(&old);
	return r;
}
