/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strategy -- the choices of a schedule
 *
 *   random  any fiber that can run, each as likely as the others
 *   pct     probabilistic concurrency testing: random priorities, the highest runs, and at
 *           depth - 1 random steps the running one falls to the bottom
 *   dfs     every schedule with at most `bound` preemptions; states that were reached before with
 *           no fewer preemptions left are not entered again.  Two prefixes reach the same state
 *           when each fiber did and saw the same, which a hash of the happens-before order tells
 *   list    run on while possible, else the lowest number; what differs is listed
 */
#ifndef REARM_EXPLORE_STRATEGY_H
#define REARM_EXPLORE_STRATEGY_H

#include "sched.h"

void strategy_begin(struct strategy *strategy, uint64_t seed);
void strategy_spawned(struct fiber *fiber);

/* This schedule ignores the minor points: a fiber that reaches one runs on. */
bool strategy_passes_minor(void);

/* Which of the fibers in `mask` runs; `running`: the one that could go on, or NULL. */
unsigned int strategy_pick(uint32_t mask, const struct fiber *running, const struct fiber *at);
int strategy_fault(int n, const struct fiber *at);

/* What a schedule without deviations takes. */
unsigned int strategy_default(uint32_t mask, const struct fiber *running);

/* The deviations of the run that was recorded. */
extern struct deviation recorded[DEVIATIONS];
extern unsigned int n_recorded;
extern bool recorded_overflow;

/* How many states the search keeps; and whether it had to forget some. */
uint64_t strategy_states(void);

#endif
