/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deliver -- what a message, or its absence, does to an id
 *
 * The CM lock is held unless the comment of a function states otherwise.
 */
#ifndef SOFT_CM_DELIVER_H
#define SOFT_CM_DELIVER_H

#include "cm.h"
#include "soft/wire/wire.h"

struct soft_link;

void soft_cm_deliver(const struct soft_cm_message *message);

/* On the progress thread, takes the lock: a message of another process.  False if malformed. */
bool soft_cm_frame(struct soft_link *link, const struct soft_wire_cm *cm);

/* Takes the lock: a link is closed, and the peers of the ids that used it are lost. */
void soft_cm_link_lost(unsigned int slot, bool incoming);

/* An RTU came, or a message on the queue pair, which means the same. */
void soft_cm_ready(struct soft_id *id);

/* RTU; the consumer's queue pair is ready. */
void soft_cm_established(struct soft_id *id);

/* Ends the connection or attempt: rejects or disconnects the other side, if there is one. */
void soft_cm_disconnect(struct soft_id *id);

/* Frees the id of a request that the consumer never saw. */
void soft_cm_refuse(struct soft_id *child);

/* Drops the events that are queued for the id; requests among them are rejected. */
void soft_event_drop(struct soft_id *id);

/* No process listens at the port of the request. */
void soft_cm_reject_request(struct soft_id *id);

/* The peer did not answer in time. */
void soft_cm_give_up(struct soft_id *id);

#endif
