/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/memory/lmr.h"

#include <string.h>
#include <unistd.h>

#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/trace/debug.h"
#include "dapl/trace/err.h"
#include "dapl/trace/shortage.h"
#include "dapl/ia/ia.h"
#include "dapl/object/registry.h"

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
	if (privileges & DAPL_PRIV_REMOTE_ATOMIC)
		access |= IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_LOCAL_WRITE;
	return access;
}

/* Bytes that this process has registered. */
static _Atomic(uint64_t) lmr_registered;

static void
lmr_count_off(const struct dapl_lmr *lmr)
{
	atomic_fetch_sub_explicit(&lmr_registered, lmr->length, memory_order_relaxed);
}

/*
 * Zero-based: verbs call it an I/O virtual address of 0.  Kernels want that address and the memory
 * at the same place of a page.
 */
static struct ibv_mr *
lmr_reg_mr(const struct dapl_lmr *lmr, void *address, int access)
{
	errno = 0;
	return lmr->va_type == DAT_VA_TYPE_ZB ?
		   ibv_reg_mr_iova(lmr->pz->pd, address, lmr->length, 0, access) :
		   ibv_reg_mr(lmr->pz->pd, address, lmr->length, access);
}

/*
 * Kernels take memory that the process may not write only if no window can be bound to it, not even
 * one for reading.
 */
static void
lmr_reg_with_windows(const struct dapl_ia *ia, struct dapl_lmr *lmr, void *address)
{
	const int access = lmr_access_flags(lmr->privileges);
	const int windows = dapl_ia_has_windows(ia) ? IBV_ACCESS_MW_BIND : 0;

	lmr->unbindable = false;
	lmr->mr = lmr_reg_mr(lmr, address, access | windows);
	if (lmr->mr || errno != EFAULT || !windows || access & IBV_ACCESS_LOCAL_WRITE)
		return;
	lmr->unbindable = true;
	lmr->mr = lmr_reg_mr(lmr, address, access);
}

static int
lmr_register(const struct dapl_ia *ia, struct dapl_lmr *lmr, void *address)
{
	const bool zero_based = lmr->va_type == DAT_VA_TYPE_ZB;
	uint64_t before;

	if (zero_based && !ia->zero_based)
		return -EOPNOTSUPP;
	before = atomic_fetch_add_explicit(&lmr_registered, lmr->length, memory_order_relaxed);
	lmr_reg_with_windows(ia, lmr, address);
	if (lmr->mr)
		return 0;
	lmr_count_off(lmr);
	if (zero_based && errno == EINVAL &&
	    (uintptr_t)address % (uintptr_t)sysconf(_SC_PAGESIZE)) {
		dapl_debug_error("this device needs memory that begins with a page for a "
				 "zero-based region");
		return -EOPNOTSUPP;
	}
	return dapl_shortage_of_region("dat_lmr_create: ibv_reg_mr", lmr->length, before);
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
	memcpy(lmr->shared_id, like->shared_id, sizeof lmr->shared_id);
	lmr->length = like->length;
	lmr->privileges = like->privileges;
	lmr->va_type = like->va_type;
	r = lmr_register(ia, lmr, address);
	if (r)
		goto free_slot;
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
	lmr_count_off(lmr);
free_slot:
	dapl_slab_free(&lmr_slab, lmr);
	return r;
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

/*
 * Memory that processes share has a name, by which an adapter could use its resources once for all
 * of them.  Verbs have nothing like that: each LMR is registered by itself.
 */
static DAT_RETURN
lmr_name_shared(struct dapl_lmr *lmr, void **address)
{
	const DAT_SHARED_MEMORY *shared = &lmr->region.for_shared_memory;

	if (!shared->shared_memory_id)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	memcpy(lmr->shared_id, *shared->shared_memory_id, sizeof lmr->shared_id);
	*address = shared->virtual_address;
	return DAT_SUCCESS;
}

static DAT_RETURN
lmr_check(const struct dapl_ia *ia, DAT_VLEN length, DAT_MEM_PRIV_FLAGS privileges,
    DAT_VA_TYPE va_type, const DAT_LMR_HANDLE *lmr_handle)
{
	if (length == 0 || length > ia->device.max_mr_size)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	if (privileges & ~DAPL_PRIV_KNOWN)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
	if (va_type != DAT_VA_TYPE_VA && va_type != DAT_VA_TYPE_ZB)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG7);
	if (!lmr_handle)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG8);
	return DAT_SUCCESS;
}

