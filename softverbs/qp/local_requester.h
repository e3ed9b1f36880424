/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * local_requester -- executes the requests of a send queue whose peer is in this process
 */
#ifndef SOFT_LOCAL_REQUESTER_H
#define SOFT_LOCAL_REQUESTER_H

#include "qp_error.h"

/* Executes what can be executed; the send lock is held. */
void soft_local_requester_run(struct soft_qp *qp, struct soft_deferred *deferred)
    REQUIRES(soft_locks.send) SOFT_NO_RECEIVE_LOCK;

#endif
