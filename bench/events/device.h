/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device -- the data path of a device that costs the same in every run
 *
 * A library between the engines and softverbs.  Softverbs makes the objects and the connections;
 * the library replaces the operations of the context that an engine uses for each event: post,
 * poll, arm, and the completion channel.  A posted request completes when the benchmark calls
 * device_complete_receives() or device_complete_sends(), and at no other time.
 *
 * The library makes no call to the C library on the data path, so that all instructions of the
 * device are in its own object, and it counts the system calls that it makes, so that they can be
 * subtracted.
 */
#ifndef BENCH_DEVICE_H
#define BENCH_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What the device executes, in instructions: device_cq.c adds to the code what is missing. */
#define DEVICE_COST_POLL 90	  /* a poll, in addition to its completions */
#define DEVICE_COST_COMPLETION 20 /* a completion that a poll returns */

/* Counts since the process began. */
struct device_counts {
	uint64_t polls, empty_polls, completions, arms, raised, reads, acks, posts, calls;
};

/* The number of completion queues so far; each has the number that it was created with. */
unsigned int device_cqs(void);

/* Completes n receives (or sends) of the queue pairs of a completion queue, which take turns. */
void device_complete_receives(unsigned int cq, unsigned int n);
void device_complete_sends(unsigned int cq, unsigned int n);

/* True if a notification was requested and is not raised yet. */
bool device_is_armed(unsigned int cq);

struct device_counts device_counts(void);

/* The descriptors of the device, which has one for each channel. */
unsigned int device_descriptors(void);

/* Returns when all other threads of the process sleep in system calls that wait. */
void device_await_quiet(void);

/* Returns when *word >= value.  Neither calls the C library. */
void device_await(const _Atomic uint64_t *word, uint64_t value);

/* Before any other call of verbs: the data path is that of softverbs, too. */
void device_pass_through(void);

#endif
