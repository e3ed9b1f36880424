/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The core of dat_evd_wait(): threshold, deadline, reasons to return early, and when a wait is
 * allowed.
 */
#include <signal.h>

#include "story.h"

static void
setup(void)
{
	const struct script_options by_hand = { .qlen = 64 };

	story_begin(&st, &by_hand);
}

static void
teardown(void)
{
	story_end(&st);
}

static int
wait_here(uint32_t timeout, int threshold, uint64_t *id, int *nmore)
{
	struct script_event event = script_event(0);
	int r = evd_wait(evd_self(&st.dev.evd), timeout, threshold, &event, nmore);

	*id = script_id(&event);
	return r;
}

CASE("evd_wait:wait", setup, teardown);

/* clause: c.4.3 */
TEST(wait__events_queued__oldest_at_once_and_nmore_is_what_is_known)
{
	uint64_t id;
	int nmore;

	story_complete(1, 40); /* more than one batch */
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(wait_here(EVD_FOREVER, 1, &id, &nmore), 0);
	ck_assert_uint_eq(id, 100); /* a completion arrives when it is first polled */
	ck_assert_int_eq(nmore, 0); /* no poll was needed */
	ck_assert_uint_eq(st.dev.polls, 0);
	ck_assert_int_eq(wait_here(EVD_FOREVER, 33, &id, &nmore), 0);
	ck_assert_uint_eq(id, 1);
	ck_assert_int_eq(nmore, 39); /* two batches, the second of which is short */
	ck_assert_uint_eq(st.dev.polls, 2);
	ck_assert_int_eq(wait_here(EVD_FOREVER, 1, &id, &nmore), 0);
	ck_assert_uint_eq(id, 2);
	ck_assert_int_eq(nmore, 38);
	ck_assert_uint_eq(st.dev.polls, 2);
	ck_assert_uint_eq(st.dev.arms, 0);
}

/* clause: c.4.5 */
TEST(wait__timeout_zero__polls_and_does_not_arm)
{
	uint64_t id;
	int nmore = -1;

	ck_assert_int_eq(wait_here(0, 1, &id, &nmore), -ETIMEDOUT);
	ck_assert_int_eq(nmore, 0);
	story_complete(1, 1);
	ck_assert_int_eq(wait_here(0, 2, &id, &nmore), -ETIMEDOUT);
	ck_assert_int_eq(nmore, 1);
	ck_assert_int_eq(wait_here(0, 1, &id, &nmore), 0);
	ck_assert_uint_eq(id, 1);
	story_complete(2, 2);
	ck_assert_int_eq(wait_here(0, 1, &id, &nmore), 0); /* more than it asked for */
	ck_assert_uint_eq(id, 2);
	ck_assert_int_eq(nmore, 1);
	ck_assert_uint_eq(st.dev.arms, 0);
}

TEST(wait__below_the_threshold__times_out_and_nothing_is_lost)
{
	uint64_t id;
	int nmore;

	story_complete(1, 3);
	ck_assert_int_eq(wait_here(20 * MS, 5, &id, &nmore), -ETIMEDOUT);
	ck_assert_int_eq(nmore, 3);
	for (uint64_t i = 1; i <= 3; i++)
		story_dequeues(&st, i);
	story_empty(&st);
}

/* clause: c.4.8 */
/* origin: peer.18 */
TEST(wait__events_trickle_in__the_deadline_does_not_move)
{
	struct waiter w;
	uint64_t start, trickle;

	waiter_start(&w, &st.dev, 120 * MS, 64);
	start = os_clock_ns();
	for (uint64_t i = 1; i <= 40; i++) {
		script_sleep_ms(10);
		story_complete(i, 1);
		(void)script_deliver(&st.dev);
	}
	trickle = os_clock_ns() - start;
	ck_assert_int_eq(waiter_join(&w), -ETIMEDOUT);
	ck_assert_int_le(w.nmore, 40);
	ck_assert_uint_ge(w.took_ns, 120000000u);
	/* A deadline that every event moves comes after the last of them. */
	ck_assert_uint_lt(w.took_ns, trickle);
	for (uint64_t i = 1; i <= 40; i++)
		story_dequeues(&st, i);
	story_empty(&st);
}

/* clause: c.4.8 */
/* origin: peer.19 */
TEST(wait__microseconds__neither_early_nor_rounded_to_zero)
{
	struct waiter w;

	waiter_launch(&w, &st.dev, 700, 1);
	ck_assert_int_eq(waiter_join(&w), -ETIMEDOUT);
	ck_assert_uint_ge(w.took_ns, 700000u);
}

/* clause: c.4.6 */
/* origin: peer.20 */
TEST(wait__greatest_finite_timeout__does_not_overflow)
{
	struct waiter w;

	waiter_start(&w, &st.dev, EVD_FOREVER - 1, 1);
	script_sleep_ms(5);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(waiter_join(&w), 0);
}

