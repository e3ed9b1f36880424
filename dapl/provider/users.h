/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * users -- which objects need another one, for the hint of a call that finds it in use
 */
#ifndef REARM_DAPL_USERS_H
#define REARM_DAPL_USERS_H

#include <dat2/udat.h>

#include "dapl/object/lock.h"

/* Adds to the hint of this thread the kinds and handles of the objects that use this one. */
void dapl_users_hint(DAT_HANDLE handle) DAPL_NO_LOCK;

#endif
