/* SPDX-License-Identifier: BSD-3-Clause */
#include "trouble.h"
#include "post.h"
#include "qp_error.h"
#include "qp_table.h"
#include "remote_responder.h"
#include "requester.h"
#include "sq.h"

bool
soft_trouble_is_lost(const struct soft_qp *qp)
{
	return qp->moves != soft_port_moves(qp->attr.ah_attr.is_global);
}

bool
soft_trouble_delays(struct soft_qp *qp, struct soft_send *send)
{
	const uint64_t now = soft_now();

	if (now >= send->due) {
		send->due = 0;
		return false;
	}
	qp->sq.stall = SOFT_STALLED_DELAY;
	soft_sq_start_timer(qp, send->due - now);
	return true;
}

/* A stall of another kind has not ended. */
static void
trouble_resume(struct soft_qp *qp) SOFT_NO_SEND_LOCK
{
	struct soft_deferred deferred = SOFT_DEFER_NOTHING;

	soft_qp_lock_send(qp);
	if (qp->sq.stall == SOFT_STALLED_PEER)
		soft_sq_end_stall(qp);
	if (!qp->sq.stall)
		soft_sq_run(qp, &deferred);
	soft_qp_unlock_send(qp);
	soft_deferred_run(&deferred);
}

static void
trouble_heal(struct soft_qp *qp, void *unused) SOFT_NO_SEND_LOCK
{
	(void)unused;
	soft_remote_responder_heal(qp);
	soft_qp_resume_requester(qp);
	trouble_resume(qp);
}

void
soft_trouble_heal(void)
{
	soft_qp_table_each(trouble_heal, NULL);
}
