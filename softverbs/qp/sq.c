/* SPDX-License-Identifier: BSD-3-Clause */
#include "sq.h"
#include "fate.h"
#include "key.h"
#include "softverbs/cq/made.h"
#include "softverbs/wire/grant.h"

static void
sq_end_grant(struct soft_sq *sq) REQUIRES(soft_locks.send)
{
	sq->granted = false;
	soft_grant_end();
}

void
soft_sq_revoke(struct soft_qp *qp)
{
	if (!qp->sq.granted)
		return;
	soft_grant_revoke();
	sq_end_grant(&qp->sq);
}

/* An incident has made the status with which the request completes, here or at the peer. */
static bool
sq_is_made(const struct soft_sq *sq, const struct soft_send *send, enum ibv_wc_status status)
    REQUIRES(soft_locks.send)
{
	return status != IBV_WC_SUCCESS &&
	       ((send->judged && status == send->fate) ||
		   (status == IBV_WC_RNR_RETRY_EXC_ERR && sq->rnr_made));
}

int
soft_sq_complete(struct soft_qp *qp, enum ibv_wc_status status)
{
	const struct soft_send *send = soft_sq_at(&qp->sq, qp->sq.head++);
	struct ibv_wc wc;

	qp->sq.tried = qp->sq.rnr_tried = qp->sq.carrying = false;
	if (status != IBV_WC_SUCCESS)
		soft_sq_revoke(qp);
	else if (qp->sq.granted && qp->sq.head == qp->sq.next && !qp->sq.offset)
		sq_end_grant(&qp->sq);
	if (status == IBV_WC_SUCCESS && !send->signaled)
		return 0;
	if (sq_is_made(&qp->sq, send, status)) {
		soft_cq_make(soft_cq_of(qp->ibv.send_cq), SOFT_MADE_QP_ERR);
		soft_cq_make(soft_cq_of(qp->ibv.recv_cq), SOFT_MADE_QP_ERR);
	}
	wc = (struct ibv_wc){
		.wr_id = send->wr_id,
		.status = status,
		.vendor_err = sq_is_made(&qp->sq, send, status) ? SOFT_MADE_VENDOR_ERR : 0,
		.opcode = send->completion,
		.byte_len = send->length,
		.qp_num = qp->ibv.qp_num,
	};
	return soft_cq_push(soft_cq_of(qp->ibv.send_cq), &wc, status != IBV_WC_SUCCESS);
}

/* A CQ that overruns here raises its own event; nothing else can report the loss. */
void
soft_sq_flush(struct soft_qp *qp)
{
	while (qp->sq.head != qp->sq.tail)
		(void)soft_sq_complete(qp, IBV_WC_WR_FLUSH_ERR);
}

void
soft_sq_go_back(struct soft_qp *qp)
{
	struct soft_sq *sq = &qp->sq;

	sq->next = sq->head;
	sq->offset = sq->unanswered = sq->reading = sq->pulling = sq->received = 0;
	sq->rereading = sq->confirming = false;
	sq->fault = IBV_WC_SUCCESS;
	sq->epoch++;
}

void
soft_sq_drained(struct soft_qp *qp)
{
	struct soft_sq *sq = &qp->sq;

	if (!sq->draining || soft_sq_has_begun(sq))
		return;
	sq->draining = false;
	soft_async_raise(qp->context, &qp->async, IBV_EVENT_SQ_DRAINED);
}

bool
soft_sq_may_read(const struct soft_qp *qp, const struct soft_send *send)
{
	const struct ibv_sge *sge = send->sge, *end = sge + send->num_sge;

	if (send->flags & IBV_SEND_INLINE || sge == end)
		return true;
	soft_keys_lock_shared();
	while (sge < end && (!sge->length || soft_key_translate(qp->pd, NULL, sge->lkey, sge->addr,
						 sge->length, SOFT_ACCESS_LOCAL_READ)))
		sge++;
	soft_keys_unlock_shared();
	return sge == end;
}

enum ibv_wc_status
soft_sq_check(struct soft_qp *qp, struct soft_send *send)
{
	const enum ibv_wc_status fate = soft_fate_of_send(qp, send);

	if (fate != IBV_WC_SUCCESS)
		return fate;
	switch (send->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		if (send->length != sizeof(uint64_t))
			return IBV_WC_LOC_LEN_ERR;
		return qp->attr.max_rd_atomic ? IBV_WC_SUCCESS : IBV_WC_LOC_QP_OP_ERR;
	case IBV_WR_RDMA_READ:
		return qp->attr.max_rd_atomic ? IBV_WC_SUCCESS : IBV_WC_LOC_QP_OP_ERR;
	case IBV_WR_BIND_MW:
	case IBV_WR_LOCAL_INV:
		return IBV_WC_SUCCESS;
	default:
		return soft_sq_may_read(qp, send) ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR;
	}
}

void
soft_sq_start_timer(struct soft_qp *qp, uint64_t nanoseconds)
{
	qp->sq.for_timeout = false;
	qp->sq.deadline = soft_now() + nanoseconds;
	if (soft_timer_start(&qp->sq.timer, qp->sq.deadline))
		soft_qp_get(qp); /* the timer's */
}

void
soft_sq_end_stall(struct soft_qp *qp)
{
	qp->sq.stall = SOFT_RUNNING;
	qp->sq.for_timeout = false;
	if (soft_timer_stop(&qp->sq.timer))
		soft_qp_put(qp); /* the timer's; the caller has one too */
}
