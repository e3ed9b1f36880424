/* SPDX-License-Identifier: BSD-3-Clause */
/* Arming, acknowledgements and the order of BROKEN, as the consumer of an EVD sees them. */
#include "story.h"

static void
post_broken(struct script *s, uint64_t id)
{
	struct script_event event = script_event(900 + id);

	must(evd_post_ordered(evd_self(&s->evd), EVD_STREAM_CONNECTION, &event, &script_barrier) ==
	     0);
}

static void
complete_flagged(uint64_t id)
{
	const struct script_record record = { .id = id, .flags = SCRIPT_EFFECT };

	script_show_record(&st.dev, &record);
	script_decide(&st.dev);
}

static void
dequeue_inside(struct tape *tape, uint64_t id)
{
	struct script_event event;

	if (id == 100) /* trigger -> dequeue -> BROKEN -> post -> trigger, on one thread */
		must(evd_dequeue(evd_self(&tape->dev->evd), &event) == 0 && script_id(&event) == 1);
}

STORY_CASE("evd_arm:arm");

/* origin: peer.16 */
TEST(arm__dequeue_in_the_upcall_posts_broken__no_deadlock_no_recursion_no_loss)
{
	st.dev.on_effect = post_broken;
	st.tape.then = dequeue_inside;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	complete_flagged(1);
	story_upcall(&st, 100);
	story_upcall(&st, 901);
	story_expect_nothing(&st);
	ck_assert_int_eq(st.tape.most_inside, 1);
}

/* origin: peer.30 */
TEST(arm__broken__after_the_error_and_all_earlier_completions)
{
	st.dev.on_effect = post_broken;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_complete(&st.dev, 1);
	complete_flagged(2);
	for (uint64_t i = 3; i <= 20; i++) /* the flush, longer than the ring */
		script_complete(&st.dev, i);
	ck_assert(script_deliver(&st.dev));
	for (uint64_t i = 1; i <= 20; i++)
		story_upcall(&st, i);
	story_upcall(&st, 902);
	story_expect_nothing(&st);
}

/* origin: race.A1 */
TEST(arm__completion_between_the_last_poll_and_the_arm__upcall)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	st.dev.before_arm = (struct script_hook){ .fn = story_insert, .arg = (void *)2 };
	script_complete(&st.dev, 1);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 1);
	story_upcall(&st, 2);
	ck_assert_uint_eq(script_raised(&st.dev), 0); /* nothing was armed: it made no sound */
	story_expect_nothing(&st);
	/* After the poll, hence before the arm: the same. */
	st.dev.after_poll = (struct script_hook){ .fn = story_insert, .arg = (void *)4, .skip = 1 };
	script_complete(&st.dev, 3);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 3);
	story_upcall(&st, 4);
	story_expect_nothing(&st);
}

TEST(arm__completion_right_after_the_arm__once)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	st.dev.after_arm = (struct script_hook){ .fn = story_insert, .arg = (void *)2 };
	script_complete(&st.dev, 1);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 1);
	story_upcall(&st, 2);
	ck_assert_uint_eq(script_raised(&st.dev), 1);
	story_expect_nothing(&st);
}

TEST(arm__notification_while_disabled__acknowledged_and_not_armed_again)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
	for (uint64_t i = 1; i <= 5; i++)
		script_complete(&st.dev, i);
	ck_assert_uint_eq(script_raised(&st.dev), 1);
	ck_assert(script_deliver(&st.dev));
	ck_assert_int_eq(story_turn(&st), 0); /* no thread is woken without cause */
	ck_assert_uint_eq(st.dev.arms, 1);
	for (uint64_t i = 1; i <= 5; i++)
		story_dequeues(&st, i);
	ck_assert_uint_eq(st.dev.arms, 1);
}

static void
post_to_self(struct script *s)
{
	must(script_post(s, 900) == 0); /* the trigger lock is free */
}

