/* SPDX-License-Identifier: BSD-3-Clause */
/* ep_event -- what happens to a connection, and the one event it makes */
#include <string.h>

#include "dapl/ep.h"

#define DRAIN_POLL_NS 1000000u

/* The CM id exists and the other end knows of the connection. */
static bool
is_up(DAT_EP_STATE state)
{
	return state == DAT_EP_STATE_CONNECTED || state == DAT_EP_STATE_DISCONNECT_PENDING ||
	    state == DAT_EP_STATE_COMPLETION_PENDING;
}

static void
post(struct ep *ep, DAT_EP_STATE was, const struct ep_rule *rule, size_t size)
{
	struct evd *evd = &ep->connect_evd->core;
	DAT_EVENT event = { .event_number = rule->event };
	DAT_CONNECTION_EVENT_DATA *data = &event.event_data.connect_event_data;
	int r;

	data->ep_handle = ep->self;
	data->private_data_size = (DAT_COUNT)size;
	data->private_data = size ? ep->answer : NULL;
	/* Any outcome lets go of the receives that waited for one. */
	if (ep->merged && (was == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING ||
			      was == DAT_EP_STATE_COMPLETION_PENDING))
		r = evd_post_release(evd, EVD_STREAM_CONNECTION, &event, &ep->hold);
	else if (rule->next == DAT_EP_STATE_DISCONNECTED)
		r = evd_post_barrier(evd, EVD_STREAM_CONNECTION, &event);
	else
		r = evd_post(evd, EVD_STREAM_CONNECTION, &event);
	(void)evd_object_posted(ep->connect_evd, r);
}

void
ep_settle(struct ep *ep, enum ep_happening what, const void *data, size_t size)
{
	const struct ep_rule *rule = ep_rule(ep->state, what);
	const DAT_EP_STATE was = ep->state;
	struct conn *conn = ep->conn;
	struct ibv_qp *qp = ep->qp;

	ep->state = rule->next;
	if (size > sizeof ep->answer)
		size = sizeof ep->answer;
	if (size)
		memcpy(ep->answer, data, size);
	(void)loop_unready(&ep->timer);
	/* An attempt that is given up is withdrawn; nothing more is to come of it. */
	if (was == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING &&
	    (what == EP_DISCONNECTS || what == EP_HAS_TIMED_OUT)) {
		ep->doomed = conn;
		ep->conn = NULL;
	}
	ep_pin(ep);
	os_unlock(&ep->obj.lock);

	if (rule->next == DAT_EP_STATE_DISCONNECTED) {
		if (conn && is_up(was))
			(void)rdma_disconnect(conn->id);
		ep_qp_fail(qp);
	}
	post(ep, was, rule, size);
	ep_unpin(ep);
}

/*
 * The other end disconnects when a request of ours failed there.  The failure may be in the device
 * still, where nobody looks before the consumer asks; then it is the connection that broke.
 */
static bool
look_for_failure(struct ep *ep)
{
	os_unlock(&ep->obj.lock);
	if (ep->request_evd)
		(void)evd_refresh(&ep->request_evd->core);
	if (ep->recv_evd && ep->recv_evd != ep->request_evd)
		(void)evd_refresh(&ep->recv_evd->core);
	os_lock(&ep->obj.lock);
	return atomic_load_explicit(&ep->failed, memory_order_acquire) == ep_generation(ep) + 1;
}

static bool
applies(const struct ep *ep, const struct conn *conn, enum ep_happening what)
{
	return ep->obj.handle && (!conn || ep->conn == conn) && ep_rule(ep->state, what)->event;
}

void
ep_happened(struct ep *ep, const struct conn *conn, enum ep_happening what, const void *data,
    size_t size)
{
	bool pinned = false;

	os_lock(&ep->obj.lock);
	if (what == EP_IS_DISCONNECTED && applies(ep, conn, what) &&
	    ep->state == DAT_EP_STATE_CONNECTED) {
		ep_pin(ep);
		pinned = true;
		if (look_for_failure(ep))
			what = EP_IS_BROKEN;
	}
	if (applies(ep, conn, what))
		ep_settle(ep, what, data, size);
	else
		os_unlock(&ep->obj.lock);
	if (pinned)
		ep_unpin(ep);
}

void
ep_broken(struct ep *ep, uint32_t generation)
{
	os_lock(&ep->obj.lock);
	/* An attempt to connect fails by itself; only a connection can break. */
	if (!ep->obj.handle || ep_generation(ep) != generation ||
	    (ep->state != DAT_EP_STATE_CONNECTED &&
		ep->state != DAT_EP_STATE_DISCONNECT_PENDING)) {
		os_unlock(&ep->obj.lock);
		return;
	}
	ep_settle(ep, EP_IS_BROKEN, NULL, 0);
}

/* A graceful disconnection waits for the posted requests: look whether they are done. */
static void
drain(struct ep *ep)
{
	struct evd *evd = ep->request_evd ? &ep->request_evd->core : NULL;
	bool idle;

	ep_pin(ep);
	os_unlock(&ep->obj.lock);
	if (evd)
		(void)evd_refresh(evd);
	os_lock(&ep->obj.lock);
	idle = wr_ring_idle(&ep->requests);
	if (ep->obj.handle && ep->state == DAT_EP_STATE_DISCONNECT_PENDING && idle) {
		ep_settle(ep, EP_DISCONNECTS, NULL, 0);
	} else {
		if (ep->obj.handle && ep->state == DAT_EP_STATE_DISCONNECT_PENDING)
			loop_ready_later(ep->obj.ia->loops[0].loop, &ep->timer, DRAIN_POLL_NS);
		os_unlock(&ep->obj.lock);
	}
	ep_unpin(ep);
}

void
ep_timer_run(struct loop_job *job)
{
	struct ep *ep = (struct ep *)((char *)job - offsetof(struct ep, timer));

	os_lock(&ep->obj.lock);
	if (!ep->obj.handle) {
		os_unlock(&ep->obj.lock);
	} else if (ep->state == DAT_EP_STATE_DISCONNECT_PENDING) {
		drain(ep);
	} else if (ep->state == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING &&
	    os_clock_ns() >= ep->deadline) {
		ep_settle(ep, EP_HAS_TIMED_OUT, NULL, 0);
	} else {
		os_unlock(&ep->obj.lock);
	}
}
