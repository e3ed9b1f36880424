/* SPDX-License-Identifier: BSD-3-Clause */
#include "srq.h"

/* One request as its execution sees it. */
struct request {
	struct soft_qp *qp; /* the responder; its receive lock is held */
	const struct soft_send *send;
	struct soft_cursor local;  /* the requester's data */
	struct ibv_sge remote_sge; /* what the request names here */
	struct soft_cursor remote;
};

static void
cursors(struct request *request, const struct soft_qp *from, unsigned int local_access)
{
	const struct soft_send *send = request->send;
	bool raw = send->flags & IBV_SEND_INLINE;

	request->local = (struct soft_cursor){
		.sge = send->sge,
		.left = send->num_sge,
		.raw = raw ? (char *)(uintptr_t)send->sge : NULL,
		.pd = from->ibv.pd,
		.access = local_access,
	};
	request->remote_sge = (struct ibv_sge){ send->remote_addr, send->length, send->rkey };
	request->remote = (struct soft_cursor){
		.sge = &request->remote_sge,
		.left = 1,
		.pd = request->qp->ibv.pd,
	};
}

/* The whole range is refused before its first byte is touched. */
static bool
covered(const struct request *request)
{
	const struct soft_send *send = request->send;
	bool good;

	soft_mr_read_lock();
	good = soft_mr_translate(request->qp->ibv.pd, send->rkey, send->remote_addr, send->length,
	    request->remote.access);
	soft_mr_unlock();
	return good;
}

/* The queue pair stops answering here and now; it goes to the error state afterwards. */
static void
refuse(struct soft_qp *qp, int event, struct soft_aftermath *after)
{
	qp->refusing = true;
	if (!after->failed) {
		soft_qp_get(qp);
		after->failed = qp;
		after->event = event;
	}
}

static bool
allowed(struct request *request, unsigned int access, struct soft_aftermath *after,
    enum ibv_wc_status *status)
{
	struct soft_qp *qp = request->qp;

	request->remote.access = access;
	if (!(qp->attr.qp_access_flags & access) ||
	    (access != IBV_ACCESS_REMOTE_WRITE && !qp->attr.max_dest_rd_atomic)) {
		*status = IBV_WC_REM_INV_REQ_ERR;
		refuse(qp, IBV_EVENT_QP_REQ_ERR, after);
		return false;
	}
	if (request->send->length && !covered(request)) {
		*status = IBV_WC_REM_ACCESS_ERR;
		refuse(qp, IBV_EVENT_QP_ACCESS_ERR, after);
		return false;
	}
	return true;
}

static enum ibv_wc_status
do_write(struct request *request, struct soft_aftermath *after)
{
	enum ibv_wc_status status = IBV_WC_SUCCESS;

	if (!allowed(request, IBV_ACCESS_REMOTE_WRITE, after, &status))
		return status;
	switch (soft_copy(&request->remote, &request->local, request->send->length)) {
	case SOFT_COPIED:
		return IBV_WC_SUCCESS;
	case SOFT_SOURCE_FAULT:
		return IBV_WC_LOC_PROT_ERR;
	default: /* deregistered since it was checked */
		refuse(request->qp, IBV_EVENT_QP_ACCESS_ERR, after);
		return IBV_WC_REM_ACCESS_ERR;
	}
}

static enum ibv_wc_status
do_read(struct request *request, struct soft_aftermath *after)
{
	enum ibv_wc_status status = IBV_WC_SUCCESS;

	if (!allowed(request, IBV_ACCESS_REMOTE_READ, after, &status))
		return status;
	switch (soft_copy(&request->local, &request->remote, request->send->length)) {
	case SOFT_COPIED:
		return IBV_WC_SUCCESS;
	case SOFT_TARGET_FAULT:
		return IBV_WC_LOC_PROT_ERR;
	default:
		refuse(request->qp, IBV_EVENT_QP_ACCESS_ERR, after);
		return IBV_WC_REM_ACCESS_ERR;
	}
}

