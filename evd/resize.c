/* SPDX-License-Identifier: BSD-3-Clause */
/* resize -- changes the length of the queue of an EVD, or of its parts */
#include "evd/rearm.h"

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
	r = evd_poll_for_source(evd);
	if (r < 0)
		return r;
	return evd_queue_load(&evd->queue) > qlen ? -EAGAIN : 0;
}

/* The room for posted events that a queue of this length needs; 0: it has none so far. */
static unsigned int
evd_posts(const struct evd *evd, unsigned int qlen) REQUIRES(core_locks.trigger)
{
	return evd->queue.posted.length ? qlen + evd->queue.reserved : 0;
}

/*
 * One attempt; *posts: the room for posted events that it allocates.  -ERESTART: more is needed by
 * now, and the next attempt allocates it.
 */
static int
evd_try_resize(struct evd_ref ref, unsigned int qlen, bool device, unsigned int event_size,
    unsigned int *posts)
{
	struct evd_queue fresh, old;
	struct evd *evd;
	int r;

	/* Without the lock, because it may take long. */
	r = evd_queue_init(&fresh, qlen, *posts, event_size, device);
	if (r)
		return r;
	old = fresh;
	evd = evd_enter(ref);
	if (!evd) {
		evd_queue_fini(&fresh);
		return -ENODEV;
	}
	*posts = evd_posts(evd, qlen);
	r = fresh.posted.length < *posts ? -ERESTART : evd_check_length(evd, qlen);
	if (r == 0) {
		old = evd->queue;
		evd_queue_move(&fresh, &old);
		evd->queue = fresh;
		evd->cfg.qlen = (int)qlen;
		/* A ring that was full has room now for completions that the device held back. */
		(void)evd_poll_for_source(evd);
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

int
evd_resize(struct evd_ref ref, unsigned int qlen)
{
	struct evd *evd = evd_enter(ref);
	unsigned int posts, event_size;
	bool device;
	int r;

	if (!evd)
		return -ENODEV;
	device = evd->cfg.ops != NULL;
	event_size = evd->cfg.event_size;
	posts = evd_posts(evd, qlen);
	evd_unlock(evd);
	do
		r = evd_try_resize(ref, qlen, device, event_size, &posts);
	while (r == -ERESTART);
	return r;
}

/* The room that is needed when n more are reserved. */
static unsigned int
evd_posts_with(const struct evd *evd, int n) REQUIRES(core_locks.trigger)
{
	return (unsigned int)(evd->cfg.qlen + (int)evd->queue.reserved + n);
}

/*
 * Makes room for `length` posted events, if so much is enough by now: no other thread finds room
 * for fewer than the queue may hold.  Not locked.  0, -ENOMEM or -ENODEV.
 */
static int
evd_lengthen_posted(struct evd_ref ref, unsigned int length, unsigned int event_size, int n)
{
	struct evd_posted_queue fresh, old;
	struct evd *evd;
	int r;

	r = evd_posted_init(&fresh, length, event_size);
	if (r)
		return r;
	evd = evd_enter(ref);
	if (evd) {
		const unsigned int need = evd_posts_with(evd, n);

		if (evd->queue.posted.length < need && need <= length) {
			old = evd->queue.posted;
			evd_posted_move(&fresh, &old);
			evd->queue.posted = fresh;
			fresh = old;
		}
		evd_unlock(evd);
	}
	evd_posted_fini(&fresh);
	return evd ? 0 : -ENODEV;
}

int
evd_reserve(struct evd_ref ref, int n)
{
	unsigned int need, length, event_size;
	struct evd *evd;
	int r = 0;

	do {
		evd = evd_enter(ref);
		if (!evd)
			return -ENODEV;
		need = evd_posts_with(evd, n);
		length = evd->queue.posted.length;
		event_size = evd->cfg.event_size;
		if (need <= length)
			evd->queue.reserved = (unsigned int)((int)evd->queue.reserved + n);
		evd_unlock(evd);
		if (need <= length)
			return 0;
		r = evd_lengthen_posted(ref, need > 2 * length ? need : 2 * length, event_size, n);
	} while (r == 0);
	return r;
}

int
evd_hold_reserve(struct evd_ref ref, struct evd_hold *hold, unsigned int capacity)
{
	struct evd *evd = evd_enter(ref);
	struct evd_hold spare;
	bool enough;
	int r;

	if (!evd)
		return -ENODEV;
	enough = hold->capacity >= capacity;
	evd_unlock(evd);
	if (enough)
		return 0;
	r = evd_hold_init(&spare, capacity);
	if (r)
		return r;
	evd = evd_enter(ref);
	if (evd) {
		evd_hold_lengthen(hold, &spare);
		evd_unlock(evd);
	}
	evd_hold_fini(&spare);
	return evd ? 0 : -ENODEV;
}

/* Not locked.  0, -ENOMEM or -ENODEV. */
static int
evd_lengthen_ring(struct evd_ref ref, unsigned int length)
{
	struct evd_queue spare;
	struct evd *evd;
	int r;

	r = evd_queue_init_ring(&spare, length);
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
	bool full;
	int r;

	do {
		evd = evd_enter(ref);
		if (!evd)
			return -ENODEV;
		r = evd_poll_for_source(evd);
		full = r == 0 && evd->queue.ring_count == evd->queue.qlen;
		length = 2 * evd->queue.qlen;
		if (length < evd->queue.depth)
			length = evd->queue.depth;
		evd_wake_sink(evd);
		evd_unlock(evd);
		if (full)
			r = evd_lengthen_ring(ref, length);
	} while (full && r == 0);
	return r;
}
