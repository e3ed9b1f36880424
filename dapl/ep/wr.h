/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wr -- ring of posted work requests
 *
 * Each endpoint has one ring for each direction.  A request is entered under the endpoint's lock
 * before the device sees it; its completion is looked up under the trigger lock of the EVD that
 * receives it. Neither side takes the lock of the other: the ring has one producer and one consumer
 * at a time, which share only `tail` and `head`.
 *
 *   tail  released by the producer after the entry was written; acquired by threads that count
 *   head  released by the consumer after it read the entry; acquired by the producer, which
 *         overwrites nothing the consumer may still read
 *
 * Completions of a direction come in posting order, so a completion shows that all requests
 * before it are complete.  A suppressed success therefore needs no event: its entry is free when
 * the next completion is polled.  The entry of a completion that becomes an event is kept until the
 * event is made.
 */
#ifndef REARM_DAPL_WR_H
#define REARM_DAPL_WR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <dat2/udat.h>

#include "dapl/evd/wr_id.h"
#include "dapl/ep/rmr.h"

/* When the completion of a request makes no event. */
enum dapl_wr_suppressed {
	DAPL_WR_NEVER,
	DAPL_WR_ON_SUCCESS,
	DAPL_WR_ALWAYS, /* the provider posted it for itself */
};

/* What is not set in a plain entry keeps the values of the last request in its place. */
struct dapl_wr_entry {
	DAT_DTO_COOKIE cookie;
	union {
		uint32_t length;
		uint32_t
		    /* the slot of what it binds; counted in its `posted` until it completes */
		    region;
	};
	uint32_t end;	      /* its place in the order of the posts, plus one; the ring sets it */
	uint32_t operation;   /* DAT_DTOS; as wide as in the event */
	bool plain;	      /* no bind, of no extension, and neither of the next two */
	uint8_t suppressed;   /* enum dapl_wr_suppressed */
	bool unsignalled;     /* on success the event wakes no sink */
	DAT_RMR_HANDLE rmr;   /* of a bind, which has no length but a region; else NULL */
	struct dapl_lmr *lmr; /* what it binds to; counted in its `binds` likewise */
};

struct dapl_wr_ring {
	struct dapl_wr_entry *entries;
	uint32_t depth; /* requests of the program outstanding at most */
	uint32_t spare; /* places more, for requests that the provider posts for itself */
	uint32_t mask;
	_Atomic(uint32_t) tail;
	_Atomic(uint32_t) head;
	/* Completions before this place were polled.  The consumer of the ring writes it. */
	_Atomic(uint32_t) polled;
	uint32_t kept; /* for the consumer of the ring: how many of those are not converted yet */
};

int dapl_wr_ring_create(struct dapl_wr_ring *ring, int depth, int spare);
void dapl_wr_ring_free(struct dapl_wr_ring *ring);
/* No request is outstanding, and no thread polls. */
void dapl_wr_ring_reset(struct dapl_wr_ring *ring);

/* ---- producer ---- */

/* The entries in use. */
static inline uint32_t
dapl_wr_ring_used(struct dapl_wr_ring *ring)
{
	return atomic_load_explicit(&ring->tail, memory_order_relaxed) -
	       atomic_load_explicit(&ring->head, memory_order_acquire);
}

/* The next entry and its place, or NULL if as many as `limit` are in use. */
static inline struct dapl_wr_entry *
dapl_wr_ring_next_below(struct dapl_wr_ring *ring, uint32_t limit, uint32_t *place)
{
	struct dapl_wr_entry *entry;

	if (dapl_wr_ring_used(ring) >= limit)
		return NULL;
	*place = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	entry = &ring->entries[*place & ring->mask];
	entry->end = *place + 1;
	return entry;
}

/* The entry for the next request and its place, or NULL when `depth` are outstanding. */
static inline struct dapl_wr_entry *
dapl_wr_ring_next(struct dapl_wr_ring *ring, uint32_t *place)
{
	return dapl_wr_ring_next_below(ring, ring->depth, place);
}

/* The same for the second of two requests of which the program knows one. */
struct dapl_wr_entry *dapl_wr_ring_next_spare(struct dapl_wr_ring *ring, uint32_t *place);
/* Whether two requests fit of which the program knows one. */
bool dapl_wr_ring_takes_two(struct dapl_wr_ring *ring);
/* The entry is complete: publish it, then post.  A post that fails takes it back. */
static inline void
dapl_wr_ring_publish(struct dapl_wr_ring *ring, uint32_t place)
{
	atomic_store_explicit(&ring->tail, place + 1, memory_order_release);
}

void dapl_wr_ring_retract(struct dapl_wr_ring *ring, uint32_t place);

/* ---- consumer; once for each completion ---- */

/*
 * `bits` is the part of the place that a wr_id carries.  The entry was written before the request
 * was posted, and the device has completed it: a poll that finds the completion sees the entry.
 */
static inline const struct dapl_wr_entry *
dapl_wr_ring_at(const struct dapl_wr_ring *ring, uint32_t bits)
{
	return &ring->entries[bits & ring->mask];
}

/*
 * The request completed, or its queue pair is gone, or it was not posted.  For every entry once.
 * `lost`: it was posted, and the device has not executed it, as far as is known.
 */
static inline void
dapl_wr_entry_end(const struct dapl_wr_entry *entry, bool lost)
{
	if (!entry->plain && entry->rmr)
		dapl_rmr_request_end(entry->region, entry->lmr, lost);
}

/* A polled completion: it is converted later, or dropped.  `end` is that of its entry. */
static inline void
dapl_wr_ring_keep(struct dapl_wr_ring *ring, uint32_t end)
{
	ring->kept++;
	atomic_store_explicit(&ring->polled, end, memory_order_release);
}

static inline void
dapl_wr_ring_skip(struct dapl_wr_ring *ring, uint32_t end)
{
	if (ring->kept == 0)
		atomic_store_explicit(&ring->head, end, memory_order_release);
	atomic_store_explicit(&ring->polled, end, memory_order_release);
}

/* A kept completion was converted. */
static inline void
dapl_wr_ring_done(struct dapl_wr_ring *ring, uint32_t end)
{
	/*
	 * If no kept completion is left, all entries up to `polled` are free, also those of skipped
	 * completions.
	 */
	if (--ring->kept == 0)
		end = atomic_load_explicit(&ring->polled, memory_order_relaxed);
	atomic_store_explicit(&ring->head, end, memory_order_release);
}

/* A completion was polled and converted at once: none was kept before it. */
static inline void
dapl_wr_ring_pass(struct dapl_wr_ring *ring, uint32_t end)
{
	ASSUME(ring->kept == 0);
	atomic_store_explicit(&ring->polled, end, memory_order_release);
	atomic_store_explicit(&ring->head, end, memory_order_release);
}

/* ---- any thread ---- */

static inline uint32_t
dapl_wr_ring_outstanding(struct dapl_wr_ring *ring)
{
	const uint32_t polled = atomic_load_explicit(&ring->polled, memory_order_acquire);

	return atomic_load_explicit(&ring->tail, memory_order_acquire) - polled;
}

static inline bool
dapl_wr_ring_idle(struct dapl_wr_ring *ring)
{
	return dapl_wr_ring_outstanding(ring) == 0;
}

#endif
