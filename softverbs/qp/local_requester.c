/* SPDX-License-Identifier: BSD-3-Clause */
#include "local_requester.h"
#include "local_responder.h"
#include "mw.h"
#include "qp_error.h"
#include "qp_table.h"
#include "sq.h"
#include "stall.h"
#include "trouble.h"

static struct soft_qp *
local_sq_find_peer(struct soft_qp *qp) REQUIRES(soft_locks.send)
{
	if (!qp->sq.peer)
		qp->sq.peer = soft_qp_table_find(qp->attr.dest_qp_num);
	return qp->sq.peer;
}

/* Whether the oldest request may be executed. */
static bool
local_sq_goes_on(const struct soft_qp *qp) REQUIRES(soft_locks.send)
{
	const struct soft_sq *sq = &qp->sq;

	return sq->head != sq->tail &&
	       (qp->state == IBV_QPS_RTS || (qp->state == IBV_QPS_SQD && soft_sq_has_begun(sq)));
}

void
soft_local_requester_run(struct soft_qp *qp, struct soft_deferred *deferred)
{
	struct soft_sq *sq = &qp->sq;
	enum soft_verdict verdict;
	enum ibv_wc_status status;
	struct soft_qp *peer;
	struct soft_send *send;

	while (local_sq_goes_on(qp)) {
		send = soft_sq_at(sq, sq->head);
		if (send->due && soft_trouble_delays(qp, send))
			return;
		status = soft_sq_check(qp, send);
		if (status != IBV_WC_SUCCESS) {
			/* it is not executed */
		} else if (soft_opcode_is_local(send->opcode)) {
			status = soft_mw_execute(qp, send);
		} else if (soft_trouble_holds_requests(qp)) {
			soft_sq_stall_for_peer(qp);
			return;
		} else {
			peer = local_sq_find_peer(qp);
			verdict =
			    peer ? soft_local_responder_execute(peer, qp, send, &status, deferred) :
				   SOFT_NOT_CONNECTED;
			if (verdict == SOFT_NOT_CONNECTED) {
				soft_sq_stall_for_peer(qp);
				return;
			}
			if (verdict == SOFT_NOT_READY) {
				soft_sq_stall_for_receive(qp, deferred->rnr_timer);
				return;
			}
		}
		if (status != IBV_WC_SUCCESS)
			soft_sq_fail(qp, status);
		else if (soft_sq_complete(qp, status))
			soft_qp_error_locked(qp, IBV_EVENT_QP_FATAL);
	}
	soft_sq_drained(qp);
}