TEST(arm__arm_fails__reported_unlocked_even_to_the_evd_itself)
{
	st.dev.on_fault = post_to_self;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	st.dev.fail_arms = 1;
	script_spurious(&st.dev);
	ck_assert(script_deliver(&st.dev));
	for (int i = 0; i < 100 && st.tape.n == 0; i++)
		(void)loop_step(st.loop, 10);
	story_upcall(&st, 900);
	ck_assert_int_eq(st.dev.faults, 1);
	story_expect_nothing(&st);
}

TEST(arm__nothing_calls_out_from_inside_a_consumers_call)
{
	struct script_event event;

	script_complete(&st.dev, 1);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(evd_dequeue(evd_self(&st.dev.evd), &event), 0);
	ck_assert_int_eq(evd_set_enabled(evd_self(&st.dev.evd), false), 0);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_MANY), 0);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	(void)script_deliver(&st.dev);
	ck_assert_int_eq(st.tape.n, 0);
	story_upcall(&st, 100);
	story_expect_nothing(&st);
}

TEST(arm__a_blocking_upcall__delays_its_own_loop_only)
{
	struct script_options opt = { .channel = SCRIPT_DIRECT };
	struct evd_upcall object;
	struct script other;
	struct tape tape;

	story_end(&st);
	ck_assert_int_eq(loop_create(LOOP_THREAD, 0, &opt.loop), 0);
	story_begin(&st, &opt);
	ck_assert_int_eq(loop_create(LOOP_THREAD, 0, &opt.loop), 0);
	script_init(&other);
	script_open(&other, &opt);
	tape_init(&tape, &other);
	object = tape_object(&tape);
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&other.evd), EVD_POLICY_SINGLE, &object, EVD_PENDING_CALL),
	    0);
	tape_hold(&st.tape);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_complete(&st.dev, 1);
	tape_await_inside(&st.tape, 1);
	script_complete(&other, 2);
	tape_await(&tape, 1);
	tape_await_inside(&tape, 0);
	ck_assert_int_eq(st.tape.inside, 1);
	tape_release(&st.tape);
	script_close(&other);
	loop_free(opt.loop);
	tape_await_inside(&st.tape, 0);
	st.tape.read = st.tape.n;
}

static void
free_own(struct tape *tape, uint64_t id)
{
	(void)id;
	must(tape->dev->gets == 1 && tape->dev->acks == 0);
	must(evd_free(evd_self(&tape->dev->evd)) == 0);
}

TEST(arm__freed_in_the_upcall__the_notification_that_led_to_it_is_acknowledged)
{
	st.tape.then = free_own;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_complete(&st.dev, 1);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 1);
	ck_assert_int_eq(st.dev.destroyed, 1);
	ck_assert_uint_eq(st.dev.acks, 1);
}

TEST(arm__acknowledged_in_batches)
{
	unsigned int before = 0, calls = 0;

	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	for (uint64_t i = 1; i <= 130; i++) {
		script_complete(&st.dev, i);
		ck_assert(script_deliver(&st.dev));
		story_upcall(&st, i);
		calls += st.dev.acks != before;
		before = st.dev.acks;
	}
	ck_assert_uint_eq(calls, 2);
	ck_assert_uint_eq(st.dev.acks, 128);
}

TEST(arm__blocked_waiter__woken_by_channel_by_post_and_by_unwaitable)
{
	struct script_options opt = { .channel = SCRIPT_PRIVATE };
	struct waiter w;

	story_end(&st);
	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &opt.loop), 0);
	story_begin(&st, &opt); /* the loop does not run: only the caller can poll */
	waiter_start(&w, &st.dev, EVD_FOREVER, 1);
	script_complete(&st.dev, 1);
	ck_assert_int_eq(waiter_join(&w), 0);
	ck_assert_uint_eq(waiter_id(&w), 1);
	waiter_start(&w, &st.dev, EVD_FOREVER, 1);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(waiter_join(&w), 0);
	ck_assert_uint_eq(waiter_id(&w), 100);
	waiter_start(&w, &st.dev, EVD_FOREVER, 1);
	ck_assert_int_eq(evd_set_waitable(evd_self(&st.dev.evd), false), 0);
	ck_assert_int_eq(waiter_join(&w), -EPERM);
}
