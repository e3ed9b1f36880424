/* SPDX-License-Identifier: BSD-3-Clause */
/* lmr -- local memory region: memory the device may reach */
#include "dapl/api.h"
#include "dapl/trace/err.h"
#include "dapl/ia/ia.h"
#include "dapl/object/registry.h"
#include "dapl/memory/pz.h"

struct dapl_lmr {
	struct dapl_object obj;
	struct dapl_pz *pz; /* holds a reference; constant while open, as is what follows */
	struct ibv_mr *mr;
	DAT_MEM_TYPE type;
	DAT_REGION_DESCRIPTION region;
	DAT_VLEN length;
	DAT_MEM_PRIV_FLAGS privileges;
};

#define PRIV_REMOTE_ATOMIC 0x40 /* of the InfiniBand extension */
#define PRIV_KNOWN (DAT_MEM_PRIV_ALL_FLAG | PRIV_REMOTE_ATOMIC)

static void
lmr_prepare(void *slot)
{
	dapl_object_prepare(slot, DAPL_KIND_LMR);
}

static struct dapl_slab lmr_slab = DAPL_SLAB_INITIALIZER(struct dapl_lmr, lmr_prepare);

static int
lmr_access_flags(DAT_MEM_PRIV_FLAGS privileges)
{
	int access = 0;

	if (privileges & DAT_MEM_PRIV_LOCAL_WRITE_FLAG)
		access |= IBV_ACCESS_LOCAL_WRITE;
	if (privileges & DAT_MEM_PRIV_REMOTE_READ_FLAG)
		access |= IBV_ACCESS_REMOTE_READ;
	/* Verbs grant remote writing only together with local writing. */
	if (privileges & DAT_MEM_PRIV_REMOTE_WRITE_FLAG)
		access |= IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE;
	if (privileges & PRIV_REMOTE_ATOMIC)
		access |= IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_LOCAL_WRITE;
	return access;
}

static int
lmr_create(struct dapl_ia *ia, struct dapl_pz *pz, void *address, const struct dapl_lmr *like,
    struct dapl_lmr **out) DAPL_NO_ADAPTER_LOCK
{
	struct dapl_lmr *lmr = dapl_slab_alloc(&lmr_slab);
	int r;

	if (!lmr)
		return -ENOMEM;
	lmr->pz = pz;
	lmr->type = like->type;
	lmr->region = like->region;
	lmr->length = like->length;
	lmr->privileges = like->privileges;
	errno = 0;
	lmr->mr = ibv_reg_mr(pz->pd, address, like->length, lmr_access_flags(like->privileges));
	if (!lmr->mr) {
		r = errno ? -errno : -ENOMEM;
		goto free_slot;
	}
	r = dapl_object_create(&lmr->obj, &ia->parent, &ia->provider->table);
	if (r)
		goto dereg_mr;
	r = dapl_object_attach(&lmr->obj);
	if (r)
		goto free_handle;
	*out = lmr;
	return 0;

free_handle:
	dapl_object_free_unattached(&lmr->obj);
dereg_mr:
	ibv_dereg_mr(lmr->mr);
free_slot:
	dapl_slab_free(&lmr_slab, lmr);
	return r;
}

static DAT_RETURN
lmr_err_register(int error)
{
	if (error == -EINVAL || error == -EFAULT)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	return dapl_err_resource(error, DAT_RESOURCE_MEMORY_REGION);
}

/* Registers the memory of another LMR a second time. */
static DAT_RETURN
lmr_share(struct dapl_ia *ia, const DAT_REGION_DESCRIPTION *region, void **address,
    DAT_VLEN *length) DAPL_NO_OBJECT_LOCK
{
	struct dapl_lmr *of = dapl_object_lock_handle(region->for_lmr_handle, DAPL_KIND_LMR);

	if (!of)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR);
	*address = of->mr->addr;
	*length = of->length;
	dapl_object_unlock(&of->obj);
	return dapl_ia_of(&of->obj) == ia ? DAT_SUCCESS :
					    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR);
}

