/* SPDX-License-Identifier: BSD-3-Clause */
/* ep_life -- an endpoint is created, reset and freed */
#include "dapl/ep/ep.h"

#include "dapl/api.h"
#include "dapl/trace/err.h"

#define BAD_EP DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP)

static void
prepare(void *slot)
{
	object_prepare(slot, KIND_EP);
}

struct slab ep_slab = SLAB_INITIALIZER(struct ep, prepare);

/* ---- create ---- */

/*
 * `from` NULL: for the consumer; else for a request from there.  That endpoint may go at once: its adapter
 * may be closing.
 */
static int
create(struct ia *ia, const struct ep_parts *parts, const DAT_EP_ATTR *attr,
    const struct sockaddr *from, DAT_EP_HANDLE *handle)
{
	struct sockaddr_storage remote = { .ss_family = AF_UNSPEC };
	DAT_EP_HANDLE self;
	struct ep *ep;
	int r;

	if (from && address_copy(&remote, from))
		return -EAFNOSUPPORT;
	ep = slab_alloc(&ep_slab);
	if (!ep)
		return -ENOMEM;
	/*
	 * A timer job or a reader of the last life may still look at the slot, under its lock.  Threads that
	 * waited for no pins then may not have looked since: they stay in the list.
	 */
	os_lock(&ep->obj.lock);
	ep->obj.parent = &ia->parent;
	ep->state = from ? DAT_EP_STATE_UNCONFIGURED_TENTATIVE : DAT_EP_STATE_UNCONNECTED;
	ep->pins = 0;
	ep->parts = *parts;
	ep->attr = *attr;
	ep->qp = NULL;
	ep->conn = ep->doomed = NULL;
	ep->owed = 0;
	ep->concluding = false;
	ep->timer = (struct loop_job){ .run = ep_timer_run };
	ep->remote = remote;
	ep->remote_qual = from ? address_port(&remote) : 0;
	os_unlock(&ep->obj.lock);

	r = ep_rings_create(&ep->rings, parts, attr);
	if (r)
		goto free_slot;
	r = object_open(&ep->obj, &ia->parent, &ia->provider->table);
	if (r)
		goto destroy_rings;
	os_lock(&ep->obj.lock);
	ep->self = self = ep->obj.handle;
	ep->timer.serial = ep->obj.serial;
	os_unlock(&ep->obj.lock);
	ep_parts_promise(parts, attr);
	if (parts->pz)
		r = ep_qp_create(ep, ep_generation(ep), parts, attr, &ep->qp);
	if (r)
		goto withdraw;
	r = object_publish(&ep->obj);
	if (r)
		goto destroy_qp;
	*handle = self;
	return 0;

destroy_qp:
	if (ep->qp)
		ep_qp_destroy(ep->qp);
withdraw:
	ep_parts_reclaim(parts, attr);
	object_abandon(&ep->obj);
destroy_rings:
	ep_rings_destroy(&ep->rings);
free_slot:
	slab_free(&ep_slab, ep);
	return r;
}

int
ep_make(struct ia *ia, const struct sockaddr *from, DAT_EP_HANDLE *handle)
{
	const struct ep_parts none = { NULL, NULL, NULL, NULL };
	DAT_EP_ATTR attr;

	ep_attr_defaults(ia, &attr);
	return create(ia, &none, &attr, from, handle);
}

DAT_RETURN
dapl_ep_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd,
    DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd, const DAT_EP_ATTR *asked,
    DAT_EP_HANDLE *ep_handle)
{
	DAT_RETURN_SUBTYPE bad;
	struct ep_parts parts;
	DAT_EP_ATTR attr;
	DAT_RETURN ret;
	struct ia *ia;
	int r;

	ia = ia_enter(ia_handle);
	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	bad = pz == DAT_HANDLE_NULL ?
		  DAT_INVALID_HANDLE_PZ :
		  ep_parts_hold(ia, pz, recv_evd, request_evd, connect_evd, &parts);
	ret = bad ? DAT_ERROR(DAT_INVALID_HANDLE, bad) : DAT_SUCCESS;
	if (ret != DAT_SUCCESS)
		goto leave;
	ep_attr_defaults(ia, &attr);
	if (asked && !ep_attr_accept(ia, asked, &attr))
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
	else if (!ep_handle)
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG7);
	if (ret != DAT_SUCCESS)
		goto release;
	ep_parts_join(&parts, &attr);
	r = create(ia, &parts, &attr, NULL, ep_handle);
	if (!r)
		goto leave;
	ret = err_resource(r, DAT_RESOURCE_TEP);
	ep_parts_leave(&parts, &attr);
