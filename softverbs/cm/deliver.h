/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deliver -- what a message, or its absence, does to an id
 *
 * The CM lock is held unless the comment of a function states otherwise.
 */
#ifndef SOFT_CM_DELIVER_H
#define SOFT_CM_DELIVER_H

#include "cm.h"
#include "softverbs/wire/wire.h"

struct soft_link;

void soft_cm_deliver(const struct soft_cm_message *message)
    REQUIRES(soft_locks.cm) SOFT_NO_SEND_LOCK;

/* On the progress thread, takes the lock: a message of another process.  False if malformed. */
bool soft_cm_frame(struct soft_link *link, const struct soft_wire_cm *cm)
    REQUIRES(soft_locks.input) SOFT_NO_CM_LOCK;

/* Takes the lock: a link is closed, and the peers of the ids that used it are lost. */
void soft_cm_link_lost(unsigned int slot, bool incoming) SOFT_NO_CM_LOCK;

/* An RTU came, or a message on the queue pair, which means the same. */
void soft_cm_ready(struct soft_id *id) REQUIRES(soft_locks.cm) SOFT_NO_SEND_LOCK;

/* RTU; the consumer's queue pair is ready. */
void soft_cm_established(struct soft_id *id) REQUIRES(soft_locks.cm) SOFT_NO_SEND_LOCK;

/* Ends the connection or attempt: rejects or disconnects the other side, if there is one. */
void soft_cm_disconnect(struct soft_id *id) REQUIRES(soft_locks.cm) SOFT_NO_SEND_LOCK;

/* Frees the id of a request that the consumer never saw. */
void soft_cm_refuse(struct soft_id *child) REQUIRES(soft_locks.cm) SOFT_NO_SEND_LOCK;

/* Drops the events that are queued for the id; requests among them are rejected. */
void soft_event_purge(struct soft_id *id) REQUIRES(soft_locks.cm) SOFT_NO_SEND_LOCK;

/* The request is refused because no id listens at its port. */
void soft_cm_reject_request(struct soft_id *id) REQUIRES(soft_locks.cm) SOFT_NO_SEND_LOCK;

/* The request is refused with a reason, and data. */
void soft_cm_rejected(struct soft_id *id, uint16_t reason, const void *data, uint8_t length)
    REQUIRES(soft_locks.cm) SOFT_NO_SEND_LOCK;

/* The connection ends, at both ends. */
void soft_cm_drop(struct soft_id *id) REQUIRES(soft_locks.cm) SOFT_NO_SEND_LOCK;

/* The peer did not answer in time. */
void soft_cm_give_up(struct soft_id *id) REQUIRES(soft_locks.cm) SOFT_NO_SEND_LOCK;

#endif
