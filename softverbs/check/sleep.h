/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sleep -- which threads of the process sleep, and what they wait for
 *
 * It is read from /proc/self/task: the state of each thread, the system call that it is in, and the
 * arguments of this call.  So a wait is known in whatever way the program came to it: by libc, by a
 * library that was linked before libibverbs, or by a system call of its own; functions that are
 * interposed see only some of these.  A thread that waits for a processor is not asleep, nor is one
 * that is stopped.
 */
#ifndef SOFT_CHECK_SLEEP_H
#define SOFT_CHECK_SLEEP_H

#include "softverbs/device/soft.h"

/* The name of the thread of the checker, which is none of the program. */
#define SOFT_SENTRY_NAME "softverbs-check"

#define SOFT_SLEEP_ARGUMENTS 6

struct soft_sleeper {
	pid_t thread;
	bool asleep;
	bool timed;	    /* it wakes by itself */
	unsigned long naps; /* how often it has slept until now, if it is timed */
	long call;	    /* its number, or -1 */
	unsigned long arguments[SOFT_SLEEP_ARGUMENTS];
};

struct soft_sleepers {
	struct soft_sleeper *threads; /* of the program, not of the device */
	size_t count;
	bool known;   /* /proc could be read */
	bool running; /* a thread does not sleep */
	bool busy;    /* one of these does not only poll; the caller may know that none does */
	bool timed;   /* one sleeps for a time */
	bool outside; /* one waits for what comes from outside of the process */
};

/* Looks at all threads; soft_sleepers_free() frees what was found. */
void soft_sleepers_look(struct soft_sleepers *sleepers);
void soft_sleepers_free(struct soft_sleepers *sleepers);

/* A thread that sleeps until the descriptor is readable, or NULL; sets the name of its call. */
const struct soft_sleeper *soft_sleepers_on(
    const struct soft_sleepers *sleepers, int fd, const char **call);

/*
 * True if every thread sleeps, without a time limit, and waits for this descriptor alone or for
 * another thread: if the descriptor does not become readable, only a signal wakes them.
 */
bool soft_sleepers_are_stuck(const struct soft_sleepers *sleepers, int fd);

/*
 * True if a thread other than this one sleeps for a time, or for what comes from outside: it can do
 * something when it comes back.
 */
bool soft_sleepers_others_come_back(
    const struct soft_sleepers *sleepers, const struct soft_sleeper *than);

/* How many threads of the program run or want to, but for the calling one; of the first 64. */
unsigned int soft_sleep_count_ready(void);

/* This thread, if it sleeps for a time; or NULL. */
const struct soft_sleeper *soft_sleepers_napping(
    const struct soft_sleepers *sleepers, pid_t thread);

/* True if this thread is asleep. */
bool soft_sleepers_asleep(const struct soft_sleepers *sleepers, pid_t thread);

#endif
