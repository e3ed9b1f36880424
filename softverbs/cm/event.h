/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * event -- events of ids, and the channels that they are queued on
 *
 * The CM lock is held, except in soft_event_create(), soft_event_take() and soft_event_wait().
 */
#ifndef SOFT_CM_EVENT_H
#define SOFT_CM_EVENT_H

#include "cm.h"

/* Returns an event, or NULL without memory. */
struct soft_event *soft_event_create(void);

/* Queues the event on the channel of the id. */
void soft_event_post(struct soft_id *id, struct soft_event *event, enum rdma_cm_event_type type,
    int status) REQUIRES(soft_locks.cm);
void soft_event_remove(struct soft_event_channel *channel, struct soft_event *event)
    REQUIRES(soft_locks.cm);

/*
 * The first takes the lock after a wait: dequeues the next event and counts it as reported; NULL if
 * there is none.  Then the caller may wait with the second, without the lock: 0, or -1 with errno.
 */
struct soft_event *soft_event_take(
    struct soft_event_channel *channel, struct soft_ready_wait *wait) SOFT_NO_CM_LOCK;
int soft_event_wait(
    struct soft_event_channel *channel, struct soft_ready_wait *wait) SOFT_NO_CM_LOCK;

/*
 * Gives the id another channel and moves its queued events there, and the ids of those that are
 * requests.
 */
void soft_event_move(struct soft_id *id, struct rdma_event_channel *to) REQUIRES(soft_locks.cm);

/* Waits until every event of the id that was read is acknowledged; `call` does so. */
void soft_event_wait_acknowledged(struct soft_id *id, const char *call) REQUIRES(soft_locks.cm);

/* No id uses it. */
void soft_event_channel_free(struct soft_event_channel *channel);

void soft_events_reset(void); /* in a forked child */

#endif
