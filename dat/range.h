/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * range -- which addresses can be handles
 *
 * A program can pass any value as a handle.  Providers that register with an address range have all
 * their handles in it, and guarantee that the first word of each is NULL or a table of theirs until
 * the process ends; a comparison is enough.  An address outside the ranges may be a handle of a
 * provider without a range.  It is followed only while such a provider is registered; then a wild
 * pointer may crash the program, as with other registries.
 *
 * Lock: ranges are added under registry_lock, and never changed or removed; reading needs no lock.
 */
#ifndef REARM_DAT_RANGE_H
#define REARM_DAT_RANGE_H

#include <stdatomic.h>
#include <stdint.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

/* How many libraries can have a range. */
#define RANGES_MAX 16

struct range {
	_Atomic(uintptr_t) size; /* 0: free; set last */
	uintptr_t base;
	uintptr_t mask; /* mask of the bits that are 0 in the offset of a handle */
};

extern struct range ranges[RANGES_MAX];

/*
 * The first range, as long as the tables of all providers of that range implement every call; else
 * its size is 0.  A handle in it needs no further test than that its first word is not NULL.
 */
extern struct range range_full;

/*
 * Adds a range, or finds it if it was added before, for a provider with that table.  0, -EINVAL if
 * it is invalid or overlaps another, -ENOSPC if there are RANGES_MAX.  registry_lock held.
 */
int range_add_locked(const struct dat_handle_range *range, const DAT_PROVIDER *table);

/* A provider without a range is added (+1) or removed (-1).  registry_lock held. */
void range_count_foreign_locked(int change);

/* range_table() for addresses outside the first range. */
const DAT_PROVIDER *range_find_further(uintptr_t address);

static inline const DAT_PROVIDER *
range_read(const struct range *range, uintptr_t offset)
{
	if ((offset & range->mask) != 0)
		return NULL;
	return atomic_load_explicit(
	    (_Atomic(const DAT_PROVIDER *) *)(range->base + offset), memory_order_acquire);
}

/* The first word of a handle in the range whose tables are full; NULL for any other address. */
static inline const DAT_PROVIDER *
range_full_table(uintptr_t address)
{
	const uintptr_t size = atomic_load_explicit(&range_full.size, memory_order_acquire);
	const uintptr_t offset = address - range_full.base;

	return __builtin_expect(offset < size, 1) ? range_read(&range_full, offset) : NULL;
}

/* The first word of a handle; NULL if the address cannot be one. */
static inline const DAT_PROVIDER *
range_table(uintptr_t address)
{
	const uintptr_t size = atomic_load_explicit(&ranges[0].size, memory_order_acquire);
	const uintptr_t offset = address - ranges[0].base;

	if (__builtin_expect(offset < size, 1))
		return range_read(&ranges[0], offset);
	return range_find_further(address);
}

#endif
