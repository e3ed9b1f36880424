/* SPDX-License-Identifier: BSD-3-Clause */
/* The park, in which a thread sleeps, and how it is woken. */
#include "evd/park.h"

#include <pthread.h>
#include <signal.h>

#include "evd/loop.h"

#include "script.h"

static struct park *park;
static struct park_list list;
static struct park_entry entry;

static void
setup(void)
{
	park = park_self();
	ck_assert_ptr_nonnull(park);
	park_list_add(&list, &entry, park);
}

static void
teardown(void)
{
	park_list_remove(&list, &entry);
	ck_assert_ptr_null(list.first);
	park_close_self();
}

CASE("evd_park:park", setup, teardown);

TEST(self__one_park_a_thread)
{
	ck_assert_ptr_eq(park_self(), park);
}

static void *
wake_body(void *first)
{
	if (first)
		(void)park_list_wake_first(&list);
	else
		park_list_wake_all(&list);
	return NULL;
}

static void
wake_from_elsewhere(bool first)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, wake_body, first ? &list : NULL) == 0);
	pthread_join(thread, NULL);
}

TEST(sleep__woken_before__the_wake_is_kept)
{
	park_reset(park);
	wake_from_elsewhere(false); /* between the check and the sleep */
	ck_assert_int_eq(park_sleep(park, PARK_FOREVER, -1, NULL), 0);
	park_reset(park);
	ck_assert_int_eq(park_sleep(park, os_clock_ns() + 5000000u, -1, NULL), -ETIMEDOUT);
}

TEST(sleep__woken_twice__one_wake)
{
	wake_from_elsewhere(false);
	wake_from_elsewhere(true);
	ck_assert_int_eq(park_sleep(park, PARK_FOREVER, -1, NULL), 0);
	park_reset(park);
	ck_assert_int_eq(park_sleep(park, os_clock_ns() + 5000000u, -1, NULL), -ETIMEDOUT);
}

TEST(sleep__woken_by_itself__no_need)
{
	park_list_wake_all(&list);
	ck_assert(park_list_wake_first(&list));
	ck_assert_int_eq(park_sleep(park, os_clock_ns() + 5000000u, -1, NULL), -ETIMEDOUT);
}

TEST(sleep__deadline__absolute_and_not_early)
{
	uint64_t deadline = os_clock_ns() + 10000000u;

	ck_assert_int_eq(park_sleep(park, deadline, -1, NULL), -ETIMEDOUT);
	ck_assert_uint_ge(os_clock_ns(), deadline);
	ck_assert_int_eq(park_sleep(park, deadline, -1, NULL), -ETIMEDOUT);
	ck_assert_int_eq(park_sleep(park, 0, -1, NULL), -ETIMEDOUT);
}

TEST(sleep__descriptor_readable__said_so)
{
	int fd = os_event_open(false);
	bool ready = true;

	ck_assert_int_eq(park_sleep(park, os_clock_ns() + 1000000u, fd, &ready), -ETIMEDOUT);
	ck_assert(!ready);
	os_event_set(fd);
	ck_assert_int_eq(park_sleep(park, PARK_FOREVER, fd, &ready), 0);
	ck_assert(ready);
	os_close(fd);
}

TEST(sleep__no_park__naps_and_lets_the_caller_check)
{
	uint64_t before = os_clock_ns();

	park_reset(NULL);
	ck_assert_int_eq(park_sleep(NULL, PARK_FOREVER, -1, NULL), 0);
	ck_assert_uint_lt(os_clock_ns() - before, 1000000000u);
	ck_assert_int_eq(park_sleep(NULL, before, -1, NULL), -ETIMEDOUT);
}

static void
on_signal(int number)
{
	(void)number;
}

static void *
interrupt(void *arg)
{
	script_sleep_ms(10);
	pthread_kill(*(pthread_t *)arg, SIGUSR1);
	return NULL;
}

TEST(sleep__signal_handler_ran__interrupted)
{
	const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	pthread_t self = pthread_self(), thread;

	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, interrupt, &self), 0);
	ck_assert_int_eq(park_sleep(park, PARK_FOREVER, -1, NULL), -EINTR);
	pthread_join(thread, NULL);
}

static int handled;

static void
readable(void *arg, uint64_t serial)
{
	(void)serial;
	(void)os_event_clear(*(int *)arg);
	handled++;
}

static int source_fd;

static void
sleep_in_job(struct loop_job *job, uint64_t serial)
{
	(void)serial;
	(void)job;
	os_event_set(source_fd);
	for (int i = 0; i < 10 && !handled; i++)
		ck_assert_int_eq(park_sleep(park, PARK_FOREVER, -1, NULL), 0);
	ck_assert_int_eq(handled, 1);
}

TEST(sleep__on_a_loops_thread__its_sources_are_read)
{
	struct loop_job job = { .run = sleep_in_job };
	struct loop_ticket ticket;
	struct loop *loop;

	source_fd = os_event_open(false);
	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &loop), 0);
	ck_assert_int_eq(loop_add(loop, source_fd, readable, &source_fd, 0, &ticket), 0);
	loop_ready(loop, &job);
	ck_assert_int_eq(loop_step(loop, 0), 1);
	loop_remove(loop, &ticket);
	os_close(source_fd);
	loop_free(loop);
}

static int jobs;

static void
count_job(struct loop_job *job, uint64_t serial)
{
	(void)serial;
	(void)job;
	must(loop_is_pumping());
	jobs++;
}

