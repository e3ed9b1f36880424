/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store-buffer -- the arm before the second poll, on the real processor
 *
 * The dispatcher stores "armed" and then loads the queue's tail; the device stores the tail and
 * then loads "armed".  If both loads may overtake the stores, both sides see the old value: the
 * dispatcher sleeps, the device raises no event, and the wake-up is lost.  A processor with store
 * buffers does just that unless the order is asked for, and no sanitizer tells, for nothing here is
 * a data race.
 *
 *   acquire-release  stores release, loads acquire: looks right, loses wake-ups
 *   seq-cst          all four sequentially consistent: what a lock-free queue would need
 *   locked           what softverbs does: push stores the entry and tests "armed" in one section
 *                    of the queue's lock, arm and poll take the same lock
 *
 * What counts is rounds, however long they take.  The threads meet by spinning, each on a processor
 * of its own, so that on a busy machine both keep theirs until their turns are over, and turns
 * overlap.  A processor that keeps the first form in order, too, loses nothing in it: then it is
 * reported as skipped.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "test/proof/pin.h"

static const char usage[] = "usage: store-buffer [-n ROUNDS] [acquire-release|seq-cst|locked]...\n";

#define LINE 128   /* keeps each variable out of its neighbour's cache line */
#define CELLS 512u /* rounds from one meeting of the two threads to the next */
#define SPINS_BEFORE_YIELD 1000000u
#define SEARCH_ROUNDS (1u << 20) /* that the loss which must exist is looked for in, at least */

/*
 * One round.  Each variable is cleared by the side that stores it, so that neither finds all of
 * them in its own cache and runs ahead of the other.
 */
struct cell {
	_Alignas(LINE) atomic_int armed;
	int tail_seen; /* by the dispatcher */
	_Alignas(LINE) atomic_int tail;
	int event; /* what the device decided */
	_Alignas(LINE) pthread_mutex_t lock;
};

struct shared {
	struct cell cells[CELLS];
	_Alignas(LINE) _Atomic uint64_t dispatcher_at;
	_Alignas(LINE) _Atomic uint64_t device_at;
	_Alignas(LINE) atomic_bool stop;
};

/* A side's part of one round; returns what it saw of the other side. */
struct variant {
	const char *name;
	int (*dispatcher)(struct cell *c);
	int (*device)(struct cell *c);
	bool loses;
};

static int
weak_dispatcher(struct cell *c)
{
	atomic_store_explicit(&c->armed, 1, memory_order_release);
	return atomic_load_explicit(&c->tail, memory_order_acquire);
}

static int
weak_device(struct cell *c)
{
	atomic_store_explicit(&c->tail, 1, memory_order_release);
	return atomic_load_explicit(&c->armed, memory_order_acquire);
}

static int
strong_dispatcher(struct cell *c)
{
	atomic_store(&c->armed, 1);
	return atomic_load(&c->tail);
}

static int
strong_device(struct cell *c)
{
	atomic_store(&c->tail, 1);
	return atomic_load(&c->armed);
}

static int
locked_dispatcher(struct cell *c)
{
	int tail;

	pthread_mutex_lock(&c->lock);
	atomic_store_explicit(&c->armed, 1, memory_order_relaxed);
	pthread_mutex_unlock(&c->lock);
	pthread_mutex_lock(&c->lock);
	tail = atomic_load_explicit(&c->tail, memory_order_relaxed);
	pthread_mutex_unlock(&c->lock);
	return tail;
}

static int
locked_device(struct cell *c)
{
	int armed;

	pthread_mutex_lock(&c->lock);
	atomic_store_explicit(&c->tail, 1, memory_order_relaxed);
	armed = atomic_load_explicit(&c->armed, memory_order_relaxed);
	pthread_mutex_unlock(&c->lock);
	return armed;
}

static const struct variant variants[] = {
	{ "acquire-release", weak_dispatcher, weak_device, true },
	{ "seq-cst", strong_dispatcher, strong_device, false },
	{ "locked", locked_dispatcher, locked_device, false },
};

#define VARIANTS (sizeof variants / sizeof variants[0])

/* Waits until the other side reached the round; false when the run is over. */
static bool
meet(struct shared *s, _Atomic uint64_t *mine, _Atomic uint64_t *other, uint64_t at)
{
	unsigned int spins = 0;

	atomic_store(mine, at);
	while (atomic_load(other) < at) {
		if (atomic_load_explicit(&s->stop, memory_order_relaxed))
			return false;
		if (++spins % SPINS_BEFORE_YIELD == 0)
			sched_yield();
	}
	return true;
}

struct device_run {
	struct shared *shared;
	const struct variant *variant;
	const cpu_set_t *processors;
};

