/* SPDX-License-Identifier: BSD-3-Clause */
/* ep -- life of an endpoint */
#include "dapl/ep.h"

#include "dapl/api.h"
#include "dapl/err.h"

#define BAD_EP DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP)

static void
prepare(void *slot)
{
	object_prepare(slot, KIND_EP);
}

struct slab ep_slab = SLAB_INITIALIZER(struct ep, prepare);

/* ---- pins ---- */

void
ep_unpin(struct ep *ep)
{
	struct conn *doomed = NULL;

	os_lock(&ep->obj.lock);
	if (ep->pins == 1) {
		doomed = ep->doomed;
		ep->doomed = NULL;
	}
	if (doomed) {
		os_unlock(&ep->obj.lock);
		conn_close(doomed);
		os_lock(&ep->obj.lock);
	}
	if (--ep->pins == 0)
		park_list_wake_all(&ep->unpinned);
	os_unlock(&ep->obj.lock);
}

void
ep_await_pins(struct ep *ep)
{
	struct park *park = park_self();
	struct park_entry entry;

	park_list_add(&ep->unpinned, &entry, park);
	for (;;) {
		park_reset(park);
		if (ep->pins == 0)
			break;
		os_unlock(&ep->obj.lock);
		(void)park_sleep(park, PARK_FOREVER, -1, NULL);
		os_lock(&ep->obj.lock);
	}
	park_list_remove(&ep->unpinned, &entry);
}

/* ---- create ---- */

/* The EVDs and the PZ of an endpoint, held; each EVD may be missing. */
struct needs {
	struct pz *pz;
	struct dapl_evd *recv, *request, *connect;
};

static void
release(const struct needs *n)
{
	if (n->connect)
		evd_release(n->connect);
	if (n->request)
		evd_release(n->request);
	if (n->recv)
		evd_release(n->recv);
	if (n->pz)
		object_drop(&n->pz->obj);
}

/* `ia` NULL: the EVD may be of another IA. */
static bool
hold_evd(const struct ia *ia, DAT_EVD_HANDLE handle, DAT_EVD_FLAGS stream, struct dapl_evd **out)
{
	struct dapl_evd *evd;

	if (handle == DAT_HANDLE_NULL)
		return true;
	evd = object_hold(handle, KIND_EVD, ia);
	if (evd && !(evd->flags & stream)) {
		evd_release(evd);
		evd = NULL;
	}
	*out = evd;
	return evd != NULL;
}

static DAT_RETURN
hold_needs(struct ia *ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv, DAT_EVD_HANDLE request,
    DAT_EVD_HANDLE connect, struct needs *n)
{
	DAT_RETURN_SUBTYPE bad = DAT_NO_SUBTYPE;

	*n = (struct needs){ NULL, NULL, NULL, NULL };
	n->pz = object_hold(pz, KIND_PZ, ia);
	if (!n->pz)
		bad = DAT_INVALID_HANDLE_PZ;
	else if (!hold_evd(ia, recv, DAT_EVD_DTO_FLAG, &n->recv))
		bad = DAT_INVALID_HANDLE_EVD_RECV;
	else if (!hold_evd(ia, request, DAT_EVD_DTO_FLAG, &n->request))
		bad = DAT_INVALID_HANDLE_EVD_REQUEST;
	/* Programs hand one adapter's connection EVD to endpoints of all; no device is involved. */
	else if (!hold_evd(NULL, connect, DAT_EVD_CONNECTION_FLAG, &n->connect))
		bad = DAT_INVALID_HANDLE_EVD_CONN;
	if (bad == DAT_NO_SUBTYPE)
		return DAT_SUCCESS;
	release(n);
	return DAT_ERROR(DAT_INVALID_HANDLE, bad);
}

static int
create_rings(struct ep *ep)
{
	int r;

	r = wr_ring_init(&ep->requests, ep->attr.max_request_dtos);
	if (r)
		return r;
	r = wr_ring_init(&ep->recvs, ep->attr.max_recv_dtos);
	if (r)
		goto free_requests;
	if (ep->merged) {
		r = evd_hold_init(
		    &ep->hold, sizeof(struct ibv_wc), (unsigned int)ep->attr.max_recv_dtos);
		if (r)
			goto free_recvs;
	}
	return 0;

free_recvs:
	wr_ring_fini(&ep->recvs);
free_requests:
	wr_ring_fini(&ep->requests);
	return r;
}

static void
destroy_rings(struct ep *ep)
{
	if (ep->merged)
		evd_hold_fini(&ep->hold);
	wr_ring_fini(&ep->recvs);
	wr_ring_fini(&ep->requests);
}

/* `sign` +1 or -1: the requests that may be outstanding begin or end to count. */
static void
promise(const struct needs *n, const DAT_EP_ATTR *attr, int sign)
{
	if (n->recv)
		evd_cq_promise(n->recv, sign * attr->max_recv_dtos);
	if (n->request)
		evd_cq_promise(n->request, sign * attr->max_request_dtos);
}

