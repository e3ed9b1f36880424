/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rmr -- remote memory region: a memory window of the device
 *
 * A window of type 1 gives access through every endpoint of its protection zone.  A window of type
 * 2 gives access only through the endpoint that it was bound on, and the other end may invalidate
 * it.
 *
 * The lock `binds` is held while the region is bound, freed or invalidated, so that each bind
 * finds the key that the one before it made.  It comes before the locks of adapters and objects.
 *
 * `lmr` and `range` say what the last posted request makes of the region.  The device may not have
 * executed it: the requests of one queue pair are executed in their order, so the next request on
 * the queue pair of `last` can rely on them.  A request on another queue pair cannot.
 */
#ifndef REARM_DAPL_RMR_H
#define REARM_DAPL_RMR_H

#include "dapl/memory/lmr.h"

struct dapl_ia;

struct dapl_rmr {
	struct dapl_object obj;
	struct os_mutex binds;
	struct dapl_pz *pz; /* holds a reference; constant while open, as is `type` */
	enum ibv_mw_type type;
	struct ibv_mw *mw; /* guarded by `binds`, as is its key */
	/* These change under `binds` and the object's lock. */
	struct dapl_lmr *lmr; /* holds a reference; NULL: not bound */
	DAT_LMR_TRIPLET range;
	DAT_MEM_PRIV_FLAGS privileges;
	DAT_VA_TYPE va_type;
	DAT_RMR_CONTEXT context; /* the key of the window */
	/*
	 * The wr_id of the last posted request, or DAPL_WR_ID_NONE if a request on any queue pair can
	 * rely on the state of the window; guarded by `binds`.
	 */
	uint64_t last;
};

static inline bool
dapl_rmr_is_for_ep(const struct dapl_rmr *rmr)
{
	return rmr->type == IBV_MW_TYPE_2;
}

/* The region with `binds` locked, or NULL for a bad handle.  Until then it is not freed. */
struct dapl_rmr *dapl_rmr_lock(DAT_RMR_HANDLE handle) TRY_ACQUIRE(dapl_locks.binds) DAPL_NO_LOCK;

static inline void
dapl_rmr_unlock(struct dapl_rmr *rmr) RELEASE(dapl_locks.binds) UNCHECKED
{
	os_unlock(&rmr->binds);
}

/*
 * A bind was posted: the region has this range of `lmr`, whose reference it takes over, or with
 * NULL none; and the key that the window has now.
 */
void dapl_rmr_set_range(struct dapl_rmr *rmr, struct dapl_lmr *lmr, const DAT_LMR_TRIPLET *range,
    DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type)
    REQUIRES(dapl_locks.binds) DAPL_NO_LIST_LOCK;

/*
 * Makes the window one that can be bound through any queue pair: one of type 2 is replaced, and its
 * range is no longer bound.  -EBUSY while the last request is outstanding, -ENOMEM.
 */
int dapl_rmr_leave_queue_pair(struct dapl_rmr *rmr) REQUIRES(dapl_locks.binds) DAPL_NO_LIST_LOCK;

/* The request with that wr_id failed, or was flushed; it binds nothing. */
void dapl_rmr_failed(DAT_RMR_HANDLE handle, uint64_t wr_id) DAPL_NO_LOCK;

/* The other end invalidated the window with this key. */
void dapl_rmr_invalidated(struct dapl_ia *ia, uint32_t rkey) DAPL_NO_LOCK;

/*
 * The memory under a range of a bound region, for a local access: false if no region of the adapter
 * has the context or the range is not within it.
 */
bool dapl_rmr_resolve(
    struct dapl_ia *ia, const DAT_RMR_TRIPLET *range, DAT_LMR_TRIPLET *local) DAPL_NO_ADAPTER_LOCK;

#endif
