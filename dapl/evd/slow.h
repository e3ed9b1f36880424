/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slow -- reports an upcall that takes longer than the adapter's word `slow` allows
 *
 * Such an upcall keeps a thread of the adapter, which makes no other upcall meanwhile.  An EVD is
 * reported once.  Without the word no time is measured.
 */
#ifndef REARM_DAPL_SLOW_H
#define REARM_DAPL_SLOW_H

#include <dat2/udat.h>
#include <dat2/dat_upcall.h>

#include "dapl/object/lock.h"

/*
 * What an EVD with a limit makes its upcalls with; see struct evd_config.  They trace calls, too.
 */
void dapl_slow_make_upcall(const DAT_UPCALL_OBJECT *object, DAT_EVD_HANDLE handle,
    const DAT_EVENT *event, DAT_BOOLEAN more) DAPL_NO_LOCK;
void dapl_slow_make_upcall_array(const DAT_UPCALL_ARRAY_OBJECT *object, DAT_EVD_HANDLE handle,
    const DAT_EVENT *events, DAT_COUNT n, DAT_BOOLEAN more) DAPL_NO_LOCK;

#endif
