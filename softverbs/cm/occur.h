/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * occur -- events of ids for no reason of their own
 */
#ifndef SOFT_CM_OCCUR_H
#define SOFT_CM_OCCUR_H

#include "cm.h"
#include "softverbs/device/changes.h"

/*
 * UNREACHABLE for an id that is connected, and stays so: the one that is named, or the oldest.
 * False if there is none.
 */
bool soft_cm_occur_unreachable(unsigned int of) SOFT_NO_CM_LOCK;

/* DISCONNECTED for such an id, and for its peer. */
bool soft_cm_occur_disconnected(unsigned int of) SOFT_NO_CM_LOCK;

/* DEVICE_REMOVAL for every id that is bound to one of the ports; their connections end. */
void soft_cm_occur_removal(soft_ports ports) SOFT_NO_CM_LOCK;

/* Messages pass again: those that were held do. */
void soft_cm_release(void) SOFT_NO_CM_LOCK;

#endif
