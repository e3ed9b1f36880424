/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * baseline -- what a baseline program shares: two pinned processes, a clock, and the median
 *
 * A baseline does by bare means what a program on softverbs does by verbs: the parent is the
 * client, the child the server.  It is called "NAME SERVER-CPU CLIENT-CPU SECONDS" and prints one
 * number, in the unit that perftest prints: MB/s of 2^20 bytes, or microseconds for half of a round
 * trip.
 */
#ifndef BENCH_BASELINE_H
#define BENCH_BASELINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BASELINE_BLOCK 65536u /* the size of a copy */
#define BASELINE_MB 1048576.0 /* perftest's MB */

/*
 * Reads the command line, pins this process to the processor of the client; returns the
 * nanoseconds.
 */
uint64_t baseline_start(int argc, char **argv);

/*
 * Forks the server, which runs server(argument) on its own processor until baseline_end() or the
 * end of the client kills it.
 */
pid_t baseline_serve(void (*server)(void *argument), void *argument);
void baseline_end(pid_t server);

/* Memory that a child shares, or, if it is not shared, that both have at the same address. */
void *baseline_memory(size_t size, int shared);

uint64_t baseline_now(void); /* nanoseconds */

/* Prints the rate of `blocks` copies in that time. */
void baseline_print_rate(uint64_t blocks, uint64_t nanoseconds);

/* Calls round_trip(argument) again and again and prints the median of half of its time. */
void baseline_ping(uint64_t nanoseconds, void (*round_trip)(void *argument), void *argument);

#endif
