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

struct soft_held {
	bool input, incoming;
	unsigned int slot;
	struct soft_cm_message message;
};

/*
 * A message to a process, or from one: true if it is held, or lost for ever.  The second one is for
 * a message that was held: that it is not lost was decided.
 */
bool soft_hold_output(unsigned int slot, bool incoming, const struct soft_cm_message *message)
    REQUIRES(soft_locks.cm);
bool soft_hold_again(unsigned int slot, bool incoming, const struct soft_cm_message *message)
    REQUIRES(soft_locks.cm);
bool soft_hold_input(const struct soft_cm_message *message) REQUIRES(soft_locks.cm);

/* How many are held, and the oldest of them. */
unsigned int soft_hold_count(void) REQUIRES(soft_locks.cm);
void soft_hold_take(struct soft_held *held) REQUIRES(soft_locks.cm);

void soft_hold_reset(void); /* in a forked child */

#endif