/* Three meetings: before the race, when all results stand, and when they have been counted. */
static void *
device_main(void *arg)
{
	const struct device_run *run = arg;
	struct shared *s = run->shared;

	pin(run->processors, 1);
	for (uint64_t at = 1;; at += 3) {
		for (unsigned int i = 0; i < CELLS; i++)
			atomic_store_explicit(&s->cells[i].tail, 0, memory_order_relaxed);
		if (!meet(s, &s->device_at, &s->dispatcher_at, at))
			break;
		for (unsigned int i = 0; i < CELLS; i++)
			s->cells[i].event = run->variant->device(&s->cells[i]);
		if (!meet(s, &s->device_at, &s->dispatcher_at, at + 1) ||
		    !meet(s, &s->device_at, &s->dispatcher_at, at + 2))
			break;
	}
	return NULL;
}

static double
seconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

/* The dispatcher's side of CELLS rounds; returns how many lost their wake-up. */
static uint64_t
race_once(struct shared *s, const struct variant *v, uint64_t at)
{
	uint64_t lost = 0;

	for (unsigned int i = 0; i < CELLS; i++)
		atomic_store_explicit(&s->cells[i].armed, 0, memory_order_relaxed);
	(void)meet(s, &s->dispatcher_at, &s->device_at, at);
	for (unsigned int i = 0; i < CELLS; i++)
		s->cells[i].tail_seen = v->dispatcher(&s->cells[i]);
	(void)meet(s, &s->dispatcher_at, &s->device_at, at + 1);
	for (unsigned int i = 0; i < CELLS; i++)
		lost += !s->cells[i].tail_seen && !s->cells[i].event;
	(void)meet(s, &s->dispatcher_at, &s->device_at, at + 2);
	return lost;
}

/* Runs rounds; for a variant that must lose, goes on until it has or SEARCH_ROUNDS are over. */
static uint64_t
race(const struct variant *v, const cpu_set_t *processors, uint64_t rounds, uint64_t *lost,
    double *seconds)
{
	static struct shared s;
	struct device_run run = { &s, v, processors };
	struct timespec start;
	pthread_t device;
	uint64_t done = 0;
	int r;

	atomic_store(&s.dispatcher_at, 0);
	atomic_store(&s.device_at, 0);
	atomic_store(&s.stop, false);
	for (unsigned int i = 0; i < CELLS; i++)
		pthread_mutex_init(&s.cells[i].lock, NULL);
	r = pthread_create(&device, NULL, device_main, &run);
	if (r) {
		fprintf(stderr, "store-buffer: cannot start a thread: %s\n", strerror(r));
		exit(1);
	}
	clock_gettime(CLOCK_MONOTONIC, &start);
	*lost = 0;
	for (uint64_t at = 1; done < rounds || (v->loses && *lost == 0 && done < SEARCH_ROUNDS);
	     at += 3) {
		*lost += race_once(&s, v, at);
		done += CELLS;
	}
	*seconds = seconds_since(&start);
	atomic_store(&s.stop, true);
	pthread_join(device, NULL);
	for (unsigned int i = 0; i < CELLS; i++)
		pthread_mutex_destroy(&s.cells[i].lock);
	return done;
}

static bool
chosen(const char *name, char **names, int n)
{
	for (int i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return n == 0;
}

static bool
known(const char *name)
{
	for (size_t i = 0; i < VARIANTS; i++)
		if (strcmp(variants[i].name, name) == 0)
			return true;
	return false;
}

int
main(int argc, char **argv)
{
	uint64_t rounds = 1000000, done, lost;
	int opt, passed = 0, failed = 0;
	const char *verdict;
	cpu_set_t processors;
	double seconds;
	char *end;

	if (argc == 2 && !strcmp(argv[1], "--help"))
		return fputs(usage, stdout) < 0;
	while ((opt = getopt(argc, argv, "n:")) != -1) {
		if (opt != 'n') {
			fputs(usage, stderr);
			return 2;
		}
		errno = 0;
		rounds = strtoull(optarg, &end, 10);
		if (errno || *end || rounds == 0) {
			fprintf(stderr, "store-buffer: -n %s: a number of rounds, at least 1\n",
			    optarg);
			return 2;
		}
	}
	for (int i = optind; i < argc; i++) {
		if (!known(argv[i])) {
			fprintf(stderr,
			    "store-buffer: %s: use acquire-release, seq-cst or locked\n", argv[i]);
			return 2;
		}
	}
	if (sched_getaffinity(0, sizeof processors, &processors) || CPU_COUNT(&processors) < 2) {
		printf("SKIP: one processor has no second store buffer to race with\n");
		return 77;
	}
	pin(&processors, 0);
	for (size_t i = 0; i < VARIANTS; i++) {
		const struct variant *v = &variants[i];

		if (!chosen(v->name, argv + optind, argc - optind))
			continue;
		done = race(v, &processors, rounds, &lost, &seconds);
		if (v->loses && lost == 0) {
			verdict = "SKIP";
		} else if (!v->loses && lost > 0) {
			verdict = "FAIL";
			failed++;
		} else {
			verdict = "ok";
			passed++;
		}
		printf("%-4s %-16s %12" PRIu64 " rounds %10" PRIu64 " lost wake-ups %8.1f s%s\n",
		    verdict, v->name, done, lost, seconds, v->loses ? "  (must lose some)" : "");
		fflush(stdout);
	}
	printf("%d passed, %d failed\n", passed, failed);
	return failed != 0;
}
