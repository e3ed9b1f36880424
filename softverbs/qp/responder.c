/* SPDX-License-Identifier: BSD-3-Clause */
#include "responder.h"
#include "datagram.h"
#include "fate.h"
#include "mw.h"
#include "receive.h"
#include "srq.h"
#include "trouble.h"
#include "softverbs/cq/made.h"
#include "softverbs/wire/wire.h"

/* Takes a receive into qp->current; false if there is none. */
static bool
responder_take_receive(struct soft_qp *qp) REQUIRES(soft_locks.receive)
{
	if (!qp->has_current)
		qp->has_current =
		    qp->srq ? soft_srq_take(qp->srq, qp) : soft_rq_take(&qp->rq, &qp->current);
	return qp->has_current;
}

/* The receive that was taken completes with an error, and the requester gets another. */
static __attribute__((cold, noinline)) enum ibv_wc_status
responder_fail_receive(struct soft_qp *qp, enum ibv_wc_status status, enum ibv_wc_status answer,
    struct soft_deferred *deferred) REQUIRES(soft_locks.receive)
{
	struct ibv_wc wc = {
		.opcode = IBV_WC_RECV, .status = status, .byte_len = qp->message.length
	};

	(void)soft_receive_complete(qp, &wc, true);
	return soft_responder_refuse(qp, SOFT_NO_EVENT, answer, deferred);
}

/*
 * A rule lets the receive that was taken complete with an error.  The requester gets what a
 * responder answers that cannot execute a request.
 */
static __attribute__((cold, noinline)) enum ibv_wc_status
responder_fate(struct soft_qp *qp, enum soft_incident incident, enum ibv_wc_opcode opcode,
    struct soft_deferred *deferred) REQUIRES(soft_locks.receive)
{
	struct ibv_wc wc = {
		.opcode = opcode,
		.vendor_err = SOFT_MADE_VENDOR_ERR,
		.byte_len = qp->message.length,
	};

	wc.status = soft_fate(incident, qp);
	if (wc.status == IBV_WC_SUCCESS)
		return IBV_WC_SUCCESS;
	(void)soft_receive_complete(qp, &wc, true);
	return soft_responder_refuse(qp, SOFT_NO_EVENT,
	    wc.status == IBV_WC_LOC_LEN_ERR ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_OP_ERR, deferred);
}

static enum ibv_wc_status
responder_message_begin_send(struct soft_qp *qp, struct soft_deferred *deferred)
    REQUIRES(soft_locks.receive)
{
	struct soft_message *message = &qp->message;

	message->target = (struct soft_cursor){
		.sge = qp->current.sge,
		.left = qp->current.num_sge,
		.pd = qp->srq ? qp->srq->pd : qp->pd,
		.access = IBV_ACCESS_LOCAL_WRITE,
	};
	if (message->length <= soft_sge_length(qp->current.sge, qp->current.num_sge))
		return __builtin_expect(soft_faults_have_incidents, false) ?
			   responder_fate(
			       qp, SOFT_INCIDENT_COMPLETION_RECV, IBV_WC_RECV, deferred) :
			   IBV_WC_SUCCESS;
	return responder_fail_receive(qp, IBV_WC_LOC_LEN_ERR, IBV_WC_REM_INV_REQ_ERR, deferred);
}

