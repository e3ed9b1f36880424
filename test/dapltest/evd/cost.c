/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the event paths may cost in system calls.
 *
 * The linker sends syscall(), ppoll() and poll() through here (--wrap): the dispatcher makes all of
 * its calls that read, write, poll and sleep that way.
 */
#define _GNU_SOURCE /* ppoll() */
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "evd/loop_body.h"

#include "story.h"
#include "calls.h"
#include "window.h"

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
int __real_ppoll(
    struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask);
int __wrap_ppoll(
    struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask);
int __real_poll(struct pollfd *fds, nfds_t n, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout);

static _Thread_local int calls;
_Thread_local void (*evd_after_sleep)(void);
static atomic_int turns;     /* of all loops' threads */
static atomic_int all_calls; /* of all threads */

static void
count_call(void)
{
	calls++;
	atomic_fetch_add(&all_calls, 1);
}

static void
after_sleep(void)
{
	void (*hook)(void) = evd_after_sleep;

	evd_after_sleep = NULL;
	if (hook)
		hook();
}

long
__wrap_syscall(long number, ...)
{
	long arg[6] = { 0 };
	int n = 3; /* reading past the arguments that were passed would be an error */
	bool sleep;
	va_list ap;
	long r;

	if (number == SYS_ppoll) {
		n = 5;
	} else if (number == SYS_futex) {
		n = 6;
	} else if (number == SYS_epoll_pwait) {
		n = 6;
		atomic_fetch_add(&turns, 1);
	}
	va_start(ap, number);
	for (int i = 0; i < n; i++)
		arg[i] = va_arg(ap, long);
	va_end(ap);
	count_call();
	sleep = number == SYS_ppoll ||
		(number == SYS_futex && (arg[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET);
	if (sleep && evd_starved(ENOMEM))
		return -1;
	r = __real_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	if (sleep)
		after_sleep();
	return r;
}

/* The sleep of a thread that can be cancelled. */
int
__wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	int r;

	count_call();
	if (evd_starved(ENOMEM))
		return -1;
	r = __real_ppoll(fds, n, timeout, mask);
	after_sleep();
	return r;
}

int
__wrap_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	count_call();
	return __real_poll(fds, n, timeout);
}

int
evd_calls(void)
{
	return calls;
}

static void
begin(enum script_channel channel)
{
	struct script_options opt = { .channel = channel, .qlen = 64 };

	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &opt.loop), 0);
	story_begin(&st, &opt);
}

static void *
complete_when_asleep(void *arg)
{
	struct evd *evd = &st.dev.evd;

	for (bool asleep = false; !asleep; script_sleep_ms(0)) {
		os_lock(&evd->lock);
		asleep = evd->waiting && evd->armed;
		os_unlock(&evd->lock);
	}
	script_sleep_ms(2);
	if (arg)
		must(script_post(&st.dev, 100) == 0);
	else
		script_complete(&st.dev, 1);
	return NULL;
}

static unsigned int polls, arms;

static int
cost_of_a_wait(bool post)
{
	pthread_t thread;
	struct script_event event;
	int nmore, cost;

	must(pthread_create(&thread, NULL, complete_when_asleep, post ? &st : NULL) == 0);
	calls = 0;
	polls = st.dev.polls;
	arms = st.dev.arms;
	must(evd_wait(evd_self(&st.dev.evd), EVD_FOREVER, 1, &event, &nmore) == 0);
	cost = calls;
	pthread_join(thread, NULL);
	polls = st.dev.polls - polls;
	arms = st.dev.arms - arms;
	return cost;
}

CASE("evd_cost:cost");

TEST(wait__private_channel__two_system_calls)
{
	begin(SCRIPT_PRIVATE);
	for (int i = 0; i < 5; i++) /* sleep, read the channel */
		ck_assert_int_eq(cost_of_a_wait(false), 2);
	story_end(&st);
}

/*
 * Before the arm, after it, and after the sleep; the first one ends when it finds nothing each
 * time.
 */
