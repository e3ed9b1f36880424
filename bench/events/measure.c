/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "measure.h"

#include "device.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifdef HAVE_VALGRIND_CALLGRIND_H
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#define CALLGRIND_TOGGLE_COLLECT
#endif

/* What bench-events finds in a trace of system calls: getpgid() of these. */
#define MARK_BEGIN 0x424501
#define MARK_END 0x424502

static struct device_counts before, sum;
static uint64_t events, began, took;

#define FIGURES_MAX 16
static struct figure {
	const char *name;
	double value;
} figures[FIGURES_MAX];
static unsigned int figure_count;

void
measure_begin(void)
{
	before = device_counts();
	began = measure_now();
	syscall(SYS_getpgid, MARK_BEGIN);
	CALLGRIND_START_INSTRUMENTATION;
}

void
measure_end(void)
{
	struct device_counts after;

	CALLGRIND_STOP_INSTRUMENTATION;
	syscall(SYS_getpgid, MARK_END);
	took += measure_now() - began;
	after = device_counts();
	sum.polls += after.polls - before.polls;
	sum.empty_polls += after.empty_polls - before.empty_polls;
	sum.completions += after.completions - before.completions;
	sum.arms += after.arms - before.arms;
	sum.raised += after.raised - before.raised;
	sum.reads += after.reads - before.reads;
	sum.acks += after.acks - before.acks;
	sum.posts += after.posts - before.posts;
	sum.calls += after.calls - before.calls;
}

void
measure_pause(void)
{
	CALLGRIND_TOGGLE_COLLECT;
}

void
measure_resume(void)
{
	CALLGRIND_TOGGLE_COLLECT;
}

uint64_t
measure_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void
measure_events(uint64_t more)
{
	events += more;
}

void
measure_figure(const char *name, double value)
{
	measure_must(figure_count < FIGURES_MAX, "too many figures");
	figures[figure_count++] = (struct figure){ name, value };
}

void
measure_report(const char *engine, const char *workload)
{
	bool rated = false;

	printf("{\"engine\": \"%s\", \"workload\": \"%s\", \"events\": %lu, \"polls\": %lu, "
	       "\"empty_polls\": %lu, \"completions\": %lu, \"arms\": %lu, \"raised\": %lu, "
	       "\"reads\": %lu, \"acks\": %lu, \"posts\": %lu, \"device_calls\": %lu",
	    engine, workload, events, sum.polls, sum.empty_polls, sum.completions, sum.arms,
	    sum.raised, sum.reads, sum.acks, sum.posts, sum.calls);
	for (unsigned int i = 0; i < figure_count; i++)
		rated = rated || !strcmp(figures[i].name, "rate");
	if (took && !rated)
		measure_figure("rate", (double)events * 1e9 / (double)took);
	for (unsigned int i = 0; i < figure_count; i++)
		printf(", \"%s\": %g", figures[i].name, figures[i].value);
	printf("}\n");
	fflush(stdout);
	_exit(0);
}

void
measure_must(int condition, const char *what)
{
	if (condition)
		return;
	perror(what);
	_exit(1);
}
