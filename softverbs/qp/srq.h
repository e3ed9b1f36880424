/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * srq -- a shared receive queue
 */
#ifndef SOFT_SRQ_H
#define SOFT_SRQ_H

#include "qp.h"

struct soft_srq {
	struct ibv_srq ibv;
	struct ibv_pd *pd; /* not a parent domain of it */
	struct soft_mutex lock;
	struct soft_rq rq GUARDED_BY(soft_locks.srq);
	uint32_t limit GUARDED_BY(soft_locks.srq);		  /* 0: no limit event is armed */
	TAILQ_HEAD(, soft_qp) starved GUARDED_BY(soft_locks.srq); /* each with a reference */
	struct soft_async_source async;
	unsigned int made;   /* which one of the process it is; 0 without rules of incidents */
	atomic_bool refused; /* a rule let a call fail that would have posted a receive */
	atomic_uint users;   /* queue pairs */
};

static inline struct soft_srq *
soft_srq_of(struct ibv_srq *srq)
{
	return soft_container_of(srq, struct soft_srq, ibv);
}

static inline void
soft_srq_lock(struct soft_srq *srq) ACQUIRE(soft_locks.srq) SOFT_NO_KEYS_LOCK UNCHECKED
{
	soft_mutex_lock(&srq->lock);
}

static inline void
soft_srq_unlock(struct soft_srq *srq) RELEASE(soft_locks.srq) UNCHECKED
{
	soft_mutex_unlock(&srq->lock);
}

/*
 * Takes a receive into qp->current.  If there is none, returns false, and the queue pair waits
 * for the next one: posting it resumes the queue pair.
 */
bool soft_srq_take(struct soft_srq *srq, struct soft_qp *qp)
    REQUIRES(soft_locks.receive) SOFT_NO_SRQ_LOCK;

/* The queue pair does not wait any longer. */
void soft_srq_detach(struct soft_srq *srq, struct soft_qp *qp)
    REQUIRES(soft_locks.receive) SOFT_NO_SRQ_LOCK;

/* An event of the queue, for no reason; false if it cannot come: the limit is not armed. */
bool soft_srq_occur(struct soft_srq *srq, enum ibv_event_type event) SOFT_NO_SRQ_LOCK;

#endif
