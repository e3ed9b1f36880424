/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slow -- reports an upcall that takes longer than the adapter's word `slow` allows
 *
 * Such an upcall keeps a thread of the adapter, which makes no other upcall meanwhile.  An EVD is
 * reported once.  Without the word no time is measured.
 */
#ifndef REARM_DAPL_SLOW_H
#define REARM_DAPL_SLOW_H

#include "evd/evd.h"

#include "dapl/object/lock.h"

/*
 * What an EVD with a limit makes its upcalls with; see struct evd_config.  They trace calls, too.
 */
evd_call_function dapl_slow_make_upcall DAPL_NO_LOCK;
evd_call_array_function dapl_slow_make_upcall_array DAPL_NO_LOCK;

#endif
