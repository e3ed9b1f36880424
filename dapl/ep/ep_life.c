/* SPDX-License-Identifier: BSD-3-Clause */
/* ep_life -- an endpoint is created, reset and freed */
#include "dapl/ep/ep.h"

#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/ep/ib_event.h"
#include "dapl/ep/lookup_list.h"
#include "dapl/ep/record.h"
#include "dapl/ep/rmr.h"
#include "dapl/state/event.h"
#include "dapl/trace/err.h"

/*
 * So that what a work request and a record keep of it soon wraps: a mistake there shows in every
 * program.
 */
#define GENERATION_FIRST (DAPL_WR_GENERATION_MASK - 1)

static void
ep_prepare(void *slot)
{
	struct dapl_ep *ep = slot;

	dapl_object_prepare(&ep->obj, DAPL_KIND_EP);
	atomic_init(&ep->generation, GENERATION_FIRST);
}

struct dapl_slab dapl_ep_slab = DAPL_SLAB_INITIALIZER(struct dapl_ep, ep_prepare);

/* ---- create ---- */

/*
 * `from` NULL: an endpoint for the consumer.  Else an endpoint for a request from that address; it
 * may be freed at once, because its adapter may be closing.
 */
static int
ep_create(struct dapl_ia *ia, const struct dapl_ep_parts *parts, const DAT_EP_ATTR *attr,
    const struct sockaddr *from, DAT_EP_HANDLE *handle) DAPL_NO_LOCK
{
	struct sockaddr_storage remote = { .ss_family = AF_UNSPEC };
	DAT_EP_HANDLE self;
	struct dapl_ep *ep;
	int r;

	if (from && dapl_address_copy(&remote, from))
		return -EAFNOSUPPORT;
	ep = dapl_slab_alloc(&dapl_ep_slab);
	if (!ep)
		return -ENOMEM;
	/*
	 * A timer job or reader of the slot's last endpoint may still lock the slot and read
	 * it. Threads that waited for its pins may not have run since: they stay in the list.
	 */
	dapl_object_lock(&ep->obj);
	ep->obj.parent = &ia->parent;
	ep->state = from ? DAT_EP_STATE_UNCONFIGURED_TENTATIVE : DAT_EP_STATE_UNCONNECTED;
	ep->parts = *parts;
	ep->attr = *attr;
	dapl_ep_number_requests(ep);
	ep->member.evd = NULL;
	os_clear_from(ep, pins);
	ep->timer = (struct loop_job){ .run = dapl_ep_timer_run };
	ep->breaker = (struct loop_job){ .run = dapl_ep_breaker_run };
	ep->remote = remote;
	ep->remote_qual = from ? dapl_address_port(&remote) : 0;
	dapl_object_unlock(&ep->obj);

	r = dapl_ep_rings_create(&ep->rings, parts, attr);
	if (r)
		goto free_slot;
	r = dapl_object_create(&ep->obj, &ia->parent, &ia->provider->table);
	if (r)
		goto free_rings;
	dapl_object_lock(&ep->obj);
	ep->self = self = ep->obj.handle;
	ep->timer.serial = ep->breaker.serial = ep->obj.serial;
	dapl_object_unlock(&ep->obj);
	r = parts->srq ? dapl_ia_get_report_room(ia, 1, &ep->member.async) : 0;
	if (r)
		goto free_handle;
	dapl_ep_parts_get_room(parts, attr);
	if (parts->pz)
		r = dapl_ep_qp_create(ep, dapl_ep_generation(ep), parts, attr, &ep->qp);
	if (r)
		goto put_room;
	r = dapl_ep_qp_attach(ep, dapl_ep_generation(ep), parts, ep->qp);
	if (!r)
		r = dapl_object_attach(&ep->obj);
	if (r)
		goto free_qp;
	*handle = self;
	return 0;

free_qp:
	dapl_ep_qp_end(ep, ep->qp);
put_room:
	dapl_ep_parts_put_room(parts, attr);
	if (parts->srq)
		dapl_ia_put_report_room(&ep->member.async, 1);
free_handle:
	dapl_object_free_unattached(&ep->obj);
free_rings:
	dapl_ep_rings_free(&ep->rings);
free_slot:
	dapl_slab_free(&dapl_ep_slab, ep);
	return r;
}

int
dapl_ep_create_for_request(struct dapl_ia *ia, const struct sockaddr *from, DAT_EP_HANDLE *handle)
{
	const struct dapl_ep_parts none = { .pz = NULL };
	DAT_EP_ATTR attr;

	dapl_ep_attr_defaults(ia, &attr);
	return ep_create(ia, &none, &attr, from, handle);
}

