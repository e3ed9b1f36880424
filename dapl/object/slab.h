/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slab -- type-stable slots
 *
 * A slot has objects of one kind only: its memory is never returned, and what prepare()
 * initialised (the lock of the object) is never destroyed. A late thread, with a pointer to an
 * object that was freed, therefore finds a valid lock, and under it can see that the object was
 * freed.
 *
 * A freed slot may be used again at once. The serial numbers of two objects in it differ: see
 * handle.h.
 */
#ifndef REARM_DAPL_SLAB_H
#define REARM_DAPL_SLAB_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "evd/os.h"

#include "dapl/object/lock.h"

#define DAPL_SLAB_CHUNK 64u	   /* slots allocated at once */
#define DAPL_SLAB_SLOTS (1u << 20) /* of a kind, at most */

/* First member of every type that is kept in a slab. */
struct dapl_slab_slot {
	struct dapl_slab_slot *next; /* among the free ones; the slab's */
	uint32_t index;		     /* constant */
};

struct dapl_slab {
	size_t size;		     /* of a slot */
	void (*prepare)(void *slot); /* once per slot, ever; may be NULL */
	pthread_mutex_t lock;	     /* guards what follows, but for reading the table */
	struct dapl_slab_slot *first;
	uint32_t count; /* of slots */
	/*
	 * The slots by their index.  The table has room for all that can ever be; only its used
	 * part takes memory.  NULL: there is no slot yet.
	 */
	_Atomic(_Atomic(void *) *) table;
};

#define DAPL_SLAB_INITIALIZER(type, prepare_fn) \
	{ \
		.size = sizeof(type), .prepare = (prepare_fn), .lock = PTHREAD_MUTEX_INITIALIZER \
	}

/* A slot, or NULL without memory.  Its contents are those of its last object. */
void *dapl_slab_alloc(struct dapl_slab *slab) EXCLUDES(dapl_locks.slab);
void dapl_slab_free(struct dapl_slab *slab, void *slot) EXCLUDES(dapl_locks.slab);

/* The slot of an index that dapl_slab_alloc() gave out at some time; NULL for any other number. */
static inline void *
dapl_slab_at(struct dapl_slab *slab, uint32_t index)
{
	_Atomic(void *) *const table = atomic_load_explicit(&slab->table, memory_order_acquire);

	if (!table || index >= DAPL_SLAB_SLOTS)
		return NULL;
	return atomic_load_explicit(&table[index], memory_order_acquire);
}

/* The slots of a slab that has given out some: the place does not change. */
static inline _Atomic(void *) *
dapl_slab_slots(struct dapl_slab *slab)
{
	return atomic_load_explicit(&slab->table, memory_order_acquire);
}

/* The same as dapl_slab_at() for one of them, with an index below DAPL_SLAB_SLOTS. */
static inline void *
dapl_slab_in(_Atomic(void *) *slots, uint32_t index)
{
	return atomic_load_explicit(&slots[index], memory_order_acquire);
}

/* Both, for one slot. */
static inline void *
dapl_slab_at_used(struct dapl_slab *slab, uint32_t index)
{
	return dapl_slab_in(dapl_slab_slots(slab), index);
}

/* Whether a pointer of unknown origin is a slot of the slab. */
bool dapl_slab_owns(struct dapl_slab *slab, const void *slot);

#endif