static uint64_t
atomic_step(uint64_t *word, const struct soft_send *send)
{
	uint64_t old = send->compare_add;

	if (send->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		return __atomic_fetch_add(word, send->compare_add, __ATOMIC_SEQ_CST);
	__atomic_compare_exchange_n(word, &old, send->swap, false, __ATOMIC_SEQ_CST,
	    __ATOMIC_SEQ_CST);
	return old;
}

static enum ibv_wc_status
do_atomic(struct request *request, struct soft_aftermath *after)
{
	const struct soft_send *send = request->send;
	enum ibv_wc_status status = IBV_WC_SUCCESS;
	struct soft_cursor answer;
	uint64_t *word, old = 0;

	if (send->remote_addr % sizeof *word) {
		refuse(request->qp, IBV_EVENT_QP_REQ_ERR, after);
		return IBV_WC_REM_INV_REQ_ERR;
	}
	if (!allowed(request, IBV_ACCESS_REMOTE_ATOMIC, after, &status))
		return status;
	soft_mr_read_lock();
	word = soft_mr_translate(request->qp->ibv.pd, send->rkey, send->remote_addr, sizeof *word,
	    IBV_ACCESS_REMOTE_ATOMIC);
	if (word && (uintptr_t)word % sizeof *word == 0)
		old = atomic_step(word, send);
	else
		word = NULL;
	soft_mr_unlock();
	if (!word) {
		refuse(request->qp, IBV_EVENT_QP_ACCESS_ERR, after);
		return IBV_WC_REM_ACCESS_ERR;
	}
	answer = (struct soft_cursor){ .raw = (char *)&old };
	return soft_copy(&request->local, &answer, sizeof old) == SOFT_COPIED ? IBV_WC_SUCCESS :
										IBV_WC_LOC_PROT_ERR;
}

/* Scatters a message into qp->current and completes it, unless its data could not be read. */
static enum ibv_wc_status
do_send(struct request *request, struct soft_aftermath *after)
{
	struct soft_qp *qp = request->qp;
	const struct soft_send *send = request->send;
	struct soft_cursor target = {
		.sge = qp->current.sge,
		.left = qp->current.num_sge,
		.pd = qp->srq ? qp->srq->ibv.pd : qp->ibv.pd,
		.access = IBV_ACCESS_LOCAL_WRITE,
	};
	struct ibv_wc wc = { .opcode = IBV_WC_RECV, .byte_len = send->length };
	enum ibv_wc_status status = IBV_WC_SUCCESS;

	if (send->length > soft_sge_length(qp->current.sge, qp->current.num_sge)) {
		wc.status = IBV_WC_LOC_LEN_ERR;
		status = IBV_WC_REM_INV_REQ_ERR;
	} else {
		switch (soft_copy(&target, &request->local, send->length)) {
		case SOFT_COPIED:
			break;
		case SOFT_SOURCE_FAULT:
			return IBV_WC_LOC_PROT_ERR; /* half a message; the receive stays current */
		default:
			wc.status = IBV_WC_LOC_PROT_ERR;
			status = IBV_WC_REM_OP_ERR;
		}
	}
	if (send->opcode == IBV_WR_SEND_WITH_IMM) {
		wc.wc_flags = IBV_WC_WITH_IMM;
		wc.imm_data = send->imm_data;
	}
	if (soft_receive_complete(qp, &wc, send->flags & IBV_SEND_SOLICITED))
		refuse(qp, IBV_EVENT_QP_FATAL, after);
	else if (status != IBV_WC_SUCCESS)
		refuse(qp, SOFT_NO_EVENT, after);
	return status;
}

static enum ibv_wc_status
do_write_imm(struct request *request, struct soft_aftermath *after)
{
	const struct soft_send *send = request->send;
	enum ibv_wc_status status = do_write(request, after);
	struct ibv_wc wc = {
		.opcode = IBV_WC_RECV_RDMA_WITH_IMM,
		.byte_len = send->length,
		.wc_flags = IBV_WC_WITH_IMM,
		.imm_data = send->imm_data,
	};

	if (status == IBV_WC_SUCCESS &&
	    soft_receive_complete(request->qp, &wc, send->flags & IBV_SEND_SOLICITED))
		refuse(request->qp, IBV_EVENT_QP_FATAL, after);
	return status;
}

/* Gets a receive into qp->current, or makes `from` wait for one. */
static bool
take_receive(struct soft_qp *qp, struct soft_qp *from)
{
	if (qp->has_current)
		return true;
	qp->has_current = qp->srq ? soft_srq_take(qp->srq, qp) : soft_rq_take(&qp->rq, &qp->current);
	/* Whoever posts the next receive needs our lock to look here. */
	if (!qp->has_current && !qp->starved) {
		soft_qp_get(from);
		qp->starved = from;
	}
	return qp->has_current;
}

static bool
answers(const struct soft_qp *qp, const struct soft_qp *from)
{
	return !qp->dead && !qp->refusing && qp->state >= IBV_QPS_RTR && qp->state < IBV_QPS_ERR &&
	    qp->attr.dest_qp_num == from->ibv.qp_num;
}

enum soft_verdict
soft_respond(struct soft_qp *qp, struct soft_qp *from, const struct soft_send *send,
    enum ibv_wc_status *status, struct soft_aftermath *after)
{
	struct request request = { .qp = qp, .send = send };
	enum soft_verdict verdict = SOFT_ANSWERED;

	pthread_mutex_lock(&qp->rq_lock);
	if (!answers(qp, from)) {
		verdict = SOFT_SILENT;
		goto unlock;
	}
	if (qp->state == IBV_QPS_RTR && !qp->established) {
		qp->established = true;
		soft_async_raise(qp->context, &qp->async, IBV_EVENT_COMM_EST);
	}
	cursors(&request, from, 0);
	switch (send->opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		if (!take_receive(qp, from)) {
			verdict = SOFT_NOT_READY;
			after->rnr_timer = qp->attr.min_rnr_timer;
			break;
		}
		*status = send->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? do_write_imm(&request, after) :
								       do_send(&request, after);
		break;
	case IBV_WR_RDMA_WRITE:
		*status = do_write(&request, after);
		break;
	default:
		request.local.access = IBV_ACCESS_LOCAL_WRITE;
		*status = send->opcode == IBV_WR_RDMA_READ ? do_read(&request, after) :
							     do_atomic(&request, after);
	}
unlock:
	pthread_mutex_unlock(&qp->rq_lock);
	return verdict;
}
