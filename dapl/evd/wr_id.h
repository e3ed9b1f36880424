/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wr_id -- what the completion of a work request leads to
 *
 * A wr_id names a slot, a generation and a place; never an address.  The slot is that of an
 * endpoint and the place one in its ring of requests or receives, or the slot is that of a shared
 * receive queue and the place one of its entries.  A completion of an object that is gone is
 * noticed by its generation.
 */
#ifndef REARM_DAPL_WR_ID_H
#define REARM_DAPL_WR_ID_H

#include <stdbool.h>
#include <stdint.h>

#define DAPL_WR_PLACE_BITS 22
#define DAPL_WR_KIND_BITS 2
#define DAPL_WR_GENERATION_BITS 20
#define DAPL_WR_PLACE_MASK ((1u << DAPL_WR_PLACE_BITS) - 1)
#define DAPL_WR_KIND_MASK ((1u << DAPL_WR_KIND_BITS) - 1)
#define DAPL_WR_GENERATION_MASK ((1u << DAPL_WR_GENERATION_BITS) - 1)
#define DAPL_WR_GENERATION_NONE UINT32_MAX /* that no wr_id has */

#define DAPL_WR_GENERATION_SHIFT (DAPL_WR_PLACE_BITS + DAPL_WR_KIND_BITS)
#define DAPL_WR_SLOT_SHIFT (DAPL_WR_GENERATION_SHIFT + DAPL_WR_GENERATION_BITS)

#define DAPL_WR_ID_NONE UINT64_MAX /* that no request has */

enum dapl_wr_kind {
	DAPL_WR_REQUEST,
	DAPL_WR_RECV,
	DAPL_WR_SHARED, /* a receive from a shared receive queue */
};

static inline uint64_t
dapl_wr_id(uint32_t slot, uint32_t generation, enum dapl_wr_kind kind, uint32_t place)
{
	return (uint64_t)slot << DAPL_WR_SLOT_SHIFT |
	       (uint64_t)(generation & DAPL_WR_GENERATION_MASK) << DAPL_WR_GENERATION_SHIFT |
	       (uint64_t)kind << DAPL_WR_PLACE_BITS | (place & DAPL_WR_PLACE_MASK);
}

static inline uint32_t
dapl_wr_id_slot(uint64_t id)
{
	return (uint32_t)(id >> DAPL_WR_SLOT_SHIFT);
}

static inline uint32_t
dapl_wr_id_generation(uint64_t id)
{
	return (uint32_t)(id >> DAPL_WR_GENERATION_SHIFT) & DAPL_WR_GENERATION_MASK;
}

/* Whether it is of that generation, of which a wr_id has only the low bits. */
static inline bool
dapl_wr_id_has_generation(uint64_t id, uint32_t generation)
{
	return dapl_wr_id_generation(id) == (generation & DAPL_WR_GENERATION_MASK);
}

static inline enum dapl_wr_kind
dapl_wr_id_kind(uint64_t id)
{
	return (enum dapl_wr_kind)(id >> DAPL_WR_PLACE_BITS & DAPL_WR_KIND_MASK);
}

/* False: it is of another kind.  True: it is none of a request. */
static inline bool
dapl_wr_id_may_be_recv(uint64_t id)
{
	return id >> DAPL_WR_PLACE_BITS & DAPL_WR_RECV;
}

/* Whether it differs from `base`, a wr_id of a request at place 0, by a place and this kind. */
static inline bool
dapl_wr_id_is_of(uint64_t id, uint64_t base, enum dapl_wr_kind kind)
{
	return (id ^ base) >> DAPL_WR_PLACE_BITS == kind;
}

static inline uint32_t
dapl_wr_id_place(uint64_t id)
{
	return (uint32_t)id & DAPL_WR_PLACE_MASK;
}

#endif
