/* SPDX-License-Identifier: BSD-3-Clause */
#include "ah.h"
#include "answers.h"
#include "datagram.h"
#include "qp_error.h"
#include "qp_table.h"
#include "remote_responder.h"
#include "requester.h"
#include "sq.h"
#include "srq.h"
#include "trouble.h"
#include "softverbs/device/changes.h"
#include "softverbs/device/cancel.h"
#include "softverbs/device/device.h"
#include "softverbs/device/slot.h"

/*
 * The attributes that each transition of a reliable connected queue pair requires and allows, as
 * the InfiniBand specification has them for a device without path migration.  ERR and RESET can
 * be reached from every state and take no attributes.
 */
static const struct transition {
	enum ibv_qp_state from, to;
	int required, optional;
} transitions[] = {
	{ IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0 },
	{ IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS },
	{ IBV_QPS_INIT, IBV_QPS_RTR,
	    IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	    IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX },
	{ IBV_QPS_RTR, IBV_QPS_RTS,
	    IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		IBV_QP_MAX_QP_RD_ATOMIC,
	    IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER },
	{ IBV_QPS_RTS, IBV_QPS_RTS, 0,
	    IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER },
	{ IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY },
	{ IBV_QPS_SQD, IBV_QPS_RTS, 0,
	    IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER },
	{ IBV_QPS_SQD, IBV_QPS_SQD, 0,
	    IBV_QP_PORT | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ACCESS_FLAGS |
		IBV_QP_PKEY_INDEX | IBV_QP_MIN_RNR_TIMER },
	{ IBV_QPS_SQE, IBV_QPS_RTS, 0,
	    IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER },
	{ .to = IBV_QPS_UNKNOWN },
};

/* The same for the unreliable datagram service. */
static const struct transition datagram_transitions[] = {
	{ IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, 0 },
	{ IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY },
	{ IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY },
	{ IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY },
	{ IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY },
	{ IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY },
	{ IBV_QPS_SQD, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY },
	{ IBV_QPS_SQD, IBV_QPS_SQD, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY },
	{ IBV_QPS_SQE, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY },
	{ .to = IBV_QPS_UNKNOWN },
};

static int
qp_check_transition(
    const struct soft_qp *qp, enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
	const struct transition *t = soft_qp_is_datagram(qp) ? datagram_transitions : transitions;
	const int given = mask & ~IBV_QP_STATE;

	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return given ? -EINVAL : 0;
	for (; t->to != IBV_QPS_UNKNOWN; t++)
		if (t->from == from && t->to == to)
			return (given & t->required) == t->required &&
				       !(given & ~(t->required | t->optional)) ?
				   0 :
				   -EINVAL;
	return -EINVAL;
}

/* The address of the peer, from a port of this device: its GID, if it has one, and its MTU. */
static bool
qp_path_is_good(const struct soft_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	const struct ibv_context *context = &qp->context->verbs.context;
	const struct ibv_ah_attr *address = &attr->ah_attr;
	const struct soft_device_port *port =
	    soft_device_port(context, mask & IBV_QP_AV ? address->port_num : qp->attr.port_num);

	if (mask & IBV_QP_AV &&
	    (!port || (address->is_global && address->grh.sgid_index >= port->attr.gid_tbl_len) ||
		(!address->is_global && soft_device_port_is_ethernet(port))))
		return false;
	return !(mask & IBV_QP_PATH_MTU) ||
	       (attr->path_mtu >= IBV_MTU_256 && port && attr->path_mtu <= port->attr.max_mtu);
}

