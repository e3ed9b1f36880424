/* SPDX-License-Identifier: BSD-3-Clause */
#include "qp.h"
#include "batch.h"

#include <stdlib.h>

uint32_t
soft_qp_peer(struct soft_qp *qp)
{
	uint32_t qpn;

	soft_qp_lock_receive(qp);
	qpn = qp->attr.dest_qp_num;
	soft_qp_unlock_receive(qp);
	return qpn;
}

void
soft_qp_get(struct soft_qp *qp)
{
	qp->refs++;
}

/* No other thread knows it. */
static void
qp_free(struct soft_qp *qp) UNCHECKED
{
	pthread_mutex_destroy(&qp->ibv.mutex);
	pthread_cond_destroy(&qp->ibv.cond);
	soft_mutex_destroy(&qp->sq.lock);
	soft_mutex_destroy(&qp->rq_lock);
	soft_rq_fini(&qp->rq);
	soft_batch_free(qp->batch);
	free(qp->sq.ring);
	free(qp->answers.reads);
	free(qp);
}

void
soft_qp_put(struct soft_qp *qp)
{
	if (--qp->refs == 0)
		qp_free(qp);
}
