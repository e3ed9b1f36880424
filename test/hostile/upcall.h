/* SPDX-License-Identifier: BSD-3-Clause */
/* upcall -- the function that the library calls for events */
#ifndef REARM_HOSTILE_UPCALL_H
#define REARM_HOSTILE_UPCALL_H

#include "dat.h"

void upcall(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more);

#endif