static int
qp_check_values(const struct soft_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	const struct ibv_context *context = &qp->context->verbs.context;
	const struct ibv_device_attr *limits = soft_limits(context);

	if ((mask & IBV_QP_PORT && !soft_device_port(context, attr->port_num)) ||
	    (mask & IBV_QP_PKEY_INDEX && attr->pkey_index != 0) ||
	    !qp_path_is_good(qp, attr, mask) ||
	    (mask & IBV_QP_DEST_QPN && attr->dest_qp_num > SOFT_QPN_MAX) ||
	    (mask & IBV_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > limits->max_qp_init_rd_atom) ||
	    (mask & IBV_QP_MAX_DEST_RD_ATOMIC &&
		attr->max_dest_rd_atomic > limits->max_qp_rd_atom) ||
	    (mask & IBV_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31) ||
	    (mask & IBV_QP_TIMEOUT && attr->timeout > 31) ||
	    (mask & IBV_QP_RETRY_CNT && attr->retry_cnt > 7) ||
	    (mask & IBV_QP_RNR_RETRY && attr->rnr_retry > 7))
		return -EINVAL;
	return 0;
}

#define SET(bit, field) \
	do { \
		if (mask & (bit)) \
			own->field = attr->field; \
	} while (0)

static void
qp_set_values(struct ibv_qp_attr *own, const struct ibv_qp_attr *attr, int mask)
{
	SET(IBV_QP_ACCESS_FLAGS, qp_access_flags);
	SET(IBV_QP_PKEY_INDEX, pkey_index);
	SET(IBV_QP_PORT, port_num);
	SET(IBV_QP_AV, ah_attr);
	SET(IBV_QP_PATH_MTU, path_mtu);
	SET(IBV_QP_TIMEOUT, timeout);
	SET(IBV_QP_RETRY_CNT, retry_cnt);
	SET(IBV_QP_RNR_RETRY, rnr_retry);
	SET(IBV_QP_RQ_PSN, rq_psn);
	SET(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	SET(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
	SET(IBV_QP_SQ_PSN, sq_psn);
	SET(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	SET(IBV_QP_DEST_QPN, dest_qp_num);
	SET(IBV_QP_QKEY, qkey);
	SET(IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
	own->rq_psn &= SOFT_PSN_MASK;
	own->sq_psn &= SOFT_PSN_MASK;
}

/* The port of the queue pair, and the one that the address of its peer leads to. */
static void
qp_set_ports(struct soft_qp *qp, int mask) REQUIRES(soft_locks.receive, soft_locks.send)
{
	const struct ibv_context *context = &qp->context->verbs.context;
	const struct soft_device_port *from;

	if (mask & IBV_QP_PORT)
		qp->port = soft_device_port(context, qp->attr.port_num);
	if (!(mask & IBV_QP_AV) || soft_topology()->plain)
		return;
	from = soft_device_port(context, qp->attr.ah_attr.port_num);
	qp->route = from ? soft_topology_route(from, &qp->attr.ah_attr) : SOFT_PORT_NOWHERE;
}

/* Resets everything.  The caller drops the reference that is returned. */
static struct soft_qp *
qp_reset(struct soft_qp *qp) REQUIRES(soft_locks.receive, soft_locks.send)
{
	struct soft_qp *peer = qp->sq.peer;

	soft_sq_end_stall(qp);
	qp->sq.peer = NULL;
	qp->sq.head = qp->sq.tail = SOFT_COUNT_FIRST;
	qp->sq.tried = qp->sq.rnr_tried = qp->sq.starved_told = false;
	qp->sq.carrying = false;
	qp->sq.waiting_since = 0;
	qp->sq.unsignaled = qp->sq.unpolled = 0;
	soft_sq_revoke(qp);
	soft_sq_go_back(qp);
	soft_remote_responder_reset(qp);
	qp->rq.head = qp->rq.tail = SOFT_COUNT_FIRST;
	qp->has_current = qp->refusing = qp->established = qp->message.active = false;
	qp->attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RESET };
	if (qp->srq)
		soft_srq_detach(qp->srq, qp);
	return peer;
}

/* A requester of the peer may have found this queue pair not connected: it tries again now. */
static void
qp_resume_peer(struct soft_qp *qp, uint32_t qpn)
{
	struct soft_qp *peer = soft_qp_table_find(qpn);

	if (soft_qpn_slot(qpn) != soft_slot_number())
		soft_remote_responder_ready(qp);
	if (!peer)
		return;
	if (peer != qp)
		soft_sq_resume(peer);
	soft_qp_put(peer);
}

/* Once the port has moved, whether the connection is to one of its addresses of now. */
static bool
qp_address_is_here(const struct soft_qp *qp)
{
	const struct soft_device_port *from =
	    soft_device_port(&qp->context->verbs.context, qp->attr.ah_attr.port_num);

	return from && soft_topology_route(from, &qp->attr.ah_attr) != SOFT_PORT_NOWHERE;
}

/* A valid transition to any state but ERR. */
static int
qp_change_state(struct soft_qp *qp, enum ibv_qp_state to, const struct ibv_qp_attr *attr, int mask,
    struct soft_qp **peer) REQUIRES(soft_locks.receive, soft_locks.send)
{
	const bool connects = to == IBV_QPS_RTR && !soft_qp_is_datagram(qp);
	const enum ibv_qp_state from = qp->state;
	int r;

	if (connects) {
		r = soft_remote_responder_prepare(qp, attr->dest_qp_num);
		if (r)
			return r;
	} else if (to == IBV_QPS_RESET) {
		*peer = qp_reset(qp);
	}
	qp_set_values(&qp->attr, attr, mask);
	qp_set_ports(qp, mask);
	qp->state = to;
	if (mask & IBV_QP_AV)
		qp->moves = soft_trouble_moves(qp) -
			    (soft_troubles(SOFT_TROUBLE_MOVED) && !qp_address_is_here(qp));
	if (connects)
		soft_remote_responder_connect(qp);
	else if (from == IBV_QPS_RTR)
		qp->sq.psn = qp->attr.sq_psn & SOFT_PSN_MASK;
	if (from != to)
		qp->sq.draining = to == IBV_QPS_SQD && mask & IBV_QP_EN_SQD_ASYNC_NOTIFY &&
				  attr->en_sqd_async_notify;
	return 0;
}

int
soft_ibv_modify_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask) SOFT_NO_SEND_LOCK
{
	SOFT_UNCANCELLED;
	struct soft_deferred deferred = SOFT_DEFER_NOTHING;
	struct soft_qp *qp = soft_qp_of(ibv), *peer = NULL;
	enum ibv_qp_state from, to;
	int r;

	if (soft_context_is_stale(qp->context))
		return EIO;
	soft_qp_lock_send(qp);
	from = qp->state;
	to = mask & IBV_QP_STATE ? attr->qp_state : from;
	if (mask & IBV_QP_CUR_STATE && attr->cur_qp_state != from)
		r = -EINVAL;
	else
		r = qp_check_transition(qp, from, to, mask);
	if (!r)
		r = qp_check_values(qp, attr, mask);
	if (r)
		goto unlock;
	if (to == IBV_QPS_ERR) {
		soft_qp_error_locked(qp, SOFT_NO_EVENT);
		soft_qp_lock_receive(qp);
		soft_answers_end_reads(qp);
		soft_qp_unlock_receive(qp);
	} else {
		soft_qp_lock_receive(qp);
		r = qp_change_state(qp, to, attr, mask, &peer);
		soft_qp_unlock_receive(qp);
		if (r)
			goto unlock;
		soft_sq_drained(qp);
		if (to == IBV_QPS_RTS && !qp->sq.stall)
			soft_sq_run(qp, &deferred);
	}
	ibv->state = to;
unlock:
	soft_qp_unlock_send(qp);
	soft_deferred_run(&deferred);
	if (peer)
		soft_qp_put(peer);
	if (!r && to == IBV_QPS_RTR && !soft_qp_is_datagram(qp))
		qp_resume_peer(qp, attr->dest_qp_num);
	return -r;
}