DAT_RETURN
dapl_lmr_create(DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region,
    DAT_VLEN length, DAT_PZ_HANDLE pz_handle, DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type,
    DAT_LMR_HANDLE *lmr_handle, DAT_LMR_CONTEXT *lmr_context, DAT_RMR_CONTEXT *rmr_context,
    DAT_VLEN *registered_length, DAT_VADDR *registered_address)
{
	struct dapl_lmr like = { .type = type, .region = region, .privileges = privileges };
	void *address = region.for_va;
	DAT_RETURN ret = DAT_SUCCESS;
	struct dapl_lmr *lmr = NULL;
	struct dapl_ia *ia;
	struct dapl_pz *pz;
	int r;

	ia = dapl_ia_enter(ia_handle);
	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	pz = dapl_object_get(pz_handle, DAPL_KIND_PZ, &ia->parent);
	if (!pz) {
		ret = DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
		goto leave;
	}
	if (type == DAT_MEM_TYPE_LMR)
		ret = lmr_share(ia, &region, &address, &length);
	else if (type == DAT_MEM_TYPE_SHARED_VIRTUAL)
		ret = DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
	else if (type != DAT_MEM_TYPE_VIRTUAL)
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	else if (length == 0)
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	if (ret != DAT_SUCCESS)
		goto put_pz;
	if (privileges & ~PRIV_KNOWN)
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
	else if (va_type != DAT_VA_TYPE_VA)
		ret = va_type == DAT_VA_TYPE_ZB ?
			  DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE) :
			  DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG7);
	else if (!lmr_handle)
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG8);
	if (ret != DAT_SUCCESS)
		goto put_pz;

	like.length = length;
	r = lmr_create(ia, pz, address, &like, &lmr);
	if (r) {
		ret = lmr_err_register(r);
		goto put_pz;
	}
	if (lmr_context)
		*lmr_context = lmr->mr->lkey;
	if (rmr_context)
		*rmr_context = lmr->mr->rkey;
	if (registered_length)
		*registered_length = lmr->length;
	if (registered_address)
		*registered_address = (DAT_VADDR)(uintptr_t)lmr->mr->addr;
	*lmr_handle = lmr->obj.handle;
	goto leave;

put_pz:
	dapl_object_put(&pz->obj);
leave:
	dapl_ia_leave(ia);
	return ret;
}

DAT_RETURN
dapl_lmr_query(DAT_LMR_HANDLE handle, DAT_LMR_PARAM_MASK mask, DAT_LMR_PARAM *param)
{
	struct dapl_lmr *lmr = dapl_object_lock_handle(handle, DAPL_KIND_LMR);
	DAT_LMR_PARAM p;
	DAT_RETURN ret;
	struct dapl_ia *ia;

	if (!lmr)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR);
	ia = dapl_ia_of(&lmr->obj);
	p = (DAT_LMR_PARAM){
		.mem_type = lmr->type,
		.region_desc = lmr->region,
		.length = lmr->length,
		.pz_handle = lmr->pz->obj.handle,
		.mem_priv = lmr->privileges,
		.va_type = DAT_VA_TYPE_VA,
		.lmr_context = lmr->mr->lkey,
		.rmr_context = lmr->mr->rkey,
		.registered_size = lmr->length,
		.registered_address = (DAT_VADDR)(uintptr_t)lmr->mr->addr,
	};
	dapl_object_unlock(&lmr->obj);
	ret = dapl_err_query(!(mask & ~DAT_LMR_FIELD_ALL), param);
	if (ret != DAT_SUCCESS)
		return ret;
	p.ia_handle = dapl_registry_ia_handle(ia->self);
	*param = p;
	return DAT_SUCCESS;
}

int
dapl_lmr_free_by_handle(DAT_HANDLE handle)
{
	uint64_t serial;
	struct dapl_lmr *lmr = dapl_handle_object(handle, DAPL_KIND_LMR, &serial);
	int r = lmr ? dapl_object_free(&lmr->obj, serial) : -ENODEV;

	if (r)
		return r;
	ibv_dereg_mr(lmr->mr);
	dapl_object_put(&lmr->pz->obj);
	dapl_object_detach(&lmr->obj);
	dapl_slab_free(&lmr_slab, lmr);
	return 0;
}

DAT_RETURN
dapl_lmr_free(DAT_LMR_HANDLE handle)
{
	return dapl_err_free(
	    dapl_lmr_free_by_handle(handle), DAT_INVALID_STATE_LMR_IN_USE, DAT_INVALID_HANDLE_LMR);
}

/* Memory and device are coherent: only the arguments are checked. */
static DAT_RETURN
lmr_sync_segments(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET *segments, DAT_VLEN count)
{
	if (!dapl_handle_is(ia_handle, DAPL_KIND_IA))
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	if (count > 0 && !segments)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	return DAT_SUCCESS;
}

DAT_RETURN
dapl_lmr_sync_rdma_read(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET *segments, DAT_VLEN count)
{
	return lmr_sync_segments(ia, segments, count);
}

DAT_RETURN
dapl_lmr_sync_rdma_write(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET *segments, DAT_VLEN count)
{
	return lmr_sync_segments(ia, segments, count);
}
