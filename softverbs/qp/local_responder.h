/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * local_responder -- executes the requests of a queue pair in this process
 */
#ifndef SOFT_LOCAL_RESPONDER_H
#define SOFT_LOCAL_RESPONDER_H

#include "responder.h"

/*
 * Lets `qp` execute the request of `from`, whose send lock is held.  *status is the outcome for the
 * requester.
 */
enum soft_verdict soft_local_responder_execute(struct soft_qp *qp, struct soft_qp *from,
    const struct soft_send *send, enum ibv_wc_status *status, struct soft_deferred *deferred)
    REQUIRES(soft_locks.send) SOFT_NO_RECEIVE_LOCK;

#endif
