/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_cm -- the peer's connections: what it sends about them, and what it has received
 */
#ifndef REARM_FUZZ_PEER_CM_H
#define REARM_FUZZ_PEER_CM_H

#include "fuzz.h"

void cm_begin(void);
void cm_heard(unsigned int slot, const struct soft_wire_cm *cm);

/* The next message of peer `slot`, as the input says; true if it goes on the device's link. */
bool cm_say(unsigned int slot, struct soft_wire_cm *cm);

#endif
