/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/cm/cr.h"

#include <string.h>

#include "dapl/api.h"
#include "dapl/trace/err.h"
#include "dapl/ia/ia.h"
#include "dapl/cm/psp.h"
#include "dapl/cm/rsp.h"

#define BAD_CR DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR)

static void
prepare(void *slot)
{
	object_prepare(slot, KIND_CR);
}

static struct slab slab = SLAB_INITIALIZER(struct cr, prepare);

/* ---- arrival, on the loop ---- */

static void
refuse(struct rdma_cm_id *id)
{
	(void)rdma_reject(id, NULL, 0);
	rdma_destroy_id(id);
}

/* On failure the request has been refused.  The CR may go at once: its adapter may be closing. */
static int
create(struct ia *ia, const struct cr_request *request, DAT_CR_HANDLE *handle)
{
	struct cr *cr = slab_alloc(&slab);
	int r;

	if (!cr) {
		refuse(request->id);
		return -ENOMEM;
	}
	cr->gone = false;
	cr->own = request->own;
	cr->responder = request->responder;
	cr->initiator = request->initiator;
	cr->size = request->size;
	if (request->size)
		memcpy(cr->data, request->data, request->size);
	r = address_copy(&cr->remote, rdma_get_peer_addr(request->id));
	if (r)
		goto refuse_id;
	r = conn_adopt(request->id, &cr->obj, &cr->conn);
	if (r)
		goto refuse_id;
	r = object_open(&cr->obj, &ia->parent, &ia->provider->table);
	if (r)
		goto close_conn;
	cr->self = *handle = cr->obj.handle;
	r = object_publish(&cr->obj);
	if (r)
		goto abandon;
	return 0;

abandon:
	object_abandon(&cr->obj);
close_conn:
	(void)rdma_reject(request->id, NULL, 0);
	conn_close(cr->conn);
	goto free_slot;
refuse_id:
	refuse(request->id);
free_slot:
	slab_free(&slab, cr);
	return r;
}

static bool
reports_overflow(const DAT_EVENT *event, const void *who)
{
	return event->event_number == DAT_ASYNC_ERROR_EVD_OVERFLOW &&
	       event->event_data.asynch_error_event_data.dat_handle == who;
}

/*
 * Once for each episode, but a report that was not read yet stands for this one, too: who sends
 * requests must not be able to fill the EVD of asynchronous events.
 */
static void
report_refusals(struct ia *ia, DAT_EVD_HANDLE evd)
{
	ia_purge_async(ia, reports_overflow, evd);
	ia_post_async(ia, DAT_ASYNC_ERROR_EVD_OVERFLOW, evd, DAT_EVD_OVERFLOW_ERROR);
}

/* Queues the event, or refuses the request. */
static bool
tell(struct ia *ia, struct sp *sp, const struct conn *listener, uint32_t generation,
    DAT_CR_HANDLE handle)
{
	DAT_EVENT event = { .event_number = DAT_CONNECTION_REQUEST_EVENT };
	DAT_CR_ARRIVAL_EVENT_DATA *data = &event.event_data.cr_arrival_event_data;
	DAT_EVD_HANDLE full = DAT_HANDLE_NULL;
	int r = -ENODEV;

	data->local_ia_address_ptr = (DAT_IA_ADDRESS_PTR)&ia->address;
	data->cr_handle = handle;
	data->truncate_flag = DAT_FALSE;
	/* The service point's lock keeps it, and so its EVD, while the event is queued. */
	os_lock(&sp->obj.lock);
	if (sp_is_open(sp, listener, generation)) {
		data->sp_handle.psp_handle = sp->self;
		data->conn_qual = sp->qual;
		r = evd_post(dapl_evd_ref(sp->evd), EVD_STREAM_CR, &event);
		if (r == -ENOSPC && evd_mark_refusal(dapl_evd_ref(sp->evd)))
			full = sp->evd->core.cfg.handle;
	}
	os_unlock(&sp->obj.lock);
	if (r)
		(void)cr_destroy(handle);
	if (full)
		report_refusals(ia, full);
	return r == 0;
}