/* The argument numbers of attributes and result differ in the two calls. */
static DAT_RETURN
ep_create_for_consumer(DAT_IA_HANDLE ia_handle, const struct dapl_ep_part_handles *handles,
    const DAT_EP_ATTR *asked, DAT_EP_HANDLE *ep_handle, DAT_RETURN_SUBTYPE bad_attr,
    DAT_RETURN_SUBTYPE bad_result) DAPL_NO_LOCK
{
	DAT_RETURN_SUBTYPE bad;
	struct dapl_ep_parts parts;
	DAT_EP_ATTR attr;
	DAT_RETURN ret;
	struct dapl_ia *ia;
	int r;

	ia = dapl_ia_enter(ia_handle);
	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	bad = handles->pz == DAT_HANDLE_NULL ? DAT_INVALID_HANDLE_PZ :
					       dapl_ep_parts_get(ia, handles, &parts);
	ret = bad ? DAT_ERROR(DAT_INVALID_HANDLE, bad) : DAT_SUCCESS;
	if (ret != DAT_SUCCESS)
		goto leave;
	dapl_ep_attr_defaults(ia, &attr);
	if (asked && (!dapl_ep_attr_accept(ia, asked, &attr) ||
			 (parts.srq && attr.service_type != DAT_SERVICE_TYPE_RC)))
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, bad_attr);
	else if (!ep_handle)
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, bad_result);
	if (ret != DAT_SUCCESS)
		goto release;
	dapl_ep_parts_attach(&parts, &attr);
	r = ep_create(ia, &parts, &attr, NULL, ep_handle);
	if (!r) {
		if (attr.service_type != DAT_SERVICE_TYPE_RC &&
		    !atomic_exchange(&ia->datagrams, true))
			ia->ops->hear_datagrams(ia);
		goto leave;
	}
	ret = dapl_err_resource("dat_ep_create", r, DAT_RESOURCE_TEP);
	dapl_ep_parts_detach(&parts, &attr);
release:
	dapl_ep_parts_put(&parts);
leave:
	dapl_ia_leave(ia);
	return ret;
}

DAT_RETURN
dapl_ep_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd,
    DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd, const DAT_EP_ATTR *attr,
    DAT_EP_HANDLE *ep)
{
	DAPL_UNCANCELLED;
	const struct dapl_ep_part_handles handles = {
		.pz = pz, .recv = recv_evd, .request = request_evd, .connect = connect_evd
	};

	return ep_create_for_consumer(ia, &handles, attr, ep, DAT_INVALID_ARG6, DAT_INVALID_ARG7);
}

DAT_RETURN
dapl_ep_create_with_srq(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd,
    DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd, DAT_SRQ_HANDLE srq,
    const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep)
{
	DAPL_UNCANCELLED;
	const struct dapl_ep_part_handles handles = {
		.pz = pz,
		.recv = recv_evd,
		.request = request_evd,
		.connect = connect_evd,
		.srq = srq,
	};

	/* Without a queue this would be dat_ep_create(). */
	if (srq == DAT_HANDLE_NULL && dapl_handle_is(ia, DAPL_KIND_IA))
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
	return ep_create_for_consumer(ia, &handles, attr, ep, DAT_INVALID_ARG7, DAT_INVALID_ARG8);
}

/* ---- what an endpoint leaves behind in EVDs ---- */

static bool
ep_is_of_bind(const void *posted)
{
	const DAT_EVENT *event = posted;

	return event->event_number == DAT_RMR_BIND_COMPLETION_EVENT;
}

/* True for the event of a request that the provider flushed itself. */
static bool
ep_names_flushed(const void *posted, const void *who)
{
	const DAT_EVENT *event = posted;
	const struct dapl_ep *ep = who;

	return dapl_event_is_of_dto(event->event_number) &&
	       event->event_data.dto_completion_event_data.ep_handle == ep->self;
}

static bool
ep_names_endpoint(const void *posted, const void *who)
{
	const DAT_EVENT *event = posted;
	const struct dapl_ep *ep = who;

	if (dapl_event_is_of_connection(event->event_number))
		return event->event_data.connect_event_data.ep_handle == ep->self;
	return event->event_number == DAT_ASYNC_ERROR_EP_BROKEN &&
	       event->event_data.asynch_error_event_data.dat_handle == ep->self;
}

