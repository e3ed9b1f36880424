/* SPDX-License-Identifier: BSD-3-Clause */
/* ep_event -- what happens to a connection, and the one event it makes */
#include <string.h>

#include <dat2/dat_event_str.h>

#include "dapl/trace/debug.h"
#include "dapl/ep/lookup_list.h"
#include "dapl/ia/ia_count.h"
#include "dapl/trace/name.h"
#include "evd/probe.h"

#define LOOK_AGAIN_NS 1000000u
#define OWED_NS 100000000u /* the longest wait of an owed event for its completions */

enum how {
	AT_ONCE,
	RELEASING,     /* as above, and releases the hold */
	BEHIND_DEVICE, /* after the completions that the device still has */
};

/*
 * The caller has a pin.  Only the active end gets data.  Its events always have the pointer,
 * because programs in the field may use it without checking the size.
 */
static void
ep_post_event(struct dapl_ep *ep, DAT_EVENT_NUMBER number, size_t size, enum how how) DAPL_NO_LOCK
{
	const bool active = atomic_load_explicit(&ep->active, memory_order_acquire);
	const struct evd_order order = {
		.endpoint = ep->self,
		.barrier = how == BEHIND_DEVICE,
		.hold = how == RELEASING ? &ep->rings.hold : NULL,
	};
	const DAT_EVENT event = {
		.event_number = number,
		.event_data.connect_event_data = {
			.ep_handle = ep->self,
			.private_data_size = active ? (DAT_COUNT)size : 0,
			.private_data = active ? ep->answer : NULL,
		},
	};
	int r;

	REARM_PROBE_INT(connection, ep->self, number);
	r = dapl_evd_post(ep->parts.connect, EVD_STREAM_CONNECTION, &event, &order);
	if (r == -ENOSPC)
		dapl_evd_overflowed(dapl_evd_ref(ep->parts.connect));
}

bool
dapl_ep_refresh(struct dapl_ep *ep)
{
	struct dapl_evd *request = ep->parts.request, *recv = ep->parts.recv;
	bool polled = true;

	if (request)
		polled = evd_refresh(dapl_evd_ref(request)) != -EIO;
	if (recv && recv != request)
		polled &= evd_refresh(dapl_evd_ref(recv)) != -EIO;
	return polled;
}

/* True if a request of this queue pair has failed, as far as is known. */
static bool
ep_has_failed(struct dapl_ep *ep)
{
	return atomic_load_explicit(&ep->failed, memory_order_acquire) ==
	       dapl_ep_generation(ep) + 1;
}

/* True if the queue pair takes no further buffer of a shared receive queue, as far as is known. */
static bool
ep_takes_no_buffer(struct dapl_ep *ep) REQUIRES(dapl_locks.object)
{
	return ep->drained == dapl_ep_generation(ep) + 1;
}

/*
 * The peer may have disconnected because a request of this end failed there: then the
 * connection is broken.
 */
struct dapl_ep_owed
dapl_ep_take_owed(struct dapl_ep *ep)
{
	struct dapl_ep_owed owed = ep->owed;

	ep->owed = (struct dapl_ep_owed){ 0 };
	if (owed.event == DAT_CONNECTION_EVENT_DISCONNECTED && !ep->by_us && ep_has_failed(ep))
		owed.event = DAT_CONNECTION_EVENT_BROKEN;
	return owed;
}

/*
 * The end of a connection, or of an attempt to connect, is reported after its completions. The
 * queue pair is in the error state, so each outstanding request soon yields one. The event is owed
 * until they were polled, or until OWED_NS have passed.  How many receives of a shared queue are
 * outstanding is not known: the event is owed until the device reports the last one, and then goes
 * behind what the device has.
 *
 * A connection may end while another thread is about to post ESTABLISHED. That event goes
 * first, and ep_conclude() then calls this function. The caller has a pin.
 */
