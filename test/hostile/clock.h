/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock -- two clocks that do not run on a busy or stopped machine
 *
 * A stamp is a number that only grows: of two actions that do not overlap, the earlier has the
 * smaller stamps.
 * The oracle orders events and calls by stamps.
 *
 * A tick is one round trip through the library: a short sleep, a software event on an adapter of
 * its own, and the upcall for it.  A busy machine makes few ticks and a stopped process none, so a
 * bound that is counted in ticks does not fail because of either.
 */
#ifndef REARM_HOSTILE_CLOCK_H
#define REARM_HOSTILE_CLOCK_H

#include <stdint.h>

#define TICK_NS 2000000L /* the shortest tick */

uint64_t clock_stamp(void);
uint64_t clock_tick(void);

/* Sleeps for about that time.  Not for the oracle. */
void clock_nap_us(unsigned int us);
/* Seconds on the monotonic clock, for the length of the run and for messages. */
double clock_seconds(void);

/* The thread that makes ticks, on an adapter with this name.  `each` is called after each tick. */
void clock_start(const char *ia_name, void (*each)(uint64_t tick));
void clock_stop(void);

#endif
