/* SPDX-License-Identifier: BSD-3-Clause */
#include "heal.h"
#include "post.h"
#include "qp_error.h"
#include "qp_table.h"
#include "remote_responder.h"
#include "requester.h"
#include "sq.h"

/* A stall of another kind has not ended. */
static void
heal_requester(struct soft_qp *qp) SOFT_NO_SEND_LOCK
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
heal_one(struct soft_qp *qp, void *unused) SOFT_NO_SEND_LOCK
{
	(void)unused;
	soft_remote_responder_heal(qp);
	soft_qp_resume_requester(qp);
	heal_requester(qp);
}

void
soft_heal(void)
{
	soft_qp_table_each(heal_one, NULL);
}
