/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * srq -- a shared receive queue
 */
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
 * Takes a receive into qp->current.  If there is none, returns false, and the queue pair waits
 * for the next one: posting it resumes the queue pair.
 */
bool soft_srq_take(struct soft_srq *srq, struct soft_qp *qp);

/* The queue pair does not wait any longer. */
void soft_srq_detach(struct soft_srq *srq, struct soft_qp *qp);

#endif
