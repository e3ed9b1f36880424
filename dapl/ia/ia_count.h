/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ia_count -- what happened on an adapter
 */
#ifndef REARM_DAPL_IA_COUNT_H
#define REARM_DAPL_IA_COUNT_H

#include <dat2/dat_ib_extensions.h>

#include "dapl/ia/ia.h"

static inline void
dapl_ia_count(struct dapl_ia *ia, DAT_IA_COUNTERS which)
{
	dapl_counter_add(&ia->counts.now[which]);
}

/* An adapter that is being opened has counted nothing. */
void dapl_ia_counts_clear(struct dapl_ia *ia);

/* As dapl_counter_copy() with all of an adapter; false for a bad handle. */
bool dapl_ia_counts_copy(
    DAT_IA_HANDLE handle, int which, DAT_UINT64 *out, bool reset) DAPL_NO_ADAPTER_LOCK;

#endif
