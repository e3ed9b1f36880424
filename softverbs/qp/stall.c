/* SPDX-License-Identifier: BSD-3-Clause */
#include "stall.h"
#include "qp_error.h"
#include "timeout.h"
#include "sq.h"
#include "softverbs/device/settings.h"
#include "softverbs/wire/wire.h"

/* The times that the five-bit RNR timer codes stand for, in microseconds. */
static const uint32_t rnr_times[32] = { 655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480,
	640, 960, 1280, 1920, 2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720, 40960, 61440,
	81920, 122880, 163840, 245760, 327680, 491520 };

#define RNR_RETRY_FOREVER 7

/*
 * With unlimited retries the timer only serves to notice that the peer has failed, so a long period
 * is enough.
 */
#define RNR_PATIENCE 50000000u

/*
 * A send that has waited for a receive so long will hardly get one: the user has to get a report.
 */
#define STARVED_LONG (2 * SOFT_SECOND)

static void
sq_stall(struct soft_qp *qp, enum soft_stall why) REQUIRES(soft_locks.send)
{
	struct soft_sq *sq = &qp->sq;

	if (!sq->tried)
		sq->tries = qp->attr.retry_cnt;
	sq->tried = true;
	sq->stall = why;
}

/* The oldest request finds no receive for the first time. */
static void
stall_sq_starve(struct soft_qp *qp) REQUIRES(soft_locks.send)
{
	qp->sq.rnr_tries = qp->attr.rnr_retry;
	qp->sq.rnr_made = false;
	qp->sq.starved_since = soft_now();
	atomic_fetch_add_explicit(&soft_cq_of(qp->ibv.send_cq)->stalls, 1, memory_order_relaxed);
}

bool
soft_sq_is_to_be_told(struct soft_qp *qp)
{
	struct soft_sq *sq = &qp->sq;

	if (sq->stall != SOFT_STALLED_RECEIVE || sq->starved_told || sq->rnr_made ||
	    soft_now() - sq->starved_since < STARVED_LONG)
		return false;
	sq->starved_told = true;
	return true;
}

/* The times of the NAK do not depend on SOFTVERBS_TIME_FACTOR. */
uint64_t
soft_rnr_time(uint8_t code)
{
	return (uint64_t)rnr_times[code & SOFT_TIMER_CODE_MASK] * SOFT_MICROSECOND;
}

bool
soft_sq_keeps_stall(const struct soft_qp *qp)
{
	return qp->sq.stall == SOFT_STALLED_RECEIVE && soft_settings_rnr_timer() &&
	       soft_now() < qp->sq.deadline;
}

/*
 * The peer has no receive.  Posting one resumes this queue, unless the timer is kept.  The timer is
 * for a peer that posts none; each time it expires, one retry is used up.
 */
void
soft_sq_stall_for_receive(struct soft_qp *qp, uint8_t rnr_timer)
{
	struct soft_sq *sq = &qp->sq;

	if (!sq->rnr_tried)
		stall_sq_starve(qp);
	sq->rnr_tried = true;
	sq->rnr_made |= (rnr_timer & SOFT_RNR_MADE) != 0;
	sq->stall = SOFT_STALLED_RECEIVE;
	if (qp->attr.rnr_retry == RNR_RETRY_FOREVER) {
		soft_sq_start_timer(
		    qp, soft_settings_rnr_timer() ? soft_rnr_time(rnr_timer) : RNR_PATIENCE);
	} else if (sq->rnr_tries) {
		sq->rnr_tries--;
		soft_sq_start_timer(qp, soft_rnr_time(rnr_timer));
	} else {
		soft_sq_fail(qp, IBV_WC_RNR_RETRY_EXC_ERR);
	}
}

/*
 * The peer does not exist, is in error, or is not connected yet.  When it becomes ready it
 * resumes this queue, and without a timeout nothing else does.
 */
void
soft_sq_stall_for_peer(struct soft_qp *qp)
{
	struct soft_sq *sq = &qp->sq;

	if (sq->peer)
		soft_qp_put(sq->peer);
	sq->peer = NULL; /* another queue pair may have its number later */
	sq_stall(qp, SOFT_STALLED_PEER);
	if (qp->attr.timeout)
		soft_sq_start_timer(
		    qp, SOFT_TIMEOUT_UNIT << (qp->attr.timeout & SOFT_TIMER_CODE_MASK));
}

void
soft_sq_stall_for_link(struct soft_qp *qp)
{
	sq_stall(qp, SOFT_STALLED_LINK);
	soft_sq_start_timer(qp, soft_timeout_period(qp));
}
