/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run -- the threads that make calls, and the calms in which all events must be delivered
 *
 * In a calm these threads stop, except those that wait for events in a call.  No other call can
 * then hide an event that the library forgot: each EVD that has a sink must be emptied.
 */
#ifndef REARM_HOSTILE_RUN_H
#define REARM_HOSTILE_RUN_H

#include <stdbool.h>
#include <stdint.h>

void run_start(unsigned int threads);
void run_stop(void);

/* Upcalls and agents make no calls. */
bool run_is_calm(void);

void run_calm(void);

/* Called at each tick.  Ends the run if a thread hangs; interrupts waits without a timeout. */
void run_watch(uint64_t tick);

#endif
