/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ping -- two threads of a process that answer each other, over softverbs
 */
#ifndef BENCH_PING_H
#define BENCH_PING_H

/* How an end receives and sends; there are two ends, 0 and 1. */
struct ping {
	void (*open)(void);
	void (*wait)(unsigned int end); /* returns when a message has come */
	void (*send)(unsigned int end);
};

/* Loops over verbs: one that sleeps, and one that polls.  ping_verbs.c */
extern const struct ping ping_raw, ping_spin;

#endif
