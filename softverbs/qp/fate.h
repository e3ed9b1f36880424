/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fate -- the statuses with which a rule lets requests complete (fault/incidents.h)
 *
 * The fate of a request is decided once, when it is executed for the first time.  An error that the
 * requester finds itself completes it there, and the peer sees nothing of it.  For one that the
 * peer finds, the request is made wrong on its way: it names a key that there is not, an address
 * that is not aligned, or a length that no receive has.  So the peer does what it does with such a
 * request.
 */
#ifndef SOFT_FATE_H
#define SOFT_FATE_H

#include "qp.h"
#include "softverbs/fault/fault.h"

/* The slow way of soft_fate_of_send(). */
enum ibv_wc_status soft_fate_decide(struct soft_qp *qp, struct soft_send *send)
    REQUIRES(soft_locks.send);

/* The status with which the request completes without being executed, or success. */
static inline enum ibv_wc_status
soft_fate_of_send(struct soft_qp *qp, struct soft_send *send) REQUIRES(soft_locks.send)
{
	return __builtin_expect(soft_faults_have_incidents, false) ? soft_fate_decide(qp, send) :
								     IBV_WC_SUCCESS;
}

/* The same for a receive that was taken. */
static inline enum ibv_wc_status
soft_fate(enum soft_incident incident, const struct soft_qp *qp)
{
	return __builtin_expect(soft_faults_have_incidents, false) ?
		   (enum ibv_wc_status)soft_fault_value(incident, qp->ibv.context, 0) :
		   IBV_WC_SUCCESS;
}

/* A part of a request on its way to another process. */
void soft_fate_change_frame(const struct soft_send *send, struct soft_frame *frame);

#endif
