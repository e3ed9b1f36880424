/* SPDX-License-Identifier: BSD-3-Clause */
#include "baseline.h"

#include <err.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SAMPLES (1u << 20)

static int server_cpu;

static long
number(const char *text, const char *what, long least, long most)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < least || value > most)
		errx(2, "%s: no %s", text, what);
	return value;
}

static void
pin(pid_t process, int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(process, sizeof one, &one))
		err(1, "cannot run on processor %d", cpu);
}

uint64_t
baseline_start(int argc, char **argv)
{
	double seconds;
	char *end;

	if (argc != 4)
		errx(2, "usage: SERVER-CPU CLIENT-CPU SECONDS");
	server_cpu = (int)number(argv[1], "processor", 0, CPU_SETSIZE - 1);
	pin(0, (int)number(argv[2], "processor", 0, CPU_SETSIZE - 1));
	seconds = strtod(argv[3], &end);
	if (end == argv[3] || *end || !(seconds > 0 && seconds <= 3600))
		errx(2, "%s: no time in seconds", argv[3]);
	return (uint64_t)(seconds * 1e9);
}

pid_t
baseline_serve(void (*server)(void *), void *argument)
{
	pid_t parent = getpid(), child = fork();

	if (child < 0)
		err(1, "fork");
	if (!child) {
		/* It ends with its parent, also if that ended before this call. */
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
			_exit(1);
		server(argument);
		_exit(1);
	}
	pin(child, server_cpu);
	return child;
}

void
baseline_end(pid_t server)
{
	(void)kill(server, SIGKILL);
	(void)waitpid(server, NULL, 0);
}

void *
baseline_memory(size_t size, int shared)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_ANONYMOUS | (shared ? MAP_SHARED : MAP_PRIVATE), -1, 0);

	if (memory == MAP_FAILED)
		err(1, "mmap");
	return memory;
}

uint64_t
baseline_now(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void
baseline_print_rate(uint64_t blocks, uint64_t nanoseconds)
{
	printf(
	    "%.2f\n", (double)blocks * BASELINE_BLOCK / BASELINE_MB / ((double)nanoseconds * 1e-9));
}

/*
 * A clock as cheap as that of perftest: a round trip by a flag takes little more than
 * clock_gettime().
 */
static uint64_t
ticks(void)
{
#if defined __x86_64__ || defined __i386__
	return __builtin_ia32_rdtsc();
#else
	return baseline_now();
#endif
}

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void
baseline_ping(uint64_t nanoseconds, void (*round_trip)(void *), void *argument)
{
	uint64_t *sample = calloc(SAMPLES, sizeof *sample);
	uint64_t began, first, last, now, elapsed;
	size_t n = 0;

	if (!sample)
		err(1, "calloc");
	/* One before the time begins: the server runs, and its pages are there. */
	round_trip(argument);
	began = baseline_now();
	first = last = ticks();
	do {
		round_trip(argument);
		now = ticks();
		sample[n++] = now - last;
		last = now;
	} while (n < SAMPLES && (n % 256 || baseline_now() - began < nanoseconds));
	elapsed = baseline_now() - began;
	qsort(sample, n, sizeof *sample, compare);
	printf("%.3f\n",
	    (double)sample[n / 2] / 2 * ((double)elapsed / (double)(last - first)) / 1000);
	free(sample);
}
