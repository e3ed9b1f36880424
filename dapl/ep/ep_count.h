/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ep_count -- what an endpoint transferred
 *
 * A post is counted under the lock of the endpoint; a message that was received, under the trigger
 * lock of the EVD that reports it.
 */
#ifndef REARM_DAPL_EP_COUNT_H
#define REARM_DAPL_EP_COUNT_H

#include <dat2/udat.h>
#include <dat2/dat_ib_extensions.h>

#include "dapl/object/counter.h"

#define DAPL_EP_OPERATIONS (DAT_IB_DTO_RECV_UD_IMMED + 1) /* DAT_DTOS, then DAT_IB_DTOS */

struct dapl_ep_tally {
	uint64_t times, bytes;
};

struct dapl_ep_counts {
	struct dapl_ep_tally posted[DAPL_EP_OPERATIONS];
	struct dapl_ep_tally received[DAPL_EP_OPERATIONS];
	_Atomic(uint64_t) connects, disconnects; /* these two: under the lock of the endpoint */
	uint64_t base[DCNT_EP_ALL_COUNTERS];	 /* likewise */
};

static inline void
dapl_ep_tally(struct dapl_ep_tally *tally, uint64_t bytes)
{
	tally->times++;
	tally->bytes += bytes;
}

/*
 * As dapl_counter_copy() with all of an endpoint, which is locked.  `received` is a copy of that
 * array, made under the trigger lock.
 */
void dapl_ep_counts_copy(struct dapl_ep_counts *counts, const struct dapl_ep_tally *received,
    int which, DAT_UINT64 *out, bool reset);

#endif
