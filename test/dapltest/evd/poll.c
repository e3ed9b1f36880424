/* SPDX-License-Identifier: BSD-3-Clause */
/* A poll that fails, or a batch that has more receives than were posted. */
#include "story.h"

#define POSTED 4 /* receives of an endpoint, so its hold has room for as many */

static int
refresh(void)
{
	return evd_refresh(evd_self(&st.dev.evd));
}

STORY_CASE("evd_poll:poll");

/* origin: out33.Q12 */
TEST(poll__fails_once__the_caller_gets_the_error_and_nothing_is_lost)
{
	struct script_event event;
	int nmore;

	st.dev.poll_error = -EOVERFLOW; /* as an errno it means what the device likes */
	script_complete(&st.dev, 1);
	st.dev.fail_polls = 1;
	ck_assert_int_eq(refresh(), -EIO);
	st.dev.fail_polls = 1;
	ck_assert_int_eq(evd_dequeue(evd_self(&st.dev.evd), &event), -EIO);
	st.dev.fail_polls = 1;
	ck_assert_int_eq(evd_dequeue_several(evd_self(&st.dev.evd), 1, &event), -EIO);
	st.dev.fail_polls = 1;
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), EVD_FOREVER, 1, &event, &nmore), -EIO);
	st.dev.fail_polls = 1;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), -EIO);
	story_dequeues(&st, 1);
	ck_assert_int_eq(evd_dequeue(evd_self(&st.dev.evd), &event), -EAGAIN);
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), 1000, 1, &event, &nmore), -ETIMEDOUT);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	st.dev.fail_polls = 1;
	script_complete(&st.dev, 2);
	ck_assert(script_deliver(&st.dev));
	for (int i = 0; i < 1000 && tape_count(&st.tape) == 0; i++)
		(void)loop_step(st.loop, 10);
	story_upcall(&st, 2);
	ck_assert_int_eq(st.dev.faults, 1);
	ck_assert_int_eq(st.dev.last_fault, -EIO);
}

/* The story with a hold for the receives of endpoint 1. */
static struct evd_hold hold;

static void
begin(const struct script_options *opt)
{
	story_begin(&st, opt);
	ck_assert_int_eq(evd_hold_init(&hold, POSTED), 0);
	st.dev.hold[1] = &hold;
	evd_hold_begin(evd_self(&st.dev.evd), &hold);
}

static void
setup(void)
{
	const struct script_options opt = { .qlen = 2 * EVD_BATCH };

	begin(&opt);
}

static void
teardown(void)
{
	evd_purge(evd_self(&st.dev.evd), &hold, NULL, NULL, NULL);
	st.dev.hold[1] = NULL;
	evd_hold_fini(&hold);
	story_end(&st);
}

/* An event, and more receives than were posted. */
static void
complete_too_many(void)
{
	script_complete(&st.dev, 1);
	for (uint64_t i = 0; i <= POSTED; i++)
		script_complete_on(&st.dev, 1, 800 + i);
}

CASE("evd_poll:batch", setup, teardown);

/*
 * The batch is full, so the device may have more.  A poll for no sink leaves the error to the next
 * call.
 */
TEST(refresh__full_batch_with_more_receives_than_were_posted__is_the_error_of_the_next_call)
{
	struct script_event event;

	for (uint64_t i = 0; i < EVD_BATCH; i++)
		script_complete_on(&st.dev, 1, 800 + i);
	script_complete(&st.dev, 1);
	ck_assert_int_eq(refresh(), 0);
	ck_assert_uint_eq(hold.count, POSTED);
	ck_assert_uint_eq(script_queued(&st.dev), 0);
	story_dequeues(&st, 1);
	ck_assert_int_eq(evd_dequeue(evd_self(&st.dev.evd), &event), -EIO);
	story_empty(&st);
}

TEST(dequeue__event_and_too_many_receives__event_then_error_once)
{
	struct script_event event;

	complete_too_many();
	story_dequeues(&st, 1);
	ck_assert_int_eq(evd_dequeue(evd_self(&st.dev.evd), &event), -EIO);
	story_empty(&st);
}

TEST(dequeue_n__event_and_too_many_receives__event_then_error_once)
{
	const struct evd_ref ref = evd_self(&st.dev.evd);
	struct script_event events[8];

	complete_too_many();
	ck_assert_int_eq(evd_dequeue_several(ref, 8, events), 1);
	ck_assert_uint_eq(script_id(&events[0]), 1);
	ck_assert_int_eq(evd_dequeue_several(ref, 8, events), -EIO);
	ck_assert_int_eq(evd_dequeue_several(ref, 8, events), -EAGAIN);
}

