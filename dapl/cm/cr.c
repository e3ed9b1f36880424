/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/cm/cr.h"

#include <string.h>

#include "dapl/cm/sp.h"
#include "dapl/ia/ia_count.h"
#include "evd/probe.h"

static void
cr_prepare(void *slot)
{
	dapl_object_prepare(slot, DAPL_KIND_CR);
}

static struct dapl_slab cr_slab = DAPL_SLAB_INITIALIZER(struct dapl_cr, cr_prepare);

/* ---- arrival, on the loop ---- */

static void
cr_refuse(struct dapl_ia *ia, struct rdma_cm_id *id)
{
	if (rdma_reject(id, NULL, 0) == 0)
		dapl_ia_count(ia, DCNT_IA_CM_ERR_REJ_TX);
	rdma_destroy_id(id);
}

/*
 * On failure the request is refused. The CR may be freed as soon as it is attached, because its
 * adapter may be closing.
 */
static int
cr_create(
    struct dapl_ia *ia, const struct dapl_cr_request *request, DAT_CR_HANDLE *handle) DAPL_NO_LOCK
{
	struct dapl_cr *cr = dapl_slab_alloc(&cr_slab);
	int r;

	if (!cr) {
		cr_refuse(ia, request->id);
		return -ENOMEM;
	}
	cr->gone = false;
	cr->own = request->own;
	cr->datagram = request->datagram;
	cr->card = request->card;
	cr->responder = request->responder;
	cr->initiator = request->initiator;
	cr->size = request->size;
	if (request->size)
		memcpy(cr->data, request->data, request->size);
	r = dapl_address_copy(&cr->remote, rdma_get_peer_addr(request->id));
	if (r)
		goto refuse_id;
	r = dapl_conn_open_with(request->id, &cr->obj, &cr->conn);
	if (r)
		goto refuse_id;
	r = dapl_object_create(&cr->obj, &ia->parent, &ia->provider->table);
	if (r)
		goto close_conn;
	cr->self = *handle = cr->obj.handle;
	r = dapl_object_attach(&cr->obj);
	if (r)
		goto free_handle;
	return 0;

free_handle:
	dapl_object_free_unattached(&cr->obj);
close_conn:
	(void)rdma_reject(request->id, NULL, 0);
	dapl_conn_close(cr->conn);
	goto free_slot;
refuse_id:
	cr_refuse(ia, request->id);
free_slot:
	dapl_slab_free(&cr_slab, cr);
	return r;
}

int
dapl_cr_move(struct dapl_cr *from, struct dapl_conn *conn, DAT_EP_HANDLE own, DAT_CR_HANDLE *handle)
{
	struct dapl_ia *ia = dapl_ia_of(&from->obj);
	struct dapl_cr *cr = dapl_slab_alloc(&cr_slab);
	int r;

	if (!cr)
		return -ENOMEM;
	cr->own = own;
	cr->datagram = from->datagram;
	cr->card = from->card;
	cr->responder = from->responder;
	cr->initiator = from->initiator;
	cr->size = from->size;
	memcpy(cr->data, from->data, sizeof cr->data);
	cr->remote = from->remote;
	cr->conn = conn;
	r = dapl_object_create(&cr->obj, &ia->parent, &ia->provider->table);
	if (r)
		goto free_slot;
	cr->self = *handle = cr->obj.handle;
	/* Events of the id go to the old request or to the new one. */
	dapl_object_lock(&from->obj);
	cr->gone = from->gone;
	atomic_store_explicit(&conn->owner, &cr->obj, memory_order_release);
	dapl_object_unlock(&from->obj);
	r = dapl_object_attach(&cr->obj);
	if (!r)
		return 0;
	atomic_store_explicit(&conn->owner, &from->obj, memory_order_release);
	dapl_object_free_unattached(&cr->obj);
free_slot:
	dapl_slab_free(&cr_slab, cr);
	return r;
}

static bool
cr_is_overflow_report(const void *posted, const void *who)
{
	const DAT_EVENT *event = posted;

	return event->event_number == DAT_ASYNC_ERROR_EVD_OVERFLOW &&
	       event->event_data.asynch_error_event_data.dat_handle == who;
}

/*
 * Reports the first refusal of an episode.  The report replaces one that was not read yet, so that
 * a peer that sends requests cannot fill the EVD for asynchronous events.
 */
static void
cr_report_refusals(struct dapl_ia *ia, DAT_EVD_HANDLE evd) DAPL_NO_LOCK
{
	dapl_ia_purge_reports(ia, cr_is_overflow_report, evd);
	dapl_ia_report(ia, DAT_ASYNC_ERROR_EVD_OVERFLOW, evd, DAT_EVD_OVERFLOW_ERROR);
}

