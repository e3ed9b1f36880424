/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * turn -- what the progress thread does between two of its sleeps
 *
 * A turn serves one event.  It must not wait: whatever it waits for, all connections of the process
 * wait for.  In each test, a turn in which the thread gave up the processor by itself ends the
 * process if it took longer than TURN_MAX.
 */
#ifndef SOFT_TURN_H
#define SOFT_TURN_H

#define TURN_MAX 5 /* seconds; a busy machine may hold the owner of a mutex for some time */

/* How often the thread gave up the processor by itself, in all turns that are over. */
unsigned long turn_waits(void);

/* Nothing is to be done, and the thread does nothing: it does not wake at once from each sleep. */
void turn_expect_idle(void);

#endif
