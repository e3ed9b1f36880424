/* SPDX-License-Identifier: BSD-3-Clause */
/* The jobs of a loop (ready, delayed, deferred), its threads, its end. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "evd/loop.h"
#include "evd/park.h"

#include "script.h"

static struct loop *loop;

struct work {
	struct loop_job job;
	int runs;
	void (*then)(struct work *w);
	uint64_t at;
	struct loop *target;
	pthread_barrier_t *meet;
};

static void
run(struct loop_job *job, uint64_t serial)
{
	struct work *w = (struct work *)job;

	(void)serial;
	w->at = os_clock_ns();
	if (w->then)
		w->then(w);
	__atomic_add_fetch(&w->runs, 1, __ATOMIC_SEQ_CST); /* w may go from here on */
}

static int
runs(struct work *w)
{
	return __atomic_load_n(&w->runs, __ATOMIC_SEQ_CST);
}

static void
await_runs(struct work *w, int n)
{
	while (runs(w) < n)
		script_sleep_ms(1);
}

static void
stepped(void)
{
	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &loop), 0);
}

static void
destroy(void)
{
	loop_free(loop);
	park_close_self();
}

CASE("evd_job:job", stepped, destroy);

TEST(jobs__ready__each_once_in_order_and_unready_takes_off)
{
	struct work w[3] = { { .runs = 0 } };

	for (int i = 0; i < 3; i++) {
		w[i].job.run = run;
		loop_ready(loop, &w[i].job);
	}
	ck_assert(loop_unready(&w[1].job));
	ck_assert(!loop_unready(&w[1].job));
	ck_assert_int_eq(loop_step(loop, 0), 2);
	ck_assert_int_eq(runs(&w[0]), 1);
	ck_assert_int_eq(runs(&w[1]), 0);
	ck_assert_uint_le(w[0].at, w[2].at);
	ck_assert(!loop_unready(&w[0].job));
}

static void
again(struct work *w)
{
	loop_ready(w->target, &w->job);
}

TEST(job_that_becomes_ready_again__one_run_a_turn)
{
	struct work w = { .job = { .run = run }, .then = again, .target = loop };

	loop_ready(loop, &w.job);
	for (int i = 1; i <= 5; i++) {
		ck_assert_int_eq(loop_step(loop, 0), 1);
		ck_assert_int_eq(runs(&w), i);
	}
	ck_assert(loop_unready(&w.job));
}

TEST(delayed_job__not_before_its_time_and_hastened_at_once)
{
	struct work w = { .job = { .run = run } };
	uint64_t before = os_clock_ns();

	loop_ready_later(loop, &w.job, 20000000u);
	ck_assert_int_eq(loop_step(loop, 0), 0);
	while (loop_step(loop, -1) == 0)
		;
	ck_assert_uint_ge(w.at - before, 20000000u);
	loop_hasten(&w.job); /* on no list: nothing */
	ck_assert_int_eq(loop_step(loop, 0), 0);
	loop_ready_later(loop, &w.job, 3600000000000u);
	loop_hasten(&w.job);
	ck_assert_int_eq(loop_step(loop, 0), 1);
	loop_ready_later(loop, &w.job, 3600000000000u);
	ck_assert(loop_unready(&w.job));
	ck_assert_int_eq(loop_step(loop, 0), 0);
}

TEST(doorbell__sleeping_thread__woken_for_jobs_and_delays)
{
	struct work w = { .job = { .run = run } };

	loop_free(loop);
	ck_assert_int_eq(loop_create(LOOP_THREAD, 0, &loop), 0);
	for (int i = 1; i <= 200; i++) {
		loop_ready(loop, &w.job);
		await_runs(&w, i);
	}
	loop_ready_later(loop, &w.job, 5000000u);
	await_runs(&w, 201);
}

TEST(doorbell__idle_afterwards__the_thread_sleeps)
{
	struct work w = { .job = { .run = run } };
	clock_t busy;

	loop_free(loop);
	ck_assert_int_eq(loop_create(LOOP_POOL, 3, &loop), 0);
	for (int i = 1; i <= 50; i++) {
		loop_ready(loop, &w.job);
		while (runs(&w) < i)
			;
	}
	script_sleep_ms(5);
	busy = clock();
	script_sleep_ms(50);
	ck_assert_int_lt(clock() - busy, CLOCKS_PER_SEC / 50);
}

