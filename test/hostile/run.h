/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run -- the threads that make calls, and the calm in which what is owed must come
 *
 * In a calm these threads stand still, but for those that wait for events in a call.  Then nothing
 * repairs by accident what the library forgot: each EVD that has a taker must be emptied.
 */
#ifndef REARM_HOSTILE_RUN_H
#define REARM_HOSTILE_RUN_H

#include <stdbool.h>
#include <stdint.h>

void run_start(unsigned int threads);
void run_stop(void);

/* Upcalls and agents start nothing new. */
bool run_is_calm(void);

void run_calm(void);

/* Called at each tick: ends the run if a thread hangs, sends home who waits for ever. */
void run_watch(uint64_t tick);

#endif