TEST(wait__notification__wakes)
{
	struct waiter w;

	waiter_start(&w, &st.dev, EVD_FOREVER, 1);
	story_complete(1, 1);
	ck_assert(script_deliver(&st.dev));
	ck_assert_int_eq(waiter_join(&w), 0);
	ck_assert_uint_eq(waiter_id(&w), 1);
	ck_assert_int_eq(w.nmore, 0);
}

/* origin: peer.1 */
TEST(wait__post_from_another_thread__wakes)
{
	struct waiter w;

	waiter_start(&w, &st.dev, EVD_FOREVER, 1);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(waiter_join(&w), 0);
	ck_assert_uint_eq(waiter_id(&w), 100);
}

TEST(wait__threshold_of_two_streams__counts_both)
{
	struct waiter w;

	waiter_start(&w, &st.dev, EVD_FOREVER, 3);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	story_complete(1, 1);
	ck_assert(script_deliver(&st.dev));
	ck_assert_int_eq(script_post(&st.dev, 101), 0);
	ck_assert_int_eq(waiter_join(&w), 0);
	ck_assert_uint_eq(waiter_id(&w), 100);
	ck_assert_int_eq(w.nmore, 2);
}

TEST(wait__threshold_reached_one_notification_at_a_time__armed_each_time)
{
	struct waiter w;

	waiter_start(&w, &st.dev, EVD_FOREVER, 40);
	for (uint64_t i = 1; i <= 40; i++) {
		story_complete(i, 1);
		while (!script_deliver(&st.dev) && i < 40)
			if (script_queued(&st.dev) == 0)
				break; /* the waiter's second poll took it */
	}
	ck_assert_int_eq(waiter_join(&w), 0);
	ck_assert_uint_eq(waiter_id(&w), 1);
	ck_assert_int_eq(w.nmore, 39);
}

/* origin: race.W1 */
TEST(wait__spurious_notification__sleeps_on)
{
	struct evd_counters counters;
	struct waiter w;

	waiter_start(&w, &st.dev, 60 * MS, 1);
	script_spurious(&st.dev);
	ck_assert(script_deliver(&st.dev));
	ck_assert_int_eq(waiter_join(&w), -ETIMEDOUT);
	ck_assert_uint_ge(w.took_ns, 60000000u);
	ck_assert_int_eq(evd_query_counters(evd_self(&st.dev.evd), &counters), 0);
	ck_assert_uint_eq(counters.spurious_notifications, 1);
}

TEST(wait__second_waiter_and_dequeue__refused_while_one_blocks)
{
	struct script_event event;
	struct waiter w;
	uint64_t id;
	int nmore;

	waiter_start(&w, &st.dev, EVD_FOREVER, 2);
	ck_assert_int_eq(wait_here(0, 1, &id, &nmore), -EBUSY);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(evd_dequeue(evd_self(&st.dev.evd), &event), -EBUSY);
	ck_assert_int_eq(script_post(&st.dev, 101), 0);
	ck_assert_int_eq(waiter_join(&w), 0);
	story_dequeues(&st, 101);
}

TEST(wait__bad_threshold__refused)
{
	uint64_t id;
	int nmore;

	ck_assert_int_eq(wait_here(0, 0, &id, &nmore), -EINVAL);
	ck_assert_int_eq(wait_here(0, -1, &id, &nmore), -EINVAL);
	ck_assert_int_eq(wait_here(0, 65, &id, &nmore), -EINVAL);
}

TEST(wait__upcall_policy_enabled__refused)
{
	uint64_t id;
	int nmore;

	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(wait_here(0, 1, &id, &nmore), -EACCES);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
	ck_assert_int_eq(wait_here(0, 1, &id, &nmore), -ETIMEDOUT);
}

/* clause: c.14.28 */
TEST(enable__a_waiter_is_blocked__refused)
{
	struct waiter w;

	waiter_start(&w, &st.dev, EVD_FOREVER, 1);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), -EBUSY);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(waiter_join(&w), 0);
	story_expect_nothing(&st);
}

/* clause: c.4.12 */
/* origin: peer.2 */
TEST(unwaitable__refused_and_the_blocked_one_released)
{
	struct waiter w;
	uint64_t id;
	int nmore;

	waiter_start(&w, &st.dev, EVD_FOREVER, 1);
	ck_assert_int_eq(evd_set_waitable(evd_self(&st.dev.evd), false), 0);
	ck_assert_int_eq(waiter_join(&w), -EPERM);
	ck_assert_int_eq(wait_here(0, 1, &id, &nmore), -EPERM);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	story_dequeues(&st, 100);
	/* Allowed again, it is not sent away for what was before. */
	ck_assert_int_eq(evd_set_waitable(evd_self(&st.dev.evd), true), 0);
	ck_assert_int_eq(wait_here(MS, 1, &id, &nmore), -ETIMEDOUT);
}

static void
on_signal(int number)
{
	(void)number;
}

