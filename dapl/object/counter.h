/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counter -- numbers that only grow, and what a consumer is shown of them
 *
 * A counter is never set back, so the thread that counts needs no lock of the reader.  A reset by
 * the consumer changes `base`, which is subtracted from then on.
 */
#ifndef REARM_DAPL_COUNTER_H
#define REARM_DAPL_COUNTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <dat2/udat.h>

/* For a counter that several threads increment at the same time. */
static inline void
dapl_counter_add(_Atomic(uint64_t) *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* For a counter that has one writer at a time, by a lock; readers need none. */
static inline void
dapl_counter_grow(_Atomic(uint64_t) *counter, uint64_t n)
{
	atomic_store_explicit(
	    counter, atomic_load_explicit(counter, memory_order_relaxed) + n, memory_order_relaxed);
}

static inline uint64_t
dapl_counter_get(const _Atomic(uint64_t) *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

/*
 * Copies the counter `which` of `all` to its place in `out`, or with `which` == `all` every one.
 * The caller holds the lock of `base`.
 */
static inline void
dapl_counter_copy(
    const uint64_t *now, uint64_t *base, int all, int which, DAT_UINT64 *out, bool reset)
{
	for (int i = 0; i < all; i++) {
		if (which != i && which != all)
			continue;
		out[i] = now[i] - base[i];
		if (reset)
			base[i] = now[i];
	}
}

#endif
