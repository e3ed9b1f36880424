/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay -- the command that repeats a run, which reports have
 */
#ifndef SOFT_RUN_REPLAY_H
#define SOFT_RUN_REPLAY_H

/*
 * Puts it into the environment, in two parts: a report may add an option between them.  `argv` is
 * the whole command.
 */
void soft_replay_set(char **argv, char **program);

#endif
