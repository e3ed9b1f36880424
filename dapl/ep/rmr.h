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
 * the queue pair of `last` can rely on them.  A request on another queue pair cannot: it is posted
 * when no request on the region is outstanding.  So all that are outstanding are on that queue
 * pair.
 *
 * When the device has not executed one of them, or has not reported it before its queue pair ended,
 * the window may have an older range.  The region is then lost: as soon as nothing is outstanding
 * it is settled, which gives it another window and makes it unbound.
 */
#ifndef REARM_DAPL_RMR_H
#define REARM_DAPL_RMR_H

#include <stdatomic.h>

#include "dapl/memory/lmr.h"

struct dapl_ia;

struct dapl_rmr {
	struct dapl_object obj;
	struct os_mutex binds;
	struct dapl_pz *pz; /* holds a reference; constant while open, as is `type` */
	enum ibv_mw_type type;
	/* Guarded by `binds`, as is its key.  NULL without memory: the next bind makes one. */
	struct ibv_mw *mw;
	/* These change under `binds` and the object's lock. */
	struct dapl_lmr *lmr; /* holds a reference; NULL: not bound */
	DAT_LMR_TRIPLET range;
	DAT_MEM_PRIV_FLAGS privileges;
	DAT_VA_TYPE va_type;
	DAT_RMR_CONTEXT context; /* the key of the window */
	/*
	 * The wr_id of the last posted request, or DAPL_WR_ID_NONE if a request on any queue pair
	 * can rely on the state of the window.  It never names a queue pair that is gone: see
	 * dapl_rmr_leave_all().  Changes under `binds`.
	 */
	_Atomic(uint64_t) last;
	/*
	 * What `last` was before a bind that gives the region another window, while the old window
	 * exists: it may be bound on that queue pair.  Else DAPL_WR_ID_NONE.  Changes under `binds`
	 * and the object's lock.
	 */
	uint64_t replaced;
	/*
	 * Requests whose completion was not polled, and whose queue pair exists.  Increases under
	 * `binds`.
	 */
	atomic_uint posted;
	atomic_bool lost; /* set before `posted` decreases; cleared under `binds` */
};

static inline bool
dapl_rmr_is_for_ep(const struct dapl_rmr *rmr)
{
	return rmr->type == IBV_MW_TYPE_2;
}

extern struct dapl_slab dapl_rmr_slab;

/* The region with `binds` locked, or NULL for a bad handle.  Until then it is not freed. */
struct dapl_rmr *dapl_rmr_lock(DAT_RMR_HANDLE handle) TRY_ACQUIRE(dapl_locks.binds) DAPL_NO_LOCK;

static inline void
dapl_rmr_unlock(struct dapl_rmr *rmr) RELEASE(dapl_locks.binds) UNCHECKED
{
	os_unlock(&rmr->binds);
}

/* The same for the region in that slot with that serial number. */
struct dapl_rmr *dapl_rmr_lock_serial(struct dapl_rmr *rmr, uint64_t serial)
    TRY_ACQUIRE(dapl_locks.binds) DAPL_NO_LOCK;

/*
 * A bind was posted: the region has this range of `lmr`, whose reference it takes over, or with
 * NULL none; and the key that the window has now.
 */
void dapl_rmr_set_range(struct dapl_rmr *rmr, struct dapl_lmr *lmr, const DAT_LMR_TRIPLET *range,
    DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type)
    REQUIRES(dapl_locks.binds) DAPL_NO_LIST_LOCK;

/* The region is not bound. */
void dapl_rmr_unbind(struct dapl_rmr *rmr) REQUIRES(dapl_locks.binds) DAPL_NO_LIST_LOCK;

/*
 * The region has no window any more.  What the device returns: EBUSY and EINVAL say that it still
 * has it, other failures that the device is gone.
 */
int dapl_rmr_drop_window(struct dapl_rmr *rmr) REQUIRES(dapl_locks.binds);

