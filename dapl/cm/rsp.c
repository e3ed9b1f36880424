/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rsp -- reserved service point: one request, for one endpoint
 *
 * The endpoint belongs to the service point until a request arrives, then to the request until
 * it is answered. The consumer cannot free it meanwhile. It is looked up by its handle and
 * locked by itself, because a thread never holds the locks of two objects.
 */
#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/cm/sp.h"
#include "dapl/trace/err.h"
#include "dapl/object/registry.h"
#include "dapl/ia/ia.h"

#define BAD_RSP DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RSP)

struct dapl_rsp {
	struct dapl_sp sp;
	DAT_EP_HANDLE ep; /* constant while open */
	bool used;	  /* its request has arrived; guarded by the object's lock */
};

/* ---- the endpoint ---- */

/* Moves the endpoint to the next state, if its state allows the call. */
static DAT_RETURN
rsp_move_ep(
    DAT_EP_HANDLE handle, enum dapl_ep_call call, const struct dapl_ia *ia) DAPL_NO_OBJECT_LOCK
{
	struct dapl_ep *ep = dapl_object_lock_handle(handle, DAPL_KIND_EP);
	DAT_RETURN ret = DAT_SUCCESS;

	if (!ep)
		return DAPL_EP_BAD_HANDLE;
	if (ia && dapl_ia_of(&ep->obj) != ia)
		ret = DAPL_EP_BAD_HANDLE;
	else if (!dapl_ep_allows(ep, call))
		ret = dapl_ep_state_error(ep);
	else
		dapl_ep_advance(ep, call);
	dapl_object_unlock(&ep->obj);
	return ret;
}

static bool
rsp_reserve_for(DAT_EP_HANDLE handle, const struct sockaddr *from) DAPL_NO_OBJECT_LOCK
{
	struct dapl_ep *ep = dapl_object_lock_handle(handle, DAPL_KIND_EP);
	const struct dapl_ep_rule *rule;
	bool asked;

	if (!ep)
		return false;
	rule = dapl_ep_rule(ep->state, DAPL_EP_IS_ASKED);
	asked = rule->event && dapl_address_copy(&ep->remote, from) == 0;
	if (asked) {
		ep->state = rule->next;
		ep->remote_qual = dapl_address_port(&ep->remote);
	}
	dapl_object_unlock(&ep->obj);
	return asked;
}

/* ---- requests, on the loop ---- */

/* The endpoint is PASSIVE_CONNECTION_PENDING then. */
static int
rsp_get_ep(struct dapl_ia *ia, struct dapl_sp *sp, const struct dapl_conn *listener,
    uint32_t generation, const struct sockaddr *from, DAT_EP_HANDLE *ep) DAPL_NO_LOCK
{
	struct dapl_rsp *rsp = (struct dapl_rsp *)sp;
	DAT_EP_HANDLE reserved = DAT_HANDLE_NULL;

	(void)ia;
	dapl_object_lock(&sp->obj);
	if (dapl_sp_is_open(sp, listener, generation) && !rsp->used) {
		rsp->used = true;
		reserved = rsp->ep;
	}
	dapl_object_unlock(&sp->obj);
	if (!reserved || !rsp_reserve_for(reserved, from))
		return -ESRCH;
	*ep = reserved;
	return 0;
}

/* The request failed: the service point waits for another one. */
static void
rsp_put_ep(struct dapl_sp *sp, const struct dapl_conn *listener, uint32_t generation,
    DAT_EP_HANDLE ep) DAPL_NO_LOCK
{
	struct dapl_rsp *rsp = (struct dapl_rsp *)sp;
	bool open;

	/*
	 * Between these two calls the consumer may use the endpoint elsewhere: then the service
	 * point does not wait for a request.
	 */
	dapl_ep_detach_request(ep);
	open = rsp_move_ep(ep, DAPL_EP_RESERVE, NULL) == DAT_SUCCESS;
	dapl_object_lock(&sp->obj);
	if (open && dapl_sp_is_open(sp, listener, generation)) {
		rsp->used = false;
		open = false;
	}
	dapl_object_unlock(&sp->obj);
	if (open)
		(void)rsp_move_ep(ep, DAPL_EP_RELEASE, NULL);
}

static const struct dapl_sp_ops rsp_ops = { .get_ep = rsp_get_ep, .put_ep = rsp_put_ep };

static void
rsp_prepare(void *slot)
{
	dapl_sp_prepare(slot, DAPL_KIND_RSP, &rsp_ops);
}

