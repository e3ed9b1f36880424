/* SPDX-License-Identifier: BSD-3-Clause */
#include "hunt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report.h"
#include "stage.h"
#include "strategy.h"
#include "world.h"

#define CALIBRATION 12
#define FAULT_POINTS_LEAST 4 /* where there are faults: what a few calm schedules did not meet */
#define CLOCK_EVERY 16	     /* schedules between two readings of the time */
#define SHRINK_RUNS 4000
#define DEPTH_MAX 5

static double
seconds(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

double
hunt_now(void)
{
	return seconds(CLOCK_MONOTONIC);
}

double
hunt_cpu(void)
{
	return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

/*
 * How long the scenario's schedules are, which PCT must know.  A function of the scenario alone, so
 * that a seed means the same schedule in every run.  A schedule of it that fails is the
 * strategy "calm": random, without faults.
 */
static bool
calibrate(struct scenario *scenario, struct strategy *strategy, struct hunt_result *result,
    uint64_t *seed)
{
	struct strategy calm = { .kind = STRATEGY_RANDOM };

	for (*seed = 0; !scenario->length && *seed < CALIBRATION; ++*seed) {
		result->schedules++;
		if (stage_play(scenario, &calm, *seed) == OUTCOME_FAILED)
			return false;
		result->steps += sched.steps;
		if (sched.steps > strategy->length)
			strategy->length = sched.steps;
		if (sched.fault_points > strategy->fault_points)
			strategy->fault_points = sched.fault_points;
	}
	if (!scenario->length) {
		if (scenario->faults && strategy->fault_points < FAULT_POINTS_LEAST)
			strategy->fault_points = FAULT_POINTS_LEAST;
		scenario->length = strategy->length;
		scenario->fault_points = strategy->fault_points;
	}
	strategy->length = scenario->length;
	strategy->fault_points = scenario->fault_points;
	return true;
}

/* ---- shrinking ---- */

static struct scenario shrunk;
static struct strategy shortest;
static unsigned int shrink_runs;
static char kind_of_failure[512];

/* The numbers in a message differ from run to run; its words identify the kind. */
static void
words(char *to, const char *from)
{
	for (; *from; from++)
		if (*from < '0' || *from > '9')
			*to++ = *from;
	*to = '\0';
}

static bool
fails_alike(struct strategy *strategy)
{
	char kind[512];

	if (shrink_runs++ > SHRINK_RUNS)
		return false;
	if (stage_play(&shrunk, strategy, 0) != OUTCOME_FAILED)
		return false;
	words(kind, sched.failure);
	return !strcmp(kind, kind_of_failure);
}

static bool
drop_deviations(void)
{
	static struct strategy less;
	bool any = false;

	for (unsigned int chunk = (shortest.n_list + 1) / 2; chunk;
	     chunk = chunk == 1 ? 0 : (chunk + 1) / 2) {
		for (unsigned int at = 0; at < shortest.n_list;) {
			const unsigned int rest = shortest.n_list - at;
			const unsigned int n = rest < chunk ? rest : chunk;

			less = shortest;
			memmove(less.list + at, less.list + at + n,
			    (less.n_list - at - n) * sizeof *less.list);
			less.n_list -= n;
			if (fails_alike(&less)) {
				shortest = less;
				any = true;
			} else {
				at += n;
			}
		}
	}
	return any;
}

static bool
drop_actions(void)
{
	bool any = false;

	for (int i = 0; i < shrunk.n_actors; i++)
		for (unsigned int j = 0; j < shrunk.actors[i].n_actions; j++) {
			struct action *a = &shrunk.actors[i].actions[j];

			if (a->dropped)
				continue;
			a->dropped = true;
			if (fails_alike(&shortest))
				any = true;
			else
				a->dropped = false;
		}
	return any;
}

static void
shrink(void)
{
	bool again;

	shrink_runs = 0;
	do {
		again = drop_deviations();
		again |= drop_actions();
	} while (again && shrink_runs < SHRINK_RUNS);
}

/* The run just played failed: play it again from `strategy`, shrink it, print what happened. */
static void
print_failure(const struct scenario *scenario, struct strategy *strategy, uint64_t seed,
    const char *spec, bool shorten)
{
	bool again, whole;

	report_failure(scenario, spec, sched.failure);
	sched.recording = true;
	again = stage_play(scenario, strategy, seed) == OUTCOME_FAILED;
	sched.recording = false;
	whole = !recorded_overflow;
	if (!again) {
		printf("      and does not fail again: the explorer itself is at fault\n");
		return;
	}
	words(kind_of_failure, sched.failure);
	shrunk = *scenario;
	shortest = (struct strategy){ .kind = STRATEGY_LIST, .settled = strategy->settled };
	if (whole) {
		memcpy(shortest.list, recorded, sizeof recorded);
		shortest.n_list = n_recorded;
		if (shorten)
			shrink();
	}
	sched.tracing = true;
	if (whole)
		(void)stage_play(&shrunk, &shortest, 0);
	else
		(void)stage_play(scenario, strategy, seed);
	sched.tracing = false;
	report_trace(whole ? &shrunk : scenario, whole ? &shortest : NULL);
}

/* A depth-first schedule is replayed from the list of its deviations. */
static void
tell_dfs(const struct scenario *scenario, const struct strategy *strategy, bool shorten)
{
	static struct strategy list;
	char spec[16 * DEVIATIONS];

	report_list(scenario, strategy, spec, sizeof spec);
	list = *strategy;
	print_failure(scenario, &list, 0, spec, shorten);
}

/* ---- the hunt ---- */

static bool
over(const struct hunt_options *o, const struct hunt_result *result, double end)
{
	if (o->schedules && result->schedules >= o->schedules)
		return true;
	return o->seconds > 0 && result->schedules % CLOCK_EVERY == 0 && hunt_cpu() >= end;
}

static void
hunt_dfs(const struct scenario *scenario, const struct hunt_options *o, struct hunt_result *result)
{
	struct strategy strategy = { .kind = STRATEGY_DFS, .bound = o->bound, .settled = true };
	double end = hunt_cpu() + o->seconds;
	enum outcome outcome;

	sched_dfs_reset();
	do {
		if (over(o, result, end))
			return;
		sched.recording = true;
		outcome = stage_play(scenario, &strategy, 0);
		sched.recording = false;
		result->schedules++;
		result->steps += sched.steps;
		result->pruned += outcome == OUTCOME_PRUNED;
		if (outcome == OUTCOME_FAILED) {
			result->failed = true;
			if (recorded_overflow) {
				report_failure(scenario, "dfs", sched.failure);
				return; /* too long to print */
			}
			strategy.kind = STRATEGY_LIST;
			memcpy(strategy.list, recorded, sizeof recorded);
			strategy.n_list = n_recorded;
			tell_dfs(scenario, &strategy, o->shrink);
			return;
		}
	} while (sched_dfs_next());
	result->complete = true;
}

void
hunt(struct scenario *scenario, const struct hunt_options *o, struct hunt_result *result)
{
	struct strategy strategy = { .kind = STRATEGY_RANDOM };
	bool mix = !strcmp(o->strategy, "mix"), pct = !strcmp(o->strategy, "pct");
	double end = hunt_cpu() + o->seconds;
	uint64_t seed;
	char spec[64];

	*result = (struct hunt_result){ 0 };
	if (!strcmp(o->strategy, "dfs")) {
		hunt_dfs(scenario, o, result);
		return;
	}
	if (!calibrate(scenario, &strategy, result, &seed)) {
		result->failed = true;
		snprintf(spec, sizeof spec, "calm:%llu", (unsigned long long)seed);
		strategy = (struct strategy){ .kind = STRATEGY_RANDOM };
		print_failure(scenario, &strategy, seed, spec, o->shrink);
		return;
	}
	for (uint64_t i = 0; !over(o, result, end); i++) {
		seed = o->seed + i; /* gives the strategy, too: a few rounds must use all of them */
		strategy.kind = pct || (mix && seed % 6) ? STRATEGY_PCT : STRATEGY_RANDOM;
		strategy.depth =
		    o->depth ? o->depth : 1 + (int)((mix ? seed % 6 + 5 : seed) % DEPTH_MAX);
		result->schedules++;
		if (stage_play(scenario, &strategy, seed) == OUTCOME_FAILED) {
			result->failed = true;
			if (strategy.kind == STRATEGY_PCT)
				snprintf(spec, sizeof spec, "pct%d:%llu", strategy.depth,
				    (unsigned long long)seed);
			else
				snprintf(
				    spec, sizeof spec, "random:%llu", (unsigned long long)seed);
			print_failure(scenario, &strategy, seed, spec, o->shrink);
			return;
		}
		result->steps += sched.steps;
	}
}

bool
hunt_replay(struct scenario *scenario, const char *spec, bool shorten)
{
	struct hunt_result result = { 0 };
	struct strategy strategy = { .kind = STRATEGY_RANDOM };
	static struct scenario copy;
	uint64_t seed = 0;
	const char *colon = strchr(spec, ':');

	copy = *scenario;
	if (!colon) {
		fprintf(stderr, "explore: '%s' is not STRATEGY:SEED\n", spec);
		exit(2);
	}
	if (!strncmp(spec, "list:", 5) || !strncmp(spec, "rest:", 5)) {
		strategy.kind = STRATEGY_LIST;
		strategy.settled = *spec == 'r';
		report_parse_list(colon + 1, &copy, &strategy);
	} else {
		seed = strtoull(colon + 1, NULL, 0);
		if (!strncmp(spec, "pct", 3)) {
			strategy.kind = STRATEGY_PCT;
			strategy.depth = atoi(spec + 3);
		}
		if (strncmp(spec, "calm:", 5)) {
			uint64_t at;

			(void)calibrate(scenario, &strategy, &result, &at);
		}
	}
	if (stage_play(&copy, &strategy, seed) != OUTCOME_FAILED) {
		/* Show what happens all the same. */
		sched.tracing = true;
		(void)stage_play(&copy, &strategy, seed);
		sched.tracing = false;
		report_trace(&copy, NULL);
		return false;
	}
	print_failure(&copy, &strategy, seed, spec, shorten);
	return true;
}
