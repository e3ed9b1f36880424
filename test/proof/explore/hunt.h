/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hunt -- plays a scenario many times; a failure is shrunk, printed and can be replayed
 */
#ifndef REARM_EXPLORE_HUNT_H
#define REARM_EXPLORE_HUNT_H

#include "scenario.h"
#include "sched.h"

struct hunt_options {
	const char *strategy; /* mix, random, pct, dfs */
	int depth;	      /* of pct; 0: 1 to 5 in turn */
	int bound;
	uint64_t schedules; /* of each scenario; dfs: at most, 0: all */
	double seconds;	    /* of processor time for each scenario, 0: no limit */
	uint64_t seed;
	bool shrink;
};

struct hunt_result {
	uint64_t schedules;
	uint64_t steps;
	uint64_t pruned;
	bool complete; /* dfs saw every schedule within the bound */
	bool failed;
};

void hunt(
    struct scenario *scenario, const struct hunt_options *options, struct hunt_result *result);

/* STRATEGY:SEED or list:DEVIATIONS, as a failure prints it; true when it fails again. */
bool hunt_replay(struct scenario *scenario, const char *spec, bool shrink);

double hunt_now(void);
double hunt_cpu(void); /* of this process */

#endif