static void
ep_pay_owed(struct dapl_ep *ep) DAPL_NO_LOCK
{
	struct dapl_ep_owed owed = { 0 };
	enum how how = BEHIND_DEVICE;
	bool idle;
	const bool polled = dapl_ep_refresh(ep);

	dapl_object_lock(&ep->obj);
	idle = dapl_wr_ring_idle(&ep->rings.requests) && dapl_wr_ring_idle(&ep->rings.recvs) &&
	       (!ep->parts.srq || ep_takes_no_buffer(ep));
	if (ep->owed.event && !ep->concluding && (idle || os_clock_ns() >= ep->deadline)) {
		owed = dapl_ep_take_owed(ep);
	} else if (ep->owed.event && dapl_object_is_alive(&ep->obj)) {
		dapl_ep_set_timer(ep, LOOK_AGAIN_NS);
	}
	/* Receives of a shared queue are in no ring: some may still be in the device queue. */
	if (idle && !ep->parts.srq)
		how = AT_ONCE;
	/* A device queue that cannot be polled may never be seen empty: it is not waited for. */
	if (!polled)
		how = AT_ONCE;
	dapl_object_unlock(&ep->obj);
	if (owed.event)
		ep_post_event(ep, owed.event, owed.size, how);
}

void
dapl_ep_post_owed(struct dapl_ep *ep, const struct dapl_ep_owed *owed)
{
	if (owed->event)
		ep_post_event(ep, owed->event, owed->size, AT_ONCE);
}

/* A change of the connection, made with the lock of the endpoint; what follows is done without. */
struct change {
	const struct dapl_ep_rule *rule;
	DAT_EP_STATE was;
	bool by_us; /* this end disconnects */
	struct dapl_conn *conn;
	struct ibv_qp *qp;
	size_t size; /* of the private data that came with it */
};

static bool
ep_is_established(DAT_EP_STATE state)
{
	return state == DAT_EP_STATE_CONNECTED || state == DAT_EP_STATE_DISCONNECT_PENDING;
}

/*
 * Ends a connection, or an attempt to connect.  No ESTABLISHED will come now: the receives that are
 * held for it are released, and come before the event of the end like all others.
 */
static void
ep_end(struct dapl_ep *ep, const struct change *change) DAPL_NO_LOCK
{
	const bool established = ep_is_established(change->was);
	const bool tells = established || change->was == DAT_EP_STATE_COMPLETION_PENDING;
	const bool untold = change->conn && tells && rdma_disconnect(change->conn->id);
	uint32_t generation;

	if (established && change->by_us && change->conn && !untold)
		dapl_ia_count(dapl_ia_of(&ep->obj), DCNT_IA_CM_DREQ_TX);

	dapl_ep_qp_fail(change->qp);
	if (!established && ep->rings.merged)
		evd_hold_end(dapl_evd_ref(ep->parts.connect), &ep->rings.hold);
	dapl_object_lock(&ep->obj);
	/* The peer is notified when the id is destroyed, if not before. */
	if (established && untold && ep->conn == change->conn) {
		ep->doomed = ep->conn;
		ep->conn = NULL;
	}
	ep->owed = (struct dapl_ep_owed){ change->rule->event, change->size };
	ep->by_us = change->by_us;
	ep->deadline = os_clock_ns() + OWED_NS;
	if (!established)
		ep->concluding = false;
	generation = dapl_ep_generation(ep);
	dapl_object_unlock(&ep->obj);
	ep_pay_owed(ep);
	if (established && ep->parts.srq)
		dapl_ep_report_last(ep, generation);
}

/*
 * The attempt to connect succeeded, which releases the held receives.  A receive that failed and
 * was dequeued during the attempt breaks the connection now.
 */
static void
ep_establish(struct dapl_ep *ep, const struct change *change) DAPL_NO_LOCK
{
	uint32_t generation;
	bool ended, broken;

	ep_post_event(
	    ep, change->rule->event, change->size, ep->rings.merged ? RELEASING : AT_ONCE);
	dapl_object_lock(&ep->obj);
	ep->concluding = false;
	ended = ep->owed.event != 0;
	generation = dapl_ep_generation(ep);
	broken = ep->broken == generation + 1;
	dapl_object_unlock(&ep->obj);
	if (ended)
		ep_pay_owed(ep);
	else if (broken)
		dapl_ep_broken(ep, generation);
}

