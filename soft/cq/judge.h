/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * judge -- what the device reports to a checker of notifications
 *
 * The caller of each function holds no lock of the device.
 *
 * A program that is not checked has none: each place that reports costs it one branch.  The checker of softverbs-run
 * is in soft/check.  It replaces the operations of a context that poll, arm and post, so these report nothing.
 */
#ifndef SOFT_JUDGE_H
#define SOFT_JUDGE_H

#include "soft/device/context.h"

struct soft_cq;
struct soft_personality;

struct soft_judge {
	/* Of contexts for which neither the program nor the environment chooses another. */
	const struct soft_personality *personality;

	/* The operations of the context were set, and may be replaced. */
	void (*context)(struct soft_context *ctx);

	/* A CQ is complete, and no other thread knows it: 0 or -errno.  Sets cq->judged. */
	int (*created)(struct soft_cq *cq);

	/* An extended poll found an entry, or none. */
	void (*polled)(struct soft_cq *cq, int found, const struct ibv_wc *wc);

	/*
	 * Requests were posted that ibv_wr_start() had begun, up to the last of the list.  The program may have posted
	 * others, and the queue pair may have failed, since.
	 */
	void (*posted)(struct ibv_qp *qp, const struct ibv_send_wr *wr);

	/* An event was read; `n` events are about to be acknowledged. */
	void (*event)(struct soft_cq *cq);
	void (*acknowledging)(struct soft_cq *cq, unsigned int n);

	/*
	 * ibv_destroy_cq() starts, and ends.  The memory of the CQ then belongs to the judge, so that a later call
	 * with it can be noticed; all that it points to is freed.
	 */
	void (*destroying)(struct soft_cq *cq);
	void (*destroyed)(struct soft_cq *cq);
};

/* NULL, or set before the first context is opened. */
extern const struct soft_judge *soft_judge;

#endif