release:
	ep_parts_release(&parts);
leave:
	ia_leave(ia);
	return ret;
}

/* ---- what an endpoint leaves behind in EVDs ---- */

static bool
names_queue_pair(const void *raw, const void *who)
{
	const struct ibv_wc *wc = raw;
	const struct ep *ep = who;

	return wr_id_slot(wc->wr_id) == ep->obj.slot.index;
}

/* Flushed without the device. */
static bool
names_flushed(const DAT_EVENT *event, const void *who)
{
	const struct ep *ep = who;

	return event->event_number == DAT_DTO_COMPLETION_EVENT &&
	       event->event_data.dto_completion_event_data.ep_handle == ep->self;
}

static bool
names_endpoint(const DAT_EVENT *event, const void *who)
{
	const struct ep *ep = who;

	switch (event->event_number) {
	case DAT_CONNECTION_EVENT_ESTABLISHED:
	case DAT_CONNECTION_EVENT_PEER_REJECTED:
	case DAT_CONNECTION_EVENT_NON_PEER_REJECTED:
	case DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR:
	case DAT_CONNECTION_EVENT_DISCONNECTED:
	case DAT_CONNECTION_EVENT_BROKEN:
	case DAT_CONNECTION_EVENT_TIMED_OUT:
	case DAT_CONNECTION_EVENT_UNREACHABLE:
		return event->event_data.connect_event_data.ep_handle == ep->self;
	case DAT_ASYNC_ERROR_EP_BROKEN:
		return event->event_data.asynch_error_event_data.dat_handle == ep->self;
	default:
		return false;
	}
}

void
ep_purge_completions(struct ep *ep)
{
	const struct ep_parts *parts = &ep->parts;

	if (parts->request)
		evd_purge(dapl_evd_ref(parts->request), NULL, names_queue_pair, names_flushed, ep);
	if (parts->recv)
		evd_purge(dapl_evd_ref(parts->recv), ep->rings.merged ? &ep->rings.hold : NULL,
		    names_queue_pair, names_flushed, ep);
}

static void
purge_events(struct ep *ep)
{
	if (ep->parts.connect)
		evd_purge(dapl_evd_ref(ep->parts.connect), NULL, NULL, names_endpoint, ep);
	ia_purge_async(ia_of(&ep->obj), names_endpoint, ep);
}

/* Locked, no pins.  Takes connection and queue pair out; nobody else can reach them any more. */
static void
detach(struct ep *ep, struct conn **conn, struct ibv_qp **qp)
{
	*conn = ep->conn;
	*qp = ep->qp;
	ep->conn = NULL;
	ep->qp = NULL;
	(void)loop_unready(&ep->timer);
	atomic_fetch_add_explicit(&ep->generation, 1, memory_order_acq_rel);
}

/* ---- free ---- */

/* Entered with the lock, left without it. */
static void
destroy(struct ep *ep)
{
	const DAT_EP_STATE was = ep->state;
	struct conn *conn;
	struct ibv_qp *qp;

	object_close_locked(&ep->obj);
	ep_await_pins(ep);
	detach(ep, &conn, &qp);
	os_unlock(&ep->obj.lock);

	if (conn) {
		if (was == DAT_EP_STATE_CONNECTED || was == DAT_EP_STATE_DISCONNECT_PENDING)
			(void)rdma_disconnect(conn->id);
		conn_close(conn);
	}
	if (qp)
		ep_qp_destroy(qp);
	ep_purge_completions(ep);
	purge_events(ep);
	ep_rings_destroy(&ep->rings);
	ep_parts_reclaim(&ep->parts, &ep->attr);
	ep_parts_leave(&ep->parts, &ep->attr);
	ep_parts_release(&ep->parts);
	object_unlink(&ep->obj);
	slab_free(&ep_slab, ep);
}

