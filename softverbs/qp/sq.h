/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq -- the send queue: its requests in order, and its timer
 *
 * The send lock is held in all of these.
 */
#ifndef SOFT_SQ_H
#define SOFT_SQ_H

#include "qp.h"

static inline struct soft_send *
soft_sq_at(struct soft_sq *sq, uint32_t i)
{
	return (struct soft_send *)(void *)(sq->ring + (i & sq->mask) * sq->stride);
}

/* Completes the oldest request and frees its place; -EIO if the CQ is overrun. */
int soft_sq_complete(struct soft_qp *qp, enum ibv_wc_status status) REQUIRES(soft_locks.send);

/* Completes all requests with a flush error. */
void soft_sq_flush(struct soft_qp *qp) REQUIRES(soft_locks.send);

/* Treats what was sent and not answered as if it had not been sent. */
void soft_sq_go_back(struct soft_qp *qp) REQUIRES(soft_locks.send);

/* Raises SQ_DRAINED, if it is due and every request that was sent is answered. */
void soft_sq_drained(struct soft_qp *qp) REQUIRES(soft_locks.send);

/*
 * Whether the oldest request has begun: it was sent, or refused and is to be tried again.  In the
 * state SQD it goes on, and only it and those that were sent.
 */
static inline bool
soft_sq_has_begun(const struct soft_sq *sq) REQUIRES(soft_locks.send)
{
	if (sq->head == sq->tail)
		return false;
	return sq->tried || sq->rnr_tried || sq->offset || (sq->remote && sq->head != sq->next);
}

/* What the peer was to pull, and has not pulled, it cannot use any more. */
void soft_sq_revoke(struct soft_qp *qp) REQUIRES(soft_locks.send);

/* Whether its keys give access to what the request sends; asked before anything is sent. */
bool soft_sq_may_read(const struct soft_qp *qp, const struct soft_send *send) SOFT_NO_KEYS_LOCK;

/* What the requester can find wrong with a request without asking the other side. */
enum ibv_wc_status soft_sq_check(struct soft_qp *qp, struct soft_send *send)
    REQUIRES(soft_locks.send);

/* The first sets the timer, for a new purpose.  The second ends a stall, and stops the timer. */
void soft_sq_start_timer(struct soft_qp *qp, uint64_t nanoseconds) REQUIRES(soft_locks.send);
void soft_sq_end_stall(struct soft_qp *qp) REQUIRES(soft_locks.send);

#endif
