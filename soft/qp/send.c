/* SPDX-License-Identifier: BSD-3-Clause */
/* Both ends of the send queue: posting, and completing in order */
#include "qp.h"

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
};

int
soft_sq_complete(struct soft_qp *qp, enum ibv_wc_status status)
{
	const struct soft_send *send = soft_sq_at(&qp->sq, qp->sq.head++);
	struct ibv_wc wc;

	qp->sq.tried = qp->sq.rnr_tried = false;
	if (status == IBV_WC_SUCCESS && !send->signaled)
		return 0;
	wc = (struct ibv_wc){
		.wr_id = send->wr_id,
		.status = status,
		.opcode = operations[send->opcode].completion,
		.byte_len = send->length,
		.qp_num = qp->ibv.qp_num,
	};
	return soft_cq_push(soft_cq_of(qp->ibv.send_cq), &wc, status != IBV_WC_SUCCESS);
}

/* A CQ that overruns here raises its own event; nothing else can report what it lost. */
void
soft_sq_flush(struct soft_qp *qp)
{
	while (qp->sq.head != qp->sq.tail)
		(void)soft_sq_complete(qp, IBV_WC_WR_FLUSH_ERR);
}

static void
copy_inline(char *to, const struct ibv_sge *sge, int n)
{
	for (; n > 0; n--, sge++) {
		if (!sge->length)
			continue;
		memcpy(to, (const void *)(uintptr_t)sge->addr, sge->length);
		to += sge->length;
	}
}

static int
put(struct soft_qp *qp, const struct ibv_send_wr *wr)
{
	struct soft_sq *sq = &qp->sq;
	struct soft_send *send;
	uint64_t length;
	bool atomic;

	if ((unsigned int)wr->opcode >= sizeof operations / sizeof operations[0] ||
	    !operations[wr->opcode].known || wr->num_sge < 0)
		return -EINVAL;
	if (sq->tail - sq->head >= sq->size)
		return -ENOMEM;
	length = soft_sge_length(wr->sg_list, wr->num_sge);
	if (length > SOFT_MAX_MSG)
		return -EMSGSIZE;
	if (wr->send_flags & IBV_SEND_INLINE) {
		if (!operations[wr->opcode].data_out || length > sq->max_inline)
			return -EINVAL;
	} else if ((uint32_t)wr->num_sge > sq->max_sge) {
		return -EINVAL;
	}
	send = soft_sq_at(sq, sq->tail);
	send->wr_id = wr->wr_id;
	send->opcode = wr->opcode;
	send->flags = wr->send_flags;
	send->imm_data = wr->imm_data;
	send->length = (uint32_t)length;
	send->num_sge = wr->num_sge;
	send->signaled = sq->sig_all || wr->send_flags & IBV_SEND_SIGNALED;
	atomic = operations[wr->opcode].atomic;
	send->remote_addr = atomic ? wr->wr.atomic.remote_addr : wr->wr.rdma.remote_addr;
	send->rkey = atomic ? wr->wr.atomic.rkey : wr->wr.rdma.rkey;
	send->compare_add = wr->wr.atomic.compare_add;
	send->swap = wr->wr.atomic.swap;
	if (wr->send_flags & IBV_SEND_INLINE)
		copy_inline((char *)send->sge, wr->sg_list, wr->num_sge);
	else
		for (int i = 0; i < wr->num_sge; i++)
			send->sge[i] = wr->sg_list[i];
	sq->tail++;
	return 0;
}

int
soft_qp_post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct soft_aftermath after = SOFT_NO_AFTERMATH;
	struct soft_qp *qp = soft_qp_of(ibv);
	int r = 0;

	pthread_mutex_lock(&qp->sq.lock);
	if (qp->state < IBV_QPS_RTS)
		r = -EINVAL;
	while (!r && wr) {
		r = put(qp, wr);
		if (!r)
			wr = wr->next;
	}
	if (r)
		*bad = wr;
	if (qp->state == IBV_QPS_ERR)
		soft_sq_flush(qp);
	else if (!qp->sq.stall)
		soft_sq_run(qp, &after);
	pthread_mutex_unlock(&qp->sq.lock);
	if (after.failed)
		soft_aftermath_do(&after);
	return -r;
}