DAT_RETURN
dapl_lmr_create(DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region,
    DAT_VLEN length, DAT_PZ_HANDLE pz_handle, DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type,
    DAT_LMR_HANDLE *lmr_handle, DAT_LMR_CONTEXT *lmr_context, DAT_RMR_CONTEXT *rmr_context,
    DAT_VLEN *registered_length, DAT_VADDR *registered_address)
{
	DAPL_UNCANCELLED;
	struct dapl_lmr like = {
		.type = type, .region = region, .privileges = privileges, .va_type = va_type
	};
	void *address = region.for_va;
	struct dapl_lmr *lmr = NULL;
	DAT_RETURN ret;
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
		ret = lmr_name_shared(&like, &address);
	else
		ret = type == DAT_MEM_TYPE_VIRTUAL ?
			  DAT_SUCCESS :
			  DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if (ret == DAT_SUCCESS)
		ret = lmr_check(ia, length, privileges, va_type, lmr_handle);
	if (ret != DAT_SUCCESS)
		goto put_pz;

	like.length = length;
	r = lmr_create(ia, pz, address, &like, &lmr);
	if (r) {
		ret = dapl_err_register(r);
		goto put_pz;
	}
	if (lmr_context)
		*lmr_context = lmr->mr->lkey;
	if (rmr_context)
		*rmr_context = lmr->mr->rkey;
	if (registered_length)
		*registered_length = lmr->length;
	if (registered_address)
		*registered_address = dapl_lmr_base(lmr);
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
	DAPL_UNCANCELLED;
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
		.va_type = lmr->va_type,
		.lmr_context = lmr->mr->lkey,
		.rmr_context = lmr->mr->rkey,
		.registered_size = lmr->length,
		.registered_address = dapl_lmr_base(lmr),
	};
	if (lmr->type == DAT_MEM_TYPE_SHARED_VIRTUAL)
		p.region_desc.for_shared_memory.shared_memory_id = &lmr->shared_id;
	dapl_object_unlock(&lmr->obj);
	ret = dapl_err_query(!(mask & ~DAT_LMR_FIELD_ALL), param);
	if (ret != DAT_SUCCESS)
		return ret;
	p.ia_handle = dapl_registry_ia_handle(ia->self);
	*param = p;
	return DAT_SUCCESS;
}

/*
 * The device refuses while a window is bound to the region: a request that binds the window to
 * another region may be posted and not executed yet.  Other failures say that the device is gone.
 * When the adapter is closed its windows and queue pairs are destroyed first, so that a refusal
 * says nothing any more.
 */
static bool
lmr_is_in_use(struct dapl_lmr *lmr) REQUIRES(dapl_locks.object)
{
	int r;

	if (lmr->obj.refs || atomic_load_explicit(&lmr->binds, memory_order_acquire))
		return true;
	r = ibv_dereg_mr(lmr->mr);
	return (r == EBUSY || r == EINVAL) && !dapl_parent_is_closing(lmr->obj.parent);
}

int
dapl_lmr_free_by_handle(DAT_HANDLE handle)
{
	struct dapl_lmr *lmr = dapl_object_lock_handle(handle, DAPL_KIND_LMR);
	bool in_use;

	if (!lmr)
		return -ENODEV;
	in_use = lmr_is_in_use(lmr);
	if (!in_use)
		dapl_object_free_locked(&lmr->obj);
	dapl_object_unlock(&lmr->obj);
	if (in_use)
		return -EBUSY;
	lmr_count_off(lmr);
	dapl_object_put(&lmr->pz->obj);
	dapl_object_detach(&lmr->obj);
	dapl_slab_free(&lmr_slab, lmr);
	return 0;
}

DAT_RETURN
dapl_lmr_free(DAT_LMR_HANDLE handle)
{
	DAPL_UNCANCELLED;

	return dapl_err_free(
	    dapl_lmr_free_by_handle(handle), DAT_INVALID_STATE_LMR_IN_USE, DAT_INVALID_HANDLE_LMR);
}

/*
 * Verbs have no call for this: an adapter sees the memory as another processor does.  What is left
 * is the order of the accesses of this one.
 */
static DAT_RETURN
lmr_sync_segments(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET *segments, DAT_VLEN count)
{
	if (!dapl_handle_is(ia_handle, DAPL_KIND_IA))
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	if (count > 0 && !segments)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	__sync_synchronize(); /* gcc's thread sanitizer refuses atomic_thread_fence() */
	return DAT_SUCCESS;
}

DAT_RETURN
dapl_lmr_sync_rdma_read(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET *segments, DAT_VLEN count)
{
	DAPL_UNCANCELLED;

	return lmr_sync_segments(ia, segments, count);
}

DAT_RETURN
dapl_lmr_sync_rdma_write(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET *segments, DAT_VLEN count)
{
	DAPL_UNCANCELLED;

	return lmr_sync_segments(ia, segments, count);
}
