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
#include "judge.h"
#include "personality.h"
#include "softverbs/device/pd.h"
#include "softverbs/device/timer.h"

enum soft_armed { SOFT_UNARMED, SOFT_ARMED_SOLICITED, SOFT_ARMED_ANY };

/* How long the event of an armed queue may be held back: see soft_personality_moderate(). */
struct soft_moderation {
	uint32_t count;	 /* of completions */
	uint64_t period; /* in nanoseconds */
};

struct soft_cq {
	union {
		struct ibv_cq ibv;
		struct ibv_cq_ex ex; /* begins with the same members */
	};
	struct soft_mutex lock;
	struct ibv_wc *ring GUARDED_BY(soft_locks.cq);
	/* When the entries of the ring were added, as soft_now(); NULL unless the program asked. */
	uint64_t *stamps GUARDED_BY(soft_locks.cq);
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
	uint32_t armed_at GUARDED_BY(soft_locks.cq); /* `shown` at the last request */
	atomic_uint idle;    /* polls that found nothing since one found something */
	atomic_bool overrun; /* an entry was lost: the CQ accepts nothing more */

	const struct soft_personality *personality GUARDED_BY(soft_locks.cq);
	struct soft_moderation moderation GUARDED_BY(soft_locks.cq);
	struct soft_timer timer;
	uint32_t noise GUARDED_BY(soft_locks.cq); /* state of the personality's random choices */
	/* Completions of the event that is held back; 0: there is none. */
	uint32_t due GUARDED_BY(soft_locks.cq);

	struct soft_channel *channel;
	TAILQ_ENTRY(soft_cq) link; /* in channel->events while unread != 0, under its lock */
	atomic_uint unread;	   /* events; written under the lock of the channel */
	uint32_t delivered GUARDED_BY(soft_locks.channel);

	struct soft_async_source async;
	unsigned int made; /* which one of the process it is; 0 without rules of incidents */
	atomic_uint made_by_incidents; /* what they have made of it: see made.h */
	atomic_uint users;	       /* queue pairs */
	atomic_ullong stalls;	       /* requests that found no receive at the other end */

	struct soft_pd *domain; /* parent domain that it counts on, or NULL */
	bool ignore_overrun;	/* an entry that does not fit is dropped */
	/* Of an extended queue; see cq_ex.h. */
	bool single_threaded;
	/*
	 * From the start of a poll to its end, in code of the program; then a lock is taken only
	 * for the time of a call.
	 */
	struct soft_mutex polling;
	struct ibv_wc current; /* what the poll has come to */
	uint64_t current_stamp;
	void *judged; /* what a checker knows of it; see judge.h */
};

static inline struct soft_cq *
soft_cq_of(struct ibv_cq *cq)
{
	return soft_container_of(cq, struct soft_cq, ibv);
}

static inline void
soft_cq_lock(struct soft_cq *cq) ACQUIRE(soft_locks.cq) SOFT_NO_EVENT_LOCK UNCHECKED
{
	soft_mutex_lock(&cq->lock);
}

static inline void
soft_cq_unlock(struct soft_cq *cq) RELEASE(soft_locks.cq) UNCHECKED
{
	soft_mutex_unlock(&cq->lock);
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

/* The number of its events that were not read. */
static inline uint32_t
soft_cq_unread(const struct soft_cq *cq)
{
	return soft_counter_load(&cq->unread);
}

/*
 * Adds an entry; its data must be in place.  `solicited` is true for the receive of a solicited
 * message and for every error.  -EIO if the CQ is overrun: the queue pair that lost its
 * completion must fail.
 */
int soft_cq_push(struct soft_cq *cq, const struct ibv_wc *wc, bool solicited) SOFT_NO_CQ_LOCK;

/* The queue fails, for no reason, as one that overruns. */
void soft_cq_fail(struct soft_cq *cq) SOFT_NO_CQ_LOCK;

/* Makes entries visible that are held back. */
void soft_cq_show(struct soft_cq *cq) SOFT_NO_CQ_LOCK;

/* A queue as ibv_create_cq_ex() makes it, or NULL with errno. */
struct soft_cq *soft_cq_create(
    struct ibv_context *context, const struct ibv_cq_init_attr_ex *init, bool stamped);

/*
 * Takes the oldest entry and when it was added, 0 for a queue without such stamps: 1, or 0 if there
 * is none, or -EIO after an overrun.
 *
 * `more`: in a poll that has taken one already.  Then an entry is left whose event the program has
 * not read yet.  A program that polls once per event, as most do, so finds an entry each time.
 */
int soft_cq_take(
    struct soft_cq *cq, bool more, struct ibv_wc *wc, uint64_t *stamp) SOFT_NO_INPUT_LOCK;

int soft_cq_poll(struct ibv_cq *cq, int n, struct ibv_wc *wc) SOFT_NO_INPUT_LOCK;
int soft_cq_request(struct ibv_cq *cq, int solicited_only) SOFT_NO_INPUT_LOCK;

#endif