/* Gives the region that window, or none, and deallocates the one that it has. */
void dapl_rmr_replace(struct dapl_rmr *rmr, struct ibv_mw *mw) REQUIRES(dapl_locks.binds);

/*
 * A bind on another queue pair than that of `last` is about to replace the window; or it has ended,
 * and the old window is deallocated if the bind was posted.  In between dapl_rmr_renew_all() waits
 * for `binds`, although `last` changes.
 */
void dapl_rmr_replace_begin(struct dapl_rmr *rmr) REQUIRES(dapl_locks.binds) DAPL_NO_LIST_LOCK;
void dapl_rmr_replace_end(struct dapl_rmr *rmr) REQUIRES(dapl_locks.binds) DAPL_NO_LIST_LOCK;

/* Gives the region another window, if there is memory for it, which is not bound. */
void dapl_rmr_renew(struct dapl_rmr *rmr) REQUIRES(dapl_locks.binds) DAPL_NO_LIST_LOCK;

/* Settles the region if it is lost and nothing is outstanding. */
void dapl_rmr_settle(struct dapl_rmr *rmr) REQUIRES(dapl_locks.binds) DAPL_NO_LIST_LOCK;

/*
 * rmr_life.c: whether a request is outstanding, as far as the completion queue of the queue pair of
 * `last` knows.
 */
bool dapl_rmr_is_outstanding(struct dapl_rmr *rmr) REQUIRES(dapl_locks.binds) DAPL_NO_LIST_LOCK;

/*
 * A request on the region in that slot completed, or its queue pair is gone, or it was not posted.
 * For each once.  `lmr`: what it binds to, or NULL.  `lost`: it was posted, and the device has not
 * executed it, as far as is known.
 */
void dapl_rmr_request_end(uint32_t slot, struct dapl_lmr *lmr, bool lost);

/* A request failed, or was flushed, and its event is taken. */
void dapl_rmr_failed(DAT_RMR_HANDLE handle) DAPL_NO_LOCK;

/* ---- rmr_list.c: the regions of an adapter ---- */

/* The other end invalidated the window with this key. */
void dapl_rmr_invalidated(struct dapl_ia *ia, uint32_t rkey) DAPL_NO_LOCK;

/*
 * A queue pair with that generation of the endpoint in that slot is in the error state and about to
 * be destroyed.  The regions for an endpoint whose last request was posted to it get another
 * window, which is not bound; a bind that replaces such a window is waited for.  A device may not
 * destroy a queue pair while a window is bound on it.  The driver of soft-RoCE waits 50 seconds,
 * and then destroys a queue pair that the window still refers to.
 */
void dapl_rmr_renew_all(struct dapl_ia *ia, uint32_t slot, uint32_t generation) DAPL_NO_LOCK;

/*
 * A queue pair that had that generation of the endpoint in that slot is gone, and so are its
 * requests.  The regions whose last request was one of them do not depend on it any more.  Those
 * for an endpoint are unbound: no other queue pair gives access through them.
 */
void dapl_rmr_leave_all(struct dapl_ia *ia, uint32_t slot, uint32_t generation) DAPL_NO_LOCK;

/* What uses a region: an endpoint with that zone, slot and generation. */
struct dapl_rmr_user {
	const struct dapl_pz *pz;
	uint32_t slot, generation;
};

/*
 * The memory under a range of a bound region, or of a local region that is named by its remote
 * context, into which the endpoint is to read.  DAT_PROTECTION_VIOLATION: no region of the adapter
 * that the endpoint can use has the context, or the range is not within it.
 * DAT_PRIVILEGES_VIOLATION: it does not allow remote writes.
 */
DAT_RETURN dapl_rmr_resolve(struct dapl_ia *ia, const struct dapl_rmr_user *user,
    const DAT_RMR_TRIPLET *range, DAT_LMR_TRIPLET *local) DAPL_NO_ADAPTER_LOCK;

#endif
