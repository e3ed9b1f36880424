/* SPDX-License-Identifier: BSD-3-Clause */
#include "silence.h"
#include "qp_error.h"
#include "sq.h"
#include "soft/device/settings.h"
#include "soft/wire/link.h"

/* All times together are not less than this. */
#define PATIENCE_MIN 4000000000u

/* Whether the peer owes an answer, or has to make room on the link first. */
static bool
silence_is_waiting(const struct soft_qp *qp)
{
	const struct soft_sq *sq = &qp->sq;

	if (!sq->remote || sq->stall)
		return false;
	if (qp->state == IBV_QPS_RTS)
		return sq->head != sq->tail;
	return qp->state == IBV_QPS_SQD && (sq->head != sq->next || sq->offset);
}

static void
silence_set_timer(struct soft_qp *qp)
{
	soft_sq_set_timer(qp, soft_silence_time(qp));
	qp->sq.listening = true;
}

static bool
silence_is_due(const struct soft_qp *qp)
{
	return qp->sq.listening && soft_now() >= qp->sq.deadline;
}

/* The send lock is held. */
static void
silence_judge(struct soft_qp *qp)
{
	struct soft_sq *sq = &qp->sq;
	const uint64_t now = soft_now(), late = now - sq->deadline;

	sq->listening = false;
	if (!silence_is_waiting(qp))
		return;
	if (sq->heard != sq->heard_before)
		sq->silent_since = now;
	else if (late > SOFT_TIMER_LATE)
		sq->silent_since += late;
	sq->heard_before = sq->heard;
	if (now - sq->silent_since < soft_silence_time(qp) * (qp->attr.retry_cnt + 1u)) {
		silence_set_timer(qp);
		return;
	}
	soft_debug("queue pair %u: slot %u does not answer", qp->ibv.qp_num,
	    soft_qpn_slot(qp->attr.dest_qp_num));
	soft_sq_fail(qp, IBV_WC_RETRY_EXC_ERR);
}

uint64_t
soft_silence_time(const struct soft_qp *qp)
{
	const uint64_t time = 4096ull << (qp->attr.timeout & 31);
	const uint64_t least = PATIENCE_MIN / (qp->attr.retry_cnt + 1u);

	return soft_stretched(time > least ? time : least);
}

void
soft_silence_begin(struct soft_qp *qp)
{
	struct soft_sq *sq = &qp->sq;

	if (sq->listening || !qp->attr.timeout || !silence_is_waiting(qp))
		return;
	sq->heard_before = sq->heard;
	silence_set_timer(qp);
	sq->silent_since = sq->deadline - soft_silence_time(qp);
}

bool
soft_silence_expired(struct soft_qp *qp)
{
	struct soft_sq *sq = &qp->sq;
	unsigned int slot;
	bool ours;

	pthread_mutex_lock(&sq->lock);
	ours = silence_is_due(qp);
	slot = soft_qpn_slot(qp->attr.dest_qp_num);
	pthread_mutex_unlock(&sq->lock);
	if (!ours)
		return false;
	/* An answer may have come while we did not read. */
	soft_link_take_answers(slot);
	pthread_mutex_lock(&sq->lock);
	if (silence_is_due(qp))
		silence_judge(qp);
	pthread_mutex_unlock(&sq->lock);
	return true;
}
