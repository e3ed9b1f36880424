/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * receive -- executes and completes the receives that were posted
 *
 * The receive lock is held.
 */
#ifndef SOFT_RECEIVE_H
#define SOFT_RECEIVE_H

#include "qp.h"

/* Completes qp->current; -EIO if the CQ is overrun. */
int soft_receive_complete(struct soft_qp *qp, struct ibv_wc *wc, bool solicited)
    REQUIRES(soft_locks.receive) SOFT_NO_CQ_LOCK;

/* Completes every receive with a flush error. */
void soft_rq_flush(struct soft_qp *qp) REQUIRES(soft_locks.receive) SOFT_NO_CQ_LOCK;

#endif
