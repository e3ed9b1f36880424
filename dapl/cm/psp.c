/* SPDX-License-Identifier: BSD-3-Clause */
/* psp -- public service point: every request that arrives becomes an event */
#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/cm/sp.h"
#include "dapl/trace/err.h"
#include "dapl/object/registry.h"
#include "dapl/ia/ia_count.h"

struct dapl_psp {
	struct dapl_sp sp;
	DAT_PSP_FLAGS flags; /* constant while open */
};

/* DAT_PSP_PROVIDER_FLAG: an endpoint is made for each request. */
static int
psp_get_ep(struct dapl_ia *ia, struct dapl_sp *sp, const struct dapl_conn *listener,
    uint32_t generation, const struct sockaddr *from, DAT_EP_HANDLE *ep) DAPL_NO_LOCK
{
	(void)sp;
	(void)listener;
	(void)generation;
	return dapl_ep_create_for_request(ia, from, ep);
}

static const struct dapl_sp_ops psp_ops = { .get_ep = psp_get_ep };

static void
psp_prepare(void *slot)
{
	dapl_sp_prepare(slot, DAPL_KIND_PSP, &psp_ops);
}

static struct dapl_slab psp_slab = DAPL_SLAB_INITIALIZER(struct dapl_psp, psp_prepare);

/* `qual` 0: any; the port is in sp.qual afterwards. */
static int
psp_create(struct dapl_ia *ia, struct dapl_evd *evd, DAT_CONN_QUAL qual, DAT_PSP_FLAGS flags,
    struct dapl_psp **out) DAPL_NO_LOCK
{
	struct dapl_psp *psp = dapl_slab_alloc(&psp_slab);
	int r;

	if (!psp)
		return -ENOMEM;
	psp->flags = flags;
	psp->sp.brings_ep = flags == DAT_PSP_PROVIDER_FLAG;
	r = dapl_sp_open(&psp->sp, ia, evd, qual);
	if (r) {
		dapl_slab_free(&psp_slab, psp);
		return r;
	}
	dapl_ia_count(ia, qual ? DCNT_IA_PSP_CREATE : DCNT_IA_PSP_CREATE_ANY);
	*out = psp;
	return 0;
}

static DAT_RETURN
psp_err(int error, bool any)
{
	return any ? dapl_err_listen_any(error) : dapl_err_listen("dat_psp_create", error);
}

/* After dapl_ia_leave() a close may free the service point: *qual and *handle are stored before. */
static DAT_RETURN
psp_check_and_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL *qual, DAT_EVD_HANDLE evd_handle,
    DAT_PSP_FLAGS flags, DAT_PSP_HANDLE *handle) DAPL_NO_LOCK
{
	const bool any = *qual == 0;
	DAT_RETURN ret = DAT_SUCCESS;
	struct dapl_psp *psp = NULL;
	struct dapl_evd *evd;
	struct dapl_ia *ia;
	int r;

	ia = dapl_ia_enter(ia_handle);
	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	evd = dapl_sp_get_evd(ia, evd_handle);
	if (!evd) {
		ret = DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CR);
		goto leave;
	}
	if (flags != DAT_PSP_CONSUMER_FLAG && flags != DAT_PSP_PROVIDER_FLAG) {
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	} else {
		r = psp_create(ia, evd, *qual, flags, &psp);
		if (r) {
			ret = psp_err(r, any);
		} else if (atomic_load(&ia->datagrams)) {
			r = dapl_sp_hear_datagrams(ia, psp->sp.self);
			if (r) {
				ret = psp_err(r, any);
				(void)dapl_psp_free_by_handle(psp->sp.self);
				goto leave; /* the EVD was the service point's */
			}
		}
	}
	if (ret == DAT_SUCCESS) {
		*qual = psp->sp.qual;
		*handle = psp->sp.self;
	} else {
		dapl_evd_put(evd);
	}
leave:
	dapl_ia_leave(ia);
	return ret;
}

DAT_RETURN
dapl_psp_create(DAT_IA_HANDLE ia, DAT_CONN_QUAL qual, DAT_EVD_HANDLE evd, DAT_PSP_FLAGS flags,
    DAT_PSP_HANDLE *handle)
{
	DAPL_UNCANCELLED;

	if (!handle || qual == 0) {
		if (!dapl_handle_is(ia, DAPL_KIND_IA))
			return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
		return DAT_ERROR(
		    DAT_INVALID_PARAMETER, handle ? DAT_INVALID_ARG2 : DAT_INVALID_ARG5);
	}
	return psp_check_and_create(ia, &qual, evd, flags, handle);
}

DAT_RETURN
dapl_psp_create_any(DAT_IA_HANDLE ia, DAT_CONN_QUAL *qual, DAT_EVD_HANDLE evd, DAT_PSP_FLAGS flags,
    DAT_PSP_HANDLE *handle)
{
	DAPL_UNCANCELLED;
	DAT_CONN_QUAL chosen = 0;
	DAT_RETURN ret;

	if (!handle || !qual) {
		if (!dapl_handle_is(ia, DAPL_KIND_IA))
			return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
		return DAT_ERROR(DAT_INVALID_PARAMETER, qual ? DAT_INVALID_ARG5 : DAT_INVALID_ARG2);
	}
	ret = psp_check_and_create(ia, &chosen, evd, flags, handle);
	if (ret == DAT_SUCCESS)
		*qual = chosen;
	return ret;
}

DAT_RETURN
dapl_psp_query(DAT_PSP_HANDLE handle, DAT_PSP_PARAM_MASK mask, DAT_PSP_PARAM *param)
{
	DAPL_UNCANCELLED;
	struct dapl_psp *psp = dapl_object_lock_handle(handle, DAPL_KIND_PSP);
	DAT_PSP_PARAM p;
	DAT_RETURN ret;
	struct dapl_ia *ia;

	if (!psp)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PSP);
	ia = dapl_ia_of(&psp->sp.obj);
	p = (DAT_PSP_PARAM){
		.conn_qual = psp->sp.qual,
		.evd_handle = psp->sp.evd->core.cfg.handle,
		.psp_flags = psp->flags,
	};
	dapl_object_unlock(&psp->sp.obj);
	ret = dapl_err_query(!(mask & ~DAT_PSP_FIELD_ALL), param);
	if (ret != DAT_SUCCESS)
		return ret;
	p.ia_handle = dapl_registry_ia_handle(ia->self);
	*param = p;
	return DAT_SUCCESS;
}

int
dapl_psp_free_by_handle(DAT_HANDLE handle)
{
	return dapl_sp_free(handle, DAPL_KIND_PSP, &psp_slab);
}

DAT_RETURN
dapl_psp_free(DAT_PSP_HANDLE handle)
{
	DAPL_UNCANCELLED;

	return dapl_psp_free_by_handle(handle) ?
		   DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PSP) :
		   DAT_SUCCESS;
}