static void
check_polls_of_waits(bool exact)
{
	struct script_options opt = { .channel = SCRIPT_PRIVATE, .exact = exact };

	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &opt.loop), 0);
	story_begin(&st, &opt);
	for (int i = 0; i < 3 * EVD_SLEPT_WAITS; i++) {
		ck_assert_int_eq(cost_of_a_wait(false), 2);
		ck_assert_uint_eq(arms, 1);
		ck_assert_uint_eq(polls, (i < EVD_SLEPT_WAITS ? 2 : 1) + (exact ? 0 : 1));
	}
	story_end(&st);
}

TEST(wait__sleeps_each_time__one_arm_and_two_polls)
{
	check_polls_of_waits(false);
}

TEST(wait__sleeps_each_time__exact_arm__one_poll)
{
	check_polls_of_waits(true);
}

TEST(wait__slept_each_time__and_now_finds_events__polls_first_again)
{
	struct script_event event;
	int nmore;

	begin(SCRIPT_PRIVATE);
	for (int i = 0; i < EVD_SLEPT_WAITS; i++)
		(void)cost_of_a_wait(false);
	polls = st.dev.polls;
	arms = st.dev.arms;
	for (uint64_t i = 1; i <= 40; i++)
		script_complete(&st.dev, i);
	for (int i = 0; i < 40; i++)
		ck_assert_int_eq(
		    evd_wait(evd_self(&st.dev.evd), EVD_FOREVER, 1, &event, &nmore), 0);
	ck_assert_uint_eq(st.dev.arms - arms, 1); /* of the first of these waits */
	ck_assert_uint_eq(st.dev.polls - polls, 2);
	/* A wait that does not sleep does not arm. */
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), 0, 1, &event, &nmore), -ETIMEDOUT);
	script_complete(&st.dev, 41);
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), EVD_FOREVER, 1, &event, &nmore), 0);
	ck_assert_uint_eq(st.dev.polls - polls, 4);
	story_end(&st);
}

TEST(wait__barrier_is_closed__polls_though_the_arm_is_exact)
{
	const struct script_options exact = { .channel = SCRIPT_PRIVATE, .exact = true };
	struct script_options opt = exact;
	struct script_event event = script_event(900);
	int nmore;

	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &opt.loop), 0);
	story_begin(&st, &opt);
	for (int i = 0; i < EVD_SLEPT_WAITS; i++)
		(void)cost_of_a_wait(false);
	ck_assert_int_eq(
	    evd_post_ordered(evd_self(&st.dev.evd), EVD_STREAM_CONNECTION, &event, &script_barrier),
	    0);
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), 5 * MS, 1, &event, &nmore), 0);
	ck_assert_uint_eq(script_id(&event), 900);
	story_end(&st);
}

TEST(wait__woken_by_a_post__two_system_calls)
{
	begin(SCRIPT_PRIVATE);
	for (int i = 0; i < 5; i++) /* sleep, drain the thread's descriptor */
		ck_assert_int_eq(cost_of_a_wait(true), 2);
	story_end(&st);
}

TEST(wait__no_descriptor_to_read__two_system_calls)
{
	begin(SCRIPT_BY_HAND);
	for (int i = 0; i < 5;
	     i++) /* sleep, see that no request to cancel the thread is on its way */
		ck_assert_int_eq(cost_of_a_wait(true), 2);
	story_end(&st);
}

TEST(events_that_are_there__no_system_call)
{
	struct script_event event;
	int nmore;

	begin(SCRIPT_BY_HAND);
	for (uint64_t i = 1; i <= 40; i++)
		script_complete(&st.dev, i);
	calls = 0;
	for (int i = 0; i < 20; i++) {
		ck_assert_int_eq(evd_dequeue(evd_self(&st.dev.evd), &event), 0);
		ck_assert_int_eq(
		    evd_wait(evd_self(&st.dev.evd), EVD_FOREVER, 1, &event, &nmore), 0);
	}
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), 0, 1, &event, &nmore), -ETIMEDOUT);
	ck_assert_int_eq(evd_dequeue(evd_self(&st.dev.evd), &event), -EAGAIN);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(calls, 0);
	story_end(&st);
}

