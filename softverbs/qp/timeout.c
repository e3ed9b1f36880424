/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeout.h"
#include "qp_error.h"
#include "sq.h"
#include "softverbs/device/settings.h"
#include "softverbs/wire/input.h"

/* The minimum for the time of all tries together. */
#define PATIENCE_MIN 4000000000u

/* True if the peer must answer a request, or must first make room on the link. */
static bool
timeout_is_needed(const struct soft_qp *qp) REQUIRES(soft_locks.send)
{
	const struct soft_sq *sq = &qp->sq;

	if (!sq->remote || sq->stall)
		return false;
	if (qp->state == IBV_QPS_RTS)
		return sq->head != sq->tail;
	return qp->state == IBV_QPS_SQD && (sq->head != sq->next || sq->offset);
}

static void
timeout_start_timer(struct soft_qp *qp) REQUIRES(soft_locks.send)
{
	soft_sq_start_timer(qp, soft_timeout_period(qp));
	qp->sq.for_timeout = true;
}

static bool
timeout_is_due(const struct soft_qp *qp) REQUIRES(soft_locks.send)
{
	return qp->sq.for_timeout && soft_now() >= qp->sq.deadline;
}

static void
timeout_judge(struct soft_qp *qp) REQUIRES(soft_locks.send)
{
	struct soft_sq *sq = &qp->sq;
	const uint64_t now = soft_now(), late = now - sq->deadline;

	sq->for_timeout = false;
	if (!timeout_is_needed(qp))
		return;
	if (sq->answers_heard != sq->answers_before)
		sq->waiting_since = now;
	else if (late > SOFT_TIMER_LATE)
		sq->waiting_since += late;
	sq->answers_before = sq->answers_heard;
	if (now - sq->waiting_since < soft_timeout_period(qp) * (qp->attr.retry_cnt + 1u)) {
		timeout_start_timer(qp);
		return;
	}
	soft_debug("queue pair %u: slot %u does not answer", qp->ibv.qp_num,
	    soft_qpn_slot(qp->attr.dest_qp_num));
	soft_sq_fail(qp, IBV_WC_RETRY_EXC_ERR);
}

uint64_t
soft_timeout_period(const struct soft_qp *qp)
{
	const uint64_t time = SOFT_TIMEOUT_UNIT << (qp->attr.timeout & SOFT_TIMER_CODE_MASK);
	const uint64_t least = PATIENCE_MIN / (qp->attr.retry_cnt + 1u);

	return soft_settings_scale_time(time > least ? time : least);
}

void
soft_timeout_start(struct soft_qp *qp)
{
	struct soft_sq *sq = &qp->sq;

	if (sq->for_timeout || !qp->attr.timeout || !timeout_is_needed(qp))
		return;
	sq->answers_before = sq->answers_heard;
	timeout_start_timer(qp);
	sq->waiting_since = sq->deadline - soft_timeout_period(qp);
}

bool
soft_timeout_expired(struct soft_qp *qp)
{
	unsigned int slot;
	bool ours;

	soft_qp_lock_send(qp);
	ours = timeout_is_due(qp);
	slot = soft_qpn_slot(qp->attr.dest_qp_num);
	soft_qp_unlock_send(qp);
	if (!ours)
		return false;
	/* An answer may have come and not been read yet. */
	soft_input_read_answers(slot);
	soft_qp_lock_send(qp);
	if (timeout_is_due(qp))
		timeout_judge(qp);
	soft_qp_unlock_send(qp);
	return true;
}