static void
ready_other_and_sleep(struct loop_job *job, uint64_t serial)
{
	struct loop_job other = { .run = count_job };

	(void)serial;
	must(!loop_is_pumping());
	loop_ready(job->on, &other);
	ck_assert_int_eq(park_sleep(park, PARK_FOREVER, -1, NULL), 0);
	ck_assert_int_eq(jobs, 1);
	/* What was put off does not keep it awake; what is hastened does. */
	loop_defer(job->on, &other);
	ck_assert_int_eq(park_sleep(park, os_clock_ns() + 2000000u, -1, NULL), -ETIMEDOUT);
	loop_hasten(&other);
	ck_assert_int_eq(park_sleep(park, PARK_FOREVER, -1, NULL), 0);
	ck_assert_int_eq(jobs, 2);
	/* A delayed job runs in time. */
	loop_ready_later(job->on, &other, 5000000u);
	while (jobs < 3)
		ck_assert_int_eq(park_sleep(park, PARK_FOREVER, -1, NULL), 0);
	must(!loop_is_pumping());
}

static void
run_in_a_turn(void (*run)(struct loop_job *job, uint64_t serial))
{
	struct loop_job job = { .run = run };
	struct loop *loop;

	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &loop), 0);
	loop_ready(loop, &job);
	ck_assert_int_eq(loop_step(loop, 0), 1);
	loop_free(loop);
}

TEST(sleep__on_a_loops_thread__its_jobs_are_pumped)
{
	run_in_a_turn(ready_other_and_sleep);
}

/* In a turn of the loop, as a callback that waits is. */
static void
put_off_and_sleep(struct loop_job *job, uint64_t serial)
{
	struct loop_job first = { .run = count_job }, second = { .run = count_job };
	struct loop *loop = loop_current();
	uint64_t until;

	(void)job;
	(void)serial;
	loop_defer(loop, &first);
	ck_assert(loop_sleep_begin(loop, false, &until)); /* alone it keeps no thread awake */
	loop_sleep_end(loop);
	loop_ready(loop, &second);
	ck_assert(!loop_sleep_begin(loop, false, &until));
	ck_assert(loop_unready(&first));
	ck_assert(!loop_sleep_begin(loop, false, &until));
	ck_assert(loop_unready(&second));
}

TEST(rest__ready_job_behind_one_that_was_put_off__does_not_rest)
{
	run_in_a_turn(put_off_and_sleep);
}

static void
do_nothing(struct loop_job *job, uint64_t serial)
{
	(void)job;
	(void)serial;
}

/* origin: chance.6 */
TEST(rest__job_put_off__before_the_next_turn__does_not_rest)
{
	struct loop_job job = { .run = do_nothing };
	struct loop *loop;
	uint64_t until;

	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &loop), 0);
	loop_defer(loop, &job);
	ck_assert(!loop_sleep_begin(loop, false, &until));
	ck_assert_int_eq(loop_step(loop, 0), 1);
	ck_assert(loop_sleep_begin(loop, false, &until));
	loop_sleep_end(loop);
	loop_free(loop);
}

TEST(wake_first__only_the_first)
{
	struct park_entry second;

	park_reset(park);
	park_list_remove(&list, &entry);
	ck_assert(!park_list_wake_first(&list));
	park_list_add(&list, &second, NULL); /* a thread without a descriptor */
	park_list_add(&list, &entry, park);
	wake_from_elsewhere(true);
	ck_assert_int_eq(park_sleep(park, os_clock_ns() + 1000000u, -1, NULL), -ETIMEDOUT);
	park_list_remove(&list, &second);
	park_list_remove(&list, &second);
}

static void *
park_and_end(void *arg)
{
	(void)arg;
	must(park_self() != NULL);
	return NULL;
}

TEST(thread_ends__its_descriptor_is_closed)
{
	int before = runner_count_fds();
	pthread_t thread;

	for (int i = 0; i < 10; i++) {
		ck_assert_int_eq(pthread_create(&thread, NULL, park_and_end, NULL), 0);
		pthread_join(thread, NULL);
	}
	ck_assert_int_eq(runner_count_fds(), before);
}

TEST(sleep__no_park_but_a_descriptor__readable_said_so)
{
	int fd = os_event_open(false);
	bool ready = false;

	os_event_set(fd);
	ck_assert_int_eq(park_sleep(NULL, PARK_FOREVER, fd, &ready), 0);
	ck_assert(ready);
	os_close(fd);
}

TEST(sleep__descriptor_0__is_one_like_any_other)
{
	int fd = os_event_open(false), before = dup(0);
	bool ready = false;

	ck_assert_int_eq(dup2(fd, 0), 0);
	os_event_set(0);
	ck_assert_int_eq(park_sleep(park, PARK_FOREVER, 0, &ready), 0);
	ck_assert(ready);
	os_close(fd);
	os_close(0);
	if (before >= 0) {
		ck_assert_int_eq(dup2(before, 0), 0);
		os_close(before);
	}
}

static void *
park_on_descriptor_0(void *arg)
{
	os_close(0); /* as of a program without a standard input */
	must(park_self());
	must(park_sleep(park_self(), os_clock_ns() + 1000000u, -1, NULL) == -ETIMEDOUT);
	park_close_self();
	return arg;
}

TEST(self__descriptor_0_is_free__taken_like_any_other)
{
	int before = dup(0);
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, park_on_descriptor_0, NULL), 0);
	pthread_join(thread, NULL);
	if (before >= 0) {
		ck_assert_int_eq(dup2(before, 0), 0);
		os_close(before);
	}
}
