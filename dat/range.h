/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * range -- which addresses can be handles
 *
 * A program can pass anything as a handle.  Providers that register with a range of addresses have
 * all their handles there, and promise that the first word of each is NULL or a table of theirs, for
 * ever: comparing is enough.  Whatever lies outside is followed only while a provider is registered
 * that has no range, since it may be one of its handles; then a wild pointer may crash the program,
 * as under other registries.
 *
 * Lock: ranges are added, never changed or removed, under registry_lock; reading takes none.
 */
#ifndef REARM_DAT_RANGE_H
#define REARM_DAT_RANGE_H

#include <stdatomic.h>
#include <stdint.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

/* How many libraries can have one. */
#define RANGES_MAX 16

struct range {
	_Atomic(uintptr_t) size;	/* 0: free; set last */
	uintptr_t base;
	uintptr_t mask;			/* of the bits that a handle's offset has not */
};

extern struct range ranges[RANGES_MAX];

/*
 * Adds one, or finds it again.  0, -EINVAL if it is none or overlaps another, -ENOSPC if there are
 * RANGES_MAX.  registry_lock held.
 */
int range_add_locked(const struct dat_handle_range *range);

/* A provider without a range comes (+1) or goes (-1).  registry_lock held. */
void range_count_foreign_locked(int change);

/* range_table() for addresses outside the first range. */
const DAT_PROVIDER *range_find_further(uintptr_t address);

static inline const DAT_PROVIDER *
range_read(const struct range *range, uintptr_t offset)
{
	if ((offset & range->mask) != 0)
		return NULL;
	return atomic_load_explicit((_Atomic(const DAT_PROVIDER *) *)(range->base + offset),
				    memory_order_acquire);
}

/* The first word of a handle; NULL if the address can be none. */
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
