/* SPDX-License-Identifier: BSD-3-Clause */
/* The send queue at work: runs requests within the process, stalls, tries again, gives up */
#include "qp.h"
#include "remote.h"
#include "silence.h"

/* The times that the five-bit RNR timer codes stand for, in microseconds. */
static const uint32_t rnr_times[32] = { 655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480,
	640, 960, 1280, 1920, 2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720, 40960, 61440,
	81920, 122880, 163840, 245760, 327680, 491520 };

#define RNR_RETRY_FOREVER 7

void
soft_sq_set_timer(struct soft_qp *qp, uint64_t nanoseconds)
{
	qp->sq.listening = false;
	qp->sq.deadline = soft_now() + nanoseconds;
	if (soft_timer_set(&qp->sq.timer, qp->sq.deadline))
		soft_qp_get(qp); /* the timer's */
}

void
soft_sq_fail(struct soft_qp *qp, enum ibv_wc_status status)
{
	int lost = soft_sq_complete(qp, status);

	soft_qp_error_locked(qp, lost ? IBV_EVENT_QP_FATAL : SOFT_NO_EVENT);
}

/* With endless tries the timer only finds out that the peer failed; so often is enough. */
#define RNR_PATIENCE 50000000u

/*
 * The peer has no receive.  Posting one kicks us; the timer is for a peer that does not,
 * and each look that finds nothing takes a try.
 */
void
soft_sq_stall_for_receive(struct soft_qp *qp, uint8_t rnr_timer)
{
	struct soft_sq *sq = &qp->sq;

	if (!sq->rnr_tried)
		sq->rnr_tries = qp->attr.rnr_retry;
	sq->rnr_tried = true;
	sq->stall = SOFT_STALLED_RECEIVE;
	if (qp->attr.rnr_retry == RNR_RETRY_FOREVER) {
		soft_sq_set_timer(qp, RNR_PATIENCE);
	} else if (sq->rnr_tries) {
		sq->rnr_tries--;
		soft_sq_set_timer(qp, (uint64_t)rnr_times[rnr_timer & 31] * 1000);
	} else {
		soft_sq_fail(qp, IBV_WC_RNR_RETRY_EXC_ERR);
	}
}

static void
stall(struct soft_qp *qp, enum soft_stall why)
{
	struct soft_sq *sq = &qp->sq;

	if (!sq->tried)
		sq->tries = qp->attr.retry_cnt;
	sq->tried = true;
	sq->stall = why;
}

/*
 * The peer says that it is gone, in error, or not connected yet.  It kicks us when it becomes ready;
 * without a timeout we wait for that alone.
 */
void
soft_sq_stall_for_peer(struct soft_qp *qp)
{
	struct soft_sq *sq = &qp->sq;

	if (sq->peer)
		soft_qp_put(sq->peer);
	sq->peer = NULL; /* its number may belong to another later */
	stall(qp, SOFT_STALLED_PEER);
	if (qp->attr.timeout)
		soft_sq_set_timer(qp, 4096ull << (qp->attr.timeout & 31));
}

void
soft_sq_stall_for_link(struct soft_qp *qp)
{
	stall(qp, SOFT_STALLED_LINK);
	soft_sq_set_timer(qp, soft_silence_time(qp));
}

/* Without a timeout nothing is given up. */
static bool
counts_tries(const struct soft_qp *qp)
{
	return qp->sq.stall != SOFT_STALLED_RECEIVE && qp->attr.timeout;
}

static struct soft_qp *
peer_of(struct soft_qp *qp)
{
	if (!qp->sq.peer)
		qp->sq.peer = soft_qp_table_find(qp->attr.dest_qp_num);
	return qp->sq.peer;
}

enum ibv_wc_status
soft_sq_check(const struct soft_qp *qp, const struct soft_send *send)
{
	switch (send->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		if (send->length != sizeof(uint64_t))
			return IBV_WC_LOC_LEN_ERR;
		return qp->attr.max_rd_atomic ? IBV_WC_SUCCESS : IBV_WC_LOC_QP_OP_ERR;
	case IBV_WR_RDMA_READ:
		return qp->attr.max_rd_atomic ? IBV_WC_SUCCESS : IBV_WC_LOC_QP_OP_ERR;
	default:
		return IBV_WC_SUCCESS;
	}
}

void
soft_sq_run(struct soft_qp *qp, struct soft_aftermath *after)
{
	struct soft_sq *sq = &qp->sq;
	enum soft_verdict verdict;
	enum ibv_wc_status status;
	struct soft_qp *peer;
	struct soft_send *send;

	if (sq->remote) {
		soft_remote_run(qp);
		return;
	}
	while (sq->head != sq->tail && qp->state == IBV_QPS_RTS) {
		send = soft_sq_at(sq, sq->head);
		status = soft_sq_check(qp, send);
		if (status == IBV_WC_SUCCESS) {
			peer = peer_of(qp);
			verdict = peer ? soft_respond(peer, qp, send, &status, after) : SOFT_SILENT;
			if (verdict == SOFT_SILENT) {
				soft_sq_stall_for_peer(qp);
				return;
			}
			if (verdict == SOFT_NOT_READY) {
				soft_sq_stall_for_receive(qp, after->rnr_timer);
				return;
			}
		}
		if (status != IBV_WC_SUCCESS)
			soft_sq_fail(qp, status);
		else if (soft_sq_complete(qp, status))
			soft_qp_error_locked(qp, IBV_EVENT_QP_FATAL);
	}
}

void
soft_sq_unstall(struct soft_qp *qp)
{
	qp->sq.stall = SOFT_RUNNING;
	qp->sq.listening = false;
	if (soft_timer_cancel(&qp->sq.timer))
		soft_qp_put(qp); /* the timer's; the caller has one too */
}

void
soft_sq_kick(struct soft_qp *qp)
{
	struct soft_aftermath after = SOFT_NO_AFTERMATH;

	pthread_mutex_lock(&qp->sq.lock);
	if (qp->sq.stall)
		soft_sq_unstall(qp);
	soft_sq_run(qp, &after);
	pthread_mutex_unlock(&qp->sq.lock);
	soft_aftermath_do(&after);
}

void
soft_sq_timer(struct soft_timer *timer)
{
	struct soft_qp *qp = soft_container_of(timer, struct soft_qp, sq.timer);
	struct soft_aftermath after = SOFT_NO_AFTERMATH;
	struct soft_sq *sq = &qp->sq;

	if (soft_silence_expired(qp)) {
		soft_qp_put(qp);
		return;
	}
	pthread_mutex_lock(&sq->lock);
	if (!sq->stall || soft_now() < sq->deadline) {
		/* kicked while this callback was on its way */
	} else if (counts_tries(qp) && !sq->tries) {
		soft_sq_fail(qp, IBV_WC_RETRY_EXC_ERR);
	} else {
		if (counts_tries(qp))
			sq->tries--;
		sq->stall = SOFT_RUNNING;
		soft_sq_run(qp, &after);
	}
	pthread_mutex_unlock(&sq->lock);
	soft_aftermath_do(&after);
	soft_qp_put(qp);
}