void
dapl_ep_purge_completions(struct dapl_ep *ep)
{
	const struct dapl_ep_parts *parts = &ep->parts;

	if (parts->request)
		evd_purge(dapl_evd_ref(parts->request), NULL, dapl_completion_is_of,
		    ep_names_flushed, ep);
	if (parts->request && parts->request->flags & DAT_EVD_RMR_BIND_FLAG)
		evd_purge_endpoint(dapl_evd_ref(parts->request), ep->self, ep_is_of_bind);
	if (parts->recv)
		evd_purge(dapl_evd_ref(parts->recv), ep->rings.merged ? &ep->rings.hold : NULL,
		    dapl_completion_is_of, ep_names_flushed, ep);
}

static void
ep_purge_events(struct dapl_ep *ep) DAPL_NO_LOCK
{
	if (ep->parts.connect)
		evd_purge(dapl_evd_ref(ep->parts.connect), NULL, NULL, ep_names_endpoint, ep);
	dapl_ia_purge_reports(dapl_ia_of(&ep->obj), ep_names_endpoint, ep);
}

/*
 * Before the queue pair is destroyed.  The generation was incremented.  In the error state the
 * device executes no bind any more, not even one that is outstanding.
 */
static void
ep_end_windows(struct dapl_ep *ep, struct ibv_qp *qp) DAPL_NO_LOCK
{
	if (!qp || !ep->rings.bind)
		return;
	dapl_ep_qp_fail(qp);
	dapl_rmr_renew_all(dapl_ia_of(&ep->obj), ep->obj.slot.index, dapl_ep_generation(ep) - 1);
}

/*
 * The binds that no completion has ended were ended with the ring.  The generation was incremented.
 */
static void
ep_end_binds(struct dapl_ep *ep) DAPL_NO_LOCK
{
	if (ep->rings.bind)
		dapl_rmr_leave_all(
		    dapl_ia_of(&ep->obj), ep->obj.slot.index, dapl_ep_generation(ep) - 1);
	ep->rings.bind = false;
}

/*
 * For an endpoint without pins.  Takes its connection, queue pair and address handles; no other
 * thread can reach them afterwards.
 */
static void
ep_detach_device(struct dapl_ep *ep, struct dapl_conn **conn, struct ibv_qp **qp,
    struct dapl_ah_list *ahs) REQUIRES(dapl_locks.object)
{
	*conn = ep->conn;
	*qp = ep->qp;
	dapl_ah_move(&ep->ahs, ahs);
	ep->conn = NULL;
	ep->qp = NULL;
	(void)loop_unready(&ep->timer);
	dapl_ep_end_generation(ep);
}

/* ---- free ---- */

static void
ep_free_locked(struct dapl_ep *ep) RELEASE(dapl_locks.object)
{
	const DAT_EP_STATE was = ep->state;
	struct dapl_lookup *ended;
	struct dapl_ah_list ahs;
	struct dapl_conn *conn;
	struct ibv_qp *qp;

	dapl_object_free_locked(&ep->obj);
	ended = dapl_lookups_end(ep);
	dapl_ep_await_pins(ep);
	ep_detach_device(ep, &conn, &qp, &ahs);
	dapl_object_unlock(&ep->obj);

	dapl_lookups_close(ended);
	if (conn) {
		if (was == DAT_EP_STATE_CONNECTED || was == DAT_EP_STATE_DISCONNECT_PENDING)
			(void)rdma_disconnect(conn->id);
		dapl_conn_close(conn);
	}
	ep_end_windows(ep, qp);
	dapl_ep_qp_end(ep, qp);
	ep_purge_events(ep);
	dapl_ah_free_all(&ahs);
	dapl_refusals_free(ep);
	if (ep->parts.srq)
		dapl_ia_put_report_room(&ep->member.async, 1);
	dapl_ep_rings_free(&ep->rings);
	ep_end_binds(ep);
	dapl_ep_parts_put_room(&ep->parts, &ep->attr);
	dapl_ep_parts_detach(&ep->parts, &ep->attr);
	dapl_ep_parts_put(&ep->parts);
	dapl_object_detach(&ep->obj);
	dapl_slab_free(&dapl_ep_slab, ep);
}

int
dapl_ep_free_by_handle(DAT_HANDLE handle)
{
	struct dapl_ep *ep = dapl_object_lock_handle(handle, DAPL_KIND_EP);

	if (!ep)
		return -ENODEV;
	ep_free_locked(ep);
	return 0;
}

