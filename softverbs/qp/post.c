/* SPDX-License-Identifier: BSD-3-Clause */
#include "post.h"
#include "mw.h"
#include "qp_error.h"
#include "receive.h"
#include "remote_responder.h"
#include "requester.h"
#include "sq.h"
#include "srq.h"
#include "trouble.h"

#include <string.h>

static const struct {
	bool known, data_out, atomic;
	enum ibv_wc_opcode completion;
} operations[] = {
	[IBV_WR_RDMA_WRITE] = { true, true, false, IBV_WC_RDMA_WRITE },
	[IBV_WR_RDMA_WRITE_WITH_IMM] = { true, true, false, IBV_WC_RDMA_WRITE },
	[IBV_WR_SEND] = { true, true, false, IBV_WC_SEND },
	[IBV_WR_SEND_WITH_IMM] = { true, true, false, IBV_WC_SEND },
	[IBV_WR_RDMA_READ] = { true, false, false, IBV_WC_RDMA_READ },
	[IBV_WR_ATOMIC_CMP_AND_SWP] = { true, false, true, IBV_WC_COMP_SWAP },
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = { true, false, true, IBV_WC_FETCH_ADD },
	[IBV_WR_LOCAL_INV] = { true, false, false, IBV_WC_LOCAL_INV },
	[IBV_WR_BIND_MW] = { true, false, false, IBV_WC_BIND_MW },
	[IBV_WR_SEND_WITH_INV] = { true, true, false, IBV_WC_SEND },
};

_Static_assert(offsetof(struct ibv_send_wr, wr.rdma.remote_addr) ==
		   offsetof(struct ibv_send_wr, wr.atomic.remote_addr),
    "a request has one remote address");

static void
post_sq_copy_inline(char *to, const struct ibv_sge *sge, int n)
{
	for (; n > 0; n--, sge++) {
		if (!sge->length)
			continue;
		memcpy(to, (const void *)(uintptr_t)sge->addr, sge->length);
		to += sge->length;
	}
}

/* `windows`: the type that a bind may name. */
static int
post_sq_append(struct soft_qp *qp, const struct ibv_send_wr *wr, enum ibv_mw_type windows)
    REQUIRES(soft_locks.send)
{
	struct soft_sq *sq = &qp->sq;
	struct soft_send *send;
	uint64_t length;
	bool atomic;
	int r = 0;

	if ((unsigned int)wr->opcode >= sizeof operations / sizeof operations[0] ||
	    !operations[wr->opcode].known || wr->num_sge < 0)
		return -EINVAL;
	if (sq->tail - sq->head >= sq->size)
		return -ENOMEM;
	/* Before the list is read, which may be shorter than its count says. */
	if ((uint32_t)wr->num_sge > sq->max_sge)
		return -EINVAL;
	length = soft_sge_length(wr->sg_list, wr->num_sge);
	if (length > SOFT_MAX_MSG)
		return -EMSGSIZE;
	atomic = operations[wr->opcode].atomic;
	if ((atomic && !sq->atomics) ||
	    (wr->opcode == IBV_WR_RDMA_READ && (uint32_t)wr->num_sge > sq->max_read_sge))
		return -EINVAL;
	if (wr->send_flags & IBV_SEND_INLINE) {
		if (!operations[wr->opcode].data_out || length > sq->max_inline)
			return -EINVAL;
	}
	send = soft_sq_at(sq, sq->tail);
	send->wr_id = wr->wr_id;
	send->opcode = wr->opcode;
	send->completion = operations[wr->opcode].completion;
	send->flags = wr->send_flags;
	send->imm_data = wr->imm_data;
	send->length = (uint32_t)length;
	send->num_sge = wr->num_sge;
	send->signaled = sq->sig_all || wr->send_flags & IBV_SEND_SIGNALED;
	send->executed = send->judged = false;
	send->due = soft_troubles(SOFT_TROUBLE_SLOW) ? soft_slow_due(length) : 0;
	/* Those of an atomic have the same place. */
	send->remote_addr = wr->wr.rdma.remote_addr;
	send->rkey = atomic ? wr->wr.atomic.rkey : wr->wr.rdma.rkey;
	send->compare_add = wr->wr.atomic.compare_add;
	send->swap = wr->wr.atomic.swap;
	if (wr->send_flags & IBV_SEND_INLINE)
		post_sq_copy_inline((char *)send->sge, wr->sg_list, wr->num_sge);
	else
		for (int i = 0; i < wr->num_sge; i++)
			send->sge[i] = wr->sg_list[i];
	if (soft_qp_is_datagram(qp))
		r = soft_datagram_set(qp, send, wr);
	else if (wr->opcode == IBV_WR_BIND_MW)
		r = soft_mw_set_bind(send, wr, windows);
	if (!r)
		sq->tail++;
	return r;
}

