/* SPDX-License-Identifier: BSD-3-Clause */
/* Polling, arming and polling again: no event is lost, and none is counted twice. */
#include "story.h"

static void
begin(const struct script_options *opt)
{
	story_begin(&st, opt);
}

CASE("evd_poll_and_arm:arm");

/* origin: race.A5 */
TEST(poll_and_arm__threshold_and_nmore__beyond_one_batch)
{
	const struct script_options opt = { .qlen = 128 };
	struct waiter w;

	begin(&opt);
	waiter_start(&w, &st.dev, EVD_FOREVER, 40);
	for (uint64_t i = 1; i <= 100; i++)
		script_show(&st.dev, i);
	script_decide(&st.dev);
	ck_assert(script_deliver(&st.dev));
	ck_assert_int_eq(waiter_join(&w), 0);
	ck_assert_uint_eq(waiter_id(&w), 1);
	ck_assert_int_eq(w.nmore, 2 * EVD_BATCH - 1); /* the rest was not polled yet */
	story_end(&st);
}

TEST(poll_and_arm__a_hundred_completions_then_disconnected__it_comes_last)
{
	const struct script_options opt = { .qlen = 128 };
	struct script_event event = script_event(900);

	begin(&opt);
	for (uint64_t i = 1; i <= 100; i++)
		script_complete(&st.dev, i);
	ck_assert_int_eq(
	    evd_post_ordered(evd_self(&st.dev.evd), EVD_STREAM_CONNECTION, &event, &script_barrier),
	    0);
	for (uint64_t i = 1; i <= 100; i++)
		story_dequeues(&st, i);
	story_dequeues(&st, 900);
	story_empty(&st);
	story_end(&st);
}

TEST(poll_and_arm__device_queue_grew__disconnected_still_comes_last)
{
	struct script_event event = script_event(900);

	begin(NULL);
	evd_set_depth(evd_self(&st.dev.evd), 100);
	for (uint64_t i = 1; i <= 100; i++)
		script_complete(&st.dev, i);
	ck_assert_int_eq(
	    evd_post_ordered(evd_self(&st.dev.evd), EVD_STREAM_CONNECTION, &event, &script_barrier),
	    0);
	for (uint64_t i = 1; i <= 100; i++)
		story_dequeues(&st, i);
	story_dequeues(&st, 900);
	story_empty(&st);
	story_end(&st);
}

static void
take_what_was_reported(enum evd_policy policy)
{
	begin(NULL);
	ck_assert_int_eq(story_enable(&st, policy), 0);
	for (uint64_t i = 1; i <= 20; i++)
		script_complete(&st.dev, i);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, TAPE_REPORT);
	story_expect_nothing(&st);
	/* Sixteen fit into the ring; the other four are in the device and raise no notification. */
	ck_assert_uint_eq(script_raised(&st.dev), 0);
	for (uint64_t i = 1; i <= 16; i++)
		story_dequeues(&st, i);
}

TEST(poll_and_arm__ring_was_full__what_stayed_in_the_device_is_reported_when_there_is_room)
{
	take_what_was_reported(EVD_POLICY_NOTIFY);
	story_upcall(&st, TAPE_REPORT);
	for (uint64_t i = 17; i <= 20; i++)
		story_dequeues(&st, i);
	story_expect_nothing(&st);
	story_end(&st);
}

TEST(poll_and_arm__ring_was_full__polled_by_a_dequeue_first__reported_all_the_same)
{
	struct script_event event;
	int nmore;

	take_what_was_reported(EVD_POLICY_NOTIFY);
	story_dequeues(&st, 17);
	story_upcall(&st, TAPE_REPORT);
	story_expect_nothing(&st);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), 0, 3, &event, &nmore), 0);
	ck_assert_int_eq(nmore, 2);
	story_end(&st);
}

TEST(poll_and_arm__exact_hint_maybe__polled_again)
{
	const struct script_options opt = { .exact = true };

	begin(&opt);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	st.dev.before_arm = (struct script_hook){ .fn = story_insert, .arg = (void *)2 };
	script_complete(&st.dev, 1);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 1);
	story_upcall(&st, 2);
	ck_assert_uint_eq(script_raised(&st.dev), 0);
	story_expect_nothing(&st);
	story_end(&st);
}