void
dapl_ep_detach_request(DAT_EP_HANDLE handle)
{
	struct dapl_ep *ep = dapl_object_lock_handle(handle, DAPL_KIND_EP);
	const struct dapl_ep_answer *answer;

	if (!ep)
		return;
	answer = dapl_ep_answer(ep->state, DAPL_EP_REFUSE_OWN);
	if (answer->verdict == DAPL_EP_GONE) {
		ep_free_locked(ep);
		return;
	}
	if (answer->verdict == DAPL_EP_ALLOWED) {
		ep->state = answer->next;
		ep->remote.ss_family = AF_UNSPEC;
		ep->remote_qual = 0;
	}
	dapl_object_unlock(&ep->obj);
}

DAT_RETURN
dapl_ep_free(DAT_EP_HANDLE handle)
{
	DAPL_UNCANCELLED;
	struct dapl_ep *ep = dapl_object_lock_handle(handle, DAPL_KIND_EP);
	DAT_RETURN ret;

	if (!ep)
		return DAPL_EP_BAD_HANDLE;
	if (dapl_ep_may(ep->state, DAPL_EP_FREE) == DAPL_EP_GONE) {
		ep_free_locked(ep);
		return DAT_SUCCESS;
	}
	ret = dapl_ep_state_error(ep);
	dapl_object_unlock(&ep->obj);
	return ret;
}

/* ---- reset ---- */

/*
 * The peer remembers the number of a used queue pair for a while, and it must not be reused
 * meanwhile: the endpoint gets a new queue pair.
 */
DAT_RETURN
dapl_ep_reset(DAT_EP_HANDLE handle)
{
	DAPL_UNCANCELLED;
	struct dapl_ep *ep = dapl_object_lock_handle(handle, DAPL_KIND_EP);
	struct dapl_lookup *ended;
	struct dapl_ah_list ahs;
	struct dapl_ep_owed owed;
	enum dapl_ep_verdict verdict;
	struct ibv_qp *qp, *fresh;
	struct dapl_conn *conn;
	DAT_RETURN ret;
	uint64_t serial;
	int r;

	if (!ep)
		return DAPL_EP_BAD_HANDLE;
	serial = ep->obj.serial;
	dapl_ep_await_pins(ep);
	verdict = dapl_object_is(&ep->obj, serial) ? dapl_ep_may(ep->state, DAPL_EP_RESET) :
						     DAPL_EP_REFUSED;
	if (verdict != DAPL_EP_ALLOWED) {
		if (!dapl_object_is(&ep->obj, serial))
			ret = DAPL_EP_BAD_HANDLE;
		else if (verdict == DAPL_EP_NOTHING)
			ret = DAT_SUCCESS;
		else
			ret = dapl_ep_state_error(ep);
		dapl_object_unlock(&ep->obj);
		return ret;
	}
	owed = dapl_ep_take_owed(ep);
	ended = dapl_lookups_end(ep);
	ep_detach_device(ep, &conn, &qp, &ahs);
	dapl_ep_get_pin(ep);
	dapl_object_unlock(&ep->obj);

	dapl_ep_post_owed(ep, &owed);
	dapl_lookups_close(ended);
	if (conn)
		dapl_conn_close(conn);
	ep_end_windows(ep, qp);
	dapl_ep_qp_end(ep, qp);
	dapl_ah_free_all(&ahs);
	dapl_refusals_free(ep);
	dapl_wr_ring_reset(&ep->rings.requests);
	dapl_wr_ring_reset(&ep->rings.recvs);
	dapl_invalidated_clear(&ep->rings.invalidated);
	ep_end_binds(ep);
	/* The completions of the old queue pair occupy the room that the new one needs. */
	dapl_ep_parts_put_room(&ep->parts, &ep->attr);
	dapl_ep_parts_get_room(&ep->parts, &ep->attr);
	r = dapl_ep_qp_create(ep, dapl_ep_generation(ep), &ep->parts, &ep->attr, &fresh);
	if (!r) {
		r = dapl_ep_qp_attach(ep, dapl_ep_generation(ep), &ep->parts, fresh);
		if (r)
			dapl_ep_qp_free(fresh);
	}
	if (!r) {
		dapl_object_lock(&ep->obj);
		ep->qp = fresh;
		ep->remote.ss_family = AF_UNSPEC;
		ep->remote_qual = 0;
		dapl_ep_advance(ep, DAPL_EP_RESET);
		dapl_object_unlock(&ep->obj);
	}
	dapl_ep_put_pin(ep);
	return r ? dapl_err_resource("dat_ep_reset", r, DAT_RESOURCE_TEP) : DAT_SUCCESS;
}
