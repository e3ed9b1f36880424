/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/cm/cr.h"

#include <string.h>

#include "dapl/cm/sp.h"
#include "dapl/ia/ia.h"

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
	struct sp *sp = sp_of(owner); /* NULL: the listener went, and its link serves another */
	struct cr_request own = *request;
	DAT_CR_HANDLE cr;
	bool told;

	if (!sp || sp_take(ia, sp, listener, generation, from, &own.own)) {
		refuse(request->id);
		return;
	}
	told = create(ia, &own, &cr) == 0 && tell(ia, sp, listener, generation, cr);
	if (!told && own.own)
		sp_give_back(sp, listener, generation, own.own);
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

/* ---- the answer ---- */

/*
 * Whoever takes the id out answers the request; a second answer finds none.  It ends with cr_dispose()
 * or cr_put_back().
 */
struct cr *
cr_take(DAT_CR_HANDLE handle, struct conn **conn)
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
void
cr_put_back(struct cr *cr, struct conn *conn)
{
	struct ia *ia;

	os_lock(&cr->obj.lock);
	cr->conn = conn;
	ia = ia_of(&cr->obj);
	os_unlock(&cr->obj.lock);
	parent_decide_end(&ia->parent); /* a close may have found it taken */
}
void
cr_dispose(struct cr *cr)
{
	(void)object_close(&cr->obj, cr->obj.serial);
	parent_decide_end(cr->obj.parent); /* the CR still has a base */
	object_unlink(&cr->obj);
	slab_free(&slab, cr);
}

int
cr_destroy(DAT_HANDLE handle)
{
	struct conn *conn;
	struct cr *cr = cr_take(handle, &conn);

	if (!cr)
		return -ENODEV;
	(void)rdma_reject(conn->id, NULL, 0);
	conn_close(conn);
	if (cr->own)
		ep_let_go(cr->own);
	cr_dispose(cr);
	return 0;
}
