/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * csp -- common service point: listens on a socket address; its requests are those of a public one
 */
#include <netinet/in.h>

#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/cm/sp.h"
#include "dapl/trace/err.h"
#include "dapl/object/registry.h"
#include "dapl/ia/ia.h"

#define BAD_CSP DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CSP)

struct dapl_csp {
	struct dapl_sp sp;
	DAT_COMM comm; /* constant while open */
};

static void
csp_prepare(void *slot)
{
	dapl_sp_prepare(slot, DAPL_KIND_CSP, NULL);
}

static struct dapl_slab csp_slab = DAPL_SLAB_INITIALIZER(struct dapl_csp, csp_prepare);

/* What carries connections here is a reliable stream, which sockets call TCP. */
static bool
csp_is_ours(const DAT_COMM *comm, const struct sockaddr_storage *at)
{
	return comm->domain == at->ss_family && comm->type == SOCK_STREAM &&
	       (comm->protocol == 0 || comm->protocol == IPPROTO_TCP);
}

static int
csp_create(struct dapl_ia *ia, struct dapl_evd *evd, const DAT_COMM *comm, uint16_t port,
    struct dapl_csp **out) DAPL_NO_LOCK
{
	struct dapl_csp *csp = dapl_slab_alloc(&csp_slab);
	int r;

	if (!csp)
		return -ENOMEM;
	csp->comm = *comm;
	csp->sp.brings_ep = false;
	r = dapl_sp_open(&csp->sp, ia, evd, port);
	if (r) {
		dapl_slab_free(&csp_slab, csp);
		return r;
	}
	*out = csp;
	return 0;
}

static DAT_RETURN
csp_check(const struct dapl_ia *ia, const DAT_COMM *comm, DAT_IA_ADDRESS_PTR address,
    const void *place, struct sockaddr_storage *at)
{
	if (!comm)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if (!address)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	if (!place)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
	if (dapl_address_copy(at, address))
		return DAT_ERROR(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED);
	if (!csp_is_ours(comm, at))
		return DAT_ERROR(DAT_COMM_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	if (!dapl_address_includes(at, &ia->address))
		return DAT_ERROR(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNREACHABLE);
	return DAT_SUCCESS;
}

DAT_RETURN
dapl_csp_create(DAT_IA_HANDLE ia_handle, DAT_COMM *comm, DAT_IA_ADDRESS_PTR address,
    DAT_EVD_HANDLE evd_handle, DAT_CSP_HANDLE *handle)
{
	DAPL_UNCANCELLED;
	struct sockaddr_storage at;
	struct dapl_evd *evd;
	struct dapl_csp *csp;
	DAT_RETURN ret;
	struct dapl_ia *ia;
	int r;

	ia = dapl_ia_enter(ia_handle);
	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	ret = csp_check(ia, comm, address, handle, &at);
	if (ret != DAT_SUCCESS)
		goto leave;
	evd = dapl_sp_get_evd(ia, evd_handle);
	if (!evd) {
		ret = DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CR);
		goto leave;
	}
	r = csp_create(ia, evd, comm, dapl_address_port(&at), &csp);
	if (r) {
		dapl_evd_put(evd);
		ret = dapl_err_listen_at(r);
	} else {
		*handle = csp->sp.self;
	}
leave:
	dapl_ia_leave(ia);
	return ret;
}

DAT_RETURN
dapl_csp_query(DAT_CSP_HANDLE handle, DAT_CSP_PARAM_MASK mask, DAT_CSP_PARAM *param)
{
	DAPL_UNCANCELLED;
	struct dapl_csp *csp = dapl_object_lock_handle(handle, DAPL_KIND_CSP);
	DAT_CSP_PARAM p;
	DAT_RETURN ret;
	struct dapl_ia *ia;

	if (!csp)
		return BAD_CSP;
	ia = dapl_ia_of(&csp->sp.obj);
	p = (DAT_CSP_PARAM){
		.comm = &csp->comm,
		.address_ptr = (DAT_IA_ADDRESS_PTR)&csp->sp.at,
		.evd_handle = csp->sp.evd->core.cfg.handle,
	};
	dapl_object_unlock(&csp->sp.obj);
	ret = dapl_err_query(!(mask & ~DAT_CSP_FIELD_ALL), param);
	if (ret != DAT_SUCCESS)
		return ret;
	p.ia_handle = dapl_registry_ia_handle(ia->self);
	*param = p;
	return DAT_SUCCESS;
}

int
dapl_csp_free_by_handle(DAT_HANDLE handle)
{
	return dapl_sp_free(handle, DAPL_KIND_CSP, &csp_slab);
}

DAT_RETURN
dapl_csp_free(DAT_CSP_HANDLE handle)
{
	DAPL_UNCANCELLED;

	return dapl_csp_free_by_handle(handle) ? BAD_CSP : DAT_SUCCESS;
}
