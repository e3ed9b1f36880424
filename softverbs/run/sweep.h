/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sweep -- a program, once for each of its calls, with that call failing
 *
 * A point is a process of the run (the n-th that has made a call), a call and its number there. The
 * points are those that two runs without faults have in common.  Each run has a folder of its own
 * in which its processes meet, so runs do not meet each other.
 */
#ifndef SOFT_RUN_SWEEP_H
#define SOFT_RUN_SWEEP_H

#define EXIT_FOUND 99

/* Runs all, prints what was found on standard output, and returns the exit status. */
int soft_sweep_run(char **argv, char **program);

#endif
