/* SPDX-License-Identifier: BSD-3-Clause */
#include "turn.h"

#include "lib/runner.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>

typedef int wait_fn(int, struct epoll_event *, int, const struct timespec *, const sigset_t *);

static atomic_ulong waits, turns;

struct turn {
	bool begun;
	long switches;
	struct timespec since;
};

static _Thread_local struct turn turn;

static long
switches_of_this_thread(void)
{
	struct rusage usage = { .ru_nvcsw = 0 };

	(void)getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

unsigned long
turn_waits(void)
{
	return waits;
}

void
turn_expect_idle(void)
{
	const struct timespec moment = { .tv_nsec = 20000000 };
	unsigned long before;

	for (int i = 0; i < 50; i++) {
		before = turns;
		nanosleep(&moment, NULL);
		if (turns - before < 5)
			return;
	}
	ck_abort_msg("the progress thread does not sleep");
}

static void
turn_begin(void)
{
	turns++;
	turn.begun = true;
	turn.switches = switches_of_this_thread();
	clock_gettime(CLOCK_MONOTONIC, &turn.since);
}

static void
turn_end(void)
{
	const long waited = switches_of_this_thread() - turn.switches;
	struct timespec now;

	if (!turn.begun || !waited)
		return;
	waits += (unsigned long)waited;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec - turn.since.tv_sec <= (int)runner_stretch(TURN_MAX))
		return;
	fprintf(stderr, "the progress thread waited %ld times in a turn of %ld s\n", waited,
	    (long)(now.tv_sec - turn.since.tv_sec));
	abort();
}

/* In place of the one of the C library: only the progress thread calls it. */
int
epoll_pwait2(int fd, struct epoll_event *events, int max, const struct timespec *timeout,
    const sigset_t *signals)
{
	static _Atomic(wait_fn *) wait;
	int n;

	if (!wait)
		wait = (wait_fn *)dlsym(RTLD_NEXT, "epoll_pwait2");
	turn_end();
	n = wait(fd, events, max, timeout, signals);
	turn_begin();
	return n;
}