/* What the change was on the wire. */
static void
ep_count_change(struct dapl_ia *ia, DAT_EP_STATE was, enum dapl_ep_happening what)
{
	switch (what) {
	case DAPL_EP_IS_ESTABLISHED:
		if (was == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING) {
			dapl_ia_count(ia, DCNT_IA_CM_REP_RX);
			dapl_ia_count(ia, DCNT_IA_CM_RTU_TX);
			dapl_ia_count(ia, DCNT_IA_CM_ACTIVE_EST);
		} else {
			dapl_ia_count(ia, DCNT_IA_CM_RTU_RX);
			dapl_ia_count(ia, DCNT_IA_CM_PASSIVE_EST);
		}
		break;
	case DAPL_EP_IS_REJECTED_BY_PEER:
		dapl_ia_count(ia, DCNT_IA_CM_USER_REJ_RX);
		break;
	case DAPL_EP_IS_REJECTED:
		dapl_ia_count(ia, DCNT_IA_CM_ERR_REJ_RX);
		break;
	case DAPL_EP_HAS_TIMED_OUT:
		dapl_ia_count(ia, DCNT_IA_CM_ERR_TIMEOUT);
		break;
	case DAPL_EP_IS_UNREACHABLE:
	case DAPL_EP_HAS_FAILED:
		dapl_ia_count(ia, DCNT_IA_CM_ERR);
		break;
	case DAPL_EP_IS_DISCONNECTED:
		dapl_ia_count(ia, DCNT_IA_CM_DREQ_RX);
		break;
	default:
		break;
	}
}

void
dapl_ep_settle(struct dapl_ep *ep, enum dapl_ep_happening what, const void *data, size_t size)
{
	const struct dapl_ep_rule *rule = dapl_ep_rule(ep->state, what);
	const struct change change = {
		.rule = rule,
		.was = ep->state,
		.by_us = what == DAPL_EP_DISCONNECTS,
		.conn = ep->conn,
		.qp = ep->qp,
		.size = size < sizeof ep->answer ? size : sizeof ep->answer,
	};

	ep->state = rule->next;
	ep_count_change(dapl_ia_of(&ep->obj), change.was, what);
	if (change.size)
		memcpy(ep->answer, data, change.size);
	(void)loop_unready(&ep->timer);
	/* The attempt was given up: its conn is marked for removal, and its events are ignored. */
	if (change.was == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING &&
	    (change.by_us || what == DAPL_EP_HAS_TIMED_OUT)) {
		ep->doomed = ep->conn;
		ep->conn = NULL;
	}
	if (!ep_is_established(change.was))
		ep->concluding = true;
	dapl_ep_get_pin(ep);
	dapl_object_unlock(&ep->obj);
	if (dapl_debug_wants(DAPL_DEBUG_CONNECTIONS))
		dapl_debug_line("ep %p: %s, the connection %s: %s, %s", ep->self,
		    dapl_name_ep_state(change.was), dapl_name_ep_happening(what),
		    dat_event_name(rule->event), dapl_name_ep_state(rule->next));

	if (rule->next == DAT_EP_STATE_DISCONNECTED)
		ep_end(ep, &change);
	else
		ep_establish(ep, &change);
	dapl_ep_put_pin(ep);
}

void
dapl_ep_happened(struct dapl_ep *ep, const struct dapl_conn *conn, enum dapl_ep_happening what,
    const void *data, size_t size)
{
	dapl_object_lock(&ep->obj);
	/* The other end of the same device was ended first. */
	if (what == DAPL_EP_IS_DISCONNECTED && ep->broken == dapl_ep_generation(ep) + 1)
		what = DAPL_EP_IS_BROKEN;
	if (!dapl_object_is_alive(&ep->obj) || (conn && ep->conn != conn) ||
	    !dapl_ep_rule(ep->state, what)->event) {
		dapl_object_unlock(&ep->obj);
		return;
	}
	dapl_ep_settle(ep, what, data, size);
}

void
dapl_ep_broken(struct dapl_ep *ep, uint32_t generation)
{
	dapl_object_lock(&ep->obj);
	if (!dapl_object_is_alive(&ep->obj) || dapl_ep_generation(ep) != generation) {
		dapl_object_unlock(&ep->obj);
	} else if (ep->state == DAT_EP_STATE_CONNECTED ||
		   ep->state == DAT_EP_STATE_DISCONNECT_PENDING) {
		dapl_ep_settle(ep, DAPL_EP_IS_BROKEN, NULL, 0);
	} else {
		/*
		 * An attempt to connect fails by itself. If it succeeds, ep_conclude() breaks
		 * the connection.
		 */
		ep->broken = generation + 1;
		dapl_object_unlock(&ep->obj);
	}
}

/* Marks the endpoint, if its queue pair is of that device; true, and its generation. */
static bool
ep_mark_broken(
    struct dapl_ep *ep, const struct ibv_context *verbs, uint32_t *generation) DAPL_NO_LOCK
{
	bool marked;

