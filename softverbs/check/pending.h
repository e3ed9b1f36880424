/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pending -- calls that wait until events of a queue pair, a shared receive queue or an id are
 * acknowledged
 *
 * The record of a completion queue knows of its own: suspicion.h, which says when a call is
 * reported.
 */
#ifndef SOFT_CHECK_PENDING_H
#define SOFT_CHECK_PENDING_H

#include "sleep.h"
#include "softverbs/cq/judge.h"

/*
 * The call begins to wait, waits on with so many that are acknowledged, and has ended to.  No lock
 * is needed, and any may be held.
 */
void soft_pending_begin(struct soft_judged_wait *wait);
void soft_pending_progress(struct soft_judged_wait *wait, uint32_t acknowledged);
void soft_pending_end(struct soft_judged_wait *wait);

/* True if there is any; then the sentry looks, `passed` after the last time. */
bool soft_pending_any(void);
void soft_pending_look(const struct soft_sleepers *sleepers, uint64_t passed);

/* In a forked child: there are none. */
void soft_pending_reset(void);

#endif