TEST(wait__event_and_too_many_receives__event_then_error_once)
{
	const struct evd_ref ref = evd_self(&st.dev.evd);
	struct script_event event;
	int nmore;

	complete_too_many();
	ck_assert_int_eq(evd_wait(ref, EVD_FOREVER, 1, &event, &nmore), 0);
	ck_assert_uint_eq(script_id(&event), 1);
	ck_assert_int_eq(evd_wait(ref, EVD_FOREVER, 1, &event, &nmore), -EIO);
	ck_assert_int_eq(evd_wait(ref, 0, 1, &event, &nmore), -ETIMEDOUT);
}

TEST(enable__too_many_receives__fails_once)
{
	complete_too_many();
	story_dequeues(&st, 1);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), -EIO);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	story_settle(&st);
	story_expect_nothing(&st);
	ck_assert_int_eq(st.dev.faults, 0);
}

/*
 * The arm proves that the queue is empty; the enable polls all the same, and finds what an earlier
 * poll refused.
 */
TEST_LOOP(enable__too_many_receives_were_refused_and_the_arm_is_exact__fails_once, 2)
{
	const struct script_options opt = { .qlen = 2 * EVD_BATCH, .exact = true };

	teardown();
	begin(&opt);
	complete_too_many();
	if (_i)
		ck_assert_int_eq(refresh(), 0); /* its last poll finds nothing */
	story_dequeues(&st, 1);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), -EIO);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
}

/* The overflow comes after the refusal, or before it: what the device still has can be taken. */
TEST_LOOP(overflow__beside_too_many_receives__the_next_completion_is_taken, 2)
{
	struct script_event event;

	if (_i)
		ck_assert(evd_mark_overflow(evd_self(&st.dev.evd)));
	complete_too_many();
	ck_assert_int_eq(refresh(), 0);
	if (!_i)
		ck_assert(evd_mark_overflow(evd_self(&st.dev.evd)));
	story_dequeues(&st, 1);
	script_complete(&st.dev, 2);
	story_dequeues(&st, 2);
	ck_assert_int_eq(evd_dequeue(evd_self(&st.dev.evd), &event), -EOVERFLOW);
}

static const enum evd_policy policies[] = { EVD_POLICY_SINGLE, EVD_POLICY_MANY };

/* The run that claims the event straight from the poll reports the failure as well. */
TEST_LOOP(upcall__event_and_too_many_receives__event_then_fault_once,
    sizeof policies / sizeof policies[0])
{
	ck_assert_int_eq(story_enable(&st, policies[_i]), 0);
	complete_too_many();
	story_settle(&st);
	story_upcall(&st, 1);
	ck_assert_int_eq(st.dev.faults, 1);
	ck_assert_int_eq(st.dev.last_fault, -EIO);
	script_complete(&st.dev, 2);
	for (int i = 0; i < 100 && tape_count(&st.tape) < 2; i++) {
		script_sleep_ms(1); /* the run after the failure has a delay */
		story_settle(&st);
	}
	story_upcall(&st, 2);
	ck_assert_int_eq(st.dev.faults, 1);
}

/* A whole batch of completions of an endpoint that is gone. */
static void
complete_dropped(void)
{
	st.dev.gone[2] = true;
	for (uint64_t i = 0; i < EVD_BATCH; i++)
		script_complete_on(&st.dev, 2, 900 + i);
	script_complete(&st.dev, 1);
}

TEST(dequeue_n__whole_batch_is_dropped__takes_the_event_behind)
{
	const struct evd_ref ref = evd_self(&st.dev.evd);
	struct script_event events[EVD_BATCH];

	complete_dropped();
	ck_assert_int_eq(evd_dequeue_several(ref, EVD_BATCH, events), 1);
	ck_assert_uint_eq(script_id(&events[0]), 1);
	ck_assert_int_eq(evd_dequeue_several(ref, EVD_BATCH, events), -EAGAIN);
}

TEST_LOOP(
    upcall__whole_batch_is_dropped__gets_the_event_behind, sizeof policies / sizeof policies[0])
{
	ck_assert_int_eq(story_enable(&st, policies[_i]), 0);
	complete_dropped();
	story_settle(&st);
	story_upcall(&st, 1);
	story_expect_nothing(&st);
}
