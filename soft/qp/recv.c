/* SPDX-License-Identifier: BSD-3-Clause */
/* Both ends of the receive queue: posting, and completing in order */
#include "remote.h"
#include "srq.h"

int
soft_receive_complete(struct soft_qp *qp, struct ibv_wc *wc, bool solicited)
{
	qp->has_current = false;
	wc->wr_id = qp->current.wr_id;
	wc->qp_num = qp->ibv.qp_num;
	wc->src_qp = qp->attr.dest_qp_num;
	wc->slid = SOFT_LID;
	return soft_cq_push(soft_cq_of(qp->ibv.recv_cq), wc,
	    solicited || wc->status != IBV_WC_SUCCESS);
}

/* A CQ that overruns here has said so; the receives are lost with it. */
void
soft_rq_flush(struct soft_qp *qp)
{
	struct ibv_wc wc = { .status = IBV_WC_WR_FLUSH_ERR, .opcode = IBV_WC_RECV };

	if (qp->has_current)
		(void)soft_receive_complete(qp, &wc, false);
	if (qp->srq)
		return;
	while (soft_rq_take(&qp->rq, &qp->current))
		(void)soft_receive_complete(qp, &wc, false);
}

void
soft_qp_feed(struct soft_qp *qp)
{
	struct soft_qp *starved;
	bool elsewhere;

	pthread_mutex_lock(&qp->rq_lock);
	starved = qp->starved;
	qp->starved = NULL;
	elsewhere = qp->answers.starving;
	pthread_mutex_unlock(&qp->rq_lock);
	if (elsewhere)
		soft_remote_ready(qp);
	if (!starved)
		return;
	soft_sq_kick(starved);
	soft_qp_put(starved);
}

int
soft_qp_post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct soft_qp *qp = soft_qp_of(ibv);
	bool starved;
	int r = 0;

	pthread_mutex_lock(&qp->rq_lock);
	if (qp->state == IBV_QPS_RESET || qp->srq)
		r = -EINVAL;
	while (!r && wr) {
		r = soft_rq_put(&qp->rq, wr);
		if (!r)
			wr = wr->next;
	}
	if (r)
		*bad = wr;
	if (qp->state == IBV_QPS_ERR)
		soft_rq_flush(qp);
	starved = qp->starved || qp->answers.starving;
	pthread_mutex_unlock(&qp->rq_lock);
	if (starved)
		soft_qp_feed(qp);
	return -r;
}
