/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * get_event -- rdma_get_cm_event(), and the calls that wait for an event of their own
 */
#ifndef SOFT_CM_GET_EVENT_H
#define SOFT_CM_GET_EVENT_H

#include "cm.h"
#include "softverbs/device/cancel.h"

/*
 * For an id without a channel of the consumer: waits for its next event; 0, or -1 with errno.
 * `was` is the caller's `uncancelled_` (device/cancel.h): the wait is a cancellation point, where
 * its caller was not cancelled so far.
 */
int soft_event_complete(struct soft_id *id, const struct soft_cancel *was) SOFT_NO_CM_LOCK;

#endif
