/* SPDX-License-Identifier: BSD-3-Clause */
/* rmr_life -- a remote memory region is created, queried and freed */
#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/ep/ep.h"
#include "dapl/ep/rmr.h"
#include "dapl/ia/ia.h"
#include "dapl/object/registry.h"
#include "dapl/trace/err.h"
#include "dapl/trace/shortage.h"

#define BAD_RMR DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RMR)

/* ---- create ---- */

static int
rmr_create(struct dapl_ia *ia, struct dapl_pz *pz, enum ibv_mw_type type, struct dapl_rmr **out)
{
	struct dapl_rmr *rmr = dapl_slab_alloc(&dapl_rmr_slab);
	int r;

	if (!rmr)
		return -ENOMEM;
	rmr->pz = pz;
	rmr->type = type;
	rmr->lmr = NULL;
	rmr->range = (DAT_LMR_TRIPLET){ 0 };
	rmr->privileges = DAT_MEM_PRIV_NONE_FLAG;
	rmr->va_type = DAT_VA_TYPE_VA;
	atomic_init(&rmr->last, DAPL_WR_ID_NONE);
	rmr->replaced = DAPL_WR_ID_NONE;
	atomic_init(&rmr->posted, 0);
	atomic_init(&rmr->lost, false);
	errno = 0;
	rmr->mw = ibv_alloc_mw(pz->pd, type);
	if (!rmr->mw) {
		r = dapl_shortage_of_device("ibv_alloc_mw");
		goto free_slot;
	}
	rmr->context = rmr->mw->rkey;
	r = dapl_object_create(&rmr->obj, &ia->parent, &ia->provider->table);
	if (r)
		goto dealloc_mw;
	r = dapl_object_attach(&rmr->obj);
	if (r)
		goto free_handle;
	*out = rmr;
	return 0;

free_handle:
	dapl_object_free_unattached(&rmr->obj);
dealloc_mw:
	(void)ibv_dealloc_mw(rmr->mw);
free_slot:
	dapl_slab_free(&dapl_rmr_slab, rmr);
	return r;
}

/*
 * For one endpoint a window of type 2, for all endpoints of the zone one of type 1; or of the other
 * type, if the device does not have it.
 */
static enum ibv_mw_type
rmr_type(const struct dapl_ia *ia, bool for_ep)
{
	if (!dapl_ia_has_windows_of_type_1(ia))
		return IBV_MW_TYPE_2;
	return for_ep && dapl_ia_has_windows_of_type_2(ia) ? IBV_MW_TYPE_2 : IBV_MW_TYPE_1;
}

static DAT_RETURN
rmr_create_of(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE *handle, bool for_ep) DAPL_NO_LOCK
{
	struct dapl_pz *pz = dapl_object_get(pz_handle, DAPL_KIND_PZ, NULL);
	DAT_RETURN ret = DAT_SUCCESS;
	struct dapl_rmr *rmr = NULL;
	struct dapl_ia *ia;
	int r;

	if (!pz)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
	ia = dapl_ia_of(&pz->obj);
	if (!handle) {
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	} else if (!dapl_ia_has_windows(ia)) {
		ret = DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	} else {
		r = rmr_create(ia, pz, rmr_type(ia, for_ep), &rmr);
		if (!r)
			*handle = rmr->obj.handle;
		else
			ret = dapl_err_perhaps("dat_rmr_create", r, DAT_RESOURCE_MEMORY_REGION);
	}
	if (ret != DAT_SUCCESS)
		dapl_object_put(&pz->obj);
	return ret;
}

DAT_RETURN
dapl_rmr_create(DAT_PZ_HANDLE pz, DAT_RMR_HANDLE *rmr)
{
	DAPL_UNCANCELLED;

	return rmr_create_of(pz, rmr, false);
}

DAT_RETURN
dapl_rmr_create_for_ep(DAT_PZ_HANDLE pz, DAT_RMR_HANDLE *rmr)
{
	DAPL_UNCANCELLED;

	return rmr_create_of(pz, rmr, true);
}

/* ---- free and query ---- */