static void
meet(struct work *w)
{
	pthread_barrier_wait(w->meet);
}

static int cancellable = -1;

static void
look_at_signals(struct work *w)
{
	sigset_t blocked;

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	w->at = sigismember(&blocked, SIGUSR1) == 1 && sigismember(&blocked, SIGINT) == 1 &&
		sigismember(&blocked, SIGALRM) == 1;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellable);
}

TEST(thread__blocks_every_signal__its_maker_none)
{
	struct work w = { .job = { .run = run }, .then = look_at_signals };
	sigset_t before, after;

	pthread_sigmask(SIG_SETMASK, NULL, &before);
	loop_free(loop);
	ck_assert_int_eq(loop_create(LOOP_THREAD, 1, &loop), 0);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	ck_assert_int_eq(sigismember(&before, SIGUSR1), sigismember(&after, SIGUSR1));
	ck_assert_int_eq(sigismember(&after, SIGINT), 0);
	loop_ready(loop, &w.job);
	await_runs(&w, 1);
	ck_assert_uint_eq(w.at, 1);
	ck_assert_int_eq(cancellable, PTHREAD_CANCEL_DISABLE);
	loop_free(loop);
	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &loop), 0);
}

TEST(pool__as_many_jobs_at_once_as_threads)
{
	pthread_barrier_t barrier;
	struct work w[4];

	loop_free(loop);
	ck_assert_int_eq(loop_create(LOOP_POOL, 4, &loop), 0);
	pthread_barrier_init(&barrier, NULL, 4);
	for (int i = 0; i < 4; i++) {
		w[i] = (struct work){ .job = { .run = run }, .then = meet, .meet = &barrier };
		loop_ready(loop, &w[i].job);
	}
	for (int i = 0; i < 4; i++)
		await_runs(&w[i], 1);
	loop_free(loop);
	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &loop), 0);
	pthread_barrier_destroy(&barrier);
}

static void
destroy_own(struct work *w)
{
	loop_free(w->target);
	w->target = NULL;
}

/* origin: race.X6 */
TEST(destroy__from_its_own_thread__ends_after_the_job)
{
	static struct work w[2];
	struct loop *own;

	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(loop_create(i ? LOOP_POOL : LOOP_THREAD, i + 1, &own), 0);
		w[i] = (struct work){ .job = { .run = run }, .then = destroy_own, .target = own };
		loop_ready(own, &w[i].job);
		await_runs(&w[i], 1);
	}
	/* The runner checks that neither thread nor descriptor stays. */
}

TEST(hasten__neither_delayed_nor_put_off__left_alone)
{
	struct work w[2] = { { .job = { .run = run } }, { .job = { .run = run } } };

	loop_hasten(&w[0].job); /* on no list yet */
	ck_assert(!loop_unready(&w[0].job));
	ck_assert_int_eq(loop_step(loop, 0), 0);
	loop_ready(loop, &w[0].job);
	loop_ready(loop, &w[1].job);
	loop_hasten(&w[0].job); /* keeps its turn */
	ck_assert_int_eq(loop_step(loop, 0), 2);
	ck_assert_uint_le(w[0].at, w[1].at);
	loop_ready_later(loop, &w[0].job, 3600000000000u);
	ck_assert(loop_unready(&w[0].job));
	loop_hasten(&w[0].job); /* delayed once, but taken back */
	ck_assert_int_eq(loop_step(loop, 0), 0);
	loop_ready(loop, &w[0].job); /* and no longer delayed */
	loop_ready(loop, &w[1].job);
	loop_hasten(&w[0].job);
	ck_assert_int_eq(loop_step(loop, 0), 2);
	ck_assert_uint_le(w[0].at, w[1].at);
	loop_ready_later(loop, &w[0].job, 3600000000000u);
	loop_hasten(&w[0].job);
	loop_ready(loop, &w[1].job);
	loop_hasten(&w[0].job); /* hastened already */
	ck_assert_int_eq(loop_step(loop, 0), 2);
	ck_assert_uint_le(w[0].at, w[1].at);
}

