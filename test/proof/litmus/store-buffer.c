/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store-buffer -- the arm before the second poll, on the real processor
 *
 * The dispatcher stores "armed" and then loads the queue's tail; the device stores the tail and then
 * loads "armed".  If both loads may overtake the stores, both sides see the old value: the dispatcher
 * sleeps, the device raises no event, and the wake-up is lost.  A processor with store buffers does
 * just that unless the order is asked for, and no sanitizer tells, for nothing here is a data race.
 *
 *   acquire-release  stores release, loads acquire: looks right, loses wake-ups
 *   seq-cst          all four sequentially consistent: what a lock-free queue would need
 *   locked           what softverbs does: push stores the entry and tests "armed" in one section of the
 *                    queue's lock, arm and poll take the same lock
 *
 * Usage: store-buffer [-n ROUNDS] [VARIANT]...
 * Where the two threads never run at the same time -- a busy machine -- the first form cannot lose
 * either: then it is reported as skipped.
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

#define LINE 128		   /* keeps each variable out of its neighbour's cache line */
#define SPINS_BEFORE_YIELD 2000u
#define SEARCH_SECONDS 40.0	   /* how long to look for the loss that must exist */

struct shared {
	_Alignas(LINE) atomic_int armed;
	_Alignas(LINE) atomic_int tail;
	_Alignas(LINE) pthread_mutex_t lock;
	_Alignas(LINE) _Atomic uint64_t dispatcher_at;
	_Alignas(LINE) _Atomic uint64_t device_at;
	_Alignas(LINE) atomic_int event; /* what the device decided in this round */
	_Alignas(LINE) atomic_bool stop;
};

/* A side's part of one round; returns what it saw of the other side. */
struct variant {
	const char *name;
	int (*dispatcher)(struct shared *s);
	int (*device)(struct shared *s);
	bool loses;
};

static int
weak_dispatcher(struct shared *s)
{
	atomic_store_explicit(&s->armed, 1, memory_order_release);
	return atomic_load_explicit(&s->tail, memory_order_acquire);
}

static int
weak_device(struct shared *s)
{
	atomic_store_explicit(&s->tail, 1, memory_order_release);
	return atomic_load_explicit(&s->armed, memory_order_acquire);
}

static int
strong_dispatcher(struct shared *s)
{
	atomic_store(&s->armed, 1);
	return atomic_load(&s->tail);
}

static int
strong_device(struct shared *s)
{
	atomic_store(&s->tail, 1);
	return atomic_load(&s->armed);
}

static int
locked_dispatcher(struct shared *s)
{
	int tail;

	pthread_mutex_lock(&s->lock);
	atomic_store_explicit(&s->armed, 1, memory_order_relaxed);
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_lock(&s->lock);
	tail = atomic_load_explicit(&s->tail, memory_order_relaxed);
	pthread_mutex_unlock(&s->lock);
	return tail;
}

static int
locked_device(struct shared *s)
{
	int armed;

	pthread_mutex_lock(&s->lock);
	atomic_store_explicit(&s->tail, 1, memory_order_relaxed);
	armed = atomic_load_explicit(&s->armed, memory_order_relaxed);
	pthread_mutex_unlock(&s->lock);
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
};

/* Each round has two meetings: one before the race, one when both results stand. */
static void *
device_main(void *arg)
{
	const struct device_run *run = arg;
	struct shared *s = run->shared;

	for (uint64_t at = 1;; at += 2) {
		if (!meet(s, &s->device_at, &s->dispatcher_at, at))
			break;
		atomic_store_explicit(&s->event, run->variant->device(s), memory_order_release);
		if (!meet(s, &s->device_at, &s->dispatcher_at, at + 1))
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

/* Runs rounds; for a variant that must lose, goes on until it has or the search time is over. */
static uint64_t
race(const struct variant *v, uint64_t rounds, uint64_t *lost, double *seconds)
{
	static struct shared s;
	struct device_run run = { &s, v };
	struct timespec start;
	pthread_t device;
	uint64_t done = 0, at = 1;
	int tail, r;

	atomic_store(&s.dispatcher_at, 0);
	atomic_store(&s.device_at, 0);
	atomic_store(&s.stop, false);
	pthread_mutex_init(&s.lock, NULL);
	r = pthread_create(&device, NULL, device_main, &run);
	if (r) {
		fprintf(stderr, "store-buffer: cannot start a thread: %s\n", strerror(r));
		exit(1);
	}
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (*lost = 0; done < rounds || (v->loses && *lost == 0); done++, at += 2) {
		if (done >= rounds && seconds_since(&start) > SEARCH_SECONDS)
			break;
		atomic_store_explicit(&s.armed, 0, memory_order_relaxed);
		atomic_store_explicit(&s.tail, 0, memory_order_relaxed);
		(void)meet(&s, &s.dispatcher_at, &s.device_at, at);
		tail = v->dispatcher(&s);
		(void)meet(&s, &s.dispatcher_at, &s.device_at, at + 1);
		if (!tail && !atomic_load_explicit(&s.event, memory_order_acquire))
			(*lost)++;
	}
	*seconds = seconds_since(&start);
	atomic_store(&s.stop, true);
	pthread_join(device, NULL);
	pthread_mutex_destroy(&s.lock);
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
	double seconds;
	char *end;

	while ((opt = getopt(argc, argv, "n:")) != -1) {
		if (opt != 'n')
			return 2;
		errno = 0;
		rounds = strtoull(optarg, &end, 10);
		if (errno || *end || rounds == 0) {
			fprintf(stderr, "store-buffer: -n %s: a number of rounds, at least 1\n", optarg);
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
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		printf("SKIP: one processor has no second store buffer to race with\n");
		return 77;
	}
	for (size_t i = 0; i < VARIANTS; i++) {
		const struct variant *v = &variants[i];

		if (!chosen(v->name, argv + optind, argc - optind))
			continue;
		done = race(v, rounds, &lost, &seconds);
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
