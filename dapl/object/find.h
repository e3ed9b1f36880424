/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * find -- the object of a handle: a part of handle.h that is inline, because every call begins with
 * it
 */
#ifndef REARM_DAPL_FIND_H
#define REARM_DAPL_FIND_H

#include "dapl/object/handle.h"

#define DAPL_HANDLE_MAGIC 0x5eda7000u /* of a live cell, with the kind in the low byte */
#define DAPL_HANDLE_KIND 0x000000ffu
#define DAPL_HANDLE_CELLS (1u << 22)

/*
 * The range of all cells, which is constant once it is reserved: DAPL_HANDLE_CELLS cells, of which
 * those that were never used read as 0.  Until then no address has an offset in it.
 */
extern _Atomic(uintptr_t) dapl_handle_base;
#define DAPL_HANDLE_NO_BASE (UINTPTR_MAX / 2 + 1)

/* The bits that are 0 in the offset of a cell. */
#define DAPL_HANDLE_MASK \
	(~((uintptr_t)DAPL_HANDLE_CELLS * sizeof(struct dapl_handle) - sizeof(struct dapl_handle)))

_Static_assert((sizeof(struct dapl_handle) & (sizeof(struct dapl_handle) - 1)) == 0,
    "one mask tells both that an offset is in the range and that a cell begins there");

/*
 * The slot of a live handle's object of that kind (DAPL_KIND_NONE: of any kind), or NULL. The
 * object may be freed at once: the caller locks the slot and compares *serial.
 */
static inline void *
dapl_handle_object(DAT_HANDLE handle, enum dapl_kind kind, uint64_t *serial)
{
	const uintptr_t base = atomic_load_explicit(&dapl_handle_base, memory_order_acquire);
	struct dapl_handle *h = (struct dapl_handle *)handle;
	uint32_t tag;
	void *object;

	if (((uintptr_t)handle - base) & DAPL_HANDLE_MASK)
		return NULL;
	tag = atomic_load_explicit(&h->tag, memory_order_acquire);
	if (kind == DAPL_KIND_NONE ? (tag & ~DAPL_HANDLE_KIND) != DAPL_HANDLE_MAGIC :
				     tag != (DAPL_HANDLE_MAGIC | (uint32_t)kind))
		return NULL;
	/*
	 * If the cell is reused meanwhile, slot and serial may not belong together. Then the
	 * comparison under the slot's lock fails, because no serial number is used twice.
	 */
	*serial = atomic_load_explicit(&h->serial, memory_order_relaxed);
	object = atomic_load_explicit(&h->object, memory_order_relaxed);
	if (!object)
		/* a cell has an object before it has a tag, and keeps it */
		__builtin_unreachable();
	return object;
}

#endif
