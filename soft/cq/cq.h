/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cq -- completion queue with one-shot notification
 *
 * One lock covers the entries and the armed state, so an entry is added either before or after a
 * request for notification.  An entry that is added after the request raises an event; entries
 * that are there already do not.
 */
#ifndef SOFT_CQ_H
#define SOFT_CQ_H

#include "channel.h"
#include "personality.h"
#include "soft/device/timer.h"

enum soft_armed { SOFT_UNARMED, SOFT_ARMED_SOLICITED, SOFT_ARMED_ANY };

struct soft_cq {
	struct ibv_cq ibv;
	pthread_mutex_t lock;
	struct ibv_wc *ring GUARDED_BY(soft_locks.cq);
	uint32_t mask GUARDED_BY(soft_locks.cq);
	uint32_t size GUARDED_BY(soft_locks.cq); /* entries that fit */
	/*
	 * These counters run freely and are written under the lock.  That nothing can be polled
	 * is seen without it: an entry that was pushed before the last request or poll of this
	 * thread is visible through the lock that either took, and an entry that is pushed later
	 * may be found later.
	 */
	atomic_uint head;  /* next to be polled */
	atomic_uint shown; /* end of what can be polled; short of tail only if delayed */
	uint32_t tail GUARDED_BY(soft_locks.cq);
	/* One past the newest entry that a solicited request waits for. */
	uint32_t solicited GUARDED_BY(soft_locks.cq);
	enum soft_armed armed GUARDED_BY(soft_locks.cq);
	atomic_uint idle;    /* polls that found nothing since one found something */
	atomic_bool overrun; /* an entry was lost: the CQ accepts nothing more */

	const struct soft_personality *personality;
	struct soft_timer timer;
	uint32_t noise GUARDED_BY(soft_locks.cq); /* state of the personality's random choices */
	/* Completions of the event that is held back; 0: there is none. */
	uint32_t due GUARDED_BY(soft_locks.cq);

	struct soft_channel *channel;
	TAILQ_ENTRY(soft_cq) link; /* in channel->events while unread != 0, under its lock */
	uint32_t unread GUARDED_BY(soft_locks.channel);
	uint32_t delivered GUARDED_BY(soft_locks.channel);

	struct soft_async_source async;
	atomic_uint users; /* queue pairs */
};

static inline struct soft_cq *
soft_cq_of(struct ibv_cq *cq)
{
	return soft_container_of(cq, struct soft_cq, ibv);
}

static inline void
soft_cq_lock(struct soft_cq *cq) ACQUIRE(soft_locks.cq) SOFT_NO_EVENT_LOCK UNCHECKED
{
	pthread_mutex_lock(&cq->lock);
}

static inline void
soft_cq_unlock(struct soft_cq *cq) RELEASE(soft_locks.cq) UNCHECKED
{
	pthread_mutex_unlock(&cq->lock);
}

/* The lock orders the counters; without it they are only read. */
static inline uint32_t
soft_counter_load(const atomic_uint *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static inline void
soft_counter_store(atomic_uint *counter, uint32_t value)
{
	atomic_store_explicit(counter, value, memory_order_relaxed);
}

/*
 * Adds an entry; its data must be in place.  `solicited` is true for the receive of a solicited
 * message and for every error.  -EIO if the CQ is overrun: the queue pair that lost its
 * completion must fail.
 */
int soft_cq_push(struct soft_cq *cq, const struct ibv_wc *wc, bool solicited) SOFT_NO_CQ_LOCK;

/* Makes entries visible that are held back. */
void soft_cq_show(struct soft_cq *cq) SOFT_NO_CQ_LOCK;

int soft_cq_poll(struct ibv_cq *cq, int n, struct ibv_wc *wc) SOFT_NO_CQ_LOCK;
int soft_cq_request(struct ibv_cq *cq, int solicited_only) SOFT_NO_CQ_LOCK;

#endif