TEST(upcalls_of_a_burst__one_turn_of_the_loop)
{
	begin(SCRIPT_BY_HAND);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	for (uint64_t i = 1; i <= 60; i++)
		script_complete(&st.dev, i);
	calls = 0;
	ck_assert(script_deliver(&st.dev));
	(void)story_turn(&st);
	ck_assert_int_eq(st.tape.n, 60);
	ck_assert_int_eq(calls, 1); /* epoll */
	ck_assert_uint_le(st.dev.polls, 8);
	st.tape.read = 60;
	story_end(&st);
}

static atomic_int runs;

static void
count_run(struct loop_job *job, uint64_t serial)
{
	(void)serial;
	(void)job;
	atomic_fetch_add(&runs, 1);
}

TEST(pool__one_job_at_a_time__no_thread_turns_for_nothing)
{
	struct loop_job job = { .run = count_run };
	struct loop *pool;

	ck_assert_int_eq(loop_create(LOOP_POOL, 3, &pool), 0);
	script_sleep_ms(5);
	atomic_store(&turns, 0);
	for (int i = 1; i <= 100; i++) {
		loop_ready(pool, &job);
		while (atomic_load(&runs) < i)
			script_sleep_ms(0);
		script_sleep_ms(1);
	}
	/* A bell may wake all three, each of which goes to sleep again. */
	ck_assert_int_le(atomic_load(&turns), 100 * 4);
	loop_free(pool);
}

/* Jobs that are ready again as soon as they ran, until so many runs are over. */
#define BUSY_RUNS 2000
static struct loop_job busy[4];
static atomic_int busy_runs, calls_at_end;

static void
run_busy(struct loop_job *job, uint64_t serial)
{
	(void)serial;
	if (atomic_fetch_add(&busy_runs, 1) < BUSY_RUNS)
		loop_ready(job->on, job);
	else
		atomic_store(&calls_at_end, atomic_load(&all_calls));
}

static int
calls_of_a_busy_loop(enum loop_kind kind, int threads)
{
	struct loop *loop;
	int before;

	atomic_store(&busy_runs, 0);
	ck_assert_int_eq(loop_create(kind, threads, &loop), 0);
	/* More jobs than threads: one is ready all the time. */
	for (int i = 0; i < 4; i++)
		busy[i] = (struct loop_job){ .run = run_busy };
	before = atomic_load(&all_calls);
	for (int i = 0; i < 4; i++)
		loop_ready(loop, &busy[i]);
	while (atomic_load(&busy_runs) < BUSY_RUNS + 4)
		script_sleep_ms(1);
	loop_free(loop);
	return atomic_load(&calls_at_end) - before;
}

TEST(pool__jobs_are_ready__no_system_call)
{
	/* To wake the threads at the beginning, and to go to sleep at the end. */
	ck_assert_int_le(calls_of_a_busy_loop(LOOP_POOL, 2), 20);
}

TEST(loop__jobs_are_ready__sources_read_once_per_span)
{
	const int n = calls_of_a_busy_loop(LOOP_THREAD, 1);

	ck_assert_int_le(n, BUSY_RUNS / LOOP_SPAN + 20);
	ck_assert_int_ge(n, BUSY_RUNS / (LOOP_SPAN + 4));
}

static void *
ready_soon(void *arg)
{
	struct loop_job *job = arg;

	script_sleep_ms(5);
	loop_ready(job->on, job);
	return NULL;
}

TEST(job_made_ready_while_the_thread_is_awake__no_system_call)
{
	struct loop_job job = { .run = count_run };
	struct loop *loop;
	pthread_t thread;

	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &loop), 0);
	job.on = loop;
	ck_assert_int_eq(pthread_create(&thread, NULL, ready_soon, &job), 0);
	while (loop_step(loop, 1000) == 0)
		; /* the bell rang */
	pthread_join(thread, NULL);
	ck_assert_int_eq(loop_step(loop, 0), 0);
	calls = 0;
	loop_ready(loop, &job);
	ck_assert_int_eq(calls, 0);
	ck_assert_int_eq(loop_step(loop, 0), 1);
	ck_assert_int_eq(calls, 1); /* epoll */
	loop_free(loop);
}

