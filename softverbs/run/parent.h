/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * parent -- softverbs-run as the parent of a program that is checked, or whose calls fail
 */
#ifndef SOFT_RUN_PARENT_H
#define SOFT_RUN_PARENT_H

#include <config.h>

#include <stdbool.h>

struct soft_run;

#define EXIT_REPORTED 99
#define EXIT_USAGE 125
#define EXIT_CANNOT_RUN 126
#define EXIT_NOT_FOUND 127

/*
 * Runs the program, passes on the signals that others send, stops with it, and returns its status:
 * EXIT_REPORTED if that is 0 and it, or a child of it, made a report, or if the run was ended after
 * a report.  If a signal ended the program, the same ends this process.  `argv` is the whole
 * command, to be repeated.
 * With `faults` the calls that have failed are printed at the end.
 */
int soft_parent_run(char **argv, char **program, bool faults);

/*
 * Runs the program of `run` with the limit and the mask that it has, and fills in the rest.  With
 * `records` its calls are counted in run->recorded.
 */
void soft_parent_keep(struct soft_run *run, bool records);

void soft_parent_remove_files(const struct soft_run *run);

/* After execvp(): prints why, and returns the status. */
int soft_parent_exec_failed(const char *program, int error);

/* Prints what failed, with errno, and ends the process. */
void soft_parent_fail(const char *what) __attribute__((noreturn));

/*
 * The folder for temporary files, allocated.  It is the same for a process that has changed its
 * folder.
 */
char *soft_parent_temporary(void);

/* Sets a variable of the environment, or ends the process. */
void soft_parent_set(const char *variable, const char *value);

#endif
