/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hold -- messages that do not pass now (device/changes.h), until they do
 *
 * A connection manager sends a message again that was not answered, so those that a short trouble
 * has stopped arrive when it is over; those that wait longer find that their ids have given up.
 */
#ifndef SOFT_CM_HOLD_H
#define SOFT_CM_HOLD_H

#include "cm.h"

/* A message to a process, or from one: true if it is held, or lost for ever, which the second, for one that was held, does not decide again. */
bool soft_hold_output(unsigned int slot, bool incoming, const struct soft_cm_message *message)
    REQUIRES(soft_locks.cm);
bool soft_hold_again(unsigned int slot, bool incoming, const struct soft_cm_message *message)
    REQUIRES(soft_locks.cm);
bool soft_hold_input(const struct soft_cm_message *message) REQUIRES(soft_locks.cm);

/* Takes the lock: fewer troubles than before. */
void soft_hold_release(void) SOFT_NO_CM_LOCK;

void soft_hold_reset(void); /* in a forked child */

#endif
