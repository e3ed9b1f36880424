/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message -- how messages get to the other id, in this process or another
 *
 * The CM lock is held.
 */
#ifndef SOFT_CM_MESSAGE_H
#define SOFT_CM_MESSAGE_H

#include "cm.h"

/*
 * Sends to the process at a slot, on the link of the side that sent the request: 0 or -errno.  If
 * the link takes no more it is shut down, and both sides see that it is lost.
 */
int soft_cm_carry(unsigned int slot, bool incoming, const struct soft_cm_message *message)
    REQUIRES(soft_locks.cm) SOFT_NO_PEERS_LOCK;

/* The same for one that was held. */
int soft_cm_carry_again(unsigned int slot, bool incoming, const struct soft_cm_message *message)
    REQUIRES(soft_locks.cm) SOFT_NO_PEERS_LOCK;

/* Answers a message for which there is no id. */
void soft_cm_answer(const struct soft_cm_message *to, enum soft_cm_type type, uint16_t reason)
    REQUIRES(soft_locks.cm) SOFT_NO_PEERS_LOCK;

/*
 * Sends the message to the peer of the id.  If that fails the link is lost, which both sides see.
 */
void soft_cm_dispatch(const struct soft_id *id, const struct soft_cm_message *message)
    REQUIRES(soft_locks.cm) SOFT_NO_PEERS_LOCK;
void soft_cm_send(struct soft_id *id, enum soft_cm_type type, uint16_t reason, const void *data,
    uint8_t data_length) REQUIRES(soft_locks.cm) SOFT_NO_PEERS_LOCK;

#endif
