/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timeout -- requests that another process leaves unanswered
 *
 * An adapter sends a request again when no answer came for the time of its timeout, and fails it
 * after retry_cnt retries.  Between two processes no frame is lost, so nothing is sent again: a
 * process that does not answer is stopped, has no processor, or does not want to answer.  It has
 * the same time, but not less than a busy machine may need.
 *
 * The timer of the send queue runs while a request is unanswered.  It is not set again for each
 * request; when it expires, its function checks whether an answer came since it was set.
 */
#ifndef SOFT_TIMEOUT_H
#define SOFT_TIMEOUT_H

#include "qp.h"

/*
 * The timeout of a queue pair is this number of nanoseconds times a power of two, whose code has 5
 * bits.
 */
#define SOFT_TIMEOUT_UNIT 4096ull
#define SOFT_TIMER_CODE_MASK 31

/*
 * Called when requests may be unanswered from now on, and when an answer came.  The send lock is
 * held.
 */
void soft_timeout_start(struct soft_qp *qp) REQUIRES(soft_locks.send);

static inline void
soft_timeout_renew(struct soft_qp *qp) REQUIRES(soft_locks.send)
{
	qp->sq.answers_heard++;
}

/* The time of one of the retry_cnt + 1 tries. */
uint64_t soft_timeout_period(const struct soft_qp *qp);

/* The timer expired: false if it was set for something else. */
bool soft_timeout_expired(struct soft_qp *qp) SOFT_NO_SEND_LOCK;

#endif