/* clause: c.4.13 */
TEST(wait__signal_handler_ran__interrupted_and_nothing_lost)
{
	const struct sigaction action = { .sa_handler = on_signal };
	struct waiter w;

	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	waiter_start(&w, &st.dev, 10000 * MS, 2);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	waiter_interrupt(&w, SIGUSR1);
	ck_assert_int_eq(waiter_join(&w), -EINTR);
	story_dequeues(&st, 100);
}

TEST(wait__signal_and_event_together__the_event_wins)
{
	const struct sigaction action = { .sa_handler = on_signal };
	struct waiter w;

	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	waiter_start(&w, &st.dev, 10000 * MS, 1);
	script_show(&st.dev, 1); /* there, but its notification is not */
	waiter_interrupt(&w, SIGUSR1);
	ck_assert_int_eq(waiter_join(&w), 0);
	ck_assert_uint_eq(waiter_id(&w), 1);
}

TEST(wait__event_whose_notification_never_comes__found_at_the_deadline)
{
	struct waiter w;

	waiter_start(&w, &st.dev, 40 * MS, 1);
	script_show(&st.dev, 1);
	ck_assert_int_eq(waiter_join(&w), 0);
	ck_assert_uint_eq(waiter_id(&w), 1);
}

/* origin: peer.15 */
TEST(wait__freed_meanwhile__cancelled)
{
	struct waiter w;

	waiter_start(&w, &st.dev, EVD_FOREVER, 1);
	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
	ck_assert_int_eq(waiter_join(&w), -ECANCELED);
	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), -ENODEV);
}

TEST(wait__device_cannot_be_armed__returns_the_error_and_does_not_sleep)
{
	uint64_t id;
	int nmore;

	st.dev.fail_arms = 1;
	ck_assert_int_eq(wait_here(EVD_FOREVER, 1, &id, &nmore), -EIO);
	ck_assert_int_eq(wait_here(5 * MS, 1, &id, &nmore), -ETIMEDOUT);
}

TEST(wait__device_cannot_be_polled__returns_the_error)
{
	uint64_t id;
	int nmore;

	st.dev.fail_polls = 1;
	ck_assert_int_eq(wait_here(EVD_FOREVER, 1, &id, &nmore), -EIO);
	st.dev.greedy_polls = 1;
	ck_assert_int_eq(wait_here(EVD_FOREVER, 1, &id, &nmore), -EIO);
	story_complete(1, 1);
	ck_assert_int_eq(wait_here(0, 1, &id, &nmore), 0);
}

TEST(wait__with_an_effect__runs_before_the_caller_sees_the_event)
{
	const struct script_record record = { .id = 1, .flags = SCRIPT_EFFECT };
	uint64_t id;
	int nmore;

	script_show_record(&st.dev, &record);
	ck_assert_int_eq(wait_here(0, 1, &id, &nmore), 0);
	ck_assert_int_eq(st.dev.effects, 1);
}

TEST(dequeue_several__with_effects__each_effect_runs)
{
	struct script_event events[3];
	uint64_t taken = 0;

	for (uint64_t id = 1; id <= 3; id++) {
		const struct script_record record = { .id = id, .flags = SCRIPT_EFFECT };

		script_show_record(&st.dev, &record);
	}
	while (taken < 3) {
		int n = evd_dequeue_several(evd_self(&st.dev.evd), 3, events);

		ck_assert_int_ge(n, 1);
		for (int i = 0; i < n; i++)
			ck_assert_uint_eq(events[i].id, ++taken);
		ck_assert_int_eq(st.dev.effects, (int)taken);
	}
}

/* Two batches and a half are of an endpoint that is gone. */
TEST(dequeue_several__completions_without_an_event__finds_the_event_behind_them)
{
	struct script_event events[2];

	st.dev.gone[1] = true;
	for (uint64_t id = 1; id <= 2 * EVD_BATCH + EVD_BATCH / 2; id++)
		script_complete_on(&st.dev, 1, id);
	script_complete(&st.dev, 100);
	ck_assert_int_eq(evd_dequeue_several(evd_self(&st.dev.evd), 2, events), 1);
	ck_assert_uint_eq(events[0].id, 100);
	ck_assert_int_eq(evd_dequeue_several(evd_self(&st.dev.evd), 2, events), -EAGAIN);
}

TEST(dequeue_several__device_fails__error_and_nothing_is_lost)
{
	const struct evd_ref ref = evd_self(&st.dev.evd);
	struct script_event events[3];

	ck_assert_int_eq(evd_dequeue_several(ref, 3, events), -EAGAIN);
	story_complete(1, 3);
	st.dev.fail_polls = 1;
	ck_assert_int_eq(evd_dequeue_several(ref, 3, events), -EIO);
	st.dev.greedy_polls = 1;
	ck_assert_int_eq(evd_dequeue_several(ref, 3, events), -EIO);
	ck_assert_int_eq(evd_dequeue_several(ref, 2, events), 2);
	ck_assert_int_eq(evd_dequeue_several(ref, 2, events), 1);
}
