/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ep/rmr.h"

#include "dapl/evd/wr_id.h"

static void
rmr_prepare(void *slot)
{
	struct dapl_rmr *rmr = slot;

	dapl_object_prepare(&rmr->obj, DAPL_KIND_RMR);
	os_mutex_init(&rmr->binds);
}

struct dapl_slab dapl_rmr_slab = DAPL_SLAB_INITIALIZER(struct dapl_rmr, rmr_prepare);

static void
rmr_lock_binds(struct dapl_rmr *rmr) ACQUIRE(dapl_locks.binds) DAPL_NO_LIST_LOCK UNCHECKED
{
	os_lock(&rmr->binds);
}

struct dapl_rmr *
dapl_rmr_lock_serial(struct dapl_rmr *rmr, uint64_t serial)
{
	bool alive;

	rmr_lock_binds(rmr);
	dapl_object_lock(&rmr->obj);
	alive = dapl_object_is(&rmr->obj, serial);
	dapl_object_unlock(&rmr->obj);
	if (alive)
		return rmr;
	dapl_rmr_unlock(rmr);
	return NULL;
}

struct dapl_rmr *
dapl_rmr_lock(DAT_RMR_HANDLE handle)
{
	uint64_t serial;
	struct dapl_rmr *rmr = dapl_handle_object(handle, DAPL_KIND_RMR, &serial);

	return rmr ? dapl_rmr_lock_serial(rmr, serial) : NULL;
}

/* ---- the range and the window ---- */

void
dapl_rmr_set_range(struct dapl_rmr *rmr, struct dapl_lmr *lmr, const DAT_LMR_TRIPLET *range,
    DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type)
{
	struct dapl_lmr *was;

	dapl_object_lock(&rmr->obj);
	was = rmr->lmr;
	rmr->lmr = lmr;
	rmr->range = *range;
	rmr->privileges = privileges;
	rmr->va_type = va_type;
	if (rmr->mw)
		rmr->context = rmr->mw->rkey;
	dapl_object_unlock(&rmr->obj);
	if (was)
		dapl_object_put(&was->obj);
}

void
dapl_rmr_unbind(struct dapl_rmr *rmr)
{
	const DAT_LMR_TRIPLET none = { 0 };

	dapl_rmr_set_range(rmr, NULL, &none, DAT_MEM_PRIV_NONE_FLAG, DAT_VA_TYPE_VA);
}

int
dapl_rmr_drop_window(struct dapl_rmr *rmr)
{
	const int r = rmr->mw ? ibv_dealloc_mw(rmr->mw) : 0;

	if (r != EBUSY && r != EINVAL)
		rmr->mw = NULL;
	return r;
}

void
dapl_rmr_replace(struct dapl_rmr *rmr, struct ibv_mw *mw)
{
	(void)dapl_rmr_drop_window(rmr);
	rmr->mw = mw;
}

static void
rmr_set_replaced(struct dapl_rmr *rmr, uint64_t id) REQUIRES(dapl_locks.binds) DAPL_NO_LIST_LOCK
{
	dapl_object_lock(&rmr->obj);
	rmr->replaced = id;
	dapl_object_unlock(&rmr->obj);
}

void
dapl_rmr_replace_begin(struct dapl_rmr *rmr)
{
	rmr_set_replaced(rmr, atomic_load_explicit(&rmr->last, memory_order_relaxed));
}

void
dapl_rmr_replace_end(struct dapl_rmr *rmr)
{
	rmr_set_replaced(rmr, DAPL_WR_ID_NONE);
}

/* The new window is there before the old one goes, so that it gets another key. */
void
dapl_rmr_renew(struct dapl_rmr *rmr)
{
	dapl_rmr_replace(rmr, ibv_alloc_mw(rmr->pz->pd, rmr->type));
	dapl_rmr_unbind(rmr);
}

void
dapl_rmr_settle(struct dapl_rmr *rmr)
{
	if (atomic_load_explicit(&rmr->posted, memory_order_acquire) ||
	    !atomic_load_explicit(&rmr->lost, memory_order_relaxed))
		return;
	atomic_store_explicit(&rmr->lost, false, memory_order_relaxed);
	dapl_rmr_renew(rmr);
	atomic_store_explicit(&rmr->last, DAPL_WR_ID_NONE, memory_order_relaxed);
}

/* ---- the requests ---- */

void
dapl_rmr_request_end(uint32_t slot, struct dapl_lmr *lmr, bool lost)
{
	struct dapl_rmr *rmr = dapl_slab_at(&dapl_rmr_slab, slot);

	if (lmr)
		atomic_fetch_sub_explicit(&lmr->binds, 1, memory_order_release);
	if (lost)
		atomic_store_explicit(&rmr->lost, true, memory_order_relaxed);
	atomic_fetch_sub_explicit(&rmr->posted, 1, memory_order_release);
}

void
dapl_rmr_failed(DAT_RMR_HANDLE handle)
{
	struct dapl_rmr *rmr = dapl_rmr_lock(handle);

	if (!rmr)
		return;
	dapl_rmr_settle(rmr);
	dapl_rmr_unlock(rmr);
}
