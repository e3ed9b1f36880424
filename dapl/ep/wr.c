/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ep/wr.h"

#include "evd/os.h"

int
dapl_wr_ring_create(struct dapl_wr_ring *ring, int depth)
{
	uint32_t size = 1;

	while (size < (uint32_t)depth)
		size *= 2;
	if (size > DAPL_WR_PLACE_MASK / 2)
		return -EINVAL;
	*ring = (struct dapl_wr_ring){
		.entries = os_alloc(size, sizeof *ring->entries),
		.depth = (uint32_t)depth,
		.mask = size - 1,
	};
	return ring->entries ? 0 : -ENOMEM;
}

void
dapl_wr_ring_free(struct dapl_wr_ring *ring)
{
	os_free(ring->entries);
	ring->entries = NULL;
}

void
dapl_wr_ring_reset(struct dapl_wr_ring *ring)
{
	atomic_store_explicit(&ring->tail, 0, memory_order_relaxed);
	atomic_store_explicit(&ring->head, 0, memory_order_relaxed);
	atomic_store_explicit(&ring->polled, 0, memory_order_relaxed);
	ring->seen = 0;
	ring->kept = 0;
}

struct dapl_wr_entry *
dapl_wr_ring_next(struct dapl_wr_ring *ring, uint32_t *place)
{
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	if (tail - atomic_load_explicit(&ring->head, memory_order_acquire) >= ring->depth)
		return NULL;
	*place = tail;
	return &ring->entries[tail & ring->mask];
}

void
dapl_wr_ring_publish(struct dapl_wr_ring *ring, uint32_t place)
{
	atomic_store_explicit(&ring->tail, place + 1, memory_order_release);
}

void
dapl_wr_ring_retract(struct dapl_wr_ring *ring, uint32_t place)
{
	atomic_store_explicit(&ring->tail, place, memory_order_relaxed);
}
