/* SPDX-License-Identifier: BSD-3-Clause */
/* find -- the object of a handle, in the schedule explorer: a function with a scheduling point */
#ifndef REARM_DAPL_FIND_H
#define REARM_DAPL_FIND_H

#include "dapl/object/handle.h"

void *dapl_handle_object(DAT_HANDLE handle, enum dapl_kind kind, uint64_t *serial);

#endif
