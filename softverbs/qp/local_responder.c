/* SPDX-License-Identifier: BSD-3-Clause */
#include "local_responder.h"
#include "responder.h"

/* The requester's side of a transfer within the process. */
static struct soft_cursor
local_requester_cursor(
    const struct soft_qp *from, const struct soft_send *send, unsigned int access)
{
	bool raw = send->flags & IBV_SEND_INLINE;

	return (struct soft_cursor){
		.sge = send->sge,
		.left = send->num_sge,
		.raw = raw ? (char *)(uintptr_t)send->sge : NULL,
		.pd = from->pd,
		.access = access,
	};
}

static enum ibv_wc_status
local_responder_fetch(struct soft_qp *qp, const struct soft_qp *from, const struct soft_send *send,
    struct soft_deferred *deferred) REQUIRES(soft_locks.receive)
{
	struct soft_cursor target = local_requester_cursor(from, send, IBV_ACCESS_LOCAL_WRITE),
			   source;
	struct ibv_sge remote = { send->remote_addr, send->length, send->rkey };
	enum ibv_wc_status status;
	uint64_t old = 0;

	if (send->opcode == IBV_WR_RDMA_READ) {
		status = soft_responder_permit(qp, send, IBV_ACCESS_REMOTE_READ, deferred);
		source = (struct soft_cursor){ .sge = &remote,
			.left = 1,
			.pd = qp->pd,
			.qp = qp,
			.access = IBV_ACCESS_REMOTE_READ };
	} else {
		status = soft_responder_atomic(qp, send, &old, deferred);
		source = (struct soft_cursor){ .raw = (char *)&old };
	}
	if (status != IBV_WC_SUCCESS)
		return status;
	switch (soft_copy(&target, &source, send->length)) {
	case SOFT_COPIED:
		return IBV_WC_SUCCESS;
	case SOFT_TARGET_FAULT:
		return IBV_WC_LOC_PROT_ERR;
	default: /* the memory was deregistered after the check */
		return soft_responder_refuse(
		    qp, IBV_EVENT_QP_ACCESS_ERR, IBV_WC_REM_ACCESS_ERR, deferred);
	}
}

enum soft_verdict
soft_local_responder_execute(struct soft_qp *qp, struct soft_qp *from, const struct soft_send *send,
    enum ibv_wc_status *status, struct soft_deferred *deferred)
{
	enum soft_verdict verdict = SOFT_ANSWERED;
	struct soft_cursor source;

	soft_qp_lock_receive(qp);
	if (!soft_responder_answers(qp, from->ibv.qp_num, from->route)) {
		verdict = SOFT_NOT_CONNECTED;
		goto unlock;
	}
	if (soft_opcode_is_read(send->opcode)) {
		*status = local_responder_fetch(qp, from, send, deferred);
		goto unlock;
	}
	verdict = soft_message_begin(qp, send, status, deferred);
	if (verdict == SOFT_NOT_READY && !qp->starved) {
		/*
		 * A thread that posts the next receive takes this lock and finds the requester
		 * here.
		 */
		soft_qp_get(from);
		qp->starved = from;
	}
	if (verdict != SOFT_ANSWERED || *status != IBV_WC_SUCCESS)
		goto unlock;
	source = local_requester_cursor(from, send, SOFT_ACCESS_LOCAL_READ);
	*status = soft_message_data(qp, &source, send->length, deferred);
	if (*status == IBV_WC_SUCCESS)
		soft_message_end(qp, deferred);
unlock:
	soft_qp_unlock_receive(qp);
	return verdict;
}
