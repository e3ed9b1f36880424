/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay -- the command that repeats a run, which reports have
 */
#ifndef SOFT_RUN_REPLAY_H
#define SOFT_RUN_REPLAY_H

#include "softverbs/fault/record.h"

#include <stdio.h>

/*
 * Puts it into the environment, in two parts: a report may add an option between them.  `argv` is
 * the whole command.
 */
void soft_replay_set(char **argv, char **program);

/*
 * Prints which calls have failed, and the command with which they fail again: on standard error, or
 * to the file of --report.
 */
void soft_replay_print_faults(const struct soft_record *record, char **argv, char **program);

/*
 * Prints "softverbs-run --faults=RULES", the other options of the command, and the program; `rules`
 * NULL: with those of the command.
 */
void soft_replay_print(FILE *stream, const char *rules, char **argv, char **program);

#endif
