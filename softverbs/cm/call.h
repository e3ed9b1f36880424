/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call -- how a connection request finds its listener
 *
 * Two programs that start together do not agree on which is first, so a request whose listener does
 * not exist yet is held for SOFTVERBS_LISTENER_WAIT milliseconds: it is sent again and again, and
 * for the last time at the end.  A process that has destroyed the last listener of a port refuses
 * at once, while it runs.
 *
 * The id that requests keeps the request until it is answered.  It sends it again only after the
 * answer ABSENT, or when it could not be sent, so exactly one other answer comes.
 *
 * The CM lock is held.
 */
#ifndef SOFT_CM_CALL_H
#define SOFT_CM_CALL_H

#include "cm.h"

/* So many requests of this process are held for one port, as many as a listener has room for. */
#define SOFT_CALL_HELD_MAX 1024

/* Sends a request for the id: 0 or -ENOMEM. */
int soft_call_start(struct soft_id *id, const struct soft_cm_message *request)
    REQUIRES(soft_locks.cm) SOFT_NO_PEERS_LOCK;

/* The answer is ABSENT. */
void soft_call_absent(struct soft_id *id) REQUIRES(soft_locks.cm) SOFT_NO_SEND_LOCK;

/* The request is answered, or the id is about to be freed. */
void soft_call_stop(struct soft_id *id) REQUIRES(soft_locks.cm);

void soft_call_reset(void); /* in a forked child */

#endif
