/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFT_SRQ_H
#define SOFT_SRQ_H

#include "qp.h"

struct soft_srq {
	struct ibv_srq ibv;
	pthread_mutex_t lock;
	struct soft_rq rq;
	uint32_t limit;		       /* 0: no limit event is armed */
	TAILQ_HEAD(, soft_qp) starved; /* each with a reference */
	struct soft_async_source async;
	atomic_uint users; /* queue pairs */
};

static inline struct soft_srq *
soft_srq_of(struct ibv_srq *srq)
{
	return soft_container_of(srq, struct soft_srq, ibv);
}

/*
 * Takes a receive into qp->current.  If there is none, false, and the queue pair waits for
 * the next one to be posted: posting it resumes the queue pair.
 */
bool soft_srq_take(struct soft_srq *srq, struct soft_qp *qp);

/* The queue pair waits no more. */
void soft_srq_forget(struct soft_srq *srq, struct soft_qp *qp);

#endif
