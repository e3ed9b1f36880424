/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verbs_event -- the acknowledgement of events of a completion channel, for this loop over verbs
 * and for those of bench/
 */
#ifndef PERF_VERBS_EVENT_H
#define PERF_VERBS_EVENT_H

#include <infiniband/verbs.h>

#define VERBS_UNACKED_MAX \
	64 /* events that are acknowledged at once: each acknowledgement takes a lock */

/* An event of the queue was taken; `unacked` counts those that were not acknowledged yet. */
static inline void
verbs_event_ack(struct ibv_cq *cq, unsigned int *unacked)
{
	if (++*unacked < VERBS_UNACKED_MAX)
		return;
	ibv_ack_cq_events(cq, *unacked);
	*unacked = 0;
}

#endif
