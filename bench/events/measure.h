/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * measure -- the part of a run that counts
 *
 * Between measure_begin() and measure_end() callgrind counts instructions, and bench-events counts
 * the system calls of a trace, in which two calls mark begin and end.  There may be many such
 * windows; they add up.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdint.h>

void measure_begin(void);
void measure_end(void);

/*
 * What the calling thread executes from pause to resume is not counted, but its system calls are.
 */
void measure_pause(void);
void measure_resume(void);

/* Nanoseconds of a clock that does not stop. */
uint64_t measure_now(void);

/* More of the same events were handled in the windows. */
void measure_events(uint64_t events);

/* Another figure of this run; without "rate" that is the events a second of the windows. */
void measure_figure(const char *name, double value);

/*
 * Prints what the device counted in the windows, as one line of JSON, and ends the process without
 * tidying up.
 */
_Noreturn void measure_report(const char *engine, const char *workload);

/* Ends the process unless the condition holds. */
void measure_must(int condition, const char *what);

#endif
