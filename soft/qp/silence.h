/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * silence -- requests that a process leaves unanswered
 *
 * An adapter sends a request again when nothing came for the time of its timeout, and gives it up
 * after retry_cnt times.  Between two processes nothing gets lost, so nothing is sent again: a
 * process that says nothing is stopped, or has no processor, or does not want to.  It is given the
 * same time, and not less than what a busy machine may need.
 *
 * The timer of the send queue runs while a request is unanswered.  It is not set anew for each
 * request: when it expires it looks whether an answer came meanwhile.
 */
#ifndef SOFT_SILENCE_H
#define SOFT_SILENCE_H

#include "qp.h"

/* The send lock is held: requests may be waiting for answers now; and one came. */
void soft_silence_begin(struct soft_qp *qp);

static inline void
soft_silence_heard(struct soft_qp *qp)
{
	qp->sq.heard++;
}

/* How long one of the retry_cnt + 1 times is. */
uint64_t soft_silence_time(const struct soft_qp *qp);

/* The timer expired: false if it was not for this. */
bool soft_silence_expired(struct soft_qp *qp);

#endif
