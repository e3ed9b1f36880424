/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call -- how a connection request finds its listener
 *
 * The CM lock is held.
 */
#ifndef SOFT_CM_CALL_H
#define SOFT_CM_CALL_H

#include "cm.h"

/* Sends a request to the process that owns the port; if there is none, the request is rejected. */
void soft_cm_call(struct soft_id *id, const struct soft_cm_message *request)
    REQUIRES(soft_locks.cm) SOFT_NO_PEERS_LOCK;

#endif
