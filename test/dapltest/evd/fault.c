/* SPDX-License-Identifier: BSD-3-Clause */
/* A device that misbehaves: arming fails, polling fails, a poll returns more than was requested. */
#include <pthread.h>

#include "story.h"

/* Runs the loop until the n-th upcall; the retries are delayed by a growing time. */
static void
run_until(int upcalls)
{
	for (int i = 0; i < 1000 && st.tape.n < upcalls; i++)
		(void)loop_step(st.loop, 5);
	ck_assert_int_eq(st.tape.n, upcalls);
}

STORY_CASE("evd_fault:fault");

/* clause: d.0.14 */
TEST(arm_fails__reported_once_and_retried_until_it_works)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	st.dev.fail_arms = 4;
	script_spurious(&st.dev);
	ck_assert(script_deliver(&st.dev));
	for (int i = 0; i < 200 && st.dev.fail_arms; i++)
		(void)loop_step(st.loop, 5);
	ck_assert_int_eq(st.dev.fail_arms, 0);
	(void)loop_step(st.loop, 40);
	ck_assert_int_eq(st.dev.faults, 1);
	ck_assert_int_eq(st.dev.last_fault, -EIO);
	/* Armed in the end: the next completion comes. */
	story_check_rest(&st.dev);
	script_complete(&st.dev, 1);
	story_settle(&st);
	story_upcall(&st, 1);
}

TEST(arm_fails_again_later__a_second_episode_is_reported)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	for (int episode = 1; episode <= 2; episode++) {
		st.dev.fail_arms = 1;
		script_spurious(&st.dev);
		ck_assert(script_deliver(&st.dev));
		for (int i = 0; i < 10; i++)
			(void)loop_step(st.loop, 2);
		ck_assert_int_eq(st.dev.faults, episode);
		ck_assert_uint_eq(st.dev.evd.backoff_ns, 0); /* the next begins with the least */
	}
	story_expect_nothing(&st);
}

/* Errors of the device that are results of the core when the core returns them. */
static const int device_errors[] = { -EAGAIN, -EBUSY, -EINVAL, -ENODEV, -EFAULT, -ENOMEM, -ERANGE,
	-ETIMEDOUT, -EPERM, -ECANCELED, -EINTR, -EACCES, -EOVERFLOW, -EIO };

/* origin: attack.C8 */
TEST_LOOP(arm_fails_with_any_error__is_the_devices_failure,
    sizeof device_errors / sizeof device_errors[0])
{
	struct script_event event;
	int nmore;

	st.dev.arm_error = device_errors[_i];
	st.dev.fail_arms = 1;
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_SINGLE, EVD_PENDING_REFUSE), -EIO);
	st.dev.fail_arms = 1;
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), 1000, 1, &event, &nmore), -EIO);
	ck_assert_int_eq(st.dev.fail_arms, 0);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	st.dev.fail_arms = 1;
	script_spurious(&st.dev);
	ck_assert(script_deliver(&st.dev));
	for (int i = 0; i < 1000 && st.dev.fail_arms; i++)
		(void)loop_step(st.loop, 10);
	ck_assert_int_eq(st.dev.faults, 1);
	ck_assert_int_eq(st.dev.last_fault, -EIO);
}

TEST(arm_fails__completion_meanwhile__found_by_the_retry)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	st.dev.fail_arms = 2;
	script_spurious(&st.dev);
	ck_assert(script_deliver(&st.dev));
	story_run(&st);
	script_complete(&st.dev, 1); /* raises nothing: not armed */
	ck_assert_uint_eq(script_raised(&st.dev), 0);
	run_until(1);
	story_upcall(&st, 1);
}

static void
post_the_fault(struct script *s)
{
	must(script_post(s, 900) == 0);
}

TEST(fault_is_posted_to_the_evd_itself__one_event_an_episode)
{
	/* An async EVD merged with the completions: its own report must not end the episode. */
	st.dev.on_fault = post_the_fault;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	st.dev.fail_arms = 6;
	script_spurious(&st.dev);
	ck_assert(script_deliver(&st.dev));
	for (int i = 0; i < 500 && st.dev.fail_arms; i++)
		(void)loop_step(st.loop, 10);
	ck_assert_int_eq(st.dev.faults, 1);
	story_upcall(&st, 900);
	ck_assert_int_eq(st.tape.n, 1);
}

#define DELAY_NS 512000000u

static void
let_the_delay_grow(void)
{
	while (st.dev.evd.backoff_ns < DELAY_NS)
		(void)loop_step(st.loop, 1000);
}

TEST(posted_while_arming_fails__delivered_without_waiting_out_the_delay)
{
	uint64_t before;

	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	st.dev.fail_arms = 1000;
	script_spurious(&st.dev);
	ck_assert(script_deliver(&st.dev));
	let_the_delay_grow();
	before = os_clock_ns();
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	run_until(1);
	story_upcall(&st, 100);
	ck_assert_uint_lt(os_clock_ns() - before, DELAY_NS / 2);
}

