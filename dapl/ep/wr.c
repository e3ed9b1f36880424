/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ep/wr.h"

#include "evd/os.h"

int
wr_ring_init(struct wr_ring *ring, int depth)
{
	uint32_t size = 1;

	while (size < (uint32_t)depth)
		size *= 2;
	if (size > WR_PLACE_MASK / 2)
		return -EINVAL;
	ring->entries = os_alloc(size, sizeof *ring->entries);
	if (!ring->entries)
		return -ENOMEM;
	ring->depth = (uint32_t)depth;
	ring->mask = size - 1;
	wr_ring_reset(ring);
	return 0;
}

void
wr_ring_fini(struct wr_ring *ring)
{
	os_free(ring->entries);
	ring->entries = NULL;
}

void
wr_ring_reset(struct wr_ring *ring)
{
	atomic_store_explicit(&ring->tail, 0, memory_order_relaxed);
	atomic_store_explicit(&ring->head, 0, memory_order_relaxed);
	atomic_store_explicit(&ring->polled, 0, memory_order_relaxed);
	ring->seen = 0;
	ring->kept = 0;
}

struct wr_entry *
wr_ring_next(struct wr_ring *ring, uint32_t *place)
{
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	if (tail - atomic_load_explicit(&ring->head, memory_order_acquire) >= ring->depth)
		return NULL;
	*place = tail;
	return &ring->entries[tail & ring->mask];
}

void
wr_ring_publish(struct wr_ring *ring, uint32_t place)
{
	atomic_store_explicit(&ring->tail, place + 1, memory_order_release);
}

void
wr_ring_retract(struct wr_ring *ring, uint32_t place)
{
	atomic_store_explicit(&ring->tail, place, memory_order_relaxed);
}

const struct wr_entry *
wr_ring_at(struct wr_ring *ring, uint32_t bits, uint32_t *place)
{
	uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	/* Pairs with publish: the entry was written before the device could complete it. */
	(void)atomic_load_explicit(&ring->tail, memory_order_acquire);
	*place = head + ((bits - head) & WR_PLACE_MASK);
	return &ring->entries[bits & ring->mask];
}

void
wr_ring_keep(struct wr_ring *ring, uint32_t place)
{
	ring->seen = place + 1;
	ring->kept++;
	atomic_store_explicit(&ring->polled, ring->seen, memory_order_release);
}

void
wr_ring_skip(struct wr_ring *ring, uint32_t place)
{
	ring->seen = place + 1;
	if (ring->kept == 0)
		atomic_store_explicit(&ring->head, ring->seen, memory_order_release);
	atomic_store_explicit(&ring->polled, ring->seen, memory_order_release);
}

void
wr_ring_done(struct wr_ring *ring, uint32_t place)
{
	ring->kept--;
	/* Nothing kept is left behind it: what was skipped since is reclaimed with it. */
	atomic_store_explicit(
	    &ring->head, ring->kept ? place + 1 : ring->seen, memory_order_release);
}