static struct dapl_slab rsp_slab = DAPL_SLAB_INITIALIZER(struct dapl_rsp, rsp_prepare);

/* ---- the calls ---- */

static DAT_RETURN
rsp_create(struct dapl_ia *ia, DAT_CONN_QUAL qual, DAT_EP_HANDLE ep, struct dapl_evd *evd,
    struct dapl_rsp **out) DAPL_NO_LOCK
{
	struct dapl_rsp *rsp;
	DAT_RETURN ret;
	int r;

	ret = rsp_move_ep(ep, DAPL_EP_RESERVE, ia);
	if (ret != DAT_SUCCESS)
		return ret;
	r = -ENOMEM;
	rsp = dapl_slab_alloc(&rsp_slab);
	if (!rsp)
		goto release_ep;
	dapl_object_lock(&rsp->sp.obj);
	rsp->ep = ep;
	rsp->used = false;
	rsp->sp.brings_ep = true;
	dapl_object_unlock(&rsp->sp.obj);
	r = dapl_sp_open(&rsp->sp, ia, evd, qual);
	if (r)
		goto free_slot;
	*out = rsp;
	return DAT_SUCCESS;

free_slot:
	dapl_slab_free(&rsp_slab, rsp);
release_ep:
	(void)rsp_move_ep(ep, DAPL_EP_RELEASE, NULL);
	return dapl_err_listen("dat_rsp_create", r);
}

DAT_RETURN
dapl_rsp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL qual, DAT_EP_HANDLE ep,
    DAT_EVD_HANDLE evd_handle, DAT_RSP_HANDLE *handle)
{
	DAPL_UNCANCELLED;
	struct dapl_rsp *rsp = NULL;
	struct dapl_evd *evd;
	DAT_RETURN ret;
	struct dapl_ia *ia;

	ia = dapl_ia_enter(ia_handle);
	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	if (qual == 0 || !handle) {
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, qual ? DAT_INVALID_ARG5 : DAT_INVALID_ARG2);
		goto leave;
	}
	evd = dapl_sp_get_evd(ia, evd_handle);
	if (!evd) {
		ret = DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CR);
		goto leave;
	}
	ret = rsp_create(ia, qual, ep, evd, &rsp);
	if (ret == DAT_SUCCESS)
		*handle = rsp->sp.self;
	else
		dapl_evd_put(evd);
leave:
	dapl_ia_leave(ia);
	return ret;
}

DAT_RETURN
dapl_rsp_query(DAT_RSP_HANDLE handle, DAT_RSP_PARAM_MASK mask, DAT_RSP_PARAM *param)
{
	DAPL_UNCANCELLED;
	struct dapl_rsp *rsp = dapl_object_lock_handle(handle, DAPL_KIND_RSP);
	DAT_RSP_PARAM p;
	DAT_RETURN ret;
	struct dapl_ia *ia;

	if (!rsp)
		return BAD_RSP;
	ia = dapl_ia_of(&rsp->sp.obj);
	p = (DAT_RSP_PARAM){
		.conn_qual = rsp->sp.qual,
		.evd_handle = rsp->sp.evd->core.cfg.handle,
		.ep_handle = rsp->ep,
	};
	dapl_object_unlock(&rsp->sp.obj);
	ret = dapl_err_query(!(mask & ~DAT_RSP_FIELD_ALL), param);
	if (ret != DAT_SUCCESS)
		return ret;
	p.ia_handle = dapl_registry_ia_handle(ia->self);
	*param = p;
	return DAT_SUCCESS;
}

int
dapl_rsp_free_by_handle(DAT_HANDLE handle)
{
	uint64_t serial;
	struct dapl_rsp *rsp = dapl_handle_object(handle, DAPL_KIND_RSP, &serial);
	bool used;
	int r;

	if (!rsp)
		return -ENODEV;
	r = dapl_object_free(&rsp->sp.obj, serial);
	if (r)
		return r;
	dapl_object_lock(&rsp->sp.obj);
	used = rsp->used;
	dapl_object_unlock(&rsp->sp.obj);
	/* After a request arrived the endpoint belongs to the request, or is connected. */
	if (!used)
		(void)rsp_move_ep(rsp->ep, DAPL_EP_RELEASE, NULL);
	dapl_sp_close(&rsp->sp);
	dapl_slab_free(&rsp_slab, rsp);
	return 0;
}

DAT_RETURN
dapl_rsp_free(DAT_RSP_HANDLE handle)
{
	DAPL_UNCANCELLED;

	return dapl_rsp_free_by_handle(handle) ? BAD_RSP : DAT_SUCCESS;
}
