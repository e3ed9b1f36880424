/* SPDX-License-Identifier: BSD-3-Clause */
/* upcall -- the functions that the library calls for events */
#ifndef REARM_HOSTILE_UPCALL_H
#define REARM_HOSTILE_UPCALL_H

#include "dat.h"

void upcall(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more);

#define UPCALL_MOST 20 /* max_events of each array object */
void upcall_array(
    DAT_PVOID instance, const DAT_EVENT *events, DAT_COUNT n_events, DAT_BOOLEAN more);

#endif
