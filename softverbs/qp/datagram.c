/* SPDX-License-Identifier: BSD-3-Clause */
#include "datagram.h"
#include "ah.h"
#include "fate.h"
#include "qp_table.h"
#include "receive.h"
#include "sq.h"
#include "srq.h"
#include "timeout.h"
#include "trouble.h"
#include "softverbs/cq/made.h"
#include "softverbs/device/changes.h"
#include "softverbs/device/slot.h"
#include "softverbs/wire/peer.h"

#include <string.h>

#define GRH_BYTES 40
#define GRH_VERSION_SHIFT 28
#define GRH_VERSION 6
#define GRH_NEXT 0x1b /* an InfiniBand packet follows */
#define GRH_HOP_LIMIT 1

#define SL_SHIFT 16 /* in the frame, behind the indexes of the GIDs */

/* A remote key with this bit stands for the key of the queue pair that sends. */
#define QKEY_OWN 0x80000000u

/* A datagram on its way; its data comes apart. */
struct datagram {
	uint32_t to, from; /* queue pairs */
	uint32_t qkey;
	uint32_t length;
	__be32 imm_data;
	bool immediate, solicited, global;
	uint16_t to_port, from_port; /* 0 in the plain topology */
	uint8_t from_gid, to_gid;    /* indexes of the GIDs in the routing header */
	uint8_t sl;
};

int
soft_datagram_set(struct soft_qp *qp, struct soft_send *send, const struct ibv_send_wr *wr)
{
	const struct soft_ah *ah;

	if (wr->opcode != IBV_WR_SEND && wr->opcode != IBV_WR_SEND_WITH_IMM)
		return -EINVAL;
	if (!wr->wr.ud.ah || soft_pd_root(wr->wr.ud.ah->pd) != qp->pd ||
	    wr->wr.ud.remote_qpn > SOFT_QPN_MAX)
		return -EINVAL;
	if (send->length > soft_device_port_mtu(qp->port))
		return -EMSGSIZE;
	/* The handle may be destroyed before the request is executed. */
	ah = soft_ah_of(wr->wr.ud.ah);
	send->datagram.here =
	    ah->here && ah->moves == soft_ports_moved(ah->from, ah->route, ah->global);
	send->datagram.global = ah->global;
	send->datagram.route = ah->route;
	send->datagram.gids[0] = ah->from_gid;
	send->datagram.gids[1] = ah->to_gid;
	send->datagram.sl = ah->sl;
	send->datagram.to = wr->wr.ud.remote_qpn;
	send->datagram.qkey =
	    wr->wr.ud.remote_qkey & QKEY_OWN ? qp->attr.qkey : wr->wr.ud.remote_qkey;
	return 0;
}

/* ---- the receiving side ---- */

static bool
datagram_is_for(const struct soft_qp *qp, const struct datagram *d) REQUIRES(soft_locks.receive)
{
	return soft_qp_is_datagram(qp) && !qp->dead && !qp->refusing && qp->state >= IBV_QPS_RTR &&
	       qp->state < IBV_QPS_ERR && qp->attr.qkey == d->qkey &&
	       soft_device_port_is(qp->port, d->to_port) &&
	       d->length <= soft_device_port_mtu(qp->port);
}

/* Takes a receive that is long enough; a shorter one stays the next. */
static bool
datagram_take_receive(struct soft_qp *qp, const struct datagram *d) REQUIRES(soft_locks.receive)
{
	if (!qp->has_current)
		qp->has_current =
		    qp->srq ? soft_srq_take(qp->srq, qp) : soft_rq_take(&qp->rq, &qp->current);
	return qp->has_current &&
	       soft_sge_length(qp->current.sge, qp->current.num_sge) >= GRH_BYTES + d->length;
}

/* The port that it came from. */
static const struct soft_device_port *
datagram_source(const struct soft_qp *qp, const struct datagram *d)
{
	const struct soft_device_port *port =
	    d->from_port ? soft_topology_port(d->from_port) : NULL;

	return port ? port : qp->port;
}

static void
datagram_fill_grh(const struct soft_qp *qp, const struct datagram *d, struct ibv_grh *grh)
{
	const struct soft_device_port *from = datagram_source(qp, d);

	*grh = (struct ibv_grh){ .next_hdr = 0 };
	if (!d->global)
		return;
	grh->version_tclass_flow = htobe32((uint32_t)GRH_VERSION << GRH_VERSION_SHIFT);
	grh->paylen = htobe16((uint16_t)d->length);
	grh->next_hdr = GRH_NEXT;
	grh->hop_limit = GRH_HOP_LIMIT;
	grh->dgid =
	    soft_device_port_gid(qp->port, d->to_gid < qp->port->attr.gid_tbl_len ? d->to_gid : 0);
	grh->sgid =
	    soft_device_port_gid(from, d->from_gid < from->attr.gid_tbl_len ? d->from_gid : 0);
}

