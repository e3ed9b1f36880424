/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * occur -- events of queue pairs, and of the queues that they use, for no reason of their own
 */
#ifndef SOFT_OCCUR_H
#define SOFT_OCCUR_H

#include "qp.h"
#include "softverbs/device/changes.h"
#include "softverbs/fault/fault.h"

/*
 * The event of a rule, to the object that it names, or to the oldest one; a queue is known by the
 * queue pairs that use it.  False if there is none that it can happen to.
 */
bool soft_qp_occur(enum soft_incident incident, unsigned int of) SOFT_NO_SEND_LOCK;

/* Devices do not work any more: the queue pairs of those with these ports enter the error state. */
void soft_qp_fail_all(soft_ports ports) SOFT_NO_SEND_LOCK;

#endif