static void
arrived(
    struct ia *ia, struct conn *listener, uint32_t generation, const struct cr_request *request)
{
	struct object *owner = atomic_load_explicit(&listener->owner, memory_order_acquire);
	const struct sockaddr *from = rdma_get_peer_addr(request->id);
	struct cr_request own = *request;
	int r = -ENODEV; /* the listener went, and its link serves another */
	DAT_CR_HANDLE cr;
	bool told;

	if (owner->kind == KIND_RSP) {
		own.own = rsp_take((struct rsp *)owner, listener, generation, from);
		r = own.own ? 0 : -EBUSY;
	} else if (owner->kind == KIND_PSP) {
		r = psp_take((struct psp *)owner, listener, generation, from, &own.own);
	} else if (owner->kind == KIND_CSP) {
		r = 0;
	}
	if (r) {
		refuse(request->id);
		return;
	}
	told = create(ia, &own, &cr) == 0 &&
	       tell(ia, (struct sp *)owner, listener, generation, cr);
	if (told || !own.own)
		return;
	if (owner->kind == KIND_RSP)
		rsp_give_back((struct rsp *)owner, listener, generation, own.own);
	else
		ep_let_go(own.own);
}

void
cr_arrived(
    struct ia *ia, struct conn *listener, uint32_t generation, const struct cr_request *request)
{
	parent_decide_begin(&ia->parent);
	arrived(ia, listener, generation, request);
	parent_decide_end(&ia->parent);
}

void
cr_gone(struct cr *cr, const struct conn *conn, uint32_t generation)
{
	os_lock(&cr->obj.lock);
	if (atomic_load_explicit(&conn->owner, memory_order_relaxed) == &cr->obj &&
	    conn_is(conn, generation))
		cr->gone = true;
	os_unlock(&cr->obj.lock);
}

/* ---- the calls ---- */

DAT_RETURN
dapl_cr_query(DAT_CR_HANDLE handle, DAT_CR_PARAM_MASK mask, DAT_CR_PARAM *param)
{
	struct cr *cr = object_lock(handle, KIND_CR);
	DAT_RETURN ret;

	if (!cr)
		return BAD_CR;
	ret = err_query(!(mask & ~DAT_CR_FIELD_ALL), param);
	if (ret == DAT_SUCCESS)
		*param = (DAT_CR_PARAM){
			.remote_ia_address_ptr = (DAT_IA_ADDRESS_PTR)&cr->remote,
			.remote_port_qual = address_port(&cr->remote),
			.private_data_size = cr->size,
			.private_data = cr->size ? cr->data : NULL,
			.local_ep_handle = cr->own,
		};
	os_unlock(&cr->obj.lock);
	return ret;
}

/*
 * Whoever takes the id out answers the request; a second answer finds none.  It ends with dispose() or
 * put_back().
 */
static struct cr *
take(DAT_CR_HANDLE handle, struct conn **conn)
{
	struct cr *cr = object_lock(handle, KIND_CR);

	if (!cr)
		return NULL;
	*conn = cr->conn;
	cr->conn = NULL;
	if (*conn)
		parent_decide_begin(cr->obj.parent);
	os_unlock(&cr->obj.lock);
	return *conn ? cr : NULL;
}

static void
put_back(struct cr *cr, struct conn *conn)
{
	struct ia *ia;

	os_lock(&cr->obj.lock);
	cr->conn = conn;
	ia = ia_of(&cr->obj);
	os_unlock(&cr->obj.lock);
	parent_decide_end(&ia->parent); /* a close may have found it taken */
}

static void
dispose(struct cr *cr)
{
	(void)object_close(&cr->obj, cr->obj.serial);
	parent_decide_end(cr->obj.parent); /* the CR still has a base */
	object_unlink(&cr->obj);
	slab_free(&slab, cr);
}

/* Locked. */
static DAT_RETURN
may_accept(const struct ep *ep, const struct cr *cr)
{
	if (ia_of(&ep->obj) != ia_of(&cr->obj))
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	if (ep_may(ep->state, cr->own ? EP_ACCEPT_OWN : EP_ACCEPT) != EP_ALLOWED)
		return DAT_ERROR(DAT_INVALID_STATE, ep_state_subtype(ep->state));
	if (!ep->parts.connect || !ep->qp)
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_NOTREADY);
	return DAT_SUCCESS;
}

