/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sweep_plan -- which calls fail in a sweep: chosen from what the program does without faults
 */
#ifndef SOFT_RUN_SWEEP_PLAN_H
#define SOFT_RUN_SWEEP_PLAN_H

#include "sweep_point.h"

struct soft_clean_runs {
	struct soft_sweep_run *runs;
	unsigned int count;
};

/* Whether a call is not made as often in each of them. */
bool soft_sweep_plan_varies(const struct soft_clean_runs *clean);

/* The points, in the order in which they run; allocated.  NULL: the program makes no such call. */
struct soft_point *soft_sweep_plan(const struct soft_clean_runs *clean, unsigned int *count);

#endif