/* Completes the receive; a failure, which a rule may have made, also ends the queue pair. */
static void
datagram_complete(struct soft_qp *qp, const struct datagram *d, enum ibv_wc_status status,
    bool made, struct soft_deferred *deferred) REQUIRES(soft_locks.receive)
{
	struct ibv_wc wc = {
		.status = status,
		.opcode = IBV_WC_RECV,
		.vendor_err = made ? SOFT_MADE_VENDOR_ERR : 0,
		.byte_len = GRH_BYTES + d->length,
		.src_qp = d->from,
		.sl = d->sl,
		.slid = soft_lid_now(datagram_source(qp, d)),
	};
	int event = SOFT_NO_EVENT;

	if (d->global)
		wc.wc_flags |= IBV_WC_GRH;
	if (d->immediate) {
		wc.wc_flags |= IBV_WC_WITH_IMM;
		wc.imm_data = d->imm_data;
	}
	if (soft_receive_complete(qp, &wc, d->solicited))
		event = IBV_EVENT_QP_FATAL;
	else if (status == IBV_WC_SUCCESS)
		return;
	if (deferred->failed)
		return;
	qp->refusing = true;
	soft_qp_get(qp);
	deferred->failed = qp;
	deferred->event = event;
}

/* The status for the requester: success, also if the datagram is lost, or a fault of its memory. */
static enum ibv_wc_status
datagram_deliver(const struct datagram *d, struct soft_cursor *source,
    struct soft_deferred *deferred) SOFT_NO_RECEIVE_LOCK
{
	struct soft_qp *qp = soft_qp_table_find(d->to);
	enum ibv_wc_status status = IBV_WC_SUCCESS, fate;
	struct soft_cursor target, header;
	struct ibv_grh grh;

	if (!qp)
		return IBV_WC_SUCCESS;
	soft_qp_lock_receive(qp);
	if (!datagram_is_for(qp, d) || soft_trouble_is_down(qp) || !datagram_take_receive(qp, d))
		goto unlock;
	fate = soft_fate(SOFT_INCIDENT_COMPLETION_UD_RECV, qp);
	if (fate != IBV_WC_SUCCESS) {
		datagram_complete(qp, d, fate, true, deferred);
		goto unlock;
	}
	datagram_fill_grh(qp, d, &grh);
	header = (struct soft_cursor){ .raw = (char *)&grh };
	target = (struct soft_cursor){
		.sge = qp->current.sge,
		.left = qp->current.num_sge,
		.pd = qp->srq ? qp->srq->pd : qp->pd,
		.access = IBV_ACCESS_LOCAL_WRITE,
	};
	if (soft_copy(&target, &header, GRH_BYTES) == SOFT_COPIED) {
		switch (soft_copy(&target, source, d->length)) {
		case SOFT_COPIED:
			datagram_complete(qp, d, IBV_WC_SUCCESS, false, deferred);
			goto unlock;
		case SOFT_SOURCE_FAULT:
			status = IBV_WC_LOC_PROT_ERR;
			goto unlock;
		case SOFT_TARGET_FAULT:
			break;
		}
	}
	datagram_complete(qp, d, IBV_WC_LOC_PROT_ERR, false, deferred);
unlock:
	soft_qp_unlock_receive(qp);
	soft_qp_put(qp);
	return status;
}

bool
soft_datagram_arrived(struct soft_link *link, const struct soft_frame *frame, const char *payload)
{
	struct soft_deferred deferred = SOFT_DEFER_NOTHING;
	const struct datagram d = {
		.to = frame->qpn,
		.from = frame->from,
		.qkey = frame->rkey,
		.length = frame->length,
		.imm_data = frame->imm_data,
		.immediate = frame->opcode == IBV_WR_SEND_WITH_IMM,
		.solicited = frame->flags & SOFT_FRAME_SOLICITED,
		.global = frame->flags & SOFT_FRAME_GLOBAL,
		.to_port = frame->port,
		.from_port = frame->from_port,
		.from_gid = (uint8_t)frame->swap,
		.to_gid = (uint8_t)(frame->swap >> 8),
		.sl = frame->swap >> SL_SHIFT & SOFT_SL_MASK,
	};
	struct soft_cursor source = { .raw = (char *)(uintptr_t)payload, .foreign = true };

	if (soft_qpn_slot(frame->from) != link->slot)
		return false;
	if (soft_is_cut(SOFT_TROUBLE_IN, link->slot))
		return true; /* it is lost */
	(void)datagram_deliver(&d, &source, &deferred);
	soft_deferred_run(&deferred);
	return true;
}

/* ---- the sending side ---- */

/*
 * The link is full.  True if the datagram waits for room: the progress thread resumes the queue.
 * False if the process has not read for long.
 */
