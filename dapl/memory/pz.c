/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/memory/pz.h"

#include "dapl/api.h"
#include "dapl/trace/err.h"
#include "dapl/object/registry.h"
#include "dapl/ia/ia.h"

static void
prepare(void *slot)
{
	object_prepare(slot, KIND_PZ);
}

static struct slab slab = SLAB_INITIALIZER(struct pz, prepare);

static int
create(struct ia *ia, struct pz **out)
{
	struct pz *pz = slab_alloc(&slab);
	int r;

	if (!pz)
		return -ENOMEM;
	errno = 0;
	pz->pd = ibv_alloc_pd(ia->verbs);
	if (!pz->pd) {
		r = errno ? -errno : -ENOMEM;
		goto free_slot;
	}
	r = object_open(&pz->obj, &ia->parent, &ia->provider->table);
	if (r)
		goto dealloc_pd;
	r = object_publish(&pz->obj);
	if (r)
		goto abandon;
	*out = pz;
	return 0;

abandon:
	object_abandon(&pz->obj);
dealloc_pd:
	ibv_dealloc_pd(pz->pd);
free_slot:
	slab_free(&slab, pz);
	return r;
}

DAT_RETURN
dapl_pz_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE *pz_handle)
{
	struct ia *ia = ia_enter(ia_handle);
	struct pz *pz;
	int r;

	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	r = pz_handle ? create(ia, &pz) : -EINVAL;
	if (!r)
		*pz_handle = pz->obj.handle;
	ia_leave(ia);
	if (!pz_handle)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	return r ? err_resource(r, DAT_RESOURCE_PROTECTION_DOMAIN) : DAT_SUCCESS;
}

DAT_RETURN
dapl_pz_query(DAT_PZ_HANDLE handle, DAT_PZ_PARAM_MASK mask, DAT_PZ_PARAM *param)
{
	struct pz *pz = object_lock(handle, KIND_PZ);
	DAT_RETURN ret;
	struct ia *ia;

	if (!pz)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
	ia = ia_of(&pz->obj);
	os_unlock(&pz->obj.lock);
	ret = err_query(!(mask & ~DAT_PZ_FIELD_ALL), param);
	if (ret != DAT_SUCCESS)
		return ret;
	param->ia_handle = registry_ia_handle(ia->self);
	return DAT_SUCCESS;
}

int
pz_destroy(DAT_HANDLE handle)
{
	uint64_t serial;
	struct pz *pz = handle_object(handle, KIND_PZ, &serial);
	int r = pz ? object_close(&pz->obj, serial) : -ENODEV;

	if (r)
		return r;
	ibv_dealloc_pd(pz->pd);
	object_unlink(&pz->obj);
	slab_free(&slab, pz);
	return 0;
}

DAT_RETURN
dapl_pz_free(DAT_PZ_HANDLE handle)
{
	switch (pz_destroy(handle)) {
	case 0:
		return DAT_SUCCESS;
	case -EBUSY:
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE);
	default:
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
	}
}
