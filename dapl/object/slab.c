/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/object/slab.h"

static void
slab_lock(struct dapl_slab *slab) ACQUIRE(dapl_locks.slab) UNCHECKED
{
	pthread_mutex_lock(&slab->lock);
}

static void
slab_unlock(struct dapl_slab *slab) RELEASE(dapl_locks.slab) UNCHECKED
{
	pthread_mutex_unlock(&slab->lock);
}

static void
slab_push(struct dapl_slab *slab, struct dapl_slab_slot *slot) REQUIRES(dapl_locks.slab)
{
	slot->next = slab->first;
	slab->first = slot;
}

static void
slab_grow(struct dapl_slab *slab) REQUIRES(dapl_locks.slab)
{
	uint32_t base = slab->chunk_count * DAPL_SLAB_CHUNK;
	char *chunk;

	if (slab->chunk_count == DAPL_SLAB_CHUNKS)
		return;
	chunk = os_alloc(DAPL_SLAB_CHUNK, slab->size);
	if (!chunk)
		return;
	for (uint32_t i = DAPL_SLAB_CHUNK; i-- > 0;) {
		struct dapl_slab_slot *slot = (struct dapl_slab_slot *)(chunk + i * slab->size);

		slot->index = base + i;
		if (slab->prepare)
			slab->prepare(slot);
		slab_push(slab, slot);
	}
	atomic_store_explicit(&slab->chunks[slab->chunk_count++], chunk, memory_order_release);
}

void *
dapl_slab_alloc(struct dapl_slab *slab)
{
	struct dapl_slab_slot *slot;

	slab_lock(slab);
	if (!slab->first)
		slab_grow(slab);
	slot = slab->first;
	if (slot)
		slab->first = slot->next;
	slab_unlock(slab);
	return slot;
}

void
dapl_slab_free(struct dapl_slab *slab, void *slot)
{
	slab_lock(slab);
	slab_push(slab, slot);
	slab_unlock(slab);
}

bool
dapl_slab_owns(struct dapl_slab *slab, const void *slot)
{
	for (uint32_t i = 0; i < DAPL_SLAB_CHUNK * DAPL_SLAB_CHUNKS; i += DAPL_SLAB_CHUNK) {
		const char *chunk = dapl_slab_at(slab, i);
		uintptr_t offset = (uintptr_t)slot - (uintptr_t)chunk;

		if (!chunk)
			return false;
		if (offset < DAPL_SLAB_CHUNK * slab->size)
			return offset % slab->size == 0;
	}
	return false;
}