/*
 * Locked.  From here on the id is the endpoint's, with the queue pair that is to be connected.  The
 * peer may be withdrawing: reading that event fails the queue pair of the id, if any, and so does
 * the endpoint that hears of it.
 */
static void
hand_over(struct cr *cr, struct conn *conn, struct ep *ep)
{
	os_lock(&ia_of(&ep->obj)->cm_lock);
	conn->id->qp = ep->qp;
	os_unlock(&ia_of(&ep->obj)->cm_lock);
	ep->state = ep_answer(ep->state, cr->own ? EP_ACCEPT_OWN : EP_ACCEPT)->next;
	ep->conn = conn;
	ep->remote = cr->remote;
	ep->remote_qual = address_port(&cr->remote);
	if (ep->rings.merged)
		evd_hold_begin(dapl_evd_ref(ep->parts.connect), &ep->rings.hold);
	ep_pin(ep);
	atomic_store_explicit(&conn->owner, &ep->obj, memory_order_release);
}

DAT_RETURN
dapl_cr_accept(DAT_CR_HANDLE handle, DAT_EP_HANDLE ep_handle, DAT_COUNT size, const DAT_PVOID data)
{
	struct rdma_conn_param param;
	struct conn *conn;
	DAT_RETURN ret;
	struct cr *cr;
	struct ep *ep;
	bool gone;

	if (!handle_is(handle, KIND_CR))
		return BAD_CR;
	if (size < 0 || size > IA_MAX_PRIVATE_DATA)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	if (size > 0 && !data)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	cr = take(handle, &conn);
	if (!cr)
		return BAD_CR;
	/* The endpoint that came with it need not be named, and no other will do. */
	if (cr->own && ep_handle == DAT_HANDLE_NULL)
		ep_handle = cr->own;
	ep = cr->own && ep_handle != cr->own ? NULL : object_lock(ep_handle, KIND_EP);
	if (!ep) {
		put_back(cr, conn);
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
	}
	ret = may_accept(ep, cr);
	if (ret == DAT_SUCCESS)
		hand_over(cr, conn, ep);
	os_unlock(&ep->obj.lock);
	if (ret != DAT_SUCCESS) {
		put_back(cr, conn);
		return ret;
	}
	connect_param(ep, cr->responder, cr->initiator, &param);
	param.private_data = data;
	param.private_data_len = (uint8_t)size;
	os_lock(&cr->obj.lock);
	gone = cr->gone;
	os_unlock(&cr->obj.lock);

	if (gone || rdma_accept(conn->id, &param)) {
		/* The other end waits for an answer. */
		(void)rdma_reject(conn->id, NULL, 0);
		ep_happened(ep, conn, EP_HAS_FAILED, NULL, 0);
	}
	dispose(cr); /* not before: `data` may be its private data */
	ep_unpin(ep);
	return DAT_SUCCESS;
}

DAT_RETURN
dapl_cr_reject(DAT_CR_HANDLE handle, DAT_COUNT size, const DAT_PVOID data)
{
	uint8_t text[sizeof(uint32_t) + IA_MAX_PRIVATE_DATA];
	const uint32_t version = htonl(CR_REJECT_VERSION);
	struct conn *conn;
	struct cr *cr;

	if (!handle_is(handle, KIND_CR))
		return BAD_CR;
	if (size < 0 || size > IA_MAX_PRIVATE_DATA)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if (size > 0 && !data)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	cr = take(handle, &conn);
	if (!cr)
		return BAD_CR;
	memcpy(text, &version, sizeof version);
	if (size)
		memcpy(text + sizeof version, data, (size_t)size);
	(void)rdma_reject(conn->id, text, (uint8_t)(sizeof version + (size_t)size));
	conn_close(conn);
	if (cr->own)
		ep_let_go(cr->own);
	dispose(cr);
	return DAT_SUCCESS;
}

int
cr_destroy(DAT_HANDLE handle)
{
	struct conn *conn;
	struct cr *cr = take(handle, &conn);

	if (!cr)
		return -ENODEV;
	(void)rdma_reject(conn->id, NULL, 0);
	conn_close(conn);
	if (cr->own)
		ep_let_go(cr->own);
	dispose(cr);
	return 0;
}
