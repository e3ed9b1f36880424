/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * invalidated -- the windows that the other end of an endpoint has invalidated, and no event has
 * reported yet
 *
 * They are known by their keys.  A key is added under the trigger lock of the EVD for receives,
 * when its receive is polled, and removed under the lock of the endpoint, after the region was
 * marked.  Keys beyond the first few are only counted: each region may be one of them.
 */
#ifndef REARM_DAPL_INVALIDATED_H
#define REARM_DAPL_INVALIDATED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define DAPL_INVALIDATED_KEYS 16
#define DAPL_INVALIDATED_KEY(key) ((uint64_t)1 << 32 | (key)) /* no key is 0 so */

struct dapl_invalidated {
	_Atomic(uint64_t) keys[DAPL_INVALIDATED_KEYS];
	_Atomic(uint32_t) more; /* keys that have no place */
};

/* No receive is outstanding, and no thread polls. */
static inline void
dapl_invalidated_clear(struct dapl_invalidated *list)
{
	for (int i = 0; i < DAPL_INVALIDATED_KEYS; i++)
		atomic_store_explicit(&list->keys[i], 0, memory_order_relaxed);
	atomic_store_explicit(&list->more, 0, memory_order_relaxed);
}

static inline void
dapl_invalidated_add(struct dapl_invalidated *list, uint32_t key)
{
	for (int i = 0; i < DAPL_INVALIDATED_KEYS; i++)
		if (!atomic_load_explicit(&list->keys[i], memory_order_relaxed)) {
			atomic_store_explicit(
			    &list->keys[i], DAPL_INVALIDATED_KEY(key), memory_order_release);
			return;
		}
	atomic_fetch_add_explicit(&list->more, 1, memory_order_release);
}

static inline void
dapl_invalidated_remove(struct dapl_invalidated *list, uint32_t key)
{
	for (int i = 0; i < DAPL_INVALIDATED_KEYS; i++)
		if (atomic_load_explicit(&list->keys[i], memory_order_relaxed) ==
		    DAPL_INVALIDATED_KEY(key)) {
			atomic_store_explicit(&list->keys[i], 0, memory_order_release);
			return;
		}
	atomic_fetch_sub_explicit(&list->more, 1, memory_order_release);
}

/* Whether the window with that key is, or may be, among them. */
static inline bool
dapl_invalidated_has(struct dapl_invalidated *list, uint32_t key)
{
	if (atomic_load_explicit(&list->more, memory_order_acquire))
		return true;
	for (int i = 0; i < DAPL_INVALIDATED_KEYS; i++)
		if (atomic_load_explicit(&list->keys[i], memory_order_acquire) ==
		    DAPL_INVALIDATED_KEY(key))
			return true;
	return false;
}

#endif