bool
dapl_cr_post_event(struct dapl_ia *ia, struct dapl_sp *sp, const struct dapl_conn *listener,
    uint32_t generation, DAT_CR_HANDLE handle, bool datagram)
{
	DAT_EVENT event = {
		.event_number = DAT_CONNECTION_REQUEST_EVENT,
		.event_data.cr_arrival_event_data = {
			.local_ia_address_ptr = (DAT_IA_ADDRESS_PTR)&ia->address,
			.cr_handle = handle,
			.truncate_flag = DAT_FALSE,
		},
	};
	DAT_CR_ARRIVAL_EVENT_DATA *data = &event.event_data.cr_arrival_event_data;
	DAT_EVD_HANDLE full = DAT_HANDLE_NULL;
	int r = -ENODEV;

	if (datagram) {
		event.event_number = (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_REQUEST_EVENT;
		((DAT_IB_EXTENSION_EVENT_DATA *)(void *)event.event_extension_data)->type =
		    DAT_IB_UD_CONNECT_REQUEST;
	}

	/* The lock keeps the service point and its EVD while the event is queued. */
	dapl_object_lock(&sp->obj);
	if (dapl_sp_is_open(sp, listener, generation)) {
		data->sp_handle.psp_handle = sp->self;
		data->conn_qual = sp->qual;
		REARM_PROBE_INT(connection, handle, event.event_number);
		r = dapl_evd_post(sp->evd, EVD_STREAM_REQUEST, &event, NULL);
		if (r == -ENOSPC && evd_mark_refusal(dapl_evd_ref(sp->evd)))
			full = sp->evd->core.cfg.handle;
	}
	dapl_object_unlock(&sp->obj);
	if (r)
		(void)dapl_cr_free_by_handle(handle);
	if (full)
		cr_report_refusals(ia, full);
	return r == 0;
}

/* A request of a datagram endpoint begins with a card; false if this one does not. */
static bool
cr_take_card(struct dapl_cr_request *request)
{
	const size_t size = sizeof request->card;

	if (request->size < size)
		return false;
	memcpy(&request->card, request->data, size);
	request->data = (const uint8_t *)request->data + size;
	request->size = (uint8_t)(request->size - size);
	return request->card.magic == htonl(DAPL_CARD_MAGIC);
}

static void
cr_handle_arrival(struct dapl_ia *ia, struct dapl_conn *listener, uint32_t generation,
    const struct dapl_cr_request *request) DAPL_NO_LOCK
{
	struct dapl_object *owner = atomic_load_explicit(&listener->owner, memory_order_acquire);
	const struct sockaddr *from = rdma_get_peer_addr(request->id);
	/* NULL: the listener was freed, and its conn has another owner */
	struct dapl_sp *sp = dapl_sp_of(owner);
	struct dapl_cr_request own = *request;
	DAT_CR_HANDLE cr;
	bool told;

	if (!sp || (own.datagram && !cr_take_card(&own)) ||
	    dapl_sp_get_ep(ia, sp, listener, generation, from, own.datagram, &own.own)) {
		cr_refuse(ia, request->id);
		return;
	}
	told = cr_create(ia, &own, &cr) == 0 &&
	       dapl_cr_post_event(ia, sp, listener, generation, cr, own.datagram);
	if (told)
		dapl_ia_count(ia, DCNT_IA_SP_CR);
	else if (own.own)
		dapl_sp_put_ep(sp, listener, generation, own.own);
}

void
dapl_cr_arrived(struct dapl_ia *ia, struct dapl_conn *listener, uint32_t generation,
    const struct dapl_cr_request *request)
{
	dapl_ia_count(ia, request->datagram ? DCNT_IA_CM_AH_REQ_RX : DCNT_IA_CM_REQ_RX);
	dapl_parent_decide_begin(&ia->parent);
	cr_handle_arrival(ia, listener, generation, request);
	dapl_parent_decide_end(&ia->parent);
}

bool
dapl_cr_withdrawn(struct dapl_cr *cr, const struct dapl_conn *conn, uint32_t generation)
{
	bool closed, owner;

	dapl_object_lock(&cr->obj);
	closed = !dapl_conn_is(conn, generation);
	owner = atomic_load_explicit(&conn->owner, memory_order_relaxed) == &cr->obj;
	if (owner && !closed)
		cr->gone = true;
	dapl_object_unlock(&cr->obj);
	return owner || closed;
}

/* ---- the answer ---- */

/*
 * The thread that takes the id answers the request; a second thread finds no id.  The first one
 * then calls dapl_cr_free_detached() or dapl_cr_attach_conn().
 */
struct dapl_cr *
dapl_cr_detach_conn(DAT_CR_HANDLE handle, struct dapl_conn **conn)
{
	struct dapl_cr *cr = dapl_object_lock_handle(handle, DAPL_KIND_CR);

	if (!cr)
		return NULL;
	*conn = cr->conn;
	cr->conn = NULL;
	if (*conn)
		dapl_parent_decide_begin(cr->obj.parent);
	dapl_object_unlock(&cr->obj);
	return *conn ? cr : NULL;
}
void
dapl_cr_attach_conn(struct dapl_cr *cr, struct dapl_conn *conn)
{
	struct dapl_ia *ia;

	dapl_object_lock(&cr->obj);
	cr->conn = conn;
	ia = dapl_ia_of(&cr->obj);
	dapl_object_unlock(&cr->obj);
	/* a close may have found the request without its conn */
	dapl_parent_decide_end(&ia->parent);
}
void
dapl_cr_free_detached(struct dapl_cr *cr)
{
	(void)dapl_object_free(&cr->obj, cr->obj.serial);
	dapl_parent_decide_end(cr->obj.parent); /* the CR still has a base */
	dapl_object_detach(&cr->obj);
	dapl_slab_free(&cr_slab, cr);
}

int
dapl_cr_free_by_handle(DAT_HANDLE handle)
{
	struct dapl_conn *conn;
	struct dapl_cr *cr = dapl_cr_detach_conn(handle, &conn);

	if (!cr)
		return -ENODEV;
	(void)rdma_reject(conn->id, NULL, 0);
	dapl_conn_close(conn);
	if (cr->own)
		dapl_ep_detach_request(cr->own);
	dapl_cr_free_detached(cr);
	return 0;
}
