/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ep/rmr.h"

#include "dapl/api.h"
#include "dapl/ep/ep.h"
#include "dapl/ia/ia.h"
#include "dapl/object/registry.h"
#include "dapl/trace/err.h"
#include "dapl/trace/shortage.h"

#define BAD_RMR DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RMR)

static void
rmr_prepare(void *slot)
{
	struct dapl_rmr *rmr = slot;

	dapl_object_prepare(&rmr->obj, DAPL_KIND_RMR);
	os_mutex_init(&rmr->binds);
}

static struct dapl_slab rmr_slab = DAPL_SLAB_INITIALIZER(struct dapl_rmr, rmr_prepare);

static void
rmr_lock_binds(struct dapl_rmr *rmr) ACQUIRE(dapl_locks.binds) DAPL_NO_LIST_LOCK UNCHECKED
{
	os_lock(&rmr->binds);
}

static struct dapl_rmr *
rmr_lock_serial(struct dapl_rmr *rmr, uint64_t serial) TRY_ACQUIRE(dapl_locks.binds) DAPL_NO_LOCK
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

	return rmr ? rmr_lock_serial(rmr, serial) : NULL;
}

/* ---- create and free ---- */

static int
rmr_create(struct dapl_ia *ia, struct dapl_pz *pz, enum ibv_mw_type type, struct dapl_rmr **out)
{
	struct dapl_rmr *rmr = dapl_slab_alloc(&rmr_slab);
	int r;

	if (!rmr)
		return -ENOMEM;
	rmr->pz = pz;
	rmr->type = type;
	rmr->lmr = NULL;
	rmr->range = (DAT_LMR_TRIPLET){ 0 };
	rmr->privileges = DAT_MEM_PRIV_NONE_FLAG;
	rmr->va_type = DAT_VA_TYPE_VA;
	rmr->last = DAPL_WR_ID_NONE;
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
	dapl_slab_free(&rmr_slab, rmr);
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
			ret = dapl_err_resource(r, DAT_RESOURCE_MEMORY_REGION);
	}
	if (ret != DAT_SUCCESS)
		dapl_object_put(&pz->obj);
	return ret;
}

DAT_RETURN
dapl_rmr_create(DAT_PZ_HANDLE pz, DAT_RMR_HANDLE *rmr)
{
	return rmr_create_of(pz, rmr, false);
}

DAT_RETURN
dapl_rmr_create_for_ep(DAT_PZ_HANDLE pz, DAT_RMR_HANDLE *rmr)
{
	return rmr_create_of(pz, rmr, true);
}

/* Whether the device may still execute the last bind: it has not completed. */
static bool
rmr_is_outstanding(const struct dapl_rmr *rmr) REQUIRES(dapl_locks.binds) DAPL_NO_LIST_LOCK
{
	const uint64_t id = rmr->last;
	struct dapl_ep *ep;
	bool outstanding;

	if (id == DAPL_WR_ID_NONE)
		return false;
	ep = dapl_slab_at(&dapl_ep_slab, dapl_wr_id_slot(id));
	dapl_object_lock(&ep->obj);
	if (dapl_object_is_alive(&ep->obj) && ep->qp && ep->parts.request)
		(void)evd_refresh(dapl_evd_ref(ep->parts.request));
	outstanding = dapl_object_is_alive(&ep->obj) && ep->qp &&
		      dapl_wr_id_has_generation(id, dapl_ep_generation(ep)) &&
		      dapl_wr_ring_has(&ep->rings.requests, dapl_wr_id_place(id));
	dapl_object_unlock(&ep->obj);
	return outstanding;
}

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
	rmr->context = rmr->mw->rkey;
	dapl_object_unlock(&rmr->obj);
	if (was)
		dapl_object_put(&was->obj);
}

static void
rmr_unbind(struct dapl_rmr *rmr) REQUIRES(dapl_locks.binds) DAPL_NO_LIST_LOCK
{
	const DAT_LMR_TRIPLET none = { 0 };

	dapl_rmr_set_range(rmr, NULL, &none, DAT_MEM_PRIV_NONE_FLAG, DAT_VA_TYPE_VA);
}

int
dapl_rmr_free_by_handle(DAT_HANDLE handle)
{
	struct dapl_rmr *rmr = dapl_rmr_lock(handle);
	int r;

	if (!rmr)
		return -ENODEV;
	r = rmr_is_outstanding(rmr) ? -EBUSY : dapl_object_free(&rmr->obj, rmr->obj.serial);
	if (!r) {
		rmr_unbind(rmr);
		(void)ibv_dealloc_mw(rmr->mw);
		dapl_object_put(&rmr->pz->obj);
	}
	dapl_rmr_unlock(rmr);
	if (r)
		return r;
	dapl_object_detach(&rmr->obj);
	dapl_slab_free(&rmr_slab, rmr);
	return 0;
}