	dapl_object_lock(&ep->obj);
	marked = dapl_object_is_alive(&ep->obj) && ep->qp && ep->qp->context == verbs;
	if (marked) {
		*generation = dapl_ep_generation(ep);
		ep->broken = *generation + 1;
	}
	dapl_object_unlock(&ep->obj);
	return marked;
}

/*
 * No event of the device names its queue pairs, and that of a connection may never come.  All are
 * marked before the first one ends: its other end may be here, too, and is broken as well.
 */
void
dapl_ep_all_broken(const struct ibv_context *verbs)
{
	uint32_t generation;
	struct dapl_ep *ep;

	for (uint32_t i = 0; (ep = dapl_slab_at(&dapl_ep_slab, i)); i++)
		(void)ep_mark_broken(ep, verbs, &generation);
	for (uint32_t i = 0; (ep = dapl_slab_at(&dapl_ep_slab, i)); i++)
		if (ep_mark_broken(ep, verbs, &generation))
			dapl_ep_broken(ep, generation);
}

void
dapl_ep_breaker_run(struct loop_job *job, uint64_t serial)
{
	struct dapl_ep *ep = (struct dapl_ep *)((char *)job - offsetof(struct dapl_ep, breaker));
	uint32_t generation = 0;
	bool failed;

	dapl_object_lock(&ep->obj);
	failed = dapl_object_is(&ep->obj, serial) && ep_has_failed(ep);
	if (failed)
		generation = dapl_ep_generation(ep);
	dapl_object_unlock(&ep->obj);
	if (failed)
		dapl_ep_broken(ep, generation);
}

/*
 * Whether the results of the requests are lost, because their completion queue cannot
 * be polled. The caller has a pin.
 */
static bool
ep_requests_are_lost(const struct dapl_ep *ep) NO_CORE_LOCK
{
	struct evd_status status;

	return ep->parts.request && evd_query(dapl_evd_ref(ep->parts.request), &status) == 0 &&
	       status.device_over;
}

/*
 * A graceful disconnection waits for the posted requests: checks whether they are complete.  If the
 * device cannot be polled for OWED_NS, they count as lost.
 */
static void
ep_drain(struct dapl_ep *ep) RELEASE(dapl_locks.object)
{
	bool idle, lost, polled;

	dapl_ep_get_pin(ep);
	dapl_object_unlock(&ep->obj);
	polled = dapl_ep_refresh(ep);
	dapl_object_lock(&ep->obj);
	if (polled)
		ep->deadline = UINT64_MAX;
	else if (ep->deadline == UINT64_MAX)
		ep->deadline = os_clock_ns() + OWED_NS;
	idle = dapl_wr_ring_idle(&ep->rings.requests);
	lost = !idle && (ep_requests_are_lost(ep) || os_clock_ns() >= ep->deadline);
	if (dapl_object_is_alive(&ep->obj) && ep->state == DAT_EP_STATE_DISCONNECT_PENDING &&
	    (idle || lost)) {
		dapl_ep_settle(ep,
		    lost || ep_has_failed(ep) ? DAPL_EP_IS_BROKEN : DAPL_EP_DISCONNECTS, NULL, 0);
	} else {
		if (dapl_object_is_alive(&ep->obj) && ep->state == DAT_EP_STATE_DISCONNECT_PENDING)
			dapl_ep_set_timer(ep, LOOK_AGAIN_NS);
		dapl_object_unlock(&ep->obj);
	}
	dapl_ep_put_pin(ep);
}

void
dapl_ep_timer_run(struct loop_job *job, uint64_t serial)
{
	struct dapl_ep *ep = (struct dapl_ep *)((char *)job - offsetof(struct dapl_ep, timer));

	dapl_object_lock(&ep->obj);
	if (!dapl_object_is(&ep->obj, serial)) {
		dapl_object_unlock(&ep->obj);
	} else if (ep->state == DAT_EP_STATE_DISCONNECT_PENDING) {
		ep_drain(ep);
	} else if (ep->owed.event) {
		dapl_ep_get_pin(ep);
		dapl_object_unlock(&ep->obj);
		ep_pay_owed(ep);
		dapl_ep_put_pin(ep);
	} else if (ep->state == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING &&
		   os_clock_ns() >= ep->deadline) {
		dapl_ep_settle(ep, DAPL_EP_HAS_TIMED_OUT, NULL, 0);
	} else {
		dapl_lookups_expire(ep);
	}
}