static bool
datagram_wait(struct soft_qp *qp, struct soft_link *link) REQUIRES(soft_locks.send)
{
	struct soft_sq *sq = &qp->sq;
	const uint64_t now = soft_now(), patience = soft_timeout_period(qp);

	if (!sq->waiting_since)
		sq->waiting_since = now;
	if (now - sq->waiting_since >= patience)
		return false;
	sq->stall = SOFT_STALLED_LINK;
	soft_sq_start_timer(qp, patience);
	soft_link_queue_requester(link, &sq->turn);
	return true;
}

/* False if the datagram waits for room on the link, and the queue with it. */
static bool
datagram_carry(struct soft_qp *qp, const struct datagram *d, struct soft_cursor *source,
    enum ibv_wc_status *status) REQUIRES(soft_locks.send)
{
	struct soft_frame frame = {
		.length = d->length,
		.type = SOFT_FRAME_DATAGRAM,
		.opcode = d->immediate ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND,
		.flags = (uint8_t)((d->solicited ? SOFT_FRAME_SOLICITED : 0) |
				   (d->global ? SOFT_FRAME_GLOBAL : 0)),
		.qpn = d->to,
		.from = d->from,
		.total = d->length,
		.imm_data = d->imm_data,
		.rkey = d->qkey,
		.swap =
		    d->from_gid | (unsigned int)d->to_gid << 8 | (unsigned int)d->sl << SL_SHIFT,
		.port = d->to_port,
		.from_port = d->from_port,
	};
	char data[SOFT_MTU];
	struct soft_cursor copy = { .raw = data };
	const struct iovec payload = { data, d->length };
	struct soft_link *link;
	bool waits;
	int r;

	if (soft_copy(&copy, source, d->length) != SOFT_COPIED) {
		*status = IBV_WC_LOC_PROT_ERR;
		return true;
	}
	link = soft_peer_outgoing(soft_qpn_slot(d->to));
	if (!link)
		return true;
	r = soft_link_send(link, &frame, &payload, 1);
	if (r != -EAGAIN)
		qp->sq.waiting_since = 0;
	waits = r == -EAGAIN && datagram_wait(qp, link);
	soft_link_put(link);
	return !waits;
}

/* False if the datagram waits; else *status is the status for the requester. */
static bool
datagram_send(struct soft_qp *qp, struct soft_send *send, enum ibv_wc_status *status,
    struct soft_deferred *deferred) REQUIRES(soft_locks.send) SOFT_NO_RECEIVE_LOCK
{
	const struct datagram d = {
		.to = send->datagram.to,
		.from = qp->ibv.qp_num,
		.qkey = send->datagram.qkey,
		.length = send->length,
		.imm_data = send->imm_data,
		.immediate = send->opcode == IBV_WR_SEND_WITH_IMM,
		.solicited = send->flags & IBV_SEND_SOLICITED,
		.global = send->datagram.global,
		.to_port = send->datagram.route,
		.from_port = send->datagram.route ? qp->port->number : 0,
		.from_gid = send->datagram.gids[0],
		.to_gid = send->datagram.gids[1],
		.sl = send->datagram.sl,
	};
	struct soft_cursor source = {
		.sge = send->sge,
		.left = send->num_sge,
		.raw = send->flags & IBV_SEND_INLINE ? (char *)(uintptr_t)send->sge : NULL,
		.pd = qp->pd,
		.access = SOFT_ACCESS_LOCAL_READ,
	};

	*status = soft_fate_of_send(qp, send);
	if (*status == IBV_WC_SUCCESS && !soft_sq_may_read(qp, send))
		*status = IBV_WC_LOC_PROT_ERR;
	if (*status != IBV_WC_SUCCESS || !send->datagram.here)
		return true;
	if (soft_trouble_is_down(qp) || soft_is_cut(SOFT_TROUBLE_OUT, soft_qpn_slot(d.to)))
		return true; /* it is lost */
	if (soft_qpn_slot(d.to) != soft_slot_number())
		return datagram_carry(qp, &d, &source, status);
	*status = datagram_deliver(&d, &source, deferred);
	return true;
}

void
soft_datagram_run(struct soft_qp *qp, struct soft_deferred *deferred)
{
	struct soft_sq *sq = &qp->sq;
	enum ibv_wc_status status;
	struct soft_send *send;

	while (sq->head != sq->tail && qp->state == IBV_QPS_RTS) {
		send = soft_sq_at(sq, sq->head);
		if (send->due && soft_trouble_delays(qp, send))
			break;
		if (!datagram_send(qp, send, &status, deferred))
			break;
		if (status != IBV_WC_SUCCESS)
			soft_sq_fail(qp, status);
		else if (soft_sq_complete(qp, status))
			soft_qp_error_locked(qp, IBV_EVENT_QP_FATAL);
	}
}
