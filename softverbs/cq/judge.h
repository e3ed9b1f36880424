/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * judge -- what the device reports to a checker of notifications
 *
 * The caller of each function holds no lock of the device.
 *
 * A program that is not checked has none: each place that reports costs it one branch.  The checker
 * of softverbs-run is in softverbs/check.  It replaces the operations of a context that poll, arm
 * and post, so these report nothing.
 */
#ifndef SOFT_JUDGE_H
#define SOFT_JUDGE_H

#include "softverbs/device/context.h"

struct soft_cq;
struct soft_personality;

/* A call that waits until events are acknowledged; on the stack of its thread. */
struct soft_judged_wait {
	const char *call;   /* "ibv_destroy_qp()" */
	const char *object; /* "queue pair" */
	uint32_t number;    /* of the object; 0: it has none */
	uint32_t read, acknowledged;
	void *judged;
};

struct soft_judge {
	/* Of contexts for which neither the program nor the environment chooses another. */
	const struct soft_personality *personality;

	/* The operations of the context were set, and may be replaced. */
	void (*context)(struct soft_context *ctx);

	/* A CQ is complete, and no other thread knows it: 0 or -errno.  Sets cq->judged. */
	int (*created)(struct soft_cq *cq);

	/*
	 * A step of an extended poll: 0, or the error with which it is refused.  It found an entry,
	 * which begins the poll or goes on with it; or none.  The poll ends.
	 */
	int (*polling)(struct soft_cq *cq, const char *call);
	void (*polled)(struct soft_cq *cq, int found, const struct ibv_wc *wc);
	int (*poll_ending)(struct soft_cq *cq);

	/*
	 * Requests were posted that ibv_wr_start() had begun, up to the last of the list.  The
	 * program may have posted others, and the queue pair may have failed, since.
	 */
	void (*posted)(struct ibv_qp *qp, const struct ibv_send_wr *wr);

	/* A rule has let a call fail with which the program would have polled or armed. */
	void (*failed)(struct soft_cq *cq, bool arm);

	/* An event was read; `n` events are about to be acknowledged. */
	void (*event)(struct soft_cq *cq);
	void (*acknowledging)(struct soft_cq *cq, unsigned int n);

	/*
	 * A call that destroys another object begins to wait for acknowledgements, waits on when
	 * some have come, and has ended to.  The caller may hold the lock that guards their number:
	 * the judge takes only its own.
	 */
	void (*waiting)(struct soft_judged_wait *wait);
	void (*waits)(struct soft_judged_wait *wait, uint32_t acknowledged);
	void (*waited)(struct soft_judged_wait *wait);

	/*
	 * ibv_destroy_cq() starts, and ends.  The memory of the CQ then belongs to the judge, so
	 * that a later call with it can be noticed; all that it points to is freed.
	 */
	void (*destroying)(struct soft_cq *cq);
	void (*destroyed)(struct soft_cq *cq);
};

/* NULL, or set before the first context is opened. */
extern const struct soft_judge *soft_judge;

static inline void
soft_judge_failed(struct soft_cq *cq, bool arm)
{
	if (soft_judge && soft_judge->failed)
		soft_judge->failed(cq, arm);
}

/* Around a wait for acknowledgements; nothing unless some are due. */
static inline void
soft_judge_waiting(struct soft_judged_wait *wait)
{
	if (soft_judge && soft_judge->waiting && wait->read != wait->acknowledged)
		soft_judge->waiting(wait);
}

static inline void
soft_judge_waits(struct soft_judged_wait *wait, uint32_t acknowledged)
{
	if (wait->judged)
		soft_judge->waits(wait, acknowledged);
}

static inline void
soft_judge_waited(struct soft_judged_wait *wait)
{
	if (wait->judged)
		soft_judge->waited(wait);
}

#endif
