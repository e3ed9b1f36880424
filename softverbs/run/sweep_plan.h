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

/* The points, in the order in which they run; allocated. */
struct soft_plan {
	struct soft_point *points;
	unsigned int count;
};

void soft_sweep_plan_add(struct soft_plan *plan, const struct soft_point *point);

/* Whether a call is not made as often in each of them. */
bool soft_sweep_plan_varies(const struct soft_clean_runs *clean);

/* Without points: the program makes no such call. */
struct soft_plan soft_sweep_plan(const struct soft_clean_runs *clean);

#endif
