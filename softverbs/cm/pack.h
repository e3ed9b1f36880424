/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack -- messages of ids as the wire carries them
 */
#ifndef SOFT_CM_PACK_H
#define SOFT_CM_PACK_H

#include "cm.h"
#include "softverbs/wire/wire.h"

void soft_cm_pack(struct soft_wire_cm *wire, const struct soft_cm_message *message);

/* False if the message makes no sense.  `slot` is the process that it came from. */
bool soft_cm_unpack(
    struct soft_cm_message *message, const struct soft_wire_cm *wire, unsigned int slot);

#endif