/* The device is armed and the job idle, so that the next completion raises a notification. */
static void
await_armed(void)
{
	struct evd *evd = &st.dev.evd;

	for (bool armed = false; !armed; script_sleep_ms(0)) {
		os_lock(&evd->lock);
		armed = evd->armed && evd->job_state == EVD_JOB_IDLE;
		os_unlock(&evd->lock);
	}
}

TEST(upcall_of_an_idle_evd__two_system_calls)
{
	const int n = 200;
	struct script_options opt = { .channel = SCRIPT_SHARED };
	int before;

	ck_assert_int_eq(loop_create(LOOP_THREAD, 1, &opt.loop), 0);
	story_begin(&st, &opt);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	await_armed();
	before = atomic_load(&all_calls);
	for (int i = 1; i <= n; i++) {
		script_complete(&st.dev, (uint64_t)i); /* the device writes to its channel */
		tape_await(&st.tape, i);
		await_armed();
	}
	/* epoll, and the read of the notification; the device's write */
	ck_assert_int_le(atomic_load(&all_calls) - before, 3 * n + 1);
	ck_assert_uint_eq(st.dev.gets, (unsigned int)n);
	/* A read that finds nothing is rare: after 0, 1, 3, 7, ... notifications. */
	ck_assert_uint_le(st.dev.tries - st.dev.gets, 8);
	st.tape.read = n;
	story_end(&st);
}

/* Sections of the loop's lock and of the trigger lock when the upcall begins. */
static int at_loop, at_evd;

static void
note_sections(struct tape *tape, uint64_t id)
{
	(void)tape;
	(void)id;
	at_loop = window_counted(0);
	at_evd = window_counted(1);
}

/*
 * Of the loop: the event that epoll reported, the job that becomes ready, the job that is run.  Of
 * the EVD: the notification, the poll with the claim.  After the upcall one of each: the poll and
 * the arm; the sleep, which begins the next turn.
 */
TEST(upcall_of_an_idle_evd__five_lock_sections_until_it_begins)
{
	const int n = 20, begin = 1; /* the section before the sleep */
	struct script_options opt = { .channel = SCRIPT_SHARED };

	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &opt.loop), 0);
	story_begin(&st, &opt);
	st.tape.then = note_sections;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	story_settle(&st);
	for (int i = 1; i <= n; i++) {
		script_complete(&st.dev, (uint64_t)i);
		window_count(&opt.loop->lock, &st.dev.evd.lock);
		ck_assert_int_eq(loop_step(opt.loop, -1), 2);
		ck_assert_int_le(at_loop - begin, 3);
		ck_assert_int_le(at_evd, 2);
		ck_assert_int_le(window_counted(0) - begin, 4);
		ck_assert_int_le(window_counted(1), 3);
		story_upcall(&st, (uint64_t)i);
	}
	story_expect_nothing(&st);
	story_end(&st);
}

TEST(many__one_event_and_no_other__armed_by_the_thread_that_makes_the_upcall)
{
	struct script_options opt = { .channel = SCRIPT_DIRECT };

	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &opt.loop), 0);
	ck_assert_int_eq(loop_create(LOOP_POOL, 1, &opt.pool), 0);
	story_begin(&st, &opt);
	tape_hold(&st.tape);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_MANY), 0);
	script_complete(&st.dev, 1);
	tape_await_inside(&st.tape, 1);
	/* The only thread is in the upcall, and no run is needed. */
	os_lock(&st.dev.evd.lock);
	ck_assert(st.dev.evd.armed);
	ck_assert_int_eq(st.dev.evd.job_state, EVD_JOB_IDLE);
	os_unlock(&st.dev.evd.lock);
	tape_release(&st.tape);
	tape_await(&st.tape, 1);
	st.tape.read = 1;
	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
	loop_free(opt.pool);
	story_end(&st);
}

TEST(upcalls_of_posted_events__one_turn_of_the_loop)
{
	begin(SCRIPT_BY_HAND);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	for (uint64_t i = 1; i <= 60; i++)
		ck_assert_int_eq(script_post(&st.dev, i), 0);
	calls = 0;
	(void)story_turn(&st);
	ck_assert_int_eq(st.tape.n, 60);
	ck_assert_int_eq(calls, 1); /* epoll */
	st.tape.read = 60;
	story_end(&st);
}
