/* SPDX-License-Identifier: BSD-3-Clause */
#include "qp.h"

#include <stdlib.h>

uint32_t
soft_qp_peer(struct soft_qp *qp)
{
	uint32_t qpn;

	pthread_mutex_lock(&qp->rq_lock);
	qpn = qp->attr.dest_qp_num;
	pthread_mutex_unlock(&qp->rq_lock);
	return qpn;
}

void
soft_qp_get(struct soft_qp *qp)
{
	qp->refs++;
}

void
soft_qp_put(struct soft_qp *qp)
{
	if (--qp->refs)
		return;
	pthread_mutex_destroy(&qp->ibv.mutex);
	pthread_cond_destroy(&qp->ibv.cond);
	pthread_mutex_destroy(&qp->sq.lock);
	pthread_mutex_destroy(&qp->rq_lock);
	soft_rq_free(&qp->rq);
	free(qp->sq.ring);
	free(qp->answers.reads);
	free(qp);
}