TEST(delayed_jobs__each_in_its_time_whatever_the_order)
{
	static const uint64_t delays[2][3] = { { 4, 8, 12 }, { 12, 8, 4 } };
	struct work w[3];
	uint64_t before;

	for (int order = 0; order < 2; order++) {
		before = os_clock_ns();
		for (int i = 0; i < 3; i++) {
			w[i] = (struct work){ .job = { .run = run } };
			loop_ready_later(loop, &w[i].job, delays[order][i] * 1000000u);
		}
		while (runs(&w[0]) + runs(&w[1]) + runs(&w[2]) < 3)
			(void)loop_step(loop, -1);
		for (int i = 0; i < 3; i++)
			ck_assert_uint_ge(w[i].at - before, delays[order][i] * 1000000u);
	}
}

TEST(delayed_job__due_while_the_loop_is_about_to_sleep__runs)
{
	struct work w = { .job = { .run = run } };

	/* In some of these rounds the time comes between the check of the list and the sleep. */
	for (uint64_t delay = 1; delay < 20000; delay += 20) {
		loop_ready_later(loop, &w.job, delay);
		while (loop_step(loop, -1) == 0)
			;
	}
	ck_assert_int_eq(runs(&w), 1000);
}

TEST(rest__a_job_that_may_run__there_is_something_to_pump)
{
	struct work w[2] = { { .job = { .run = run } }, { .job = { .run = run } } };
	uint64_t until;

	os_self()->loop = loop; /* as inside of a turn */
	loop_defer(loop, &w[0].job);
	ck_assert(loop_sleep_begin(loop, false, &until));
	loop_sleep_end(loop);
	ck_assert(loop_unready(&w[0].job));
	loop_ready(loop, &w[0].job); /* no longer put off */
	ck_assert(!loop_sleep_begin(loop, false, &until));
	loop_defer(loop, &w[1].job);
	ck_assert(!loop_sleep_begin(loop, false, &until));
	ck_assert_int_eq(loop_step(loop, 0), 2);
	loop_defer(loop, &w[0].job);
	ck_assert(loop_unready(&w[0].job));
	loop_ready_later(loop, &w[0].job, 1); /* nor is one that was delayed */
	script_sleep_ms(1);
	ck_assert(!loop_sleep_begin(loop, false, &until));
	ck_assert_int_eq(loop_step(loop, 0), 1);
	os_self()->loop = NULL;
}

static long
mapped_pages(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long pages = 0;

	must(f && fscanf(f, "%ld", &pages) == 1);
	fclose(f);
	return pages;
}

TEST(destroy__from_its_own_thread_again_and_again__no_stack_stays)
{
	static struct work w[24];
	pthread_attr_t attr;
	size_t stack;
	long before = 0;
	int threads_at_rest = runner_count_threads();

	pthread_attr_init(&attr);
	pthread_attr_getstacksize(&attr, &stack);
	pthread_attr_destroy(&attr);
	for (int i = 0; i < 24; i++) {
		struct loop *own;

		if (i == 8)
			before = mapped_pages(); /* the C library keeps a few for reuse */
		ck_assert_int_eq(loop_create(LOOP_THREAD, 1, &own), 0);
		w[i] = (struct work){ .job = { .run = run }, .then = destroy_own, .target = own };
		loop_ready(own, &w[i].job);
		await_runs(&w[i], 1);
		while (runner_count_threads() > threads_at_rest)
			script_sleep_ms(1);
	}
	ck_assert_int_lt((mapped_pages() - before) * sysconf(_SC_PAGESIZE), 8 * (long)stack);
}

TEST(delayed_job__its_time_ends_the_sleep__runs_in_that_turn)
{
	struct work w = { .job = { .run = run } };

	loop_ready_later(loop, &w.job, 5000000u);
	ck_assert_int_eq(loop_step(loop, 60000), 1);
	ck_assert_int_eq(runs(&w), 1);
}

static struct loop *pumped;

static void
look_what_to_pump(struct work *w)
{
	(void)w;
	pumped = loop_to_pump();
}

TEST(pump__on_a_loop_its_own_on_a_pool_none)
{
	struct work w = { .job = { .run = run }, .then = look_what_to_pump };
	struct loop *pool;

	ck_assert_ptr_null(loop_to_pump());
	loop_ready(loop, &w.job);
	ck_assert_int_eq(loop_step(loop, 0), 1);
	ck_assert_ptr_eq(pumped, loop);
	ck_assert_int_eq(loop_create(LOOP_POOL, 1, &pool), 0);
	loop_ready(pool, &w.job);
	await_runs(&w, 2);
	ck_assert_ptr_null(pumped); /* others serve it */
	loop_free(pool);
}