int
ep_destroy(DAT_HANDLE handle)
{
	struct ep *ep = object_lock(handle, KIND_EP);

	if (!ep)
		return -ENODEV;
	destroy(ep);
	return 0;
}

void
ep_let_go(DAT_EP_HANDLE handle)
{
	struct ep *ep = object_lock(handle, KIND_EP);
	const struct ep_answer *answer;

	if (!ep)
		return;
	answer = ep_answer(ep->state, EP_REFUSE_OWN);
	if (answer->verdict == EP_GONE) {
		destroy(ep);
		return;
	}
	if (answer->verdict == EP_ALLOWED) {
		ep->state = answer->next;
		ep->remote.ss_family = AF_UNSPEC;
		ep->remote_qual = 0;
	}
	os_unlock(&ep->obj.lock);
}

DAT_RETURN
dapl_ep_free(DAT_EP_HANDLE handle)
{
	struct ep *ep = object_lock(handle, KIND_EP);
	DAT_RETURN ret;

	if (!ep)
		return BAD_EP;
	if (ep_may(ep->state, EP_FREE) == EP_GONE) {
		destroy(ep);
		return DAT_SUCCESS;
	}
	ret = DAT_ERROR(DAT_INVALID_STATE, ep_state_subtype(ep->state));
	os_unlock(&ep->obj.lock);
	return ret;
}

/* ---- reset ---- */

/*
 * A used queue pair lingers at the other end for a while, where its number must not come back: the
 * endpoint gets a new one.
 */
DAT_RETURN
dapl_ep_reset(DAT_EP_HANDLE handle)
{
	struct ep *ep = object_lock(handle, KIND_EP);
	DAT_EVENT_NUMBER owed;
	enum ep_verdict verdict;
	struct ibv_qp *qp, *fresh;
	struct conn *conn;
	DAT_RETURN ret;
	uint64_t serial;
	int r;

	if (!ep)
		return BAD_EP;
	serial = ep->obj.serial;
	ep_await_pins(ep);
	verdict = object_is(&ep->obj, serial) ? ep_may(ep->state, EP_RESET) : EP_REFUSED;
	if (verdict != EP_ALLOWED) {
		if (!object_is(&ep->obj, serial))
			ret = BAD_EP;
		else if (verdict == EP_NOTHING)
			ret = DAT_SUCCESS;
		else
			ret = DAT_ERROR(DAT_INVALID_STATE, ep_state_subtype(ep->state));
		os_unlock(&ep->obj.lock);
		return ret;
	}
	owed = ep_take_owed(ep);
	detach(ep, &conn, &qp);
	ep_pin(ep);
	os_unlock(&ep->obj.lock);

	ep_post_owed(ep, owed);
	if (conn)
		conn_close(conn);
	if (qp)
		ep_qp_destroy(qp);
	ep_purge_completions(ep);
	wr_ring_reset(&ep->rings.requests);
	wr_ring_reset(&ep->rings.recvs);
	/* What the old queue pair left in the EVDs has taken the room that the new one needs. */
	ep_parts_reclaim(&ep->parts, &ep->attr);
	ep_parts_promise(&ep->parts, &ep->attr);
	r = ep_qp_create(ep, ep_generation(ep), &ep->parts, &ep->attr, &fresh);
	if (!r) {
		os_lock(&ep->obj.lock);
		ep->qp = fresh;
		ep->remote.ss_family = AF_UNSPEC;
		ep->remote_qual = 0;
		ep->state = ep_answer(ep->state, EP_RESET)->next;
		os_unlock(&ep->obj.lock);
	}
	ep_unpin(ep);
	return r ? err_resource(r, DAT_RESOURCE_TEP) : DAT_SUCCESS;
}
