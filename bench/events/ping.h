/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ping -- two threads of a process that answer each other, over softverbs
 *
 * Or one sends a stream to the other.
 */
#ifndef BENCH_PING_H
#define BENCH_PING_H

#include <stdint.h>
#include <sys/types.h>

#define PING_POSTED 128 /* receives of an end */
#define PING_BATCH 16

/* How an end receives and sends; there are two ends, 0 and 1. */
struct ping {
	void (*open)(void);
	void (*wait)(unsigned int end); /* returns when a message has come */
	void (*send)(unsigned int end);
	/*
	 * Receives what is sent to end 1, up to sixteen messages at once, and counts them; does not
	 * return.  NULL: it has no stream.
	 */
	void (*receive)(_Atomic uint64_t *received);
};

/*
 * Loops over verbs: one that sleeps, and one that polls; and the same ends with librearm, which
 * spins for so many microseconds as BENCH_SPIN says.  ping_verbs.c, ping_librearm.c
 */
extern const struct ping ping_raw, ping_spin, ping_librearm;

#endif
