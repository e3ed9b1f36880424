/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rsp -- reserved service point: one request, for one endpoint
 *
 * The endpoint is the service point's until a request arrives, then the request's until it is
 * answered; the consumer cannot free it meanwhile.  It is found by its handle, under its own lock:
 * two locks of this rank are never held at once.
 */
#include "dapl/api.h"
#include "dapl/cm/sp.h"
#include "dapl/trace/err.h"
#include "dapl/object/registry.h"
#include "dapl/ia/ia.h"

#define BAD_RSP DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RSP)

struct rsp {
	struct sp sp;
	DAT_EP_HANDLE ep; /* constant while open */
	bool used;	  /* its request has arrived; guarded by the object's lock */
};

/* ---- the endpoint ---- */

/* Moves it on if the call is allowed now. */
static DAT_RETURN
move(DAT_EP_HANDLE handle, enum ep_call call, const struct ia *ia)
{
	struct ep *ep = object_lock(handle, KIND_EP);
	DAT_RETURN ret = DAT_SUCCESS;

	if (!ep)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	if (ia && ia_of(&ep->obj) != ia)
		ret = DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	else if (ep_may(ep->state, call) != EP_ALLOWED)
		ret = DAT_ERROR(DAT_INVALID_STATE, ep_state_subtype(ep->state));
	else
		ep->state = ep_answer(ep->state, call)->next;
	os_unlock(&ep->obj.lock);
	return ret;
}

static bool
ask(DAT_EP_HANDLE handle, const struct sockaddr *from)
{
	struct ep *ep = object_lock(handle, KIND_EP);
	const struct ep_rule *rule;
	bool asked;

	if (!ep)
		return false;
	rule = ep_rule(ep->state, EP_IS_ASKED);
	asked = rule->event && address_copy(&ep->remote, from) == 0;
	if (asked) {
		ep->state = rule->next;
		ep->remote_qual = address_port(&ep->remote);
	}
	os_unlock(&ep->obj.lock);
	return asked;
}

/* ---- requests, on the loop ---- */

/* The endpoint is PASSIVE_CONNECTION_PENDING then. */
static int
take(struct ia *ia, struct sp *sp, const struct conn *listener, uint32_t generation,
    const struct sockaddr *from, DAT_EP_HANDLE *ep)
{
	struct rsp *rsp = (struct rsp *)sp;
	DAT_EP_HANDLE reserved = DAT_HANDLE_NULL;

	(void)ia;
	os_lock(&sp->obj.lock);
	if (sp_is_open(sp, listener, generation) && !rsp->used) {
		rsp->used = true;
		reserved = rsp->ep;
	}
	os_unlock(&sp->obj.lock);
	if (!reserved || !ask(reserved, from))
		return -EBUSY;
	*ep = reserved;
	return 0;
}

/* The service point waits for another request. */
static void
give_back(struct sp *sp, const struct conn *listener, uint32_t generation, DAT_EP_HANDLE ep)
{
	struct rsp *rsp = (struct rsp *)sp;
	bool open;

	/* Between these two the consumer may take the endpoint: then there is nothing to wait for. */
	ep_let_go(ep);
	open = move(ep, EP_RESERVE, NULL) == DAT_SUCCESS;
	os_lock(&sp->obj.lock);
	if (open && sp_is_open(sp, listener, generation)) {
		rsp->used = false;
		open = false;
	}
	os_unlock(&sp->obj.lock);
	if (open)
		(void)move(ep, EP_RELEASE, NULL);
}

static const struct sp_ops ops = { .take = take, .give_back = give_back };

static void
prepare(void *slot)
{
	sp_prepare(slot, KIND_RSP, &ops);
}

static struct slab slab = SLAB_INITIALIZER(struct rsp, prepare);

/* ---- the calls ---- */

static DAT_RETURN
create(struct ia *ia, DAT_CONN_QUAL qual, DAT_EP_HANDLE ep, struct dapl_evd *evd, struct rsp **out)
{
	struct rsp *rsp;
	DAT_RETURN ret;
	int r;

	ret = move(ep, EP_RESERVE, ia);
	if (ret != DAT_SUCCESS)
		return ret;
	r = -ENOMEM;
	rsp = slab_alloc(&slab);
	if (!rsp)
		goto release_ep;
	os_lock(&rsp->sp.obj.lock);
	rsp->ep = ep;
	rsp->used = false;
	rsp->sp.brings_ep = true;
	os_unlock(&rsp->sp.obj.lock);
	r = sp_open(&rsp->sp, ia, evd, qual);
	if (r)
		goto free_slot;
	*out = rsp;
	return DAT_SUCCESS;

free_slot:
	slab_free(&slab, rsp);
release_ep:
	(void)move(ep, EP_RELEASE, NULL);
	return err_listen(r);
}

DAT_RETURN
dapl_rsp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL qual, DAT_EP_HANDLE ep,
    DAT_EVD_HANDLE evd_handle, DAT_RSP_HANDLE *handle)
{
	struct rsp *rsp = NULL;
	struct dapl_evd *evd;
	DAT_RETURN ret;
	struct ia *ia;

	ia = ia_enter(ia_handle);
	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	if (qual == 0 || !handle) {
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, qual ? DAT_INVALID_ARG5 : DAT_INVALID_ARG2);
		goto leave;
	}
	evd = sp_hold_evd(ia, evd_handle);
	if (!evd) {
		ret = DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CR);
		goto leave;
	}
	ret = create(ia, qual, ep, evd, &rsp);
	if (ret == DAT_SUCCESS)
		*handle = rsp->sp.self;
	else
		evd_release(evd);
leave:
	ia_leave(ia);
	return ret;
}

DAT_RETURN
dapl_rsp_query(DAT_RSP_HANDLE handle, DAT_RSP_PARAM_MASK mask, DAT_RSP_PARAM *param)
{
	struct rsp *rsp = object_lock(handle, KIND_RSP);
	DAT_RSP_PARAM p;
	DAT_RETURN ret;
	struct ia *ia;

	if (!rsp)
		return BAD_RSP;
	ia = ia_of(&rsp->sp.obj);
	p = (DAT_RSP_PARAM){
		.conn_qual = rsp->sp.qual,
		.evd_handle = rsp->sp.evd->core.cfg.handle,
		.ep_handle = rsp->ep,
	};
	os_unlock(&rsp->sp.obj.lock);
	ret = err_query(!(mask & ~DAT_RSP_FIELD_ALL), param);
	if (ret != DAT_SUCCESS)
		return ret;
	p.ia_handle = registry_ia_handle(ia->self);
	*param = p;
	return DAT_SUCCESS;
}

int
rsp_destroy(DAT_HANDLE handle)
{
	uint64_t serial;
	struct rsp *rsp = handle_object(handle, KIND_RSP, &serial);
	bool used;
	int r;

	if (!rsp)
		return -ENODEV;
	r = object_close(&rsp->sp.obj, serial);
	if (r)
		return r;
	os_lock(&rsp->sp.obj.lock);
	used = rsp->used;
	os_unlock(&rsp->sp.obj.lock);
	/* Of a request that has arrived it is the request's, or what became of it. */
	if (!used)
		(void)move(rsp->ep, EP_RELEASE, NULL);
	sp_finish(&rsp->sp);
	slab_free(&slab, rsp);
	return 0;
}

DAT_RETURN
dapl_rsp_free(DAT_RSP_HANDLE handle)
{
	return rsp_destroy(handle) ? BAD_RSP : DAT_SUCCESS;
}
