/* SPDX-License-Identifier: BSD-3-Clause */
#include "sweep_plan.h"
#include "fault_option.h"
#include "parent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 1024

/* The error with which the call fails in the sweep, or 0 if it does not. */
static int
plan_error(enum soft_call call, unsigned int number, const char *name)
{
	const struct soft_rules *calls = &soft_fault_options.calls;
	const struct soft_rule *rule;

	if (!calls->count)
		return soft_calls[call].errors[0];
	for (unsigned int i = 0; i < calls->count; i++) {
		rule = &calls->rules[i];
		if (rule->calls[call] && (!rule->process || rule->process == number) &&
		    (!*rule->name || !strcmp(rule->name, name)))
			return rule->error ? rule->error : soft_calls[call].errors[0];
	}
	return 0;
}

/* The process in a run. */
static const struct soft_recorded_process *
plan_process(const struct soft_clean_runs *clean, unsigned int run, unsigned int number)
{
	const struct soft_record *record = &clean->runs[run].record;
	const unsigned int same = soft_point_same_process(&clean->runs[0].record, number, record);

	return &record->process[same - 1];
}

/*
 * How often it makes the call there, or gets something by it: how many threads wait for more at the
 * end is chance.
 */
static unsigned int
plan_count(
    const struct soft_clean_runs *clean, unsigned int run, enum soft_call call, unsigned int number)
{
	const struct soft_recorded_process *process = plan_process(clean, run, number);

	return soft_call_gets(call) ? process->got[call] : process->calls[call];
}

bool
soft_sweep_plan_varies(const struct soft_clean_runs *clean)
{
	for (unsigned int number = 1; number <= SOFT_RECORD_PROCESSES; number++)
		for (enum soft_call call = 0; call < SOFT_CALL_COUNT; call++)
			for (unsigned int run = 1; run < clean->count; run++)
				if (plan_count(clean, run, call, number) !=
				    plan_count(clean, 0, call, number))
					return true;
	return false;
}

/* In how many runs the process makes the call so often. */
static unsigned int
plan_agree(const struct soft_clean_runs *clean, enum soft_call call, unsigned int number,
    unsigned int calls)
{
	unsigned int agree = 0;

	for (unsigned int run = 0; run < clean->count; run++)
		agree += plan_count(clean, run, call, number) == calls;
	return agree;
}

/* Those that more than half of the runs make: some end before the last ones. */
static unsigned int
plan_most(const struct soft_clean_runs *clean, enum soft_call call, unsigned int number)
{
	unsigned int calls, made;

	for (calls = 0; calls < soft_fault_options.depth; calls++) {
		made = 0;
		for (unsigned int run = 0; run < clean->count; run++)
			made += plan_count(clean, run, call, number) > calls;
		if (made * 2 <= clean->count)
			break;
	}
	return calls;
}

/*
 * How many calls of the process fail, one after the other.  What a call gets is the same in each
 * run.  Else, where threads or processes race, as in a loop that waits, a run has another number of
 * calls than the next one, and the same number of a call is not the same call: then only the first
 * one fails, if most runs make it.  One run in three may differ.  Such a loop has a number of its
 * own in nearly each run, and what differs now and then does so in one of ten: with a limit between
 * the two, chance does not decide how a sweep goes.
 */
static unsigned int
plan_calls(
    const struct soft_clean_runs *clean, enum soft_call call, unsigned int number, bool *race)
{
	const unsigned int most = plan_most(clean, call, number);
	unsigned int calls;

	*race = false;
	if (soft_call_gets(call))
		return most;
	for (unsigned int run = 0; run < clean->count; run++) {
		calls = plan_count(clean, run, call, number);
		if (plan_agree(clean, call, number, calls) * 3 >= clean->count * 2)
			return calls < soft_fault_options.depth ? calls : soft_fault_options.depth;
	}
	*race = true;
	return most > 0;
}

/*
 * What rules call the process: its number if its command is another one each time, as one with a
 * number of a process or the name of a temporary file.
 */
static void
plan_name_process(
    const struct soft_clean_runs *clean, unsigned int number, char name[SOFT_PROCESS_NAME])
{
	const struct soft_record *first = &clean->runs[0].record;
	const char *own = first->process[number - 1].name;
	unsigned int same;

	soft_record_process_name(first, number, name);
	for (unsigned int i = 1; i < clean->count; i++) {
		same = soft_point_same_process(first, number, &clean->runs[i].record);
		if (strcmp(clean->runs[i].record.process[same - 1].name, own) != 0)
			snprintf(name, SOFT_PROCESS_NAME, "%u", number);
	}
}

void
soft_sweep_plan_add(struct soft_plan *plan, const struct soft_point *point)
{
	/* In parts, of which each is large. */
	if (plan->count % POINTS == 0) {
		plan->points =
		    reallocarray(plan->points, plan->count + POINTS, sizeof *plan->points);
		if (!plan->points)
			soft_parent_fail("points");
	}
	plan->points[plan->count++] = *point;
}

static int
plan_compare_points(const void *left, const void *right)
{
	const struct soft_point *a = left, *b = right;
	const int order = strcmp(a->process, b->process);

	if (order)
		return order;
	if (a->call != b->call)
		return a->call < b->call ? -1 : 1;
	return a->n < b->n ? -1 : a->n > b->n;
}

/* The order does not depend on which process made its first call earlier. */
struct soft_plan
soft_sweep_plan(const struct soft_clean_runs *clean)
{
	struct soft_point point = { 0 };
	struct soft_plan plan = { 0 };
	unsigned int calls;

	for (unsigned int number = 1; number <= SOFT_RECORD_PROCESSES; number++) {
		plan_name_process(clean, number, point.process);
		for (point.call = 0; point.call < SOFT_CALL_COUNT; point.call++) {
			calls = plan_calls(clean, point.call, number, &point.races);
			point.error = plan_error(point.call, number, point.process);
			for (point.n = 1; point.error && point.n <= calls; point.n++)
				soft_sweep_plan_add(&plan, &point);
		}
	}
	if (plan.count)
		qsort(plan.points, plan.count, sizeof *plan.points, plan_compare_points);
	return plan;
}
