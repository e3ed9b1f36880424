/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trust -- whether a word that may be no handle leads to a provider's table
 *
 * A program can hand anything over as a handle.  Its first word is read without harm, and only a
 * table that a provider has registered, or opened an IA with, is ever called through.  A page
 * where a good handle was found is read directly from then on: providers do not give the memory
 * of their handles back while they are registered.
 *
 * Lock: the list of tables is only added to; registry_lock is held while a count changes.
 */
#ifndef REARM_DAT_TRUST_H
#define REARM_DAT_TRUST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

#define TRUST_PAGE_SHIFT 12
#define TRUST_PAGES_SHIFT 12	/* this many bits of a hash choose a page's place */

extern _Atomic(uintptr_t) trust_pages[1 << TRUST_PAGES_SHIFT];

/* Counts a table in; false without memory.  registry_lock held. */
bool trust_add_locked(const DAT_PROVIDER *table);

/* Counts it out; it is trusted no more when nobody counts it in.  registry_lock held. */
void trust_drop_locked(const DAT_PROVIDER *table);

/* Whether it is counted in. */
bool trust_has(const DAT_PROVIDER *table);

/* The trusted table behind an aligned address, or NULL; does not fault. */
const DAT_PROVIDER *trust_probe(uintptr_t address);

static inline _Atomic(uintptr_t) *
trust_place(uintptr_t page)
{
	return &trust_pages[(page * (uintptr_t)0x9e3779b97f4a7c15) >> (64 - TRUST_PAGES_SHIFT)];
}

static inline const DAT_PROVIDER *
trust_table(uintptr_t address)
{
	const uintptr_t page = address >> TRUST_PAGE_SHIFT;
	const DAT_PROVIDER *table;

	if (atomic_load_explicit(trust_place(page), memory_order_relaxed) != page)
		return trust_probe(address);
	table = *(const DAT_PROVIDER **)address;
	return trust_has(table) ? table : NULL;
}

#endif