DAT_RETURN
dapl_rmr_free(DAT_RMR_HANDLE handle)
{
	switch (dapl_rmr_free_by_handle(handle)) {
	case 0:
		return DAT_SUCCESS;
	case -EBUSY: /* a bind or an invalidation is outstanding */
		return DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE);
	default:
		return BAD_RMR;
	}
}

/* ---- the range ---- */

DAT_RETURN
dapl_rmr_query(DAT_RMR_HANDLE handle, DAT_RMR_PARAM_MASK mask, DAT_RMR_PARAM *param)
{
	struct dapl_rmr *rmr = dapl_object_lock_handle(handle, DAPL_KIND_RMR);
	DAT_RMR_PARAM p = { 0 };
	struct dapl_ia *ia;
	DAT_RETURN ret;

	if (!rmr)
		return BAD_RMR;
	ia = dapl_ia_of(&rmr->obj);
	p.pz_handle = dapl_object_handle(&rmr->pz->obj);
	p.lmr_triplet = rmr->range;
	p.mem_priv = rmr->privileges;
	p.va_type = rmr->va_type;
	p.rmr_context = rmr->context;
	p.rmr_scope = dapl_rmr_is_for_ep(rmr) ? DAT_RMR_SCOPE_EP : DAT_RMR_SCOPE_PZ;
	dapl_object_unlock(&rmr->obj);
	ret = dapl_err_query(!(mask & ~(DAT_RMR_PARAM_MASK)DAT_RMR_FIELD_ALL), param);
	if (ret != DAT_SUCCESS)
		return ret;
	p.ia_handle = dapl_registry_ia_handle(ia->self);
	*param = p;
	return DAT_SUCCESS;
}

/* The bound region with that key, with its serial number. */
static struct dapl_rmr *
rmr_find(struct dapl_ia *ia, uint32_t rkey, uint64_t *serial) DAPL_NO_ADAPTER_LOCK
{
	struct dapl_rmr *rmr = NULL, *candidate;

	dapl_ia_lock(ia);
	for (struct dapl_object *o = ia->parent.children[DAPL_KIND_RMR]; o && !rmr; o = o->next) {
		candidate = (struct dapl_rmr *)o;
		dapl_object_lock(o);
		if (dapl_object_is_alive(o) && candidate->lmr && candidate->context == rkey) {
			rmr = candidate;
			*serial = o->serial;
		}
		dapl_object_unlock(o);
	}
	dapl_ia_unlock(ia);
	return rmr;
}

int
dapl_rmr_leave_queue_pair(struct dapl_rmr *rmr)
{
	struct ibv_mw *fresh;

	if (rmr_is_outstanding(rmr))
		return -EBUSY;
	if (dapl_rmr_is_for_ep(rmr)) {
		errno = 0;
		fresh = ibv_alloc_mw(rmr->pz->pd, rmr->type);
		if (!fresh)
			return dapl_shortage_of_device("ibv_alloc_mw");
		(void)ibv_dealloc_mw(rmr->mw);
		rmr->mw = fresh;
		rmr_unbind(rmr);
	}
	rmr->last = DAPL_WR_ID_NONE;
	return 0;
}

void
dapl_rmr_failed(DAT_RMR_HANDLE handle, uint64_t wr_id)
{
	struct dapl_rmr *rmr = dapl_rmr_lock(handle);

	if (!rmr)
		return;
	if (rmr->last == wr_id)
		rmr_unbind(rmr);
	dapl_rmr_unlock(rmr);
}

void
dapl_rmr_invalidated(struct dapl_ia *ia, uint32_t rkey)
{
	uint64_t serial;
	struct dapl_rmr *found = rmr_find(ia, rkey, &serial);
	struct dapl_rmr *rmr;

	if (!found)
		return;
	rmr = rmr_lock_serial(found, serial);
	if (!rmr)
		return;
	/* It may have been bound again, by another thread. */
	if (rmr->mw->rkey == rkey)
		rmr_unbind(rmr);
	dapl_rmr_unlock(rmr);
}

bool
dapl_rmr_resolve(struct dapl_ia *ia, const DAT_RMR_TRIPLET *range, DAT_LMR_TRIPLET *local)
{
	uint64_t serial, offset;
	struct dapl_rmr *rmr = rmr_find(ia, range->rmr_context, &serial);
	bool within;

	if (!rmr)
		return false;
	dapl_object_lock(&rmr->obj);
	offset = range->virtual_address;
	if (rmr->va_type != DAT_VA_TYPE_ZB)
		offset -= rmr->range.virtual_address;
	within = dapl_object_is(&rmr->obj, serial) && rmr->lmr &&
		 offset <= rmr->range.segment_length &&
		 range->segment_length <= rmr->range.segment_length - offset;
	*local = (DAT_LMR_TRIPLET){
		.virtual_address = rmr->range.virtual_address + offset,
		.segment_length = range->segment_length,
		.lmr_context = rmr->range.lmr_context,
	};
	dapl_object_unlock(&rmr->obj);
	return within;
}