static int
create(struct ia *ia, const struct needs *n, const DAT_EP_ATTR *attr, struct ep **out)
{
	struct ep *ep = slab_alloc(&ep_slab);
	int r;

	if (!ep)
		return -ENOMEM;
	/* A timer job or a reader of the last life may still look at the slot, under its lock. */
	os_lock(&ep->obj.lock);
	ep->obj.ia = ia;
	ep->state = DAT_EP_STATE_UNCONNECTED;
	ep->pins = 0;
	ep->unpinned = (struct park_list){ NULL };
	ep->pz = n->pz;
	ep->recv_evd = n->recv;
	ep->request_evd = n->request;
	ep->connect_evd = n->connect;
	ep->attr = *attr;
	ep->merged = n->recv && n->recv == n->connect;
	ep->qp = NULL;
	ep->conn = ep->doomed = NULL;
	ep->owed = 0;
	ep->timer = (struct loop_job){ .run = ep_timer_run };
	ep->remote.ss_family = AF_UNSPEC;
	ep->remote_qual = 0;
	os_unlock(&ep->obj.lock);

	r = create_rings(ep);
	if (r)
		goto free_slot;
	r = object_open(&ep->obj, ia, &ia->provider->table);
	if (r)
		goto destroy_rings;
	ep->self = ep->obj.handle;
	promise(n, attr, 1);
	r = ep_qp_create(ep, &ep->qp);
	if (r)
		goto withdraw;
	r = object_publish(&ep->obj);
	if (r)
		goto destroy_qp;
	*out = ep;
	return 0;

destroy_qp:
	ibv_destroy_qp(ep->qp);
withdraw:
	promise(n, attr, -1);
	object_abandon(&ep->obj);
destroy_rings:
	destroy_rings(ep);
free_slot:
	slab_free(&ep_slab, ep);
	return r;
}

DAT_RETURN
dapl_ep_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd,
    DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd, const DAT_EP_ATTR *asked,
    DAT_EP_HANDLE *ep_handle)
{
	struct needs needs;
	DAT_EP_ATTR attr;
	DAT_RETURN ret;
	struct ia *ia;
	struct ep *ep;
	int r;

	ia = ia_enter(ia_handle);
	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	ret = hold_needs(ia, pz, recv_evd, request_evd, connect_evd, &needs);
	if (ret != DAT_SUCCESS)
		goto leave;
	ep_attr_defaults(ia, &attr);
	if (asked && !ep_attr_accept(ia, asked, &attr))
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
	else if (!ep_handle)
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG7);
	if (ret == DAT_SUCCESS) {
		r = create(ia, &needs, &attr, &ep);
		if (r)
			ret = err_resource(r, DAT_RESOURCE_TEP);
		else
			*ep_handle = ep->self;
	}
	if (ret != DAT_SUCCESS)
		release(&needs);
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

/* The queue pair's generation is past: what the device still delivers is dropped when it is polled.
 */
static void
purge_completions(struct ep *ep)
{
	if (ep->request_evd)
		evd_purge(&ep->request_evd->core, NULL, names_queue_pair, names_flushed, ep);
	if (ep->recv_evd)
		evd_purge(&ep->recv_evd->core, ep->merged ? &ep->hold : NULL, names_queue_pair,
		    names_flushed, ep);
}

static void
purge_events(struct ep *ep)
{
	struct ia *ia = ep->obj.ia;

	if (ep->connect_evd)
		evd_purge(&ep->connect_evd->core, NULL, NULL, names_endpoint, ep);
	os_lock(&ia->obj.lock);
	if (ia->async)
		evd_purge(&ia->async->core, NULL, NULL, names_endpoint, ep);
	os_unlock(&ia->obj.lock);
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

int
ep_destroy(DAT_HANDLE handle)
{
	struct ep *ep = object_lock(handle, KIND_EP);
	struct needs needs;
	struct conn *conn;
	struct ibv_qp *qp;
	DAT_EP_STATE was;

	if (!ep)
		return -ENODEV;
	object_close_locked(&ep->obj);
	was = ep->state;
	ep_await_pins(ep);
	detach(ep, &conn, &qp);
	os_unlock(&ep->obj.lock);
	object_unlink(&ep->obj);

	if (conn) {
		if (was == DAT_EP_STATE_CONNECTED || was == DAT_EP_STATE_DISCONNECT_PENDING)
			(void)rdma_disconnect(conn->id);
		conn_close(conn);
	}
	if (qp)
		ibv_destroy_qp(qp);
	purge_completions(ep);
	purge_events(ep);
	destroy_rings(ep);
	needs = (struct needs){ ep->pz, ep->recv_evd, ep->request_evd, ep->connect_evd };
	promise(&needs, &ep->attr, -1);
	release(&needs);
	slab_free(&ep_slab, ep);
	return 0;
}

DAT_RETURN
dapl_ep_free(DAT_EP_HANDLE handle)
{
	return ep_destroy(handle) ? BAD_EP : DAT_SUCCESS;
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
	enum ep_verdict verdict;
	struct ibv_qp *qp, *fresh;
	struct conn *conn;
	DAT_RETURN ret;
	int r;

	if (!ep)
		return BAD_EP;
	ep_await_pins(ep);
	verdict = ep->obj.handle == handle ? ep_may(ep->state, EP_RESET) : EP_REFUSED;
	if (verdict != EP_ALLOWED) {
		if (ep->obj.handle != handle)
			ret = BAD_EP;
		else if (verdict == EP_NOTHING)
			ret = DAT_SUCCESS;
		else
			ret = DAT_ERROR(DAT_INVALID_STATE, ep_state_subtype(ep->state));
		os_unlock(&ep->obj.lock);
		return ret;
	}
	detach(ep, &conn, &qp);
	ep_pin(ep);
	os_unlock(&ep->obj.lock);

	ep_pay_now(ep);
	if (conn)
		conn_close(conn);
	if (qp)
		ibv_destroy_qp(qp);
	purge_completions(ep);
	wr_ring_reset(&ep->requests);
	wr_ring_reset(&ep->recvs);
	r = ep_qp_create(ep, &fresh);
	if (!r) {
		os_lock(&ep->obj.lock);
		ep->qp = fresh;
		ep->state = DAT_EP_STATE_UNCONNECTED;
		os_unlock(&ep->obj.lock);
	}
	ep_unpin(ep);
	return r ? err_resource(r, DAT_RESOURCE_TEP) : DAT_SUCCESS;
}
