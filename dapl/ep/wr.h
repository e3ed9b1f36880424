/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wr -- ring of posted work requests
 *
 * Each endpoint has one ring for each direction.  A request is entered under the endpoint's lock
 * before the device sees it; its completion is looked up under the trigger lock of the EVD that
 * receives it. Neither side takes the lock of the other: the ring has one producer and one consumer
 * at a time, which share only `tail` and `head`.
 *
 *   tail  released by the producer after the entry was written; acquired by the consumer
 *   head  released by the consumer after it read the entry; acquired by the producer, which
 *         overwrites nothing the consumer may still read
 *
 * Completions of a direction come in posting order, so a completion shows that all requests
 * before it are complete. A suppressed success is therefore reclaimed without an event. A
 * completion that is queued is converted later: its entry is kept until then.
 *
 * A dapl_wr_id names the endpoint's slot, the generation of its queue pair and the place in the
 * ring; never an address.  The generation shows that the queue pair of a completion was destroyed.
 */
#ifndef REARM_DAPL_WR_H
#define REARM_DAPL_WR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <dat2/udat.h>

/* The bits of a wr_id; see below. */
#define DAPL_WR_PLACE_BITS 22
#define DAPL_WR_GENERATION_BITS 21
#define DAPL_WR_PLACE_MASK ((1u << DAPL_WR_PLACE_BITS) - 1)
#define DAPL_WR_GENERATION_MASK ((1u << DAPL_WR_GENERATION_BITS) - 1)

struct dapl_wr_entry {
	DAT_DTO_COOKIE cookie;
	DAT_SEG_LENGTH length;
	uint8_t operation; /* DAT_DTOS */
	bool suppressed;   /* no event on success */
	bool unsignalled;  /* on success the event wakes no sink */
};

struct dapl_wr_ring {
	struct dapl_wr_entry *entries;
	uint32_t depth; /* requests outstanding at most */
	uint32_t mask;
	_Atomic(uint32_t) tail;
	_Atomic(uint32_t) head;
	uint32_t seen; /* for the consumer of the ring: completions before this place were polled */
	uint32_t kept; /* for the consumer of the ring: how many of those are not converted yet */
	_Atomic(uint32_t)
	    polled; /* the same as seen, for threads that wait until requests are complete */
};

int dapl_wr_ring_create(struct dapl_wr_ring *ring, int depth);
void dapl_wr_ring_free(struct dapl_wr_ring *ring);
/* No request is outstanding, and no thread polls. */
void dapl_wr_ring_reset(struct dapl_wr_ring *ring);

/* ---- producer ---- */

/* The entry for the next request and its place, or NULL when `depth` are outstanding. */
struct dapl_wr_entry *dapl_wr_ring_next(struct dapl_wr_ring *ring, uint32_t *place);
/* The entry is complete: publish it, then post.  A post that fails takes it back. */
void dapl_wr_ring_publish(struct dapl_wr_ring *ring, uint32_t place);
void dapl_wr_ring_retract(struct dapl_wr_ring *ring, uint32_t place);

/* ---- consumer; once for each completion ---- */

/* `bits` is the part of the place that a wr_id carries. */
static inline const struct dapl_wr_entry *
dapl_wr_ring_at(struct dapl_wr_ring *ring, uint32_t bits, uint32_t *place)
{
	uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	/* Pairs with publish: the entry was written before the device could complete it. */
	(void)atomic_load_explicit(&ring->tail, memory_order_acquire);
	*place = head + ((bits - head) & DAPL_WR_PLACE_MASK);
	return &ring->entries[bits & ring->mask];
}

/* A polled completion: it is converted later, or dropped. */
static inline void
dapl_wr_ring_keep(struct dapl_wr_ring *ring, uint32_t place)
{
	ring->seen = place + 1;
	ring->kept++;
	atomic_store_explicit(&ring->polled, ring->seen, memory_order_release);
}

static inline void
dapl_wr_ring_skip(struct dapl_wr_ring *ring, uint32_t place)
{
	ring->seen = place + 1;
	if (ring->kept == 0)
		atomic_store_explicit(&ring->head, ring->seen, memory_order_release);
	atomic_store_explicit(&ring->polled, ring->seen, memory_order_release);
}

/* A kept completion was converted. */
static inline void
dapl_wr_ring_done(struct dapl_wr_ring *ring, uint32_t place)
{
	ring->kept--;
	/*
	 * If no kept completion is left, all entries up to `seen` are free, also those of skipped
	 * completions.
	 */
	atomic_store_explicit(
	    &ring->head, ring->kept ? place + 1 : ring->seen, memory_order_release);
}

/* ---- any thread ---- */

static inline bool
dapl_wr_ring_idle(struct dapl_wr_ring *ring)
{
	return atomic_load_explicit(&ring->polled, memory_order_acquire) ==
	       atomic_load_explicit(&ring->tail, memory_order_acquire);
}

/* ---- wr_id ---- */

static inline uint64_t
dapl_wr_id(uint32_t slot, uint32_t generation, bool recv, uint32_t place)
{
	return (uint64_t)slot << (DAPL_WR_GENERATION_BITS + 1 + DAPL_WR_PLACE_BITS) |
	       (uint64_t)(generation & DAPL_WR_GENERATION_MASK) << (1 + DAPL_WR_PLACE_BITS) |
	       (uint64_t)recv << DAPL_WR_PLACE_BITS | (place & DAPL_WR_PLACE_MASK);
}

static inline uint32_t
dapl_wr_id_slot(uint64_t id)
{
	return (uint32_t)(id >> (DAPL_WR_GENERATION_BITS + 1 + DAPL_WR_PLACE_BITS));
}

static inline uint32_t
dapl_wr_id_generation(uint64_t id)
{
	return (uint32_t)(id >> (1 + DAPL_WR_PLACE_BITS)) & DAPL_WR_GENERATION_MASK;
}

static inline bool
dapl_wr_id_is_recv(uint64_t id)
{
	return id >> DAPL_WR_PLACE_BITS & 1;
}

static inline uint32_t
dapl_wr_id_place(uint64_t id)
{
	return (uint32_t)id & DAPL_WR_PLACE_MASK;
}

#endif
