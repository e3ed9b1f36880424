/* SPDX-License-Identifier: BSD-3-Clause */
#include "receive.h"
#include "datagram.h"
#include "softverbs/device/changes.h"

int
soft_receive_complete(struct soft_qp *qp, struct ibv_wc *wc, bool solicited)
{
	qp->has_current = false;
	wc->wr_id = qp->current.wr_id;
	wc->qp_num = qp->ibv.qp_num;
	if (!wc->src_qp)
		wc->src_qp = qp->attr.dest_qp_num;
	if (!soft_qp_is_datagram(qp))
		wc->slid = qp->route ? qp->attr.ah_attr.dlid : soft_lid_now(qp->port);
	return soft_cq_push(
	    soft_cq_of(qp->ibv.recv_cq), wc, solicited || wc->status != IBV_WC_SUCCESS);
}

/* A CQ that overruns here has raised its event; the receives are lost with it. */
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
