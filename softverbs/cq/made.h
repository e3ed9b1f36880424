/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * made -- what rules and commands have made of a completion queue (fault/incidents.h)
 *
 * The checker reports errors of the program.  A state that an incident has made, or a call that was
 * let fail, is no evidence for one: so the state remembers it, and the checker asks here, with all
 * that it is about to report (check/kind.h).
 */
#ifndef SOFT_MADE_H
#define SOFT_MADE_H

#include "channel.h"
#include "cq.h"

enum soft_made {
	SOFT_MADE_CQ_ERR = 1,	 /* the CQ has failed */
	SOFT_MADE_QP_ERR = 2,	 /* a queue pair of it has failed */
	SOFT_MADE_REMOVAL = 4,	 /* its device has failed, or was removed */
	SOFT_MADE_UNREAD = 8,	 /* the last call that would have read an event of it failed */
	SOFT_MADE_NOT_READY = 16 /* a receiver was not ready: of one completion */
};

/*
 * The vendor_err of a failed completion whose status an incident has made, also one of the peer: it
 * goes with the completion to the thread that polls it.
 */
#define SOFT_MADE_VENDOR_ERR 1u

static inline void
soft_cq_make(struct soft_cq *cq, enum soft_made what)
{
	atomic_fetch_or_explicit(&cq->made_by_incidents, what, memory_order_relaxed);
}

/* Bits; without SOFT_MADE_NOT_READY. */
static inline unsigned int
soft_cq_is_made(const struct soft_cq *cq)
{
	unsigned int made = atomic_load_explicit(&cq->made_by_incidents, memory_order_relaxed);

	if (soft_context_is_removed(
		soft_container_of(cq->ibv.context, struct soft_context, verbs.context)))
		made |= SOFT_MADE_REMOVAL;
	if (cq->channel && atomic_load_explicit(&cq->channel->refused, memory_order_relaxed))
		made |= SOFT_MADE_UNREAD;
	return made;
}

/* The same of a completion. */
static inline unsigned int
soft_completion_is_made(const struct ibv_wc *wc)
{
	return wc->status == IBV_WC_RNR_RETRY_EXC_ERR && wc->vendor_err == SOFT_MADE_VENDOR_ERR ?
		   SOFT_MADE_NOT_READY :
		   0;
}

#endif
