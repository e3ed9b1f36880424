/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/object/slab.h"

#include <sys/mman.h>

/*
 * Places of a table that are made writable at once: whole pages, also where a page has 64 KiB.  The
 * others need no memory, not even in a program that calls mlockall().
 */
#define STEP 8192u

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

/* False without memory. */
static bool
slab_make_table(struct dapl_slab *slab) REQUIRES(dapl_locks.slab)
{
	void *table;

	if (atomic_load_explicit(&slab->table, memory_order_relaxed))
		return true;
	table = mmap(NULL, DAPL_SLAB_SLOTS * sizeof(_Atomic(void *)), PROT_READ,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (table == MAP_FAILED)
		return false;
	atomic_store_explicit(&slab->table, table, memory_order_release);
	return true;
}

static void
slab_grow(struct dapl_slab *slab) REQUIRES(dapl_locks.slab)
{
	_Atomic(void *) *table;
	char *chunk;

	if (slab->count == DAPL_SLAB_SLOTS || !slab_make_table(slab))
		return;
	table = atomic_load_explicit(&slab->table, memory_order_relaxed);
	if (slab->count % STEP == 0 &&
	    mprotect(table + slab->count, STEP * sizeof *table, PROT_READ | PROT_WRITE))
		return;
	chunk = os_alloc(DAPL_SLAB_CHUNK, slab->size);
	if (!chunk)
		return;
	for (uint32_t i = DAPL_SLAB_CHUNK; i-- > 0;) {
		struct dapl_slab_slot *slot = (struct dapl_slab_slot *)(chunk + i * slab->size);

		slot->index = slab->count + i;
		if (slab->prepare)
			slab->prepare(slot);
		slab_push(slab, slot);
		atomic_store_explicit(&table[slot->index], slot, memory_order_release);
	}
	slab->count += DAPL_SLAB_CHUNK;
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
	for (uint32_t i = 0; i < DAPL_SLAB_SLOTS; i += DAPL_SLAB_CHUNK) {
		const char *chunk = dapl_slab_at(slab, i);
		uintptr_t offset = (uintptr_t)slot - (uintptr_t)chunk;

		if (!chunk)
			return false;
		if (offset < DAPL_SLAB_CHUNK * slab->size)
			return offset % slab->size == 0;
	}
	return false;
}
