/* SPDX-License-Identifier: BSD-3-Clause */
#include "qp_error.h"
#include "receive.h"
#include "sq.h"

static void
qp_flush_receives(struct soft_qp *qp) REQUIRES(soft_locks.receive)
{
	soft_rq_flush(qp);
	if (!qp->srq)
		return;
	/* After the event the program polls what was received, and expects no more. */
	soft_cq_show(soft_cq_of(qp->ibv.recv_cq));
	soft_async_raise(qp->context, &qp->async, IBV_EVENT_QP_LAST_WQE_REACHED);
}

void
soft_qp_error_locked(struct soft_qp *qp, int event)
{
	bool entered;

	soft_qp_lock_receive(qp);
	entered = !qp->dead && qp->state != IBV_QPS_ERR;
	if (entered) {
		qp->state = IBV_QPS_ERR;
		if (event != SOFT_NO_EVENT)
			soft_async_raise(qp->context, &qp->async, (enum ibv_event_type)event);
		qp_flush_receives(qp);
	}
	soft_qp_unlock_receive(qp);
	if (entered) {
		soft_sq_end_stall(qp);
		soft_sq_flush(qp);
		soft_sq_go_back(qp);
	}
}

void
soft_qp_error(struct soft_qp *qp, int event)
{
	soft_qp_lock_send(qp);
	soft_qp_error_locked(qp, event);
	soft_qp_unlock_send(qp);
}

void
soft_sq_fail(struct soft_qp *qp, enum ibv_wc_status status)
{
	int lost = soft_sq_complete(qp, status);

	soft_qp_error_locked(qp, lost ? IBV_EVENT_QP_FATAL : SOFT_NO_EVENT);
}

void
soft_deferred_run(struct soft_deferred *deferred)
{
	struct soft_qp *qp = deferred->failed;
	bool still;

	if (!qp)
		return;
	soft_qp_lock_send(qp);
	/* If the queue pair was destroyed or reset meanwhile, it cannot fail any more. */
	soft_qp_lock_receive(qp);
	still = qp->refusing && !qp->dead;
	if (still && qp->state == IBV_QPS_ERR && deferred->event != SOFT_NO_EVENT)
		soft_async_raise(qp->context, &qp->async, (enum ibv_event_type)deferred->event);
	soft_qp_unlock_receive(qp);
	if (still)
		soft_qp_error_locked(qp, deferred->event);
	soft_qp_unlock_send(qp);
	soft_qp_put(qp);
	deferred->failed = NULL;
}
