/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sweep_point -- one run of a sweep, and what became of it
 */
#ifndef SOFT_RUN_SWEEP_POINT_H
#define SOFT_RUN_SWEEP_POINT_H

#include "deaths.h"
#include "keeper.h"
#include "softverbs/fault/record.h"

#include <sys/types.h>

enum soft_sweep_result {
	SOFT_SWEEP_MISSED,  /* the call was not made */
	SOFT_SWEEP_WENT_ON, /* the exit status is 0 */
	SOFT_SWEEP_ENDED,   /* it is another one */
	SOFT_SWEEP_RACED,   /* one of these three, and the next time perhaps another one */
	SOFT_SWEEP_LEAK, /* the exit status is 0, and there are objects that no other run leaves */
	SOFT_SWEEP_LOST, /* the exit status is 0, and --compare says that data are lost */
	SOFT_SWEEP_CRASH,
	SOFT_SWEEP_HANG,
	SOFT_SWEEP_RESULTS
};

extern const char *const soft_sweep_results[SOFT_SWEEP_RESULTS];

/* Whether it is reported. */
static inline bool
soft_sweep_is_finding(enum soft_sweep_result result)
{
	return result >= SOFT_SWEEP_LEAK;
}

struct soft_point {
	char process[SOFT_PROCESS_NAME]; /* as rules have it */
	unsigned int n;			 /* of the call; 0: a run without faults */
	enum soft_call call;
	int error;
	unsigned int tries; /* runs in which the call was not made */
	bool races;	    /* the call is not made as often each time */
	bool done;
	enum soft_sweep_result result;
	char detail[240]; /* printable: "SIGSEGV", "1 memory region" */
};

/* What a worker leaves for the sweep, in memory of both. */
struct soft_sweep_run {
	bool done;
	bool lost; /* so says --compare */
	struct soft_outcome outcome;
	struct soft_record record;
	struct soft_deaths deaths;
};

struct soft_sweep_place {
	char **program;
	const char *folder;  /* of this run: its output, and where its processes meet */
	const char *clean;   /* the output of a run without faults */
	const char *compare; /* a command, or NULL */
	uint64_t limit;	     /* nanoseconds */
};

/* Starts the run in a child, and returns its number. */
pid_t soft_point_start(const struct soft_point *point, const struct soft_sweep_place *place,
    struct soft_sweep_run *run);

/* The same for the command of --compare, with two empty files: whether it is there. */
pid_t soft_point_try_compare(const struct soft_sweep_place *place);

/* "ibv_create_cq:nth=1:process=1:errno=ENOMEM" */
void soft_point_rule(const struct soft_point *point, char *text, size_t size);

/* The run has ended: what became of it.  `clean` is a run without faults. */
void soft_point_judge(
    struct soft_point *point, const struct soft_sweep_run *run, const struct soft_sweep_run *clean);

/* The number of the process in the other run: that of the same name, or the same number. */
unsigned int soft_point_same_process(
    const struct soft_record *record, unsigned int number, const struct soft_record *other);

/* The signal that says that a program has a bug which ended a process of the run, or 0. */
int soft_point_crash(const struct soft_outcome *outcome);

#endif
