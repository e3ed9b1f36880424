/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * requester -- the send queue at work: runs, resumes, tries again, gives up
 */
#ifndef SOFT_REQUESTER_H
#define SOFT_REQUESTER_H

#include "datagram.h"
#include "local_requester.h"
#include "remote_requester.h"

/* Executes or sends what it can; the send lock is held. */
static inline void
soft_sq_run(struct soft_qp *qp, struct soft_deferred *deferred)
    REQUIRES(soft_locks.send) SOFT_NO_RECEIVE_LOCK
{
	if (soft_qp_is_datagram(qp))
		soft_datagram_run(qp, deferred);
	else if (qp->sq.remote)
		soft_remote_requester_run(qp);
	else
		soft_local_requester_run(qp, deferred);
}

/*
 * Called when the cause of a stall is removed.  Takes the lock, ends the stall and runs the queue.
 */
void soft_sq_resume(struct soft_qp *qp) SOFT_NO_SEND_LOCK;

/* The function of the timer of a send queue. */
void soft_sq_timer(struct soft_timer *timer) SOFT_NO_SEND_LOCK;

#endif