TEST(enable__arm_fails__error_and_nothing_changed)
{
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
	st.dev.fail_arms = 1;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), -EIO);
	ck_assert_int_eq(st.dev.evd.policy, EVD_POLICY_DISABLE);
	script_complete(&st.dev, 1);
	story_expect_nothing(&st);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	story_upcall(&st, 1);
	story_expect_nothing(&st);
	ck_assert_int_eq(st.dev.faults, 0); /* the caller got the error */
}

TEST(enable__poll_fails_before_or_after_the_arm__error_and_nothing_changed)
{
	st.dev.fail_polls = 1;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), -EIO);
	ck_assert_uint_eq(st.dev.arms, 0);
	st.dev.greedy_polls = 1;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), -EIO);
	ck_assert_int_eq(st.dev.evd.policy, EVD_POLICY_DISABLE);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	story_expect_nothing(&st);
}

static void
fail_next_poll(struct script *s, void *arg)
{
	(void)arg;
	s->fail_polls = 1;
}

TEST(second_poll_fails__armed_is_remembered)
{
	st.dev.after_arm = (struct script_hook){ .fn = fail_next_poll };
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), -EIO);
	ck_assert_uint_eq(st.dev.arms, 1);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_uint_eq(st.dev.arms, 1); /* never armed while armed */
	script_complete(&st.dev, 1);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 1);
}

TEST(poll_fails_in_a_run__reported_and_retried)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	st.dev.fail_polls = 2;
	script_complete(&st.dev, 1);
	ck_assert(script_deliver(&st.dev));
	run_until(1);
	story_upcall(&st, 1);
	ck_assert_int_eq(st.dev.faults, 1);
	story_expect_nothing(&st);
}

TEST(poll_gives_more_than_asked__an_error_and_nothing_overwritten)
{
	struct script_event event;

	script_complete(&st.dev, 1);
	st.dev.greedy_polls = 1;
	ck_assert_int_eq(evd_dequeue(evd_self(&st.dev.evd), &event), -EIO);
	story_dequeues(&st, 1);
	story_empty(&st);
}

TEST(poll_fails__what_is_queued_is_still_handed_out)
{
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	st.dev.fail_polls = 1;
	story_dequeues(&st, 100);
}

/*
 * Two posted events wait for the device to be seen empty.  The run backs off from its failure, and
 * another thread's poll opens both: that takes one, and nothing else announces the other.
 */
/* origin: chance.1 */
TEST(barrier_opens_in_back_off__what_stays_queued__does_not_wait_for_the_delay)
{
	struct script_event event;

	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	st.dev.fail_polls = 1000;
	for (uint64_t i = 0; i < 2; i++) {
		event = script_event(100 + i);
		ck_assert_int_eq(evd_post_ordered(evd_self(&st.dev.evd), EVD_STREAM_CONNECTION,
				     &event, &script_barrier),
		    0);
	}
	script_spurious(&st.dev);
	ck_assert(script_deliver(&st.dev));
	let_the_delay_grow();
	st.dev.fail_polls = 0;
	ck_assert_int_eq(st.dev.evd.job_state, EVD_JOB_BACKOFF);
	story_dequeues(&st, 100);
	ck_assert_int_eq(st.dev.evd.job_state, EVD_JOB_READY);
	story_upcall(&st, 101);
}

TEST(hint__always_maybe__polls_again_and_rests)
{
	st.dev.inexact_hint = true;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_complete(&st.dev, 1);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 1);
	story_expect_nothing(&st);
	ck_assert_uint_eq(st.dev.arms, 2);
}

TEST(disabled_in_back_off__enabled_again__called_at_once)
{
	uint64_t before;

	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	st.dev.fail_arms = 1000;
	script_spurious(&st.dev);
	ck_assert(script_deliver(&st.dev));
	let_the_delay_grow();
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
	script_complete(&st.dev, 1);
	st.dev.fail_arms = 0; /* it recovers */
	before = os_clock_ns();
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	run_until(1);
	story_upcall(&st, 1);
	ck_assert_uint_lt(os_clock_ns() - before, DELAY_NS / 2);
}

TEST(enabled_again_after_failures__the_next_failure_is_reported)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	for (unsigned int episode = 1; episode <= 2; episode++) {
		st.dev.fail_arms = 1000;
		script_spurious(&st.dev);
		ck_assert(script_deliver(&st.dev));
		for (int i = 0; i < 10; i++)
			(void)loop_step(st.loop, 2);
		ck_assert_uint_eq(st.dev.faults, episode);
		ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
		while (st.dev.evd.job_state != EVD_JOB_IDLE)
			(void)loop_step(st.loop, 100);
		st.dev.fail_arms = 0; /* it recovers */
		ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	}
}

