/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qp_error -- how a queue pair enters the error state
 */
#ifndef SOFT_QP_ERROR_H
#define SOFT_QP_ERROR_H

#include "qp.h"

/*
 * A failure of the responder.  The thread of the requester applies it after it has released its own
 * locks.
 */
struct soft_deferred {
	struct soft_qp *failed; /* with a reference, or NULL */
	int event;		/* for it, or SOFT_NO_EVENT */
	uint8_t rnr_timer;	/* with SOFT_NOT_READY: as in a frame */
};

#define SOFT_NO_EVENT -1
#define SOFT_DEFER_NOTHING ((struct soft_deferred){ NULL, SOFT_NO_EVENT, 0 })

/* Carries out the deferred failure; no lock is held. */
void soft_deferred_run(struct soft_deferred *deferred) SOFT_NO_SEND_LOCK;

/* Enters the error state and flushes both queues; the send lock is held. */
void soft_qp_error_locked(struct soft_qp *qp, int event)
    REQUIRES(soft_locks.send) SOFT_NO_RECEIVE_LOCK;

/* The same for a queue pair of which no lock is held. */
void soft_qp_error(struct soft_qp *qp, int event) SOFT_NO_SEND_LOCK;

/* The oldest request failed: it completes with `status`, the others are flushed. */
void soft_sq_fail(struct soft_qp *qp, enum ibv_wc_status status)
    REQUIRES(soft_locks.send) SOFT_NO_RECEIVE_LOCK;

#endif
