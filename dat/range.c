/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "dat/ia_table.h"
#include "dat/range.h"

struct range ranges[RANGES_MAX];
struct range range_full;
static bool range_is_sparse; /* a provider of the first range does not implement every call */

/* number of registrations without a range; changed under registry_lock */
static atomic_int foreign;

static uintptr_t
range_size_of(const struct range *range)
{
	return atomic_load_explicit(&range->size, memory_order_acquire);
}

static bool
range_is_valid(const struct dat_handle_range *range)
{
	const uintptr_t base = (uintptr_t)range->base;

	return base >= IA_TABLE_LIMIT && range->size != 0 && range->size <= UINTPTR_MAX - base &&
	       range->step >= sizeof(DAT_PROVIDER *) && (range->step & (range->step - 1)) == 0 &&
	       base % range->step == 0 && range->size % range->step == 0;
}

/* Whether the table implements every call. */
static bool
range_table_is_full(const DAT_PROVIDER *table)
{
	const unsigned char *slot =
	    (const unsigned char *)table + offsetof(DAT_PROVIDER, ia_open_func);
	const unsigned char *end = (const unsigned char *)(table + 1);
	void *function;

	for (; slot < end; slot += sizeof function) {
		memcpy(&function, slot, sizeof function);
		if (function == NULL)
			return false;
	}
	return true;
}

/* A provider with that table uses the first range. */
static void
range_update_full(const DAT_PROVIDER *table)
{
	range_is_sparse |= !range_table_is_full(table);
	if (range_is_sparse) {
		atomic_store_explicit(&range_full.size, 0, memory_order_release);
	} else if (range_size_of(&range_full) == 0) {
		range_full.base = ranges[0].base;
		range_full.mask = ranges[0].mask;
		atomic_store_explicit(
		    &range_full.size, range_size_of(&ranges[0]), memory_order_release);
	}
}

int
range_add_locked(const struct dat_handle_range *new, const DAT_PROVIDER *table)
{
	const uintptr_t base = (uintptr_t) new->base;
	struct range *range;

	if (!range_is_valid(new))
		return -EINVAL;
	for (range = ranges; range < ranges + RANGES_MAX && range_size_of(range) != 0; range++) {
		if (range->base == base && range_size_of(range) == new->size &&
		    range->mask == new->step - 1)
			goto found;
		if (base < range->base + range_size_of(range) && range->base < base + new->size)
			return -EINVAL;
	}
	if (range == ranges + RANGES_MAX)
		return -ENOSPC;
	range->base = base;
	range->mask = new->step - 1;
	atomic_store_explicit(&range->size, new->size, memory_order_release);
found:
	if (range == ranges)
		range_update_full(table);
	return 0;
}

void
range_count_foreign_locked(int change)
{
	atomic_fetch_add_explicit(&foreign, change, memory_order_relaxed);
}

const DAT_PROVIDER *
range_find_further(uintptr_t address)
{
	const struct range *range;
	uintptr_t size;

	for (range = ranges + 1; range < ranges + RANGES_MAX; range++) {
		size = range_size_of(range);
		if (address - range->base < size)
			return range_read(range, address - range->base);
		if (size == 0)
			break;
	}
	if (atomic_load_explicit(&foreign, memory_order_relaxed) == 0 || address < IA_TABLE_LIMIT ||
	    address % _Alignof(DAT_PROVIDER *) != 0)
		return NULL;
	return *(const DAT_PROVIDER **)address;
}
