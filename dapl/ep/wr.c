/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ep/wr.h"

#include "evd/os.h"

/*
 * Places run freely.  They begin shortly before they wrap, so that a mistake there shows in every
 * program.
 */
#define WR_RING_FIRST (UINT32_MAX - 2)

static void
wr_ring_begin(struct dapl_wr_ring *ring)
{
	atomic_store_explicit(&ring->tail, WR_RING_FIRST, memory_order_relaxed);
	atomic_store_explicit(&ring->head, WR_RING_FIRST, memory_order_relaxed);
	atomic_store_explicit(&ring->polled, WR_RING_FIRST, memory_order_relaxed);
	ring->kept = 0;
}

int
dapl_wr_ring_create(struct dapl_wr_ring *ring, int depth, int spare)
{
	uint32_t size = 1;

	while (size < (uint32_t)(depth + spare))
		size *= 2;
	if (size > DAPL_WR_PLACE_MASK / 2)
		return -EINVAL;
	*ring = (struct dapl_wr_ring){
		.entries = os_alloc(size, sizeof *ring->entries),
		.depth = (uint32_t)depth,
		.spare = (uint32_t)spare,
		.mask = size - 1,
	};
	wr_ring_begin(ring);
	return ring->entries ? 0 : -ENOMEM;
}

/* The completions of these requests are dropped when they are polled, if they come at all. */
static void
wr_ring_end_entries(struct dapl_wr_ring *ring)
{
	const uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);

	for (uint32_t place = atomic_load_explicit(&ring->polled, memory_order_relaxed);
	     place != tail; place++)
		dapl_wr_entry_end(&ring->entries[place & ring->mask], true);
}

void
dapl_wr_ring_free(struct dapl_wr_ring *ring)
{
	wr_ring_end_entries(ring);
	os_free(ring->entries);
	ring->entries = NULL;
}

void
dapl_wr_ring_reset(struct dapl_wr_ring *ring)
{
	wr_ring_end_entries(ring);
	wr_ring_begin(ring);
}

struct dapl_wr_entry *
dapl_wr_ring_next_spare(struct dapl_wr_ring *ring, uint32_t *place)
{
	return dapl_wr_ring_next_below(ring, ring->depth + ring->spare, place);
}

bool
dapl_wr_ring_takes_two(struct dapl_wr_ring *ring)
{
	const uint32_t used = dapl_wr_ring_used(ring);

	return used < ring->depth && used + 2 <= ring->depth + ring->spare;
}

void
dapl_wr_ring_retract(struct dapl_wr_ring *ring, uint32_t place)
{
	dapl_wr_entry_end(&ring->entries[place & ring->mask], false);
	atomic_store_explicit(&ring->tail, place, memory_order_relaxed);
}
