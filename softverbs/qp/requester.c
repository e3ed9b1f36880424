/* SPDX-License-Identifier: BSD-3-Clause */
#include "requester.h"
#include "qp_error.h"
#include "timeout.h"
#include "sq.h"
#include "stall.h"
#include "softverbs/device/teller.h"

/* Without a timeout no request is given up. */
static bool
requester_sq_counts_tries(const struct soft_qp *qp) REQUIRES(soft_locks.send)
{
	return qp->sq.stall != SOFT_STALLED_RECEIVE && qp->sq.stall != SOFT_STALLED_DELAY &&
	       qp->attr.timeout;
}

void
soft_sq_resume(struct soft_qp *qp)
{
	struct soft_deferred deferred = SOFT_DEFER_NOTHING;

	soft_qp_lock_send(qp);
	if (!soft_sq_keeps_stall(qp)) {
		if (qp->sq.stall)
			soft_sq_end_stall(qp);
		soft_sq_run(qp, &deferred);
	}
	soft_qp_unlock_send(qp);
	soft_deferred_run(&deferred);
}

void
soft_sq_timer(struct soft_timer *timer)
{
	struct soft_qp *qp = soft_container_of(timer, struct soft_qp, sq.timer);
	struct soft_deferred deferred = SOFT_DEFER_NOTHING;
	struct soft_sq *sq = &qp->sq;
	bool tell;

	if (soft_timeout_expired(qp)) {
		soft_qp_put(qp);
		return;
	}
	soft_qp_lock_send(qp);
	tell = soft_sq_is_to_be_told(qp);
	if (!sq->stall || soft_now() < sq->deadline) {
		/* resumed while this callback was starting */
	} else if (requester_sq_counts_tries(qp) && !sq->tries) {
		soft_sq_fail(qp, IBV_WC_RETRY_EXC_ERR);
	} else {
		if (requester_sq_counts_tries(qp))
			sq->tries--;
		sq->stall = SOFT_RUNNING;
		soft_sq_run(qp, &deferred);
	}
	soft_qp_unlock_send(qp);
	soft_deferred_run(&deferred);
	if (tell)
		soft_tell_stall(qp->ibv.qp_num);
	soft_qp_put(qp);
}