SOFT_FOREIGN_ACCESS static uint64_t
responder_atomic_step(uint64_t *word, const struct soft_send *send)
{
	uint64_t old = send->compare_add;

	if (send->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		return __atomic_fetch_add(word, send->compare_add, __ATOMIC_SEQ_CST);
	__atomic_compare_exchange_n(
	    word, &old, send->swap, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return old;
}

enum ibv_wc_status
soft_responder_refuse(
    struct soft_qp *qp, int event, enum ibv_wc_status status, struct soft_deferred *deferred)
{
	qp->refusing = true;
	qp->message.active = false;
	if (!deferred->failed) {
		soft_qp_get(qp);
		deferred->failed = qp;
		deferred->event = event;
	}
	return status;
}

enum ibv_wc_status
soft_responder_permit(struct soft_qp *qp, const struct soft_send *send, unsigned int access,
    struct soft_deferred *deferred)
{
	bool covered;

	if (!(qp->attr.qp_access_flags & access) ||
	    (access != IBV_ACCESS_REMOTE_WRITE && !qp->attr.max_dest_rd_atomic) ||
	    (access == IBV_ACCESS_REMOTE_ATOMIC && send->remote_addr % sizeof(uint64_t)))
		return soft_responder_refuse(
		    qp, IBV_EVENT_QP_REQ_ERR, IBV_WC_REM_INV_REQ_ERR, deferred);
	if (!send->length)
		return IBV_WC_SUCCESS;
	/* The whole range is refused before its first byte is touched. */
	soft_keys_lock_shared();
	covered =
	    soft_key_translate(qp->pd, qp, send->rkey, send->remote_addr, send->length, access);
	soft_keys_unlock_shared();
	return covered ? IBV_WC_SUCCESS :
			 soft_responder_refuse(
			     qp, IBV_EVENT_QP_ACCESS_ERR, IBV_WC_REM_ACCESS_ERR, deferred);
}

uint8_t
soft_responder_rnr_timer(const struct soft_qp *qp)
{
	const bool refused = qp->srq ? qp->srq->refused : qp->refused;

	return (uint8_t)(qp->attr.min_rnr_timer |
			 (refused || soft_troubles(SOFT_TROUBLE_RNR) ? SOFT_RNR_MADE : 0));
}

enum soft_verdict
soft_message_begin(struct soft_qp *qp, const struct soft_send *send, enum ibv_wc_status *status,
    struct soft_deferred *deferred)
{
	struct soft_message *message = &qp->message;
	bool send_like = send->opcode > IBV_WR_RDMA_WRITE_WITH_IMM;

	if (send->opcode != IBV_WR_RDMA_WRITE &&
	    (soft_troubles(SOFT_TROUBLE_RNR) || !responder_take_receive(qp))) {
		deferred->rnr_timer = soft_responder_rnr_timer(qp);
		return SOFT_NOT_READY;
	}
	message->active = true;
	message->opcode = send->opcode;
	message->solicited = send->flags & IBV_SEND_SOLICITED;
	message->imm_data = send->imm_data;
	message->length = send->length;
	message->received = 0;
	if (send_like) {
		*status = responder_message_begin_send(qp, deferred);
		return SOFT_ANSWERED;
	}
	message->remote = (struct ibv_sge){ send->remote_addr, send->length, send->rkey };
	message->target = (struct soft_cursor){
		.sge = &message->remote,
		.left = 1,
		.pd = qp->pd,
		.qp = qp,
		.access = IBV_ACCESS_REMOTE_WRITE,
	};
	*status = soft_responder_permit(qp, send, IBV_ACCESS_REMOTE_WRITE, deferred);
	if (__builtin_expect(soft_faults_have_incidents, false) && *status == IBV_WC_SUCCESS &&
	    send->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		*status = responder_fate(
		    qp, SOFT_INCIDENT_COMPLETION_RECV_IMM, IBV_WC_RECV_RDMA_WITH_IMM, deferred);
	return SOFT_ANSWERED;
}

/* The window is invalid before the message is acknowledged, and before its receive completes. */
static enum ibv_wc_status
responder_message_invalidate(struct soft_qp *qp, struct soft_deferred *deferred)
    REQUIRES(soft_locks.receive)
{
	if (soft_mw_invalidate(qp, qp->message.imm_data))
		return IBV_WC_SUCCESS;
	return responder_fail_receive(qp, IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_ACCESS_ERR, deferred);
}

enum ibv_wc_status
soft_message_data(
    struct soft_qp *qp, struct soft_cursor *source, uint32_t length, struct soft_deferred *deferred)
{
	struct soft_message *message = &qp->message;

	message->received += length;
	switch (soft_copy(&message->target, source, length)) {
	case SOFT_COPIED:
		if (message->opcode == IBV_WR_SEND_WITH_INV && message->received == message->length)
			return responder_message_invalidate(qp, deferred);
		return IBV_WC_SUCCESS;
	case SOFT_SOURCE_FAULT:
		/* An incomplete message: its receive is used for the next one, or flushed. */
		message->active = false;
		return IBV_WC_LOC_PROT_ERR;
	default:
		if (message->target.access & IBV_ACCESS_REMOTE_WRITE)
			return soft_responder_refuse(
			    qp, IBV_EVENT_QP_ACCESS_ERR, IBV_WC_REM_ACCESS_ERR, deferred);
		return responder_fail_receive(qp, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_OP_ERR, deferred);
	}
}

void
soft_message_end(struct soft_qp *qp, struct soft_deferred *deferred)
{
	struct soft_message *message = &qp->message;
	struct ibv_wc wc = { .byte_len = message->length };

	message->active = false;
	if (message->opcode == IBV_WR_RDMA_WRITE)
		return;
	wc.opcode =
	    message->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
	if (message->opcode != IBV_WR_SEND) {
		wc.wc_flags =
		    message->opcode == IBV_WR_SEND_WITH_INV ? IBV_WC_WITH_INV : IBV_WC_WITH_IMM;
		wc.imm_data = message->imm_data; /* or the key, in the same place */
	}
	if (soft_receive_complete(qp, &wc, message->solicited))
		soft_responder_refuse(qp, IBV_EVENT_QP_FATAL, IBV_WC_SUCCESS, deferred);
}

enum ibv_wc_status
soft_responder_atomic(
    struct soft_qp *qp, const struct soft_send *send, uint64_t *old, struct soft_deferred *deferred)
{
	enum ibv_wc_status status;
	uint64_t *word;

	status = soft_responder_permit(qp, send, IBV_ACCESS_REMOTE_ATOMIC, deferred);
	if (status != IBV_WC_SUCCESS)
		return status;
	soft_keys_lock_shared();
	word = soft_key_translate(
	    qp->pd, qp, send->rkey, send->remote_addr, sizeof *word, IBV_ACCESS_REMOTE_ATOMIC);
	if ((uintptr_t)word % sizeof *word)
		word = NULL; /* an iova may be aligned where the memory is not */
	if (word)
		*old = responder_atomic_step(word, send);
	soft_keys_unlock_shared();
	if (!word)
		return soft_responder_refuse(
		    qp, IBV_EVENT_QP_ACCESS_ERR, IBV_WC_REM_ACCESS_ERR, deferred);
	return IBV_WC_SUCCESS;
}

bool
soft_responder_answers(struct soft_qp *qp, uint32_t from, unsigned int port)
{
	if (qp->dead || soft_qp_is_datagram(qp) || qp->refusing || qp->state < IBV_QPS_RTR ||
	    qp->state >= IBV_QPS_ERR || qp->attr.dest_qp_num != from ||
	    !soft_device_port_is(qp->port, port) || soft_trouble_refuses(qp, soft_qpn_slot(from)))
		return false;
	if (qp->state == IBV_QPS_RTR && !qp->established) {
		qp->established = true;
		soft_async_raise(qp->context, &qp->async, IBV_EVENT_COMM_EST);
	}
	return true;
}