TEST(second_poll_of_a_run_fails__reported_and_retried_without_another_arm)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	st.dev.after_arm = (struct script_hook){ .fn = fail_next_poll };
	script_spurious(&st.dev);
	ck_assert(script_deliver(&st.dev));
	(void)loop_step(st.loop, 0);
	ck_assert_int_eq(st.dev.faults, 1);
	script_complete(&st.dev, 1); /* armed: it tells, whatever became of the poll */
	ck_assert_uint_eq(script_raised(&st.dev), 1);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 1);
	story_expect_nothing(&st);
	ck_assert_uint_eq(st.dev.arms, 3);
}

static pthread_t freeing;

static void
be_freed_elsewhere(struct script *s)
{
	must(pthread_create(&freeing, NULL, story_free_thread, s) == 0);
	while (script_evd_is(&s->evd, s))
		script_sleep_ms(1);
	script_sleep_ms(5);
	must(s->destroyed == 0); /* waits for this thread */
}

TEST(freed_while_a_fault_is_reported__the_run_ends_and_is_not_retried)
{
	st.dev.on_fault = be_freed_elsewhere;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	st.dev.fail_arms = 1000;
	script_spurious(&st.dev);
	ck_assert(script_deliver(&st.dev));
	ck_assert_int_eq(loop_step(st.loop, 0), 1);
	pthread_join(freeing, NULL);
	ck_assert_int_eq(st.dev.destroyed, 1);
	ck_assert_int_eq(st.dev.faults, 1);
	ck_assert_int_eq(loop_step(st.loop, 5), 0);
}

static void
disable_upcalls(struct script *s)
{
	(void)s;
	must(script_post(&st.dev, 100) == 0);
	must(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE) == 0);
}

TEST(disabled_while_a_fault_is_reported__what_came_waits_for_a_sink)
{
	st.dev.on_fault = disable_upcalls;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	st.dev.fail_arms = 1;
	script_spurious(&st.dev);
	ck_assert(script_deliver(&st.dev));
	ck_assert_int_eq(story_turn(&st), 1);
	ck_assert_int_eq(st.dev.faults, 1);
	ck_assert_int_eq(st.dev.evd.job_state, EVD_JOB_BACKOFF); /* no sink wants it at once */
	story_expect_nothing(&st);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	story_upcall(&st, 100);
	story_expect_nothing(&st);
}

static void
die(void)
{
	ck_assert(evd_mark_overflow(evd_self(&st.dev.evd)));
	st.dev.fail_polls = 3;
	for (int i = 0; i < 3; i++)
		ck_assert_int_lt(
		    evd_dequeue(evd_self(&st.dev.evd), &(struct script_event){ 0 }), 0);
}

static void
overflow_alone(void)
{
	ck_assert(evd_mark_overflow(evd_self(&st.dev.evd)));
}

static void
back_off(void)
{
	st.dev.fail_arms = 1000;
	(void)story_enable(&st, EVD_POLICY_SINGLE);
	st.dev.fail_arms = 0;
}

static void
switch_everything_off(void)
{
	ck_assert_int_eq(evd_set_solicited(evd_self(&st.dev.evd), true), 0);
	ck_assert_int_eq(evd_set_enabled(evd_self(&st.dev.evd), false), 0);
	ck_assert_int_eq(evd_set_waitable(evd_self(&st.dev.evd), false), 0);
}

static void
arm_for_solicited(void)
{
	struct script_event event;
	int nmore;

	ck_assert_int_eq(evd_set_solicited(evd_self(&st.dev.evd), true), 0);
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), MS, 1, &event, &nmore), -ETIMEDOUT);
}

static void (*const pasts[])(
    void) = { die, overflow_alone, back_off, switch_everything_off, arm_for_solicited };
#define PASTS ((int)(sizeof pasts / sizeof pasts[0]))

/* Whatever the last EVD of a slot went through, the next one arms, waits and calls. */
/* origin: outside.13 */
TEST_LOOP(slot__its_last_evd_had_a_past__the_next_evd_has_none, PASTS)
{
	struct evd_status status;
	struct script_event event;
	int nmore;

	pasts[_i]();
	script_close(&st.dev);
	st.dev.fail_polls = 0;
	script_open(&st.dev, &st.dev.opt);
	ck_assert_int_eq(evd_query(evd_self(&st.dev.evd), &status), 0);
	ck_assert(status.enabled && status.waitable);
	ck_assert(!status.solicited_only && !status.overflowed);
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), MS, 1, &event, &nmore), -ETIMEDOUT);
	script_complete(&st.dev, 1);
	ck_assert(script_deliver(&st.dev)); /* that wait armed */
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), 0, 1, &event, &nmore), 0);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_complete(&st.dev, 2);
	story_settle(&st);
	story_upcall(&st, 2);
	ck_assert(evd_mark_overflow(evd_self(&st.dev.evd)));
}