void
soft_qp_resume_requester(struct soft_qp *qp)
{
	struct soft_qp *starved;
	bool elsewhere;

	soft_qp_lock_receive(qp);
	starved = qp->starved;
	qp->starved = NULL;
	elsewhere = qp->answers.without_receive;
	soft_qp_unlock_receive(qp);
	if (elsewhere)
		soft_remote_responder_ready(qp);
	if (!starved)
		return;
	soft_sq_resume(starved);
	soft_qp_put(starved);
}

/* A queue pair that waits although there is a receive, or NULL. */
static struct soft_qp *
post_srq_next_starved(struct soft_srq *srq) SOFT_NO_SRQ_LOCK
{
	struct soft_qp *qp = NULL;

	soft_srq_lock(srq);
	if (srq->rq.head != srq->rq.tail)
		qp = TAILQ_FIRST(&srq->starved);
	if (qp) {
		TAILQ_REMOVE(&srq->starved, qp, srq_link);
		qp->srq_waiting = false;
	}
	soft_srq_unlock(srq);
	return qp;
}

/* `whole`: after an error the requests before it are not posted either. */
static int
qp_post(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad,
    enum ibv_mw_type windows, bool whole) SOFT_NO_SEND_LOCK
{
	struct soft_deferred deferred = SOFT_DEFER_NOTHING;
	struct soft_qp *qp = soft_qp_of(ibv);
	uint32_t before;
	int r = 0;

	soft_qp_lock_send(qp);
	before = qp->sq.tail;
	if (qp->state < IBV_QPS_RTS)
		r = -EINVAL;
	while (!r && wr) {
		r = post_sq_append(qp, wr, windows);
		if (!r)
			wr = wr->next;
	}
	if (r)
		*bad = wr;
	if (r && whole)
		qp->sq.tail = before;
	if (qp->state == IBV_QPS_ERR)
		soft_sq_flush(qp);
	else if (!qp->sq.stall)
		soft_sq_run(qp, &deferred);
	soft_qp_unlock_send(qp);
	if (deferred.failed)
		soft_deferred_run(&deferred);
	return -r;
}

int
soft_qp_post_send(
    struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad) SOFT_NO_SEND_LOCK
{
	return qp_post(ibv, wr, bad, IBV_MW_TYPE_2, false);
}

int
soft_qp_post_whole(struct ibv_qp *ibv, struct ibv_send_wr *wr) SOFT_NO_SEND_LOCK
{
	struct ibv_send_wr *bad;

	return qp_post(ibv, wr, &bad, IBV_MW_TYPE_2, true);
}

int
soft_qp_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind) SOFT_NO_SEND_LOCK
{
	struct ibv_send_wr wr = {
		.wr_id = bind->wr_id,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = bind->send_flags,
		.bind_mw = { .mw = mw, .bind_info = bind->bind_info },
	}, *bad;

	return qp_post(qp, &wr, &bad, IBV_MW_TYPE_1, false);
}

int
soft_qp_post_recv(
    struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) SOFT_NO_RECEIVE_LOCK
{
	struct soft_qp *qp = soft_qp_of(ibv);
	bool starved;
	int r = 0;

	soft_qp_lock_receive(qp);
	if (qp->state == IBV_QPS_RESET || qp->srq)
		r = -EINVAL;
	while (!r && wr) {
		r = soft_rq_post(&qp->rq, wr);
		if (!r)
			wr = wr->next;
	}
	if (r)
		*bad = wr;
	if (qp->state == IBV_QPS_ERR)
		soft_rq_flush(qp);
	starved = (qp->starved || qp->answers.without_receive) && !soft_troubles(SOFT_TROUBLE_RNR);
	soft_qp_unlock_receive(qp);
	if (starved)
		soft_qp_resume_requester(qp);
	return -r;
}

int
soft_srq_post_recv(
    struct ibv_srq *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) SOFT_NO_SRQ_LOCK
{
	struct soft_srq *srq = soft_srq_of(ibv);
	struct soft_qp *qp;
	bool starved;
	int r = 0;

	soft_srq_lock(srq);
	for (; wr; wr = wr->next) {
		r = soft_rq_post(&srq->rq, wr);
		if (r) {
			*bad = wr;
			break;
		}
	}
	starved = !TAILQ_EMPTY(&srq->starved);
	soft_srq_unlock(srq);
	while (starved && (qp = post_srq_next_starved(srq))) {
		soft_qp_resume_requester(qp);
		soft_qp_put(qp);
	}
	return -r;
}