/* Polls what the device has executed of the requests on the queue pair of `last`. */
static void
rmr_refresh(struct dapl_rmr *rmr) REQUIRES(dapl_locks.binds) DAPL_NO_LIST_LOCK
{
	const uint64_t id = atomic_load_explicit(&rmr->last, memory_order_relaxed);
	struct dapl_ep *ep;

	if (id == DAPL_WR_ID_NONE)
		return;
	ep = dapl_slab_at(&dapl_ep_slab, dapl_wr_id_slot(id));
	dapl_object_lock(&ep->obj);
	/* The rest of an endpoint is guarded by the lock only if it is the one that is meant. */
	if (dapl_wr_id_has_generation(id, dapl_ep_generation(ep)) &&
	    dapl_object_is_alive(&ep->obj) && ep->qp && ep->parts.request)
		(void)evd_refresh(dapl_evd_ref(ep->parts.request));
	dapl_object_unlock(&ep->obj);
}

bool
dapl_rmr_is_outstanding(struct dapl_rmr *rmr)
{
	if (atomic_load_explicit(&rmr->posted, memory_order_acquire))
		rmr_refresh(rmr);
	return atomic_load_explicit(&rmr->posted, memory_order_acquire) != 0;
}

/*
 * A window that the device does not deallocate can be bound, so its region is not free, either.  It
 * is tried again by the next call.
 */
static bool
rmr_is_in_use(struct dapl_rmr *rmr) REQUIRES(dapl_locks.binds) DAPL_NO_LIST_LOCK
{
	if (dapl_rmr_is_outstanding(rmr))
		return true;
	(void)dapl_rmr_drop_window(rmr);
	return rmr->mw && !dapl_parent_is_closing(rmr->obj.parent);
}

int
dapl_rmr_free_by_handle(DAT_HANDLE handle)
{
	struct dapl_rmr *rmr = dapl_rmr_lock(handle);
	int r;

	if (!rmr)
		return -ENODEV;
	r = rmr_is_in_use(rmr) ? -EBUSY : dapl_object_free(&rmr->obj, rmr->obj.serial);
	if (!r) {
		dapl_rmr_unbind(rmr);
		rmr->mw = NULL;
		dapl_object_put(&rmr->pz->obj);
	}
	dapl_rmr_unlock(rmr);
	if (r)
		return r;
	dapl_object_detach(&rmr->obj);
	dapl_slab_free(&dapl_rmr_slab, rmr);
	return 0;
}

DAT_RETURN
dapl_rmr_free(DAT_RMR_HANDLE handle)
{
	DAPL_UNCANCELLED;

	switch (dapl_rmr_free_by_handle(handle)) {
	case 0:
		return DAT_SUCCESS;
	case -EBUSY: /* a bind or an invalidation is outstanding, or the device keeps the window */
		return DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE);
	default:
		return BAD_RMR;
	}
}

DAT_RETURN
dapl_rmr_query(DAT_RMR_HANDLE handle, DAT_RMR_PARAM_MASK mask, DAT_RMR_PARAM *param)
{
	DAPL_UNCANCELLED;
	struct dapl_rmr *rmr = dapl_rmr_lock(handle);
	DAT_RMR_PARAM p = { 0 };
	struct dapl_ia *ia;
	DAT_RETURN ret;

	if (!rmr)
		return BAD_RMR;
	dapl_rmr_settle(rmr);
	ia = dapl_ia_of(&rmr->obj);
	p.pz_handle = dapl_object_handle(&rmr->pz->obj);
	p.lmr_triplet = rmr->range;
	p.mem_priv = rmr->privileges;
	p.va_type = rmr->va_type;
	p.rmr_context = rmr->context;
	p.rmr_scope = dapl_rmr_is_for_ep(rmr) ? DAT_RMR_SCOPE_EP : DAT_RMR_SCOPE_PZ;
	dapl_rmr_unlock(rmr);
	ret = dapl_err_query(!(mask & ~(DAT_RMR_PARAM_MASK)DAT_RMR_FIELD_ALL), param);
	if (ret != DAT_SUCCESS)
		return ret;
	p.ia_handle = dapl_registry_ia_handle(ia->self);
	*param = p;
	return DAT_SUCCESS;
}
