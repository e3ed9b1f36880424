/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/memory/pz.h"

#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/trace/err.h"
#include "dapl/trace/shortage.h"
#include "dapl/object/registry.h"
#include "dapl/ia/ia.h"

static void
pz_prepare(void *slot)
{
	dapl_object_prepare(slot, DAPL_KIND_PZ);
}

static struct dapl_slab pz_slab = DAPL_SLAB_INITIALIZER(struct dapl_pz, pz_prepare);

static int
pz_create(struct dapl_ia *ia, struct dapl_pz **out) DAPL_NO_ADAPTER_LOCK
{
	struct dapl_pz *pz = dapl_slab_alloc(&pz_slab);
	int r;

	if (!pz)
		return -ENOMEM;
	errno = 0;
	pz->pd = ibv_alloc_pd(ia->verbs);
	if (!pz->pd) {
		r = dapl_shortage_of_device("ibv_alloc_pd");
		goto free_slot;
	}
	r = dapl_object_create(&pz->obj, &ia->parent, &ia->provider->table);
	if (r)
		goto dealloc_pd;
	r = dapl_object_attach(&pz->obj);
	if (r)
		goto free_handle;
	*out = pz;
	return 0;

free_handle:
	dapl_object_free_unattached(&pz->obj);
dealloc_pd:
	ibv_dealloc_pd(pz->pd);
free_slot:
	dapl_slab_free(&pz_slab, pz);
	return r;
}

DAT_RETURN
dapl_pz_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE *pz_handle)
{
	DAPL_UNCANCELLED;
	struct dapl_ia *ia = dapl_ia_enter(ia_handle);
	struct dapl_pz *pz = NULL;
	int r;

	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	r = pz_handle ? pz_create(ia, &pz) : -EINVAL;
	if (!r)
		*pz_handle = pz->obj.handle;
	dapl_ia_leave(ia);
	if (!pz_handle)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	return r ? dapl_err_resource("dat_pz_create", r, DAT_RESOURCE_PROTECTION_DOMAIN) :
		   DAT_SUCCESS;
}

DAT_RETURN
dapl_pz_query(DAT_PZ_HANDLE handle, DAT_PZ_PARAM_MASK mask, DAT_PZ_PARAM *param)
{
	DAPL_UNCANCELLED;
	struct dapl_pz *pz = dapl_object_lock_handle(handle, DAPL_KIND_PZ);
	DAT_RETURN ret;
	struct dapl_ia *ia;

	if (!pz)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
	ia = dapl_ia_of(&pz->obj);
	dapl_object_unlock(&pz->obj);
	ret = dapl_err_query(!(mask & ~DAT_PZ_FIELD_ALL), param);
	if (ret != DAT_SUCCESS)
		return ret;
	param->ia_handle = dapl_registry_ia_handle(ia->self);
	return DAT_SUCCESS;
}

int
dapl_pz_free_by_handle(DAT_HANDLE handle)
{
	uint64_t serial;
	struct dapl_pz *pz = dapl_handle_object(handle, DAPL_KIND_PZ, &serial);
	int r = pz ? dapl_object_free(&pz->obj, serial) : -ENODEV;

	if (r)
		return r;
	ibv_dealloc_pd(pz->pd);
	dapl_object_detach(&pz->obj);
	dapl_slab_free(&pz_slab, pz);
	return 0;
}

DAT_RETURN
dapl_pz_free(DAT_PZ_HANDLE handle)
{
	DAPL_UNCANCELLED;

	return dapl_err_free(
	    dapl_pz_free_by_handle(handle), DAT_INVALID_STATE_PZ_IN_USE, DAT_INVALID_HANDLE_PZ);
}