TEST(poll_and_arm__exact_hint_empty__the_second_poll_is_saved)
{
	const struct script_options opt = { .exact = true };
	unsigned int polls;

	begin(&opt);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_uint_eq(st.dev.polls, 1);
	script_complete(&st.dev, 1);
	polls = st.dev.polls;
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 1);
	ck_assert_uint_eq(st.dev.polls, polls + 2);
	story_expect_nothing(&st);
	story_end(&st);
}

TEST(poll_and_arm__hint_from_a_device_without_an_exact_one__not_trusted)
{
	begin(NULL);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_uint_eq(st.dev.polls, 2);
	story_end(&st);
}

/* origin: race.A8 */
TEST(poll_and_arm__armed_by_a_refused_enable__the_ring_is_not_forgotten)
{
	const struct script_options opt = { .exact = true, .qlen = 64 };

	begin(&opt);
	for (uint64_t i = 1; i <= 40; i++)
		script_complete(&st.dev, i); /* more than one batch */
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_SINGLE, EVD_PENDING_REFUSE), -EAGAIN);
	for (uint64_t i = 1; i <= 32; i++)
		story_dequeues(&st, i);
	/* The rest made no sound: it was there before the arm. */
	ck_assert_uint_eq(script_raised(&st.dev), 0);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	for (uint64_t i = 33; i <= 40; i++)
		story_upcall(&st, i);
	story_expect_nothing(&st);
	ck_assert_uint_eq(st.dev.arms, 1);
	story_end(&st);
}

TEST(poll_and_arm__arm_fails__not_silent_for_ever)
{
	begin(NULL);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	st.dev.fail_arms = 1;
	script_complete(&st.dev, 1);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 1);
	script_complete(&st.dev, 2);
	for (int i = 0; i < 100 && st.tape.n < 2; i++) {
		(void)loop_step(st.loop, 5);
		(void)script_deliver(&st.dev); /* it armed before 2 came, on a slow machine */
	}
	story_upcall(&st, 2);
	story_expect_nothing(&st);
	ck_assert_int_eq(st.dev.faults, 1);
	story_end(&st);
}

TEST(poll_and_arm__unread_notification_or_ring__the_only_reasons_to_rest_with_events)
{
	struct script_event event;

	begin(NULL);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_complete(&st.dev, 1);
	script_complete(&st.dev, 2);
	/* A dequeue by another thread leaves 2 in the ring; the notification is on its way. */
	ck_assert_int_eq(evd_dequeue(evd_self(&st.dev.evd), &event), 0);
	story_check_rest(&st.dev);
	story_run(&st);
	ck_assert_int_eq(st.tape.n, 0);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 2);
	story_expect_nothing(&st);
	story_end(&st);
}

TEST(poll_and_arm__a_long_burst__the_neighbours_get_their_turn)
{
	struct script_options opt = { .qlen = 256 };
	struct evd_upcall object;
	struct script other;
	struct tape tape;
	int before;

	begin(&opt);
	opt.loop = st.loop;
	script_init(&other);
	script_open(&other, &opt);
	tape_init(&tape, &other);
	object = tape_object(&tape);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&other.evd), EVD_POLICY_SINGLE, &object, EVD_PENDING_CALL),
	    0);
	for (uint64_t i = 1; i <= 200; i++)
		script_complete(&st.dev, i);
	ck_assert(script_deliver(&st.dev));
	ck_assert_int_eq(script_post(&other, 100), 0);
	(void)story_turn(&st);
	before = st.tape.n;
	ck_assert_int_lt(before, 200);
	ck_assert_int_eq(tape.n, 1);
	story_run(&st);
	ck_assert_int_eq(st.tape.n, 200);
	st.tape.read = 200;
	script_close(&other);
	story_end(&st);
}

TEST(poll_and_arm__second_event_for_one_arm__nothing_lost)
{
	begin(NULL);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_complete(&st.dev, 1);
	script_duplicate(&st.dev);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 1);
	script_complete(&st.dev, 2);
	story_settle(&st);
	story_upcall(&st, 2);
	story_expect_nothing(&st);
	story_end(&st);
}
