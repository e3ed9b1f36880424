/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait -- how long an id waits for its peer
 *
 * A REQ, REP or DREQ starts a wait.  The connection manager of the other process answers without
 * its consumer, so it has little time.  When it has answered that its consumer decides (MRA), it
 * is asked again at each tick (ASK) and must repeat that answer; the consumer has much time.
 *
 * Waiting ids are in a list, ordered by their next ticks, and share one timer.  Its function
 * takes the CM lock and finds ids in the list only, so it never acts on an id that was freed.
 * The state of an id decides what it waits for; after a change of state the id leaves the list at
 * its next tick.
 *
 * The CM lock is held.
 */
#ifndef SOFT_CM_WAIT_H
#define SOFT_CM_WAIT_H

#include "cm.h"

/* The id sent a message that must be answered. */
void soft_wait_start(struct soft_id *id) REQUIRES(soft_locks.cm);

/* The connection manager of the peer gave a sign of life. */
static inline void
soft_wait_renew(struct soft_id *id) REQUIRES(soft_locks.cm)
{
	id->heard = soft_now();
}

/* The id is about to be freed. */
void soft_wait_stop(struct soft_id *id) REQUIRES(soft_locks.cm);
void soft_wait_reset(void); /* in a forked child */

#endif
