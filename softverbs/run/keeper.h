/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * keeper -- the process between softverbs-run and a program that is checked
 *
 * It has no children but the program, and what a process of the run leaves when it ends becomes its
 * child.  So the processes of a run are exactly those below it.  The process that became
 * softverbs-run may have had children before: they are brothers of the keeper, and never touched.
 * It needs no privilege.
 *
 * It reaps them; passes on the signals that softverbs-run gets; lets softverbs-run stop and go on
 * with the program; ends the run when the checker has ended one of its processes and the others do
 * nothing any more, or when its time is over; and ends it when softverbs-run was killed.
 *
 * softverbs-run writes the record of each signal that it is sent into a pipe.  The keeper is a
 * process of the same group, and younger: what is sent to the group, by a terminal or a shell, has
 * come to it before.  Such a signal has come to the program, too, and is not passed on.
 */
#ifndef SOFT_RUN_KEEPER_H
#define SOFT_RUN_KEEPER_H

#include "softverbs/check/tally.h"
#include "softverbs/fault/record.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What softverbs-run learns from it, in memory of both. */
struct soft_outcome {
	bool known;	 /* it was not killed */
	bool ended;	 /* the keeper has ended the run */
	bool late;	 /* because its time was over */
	int status;	 /* of the program, as wait() returns it */
	int died;	 /* the signal that ended another process, or 0 */
	uint64_t length; /* nanoseconds */

	/* The program was stopped so many times, by this signal; 0: it goes on. */
	atomic_uint stops;
	atomic_int stopped;
	atomic_uint followed; /* by softverbs-run, which is not stopped by the last one any more */
};

struct soft_run {
	char **program;
	pid_t parent;		  /* softverbs-run */
	int sent;		  /* has a siginfo_t for each signal; ends when it is killed */
	const sigset_t *signals;  /* those that are taken: blocked */
	const sigset_t *mask;	  /* of the program */
	bool ignores_children;	  /* the program starts with SIGCHLD ignored */
	struct soft_tally *tally; /* in the file `path` */
	char *path;
	char *record; /* the file of fault/record.h, or NULL */
	struct soft_record *recorded;
	uint64_t limit; /* nanoseconds in which all processes of the run end, or 0 */
	struct soft_outcome *outcome;
};

/* Runs the program, and ends the process.  In a child of softverbs-run. */
void soft_keeper_run(const struct soft_run *run) __attribute__((noreturn));

#endif
