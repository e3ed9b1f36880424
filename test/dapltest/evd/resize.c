/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue in use gets another length: no event is lost or moved, and no waiter is forgotten. */
#include "cno_story.h"

static int
qlen(void)
{
	struct evd_status status;

	ck_assert_int_eq(evd_query(evd_self(&st.dev.evd), &status), 0);
	return status.qlen;
}

CASE("evd_resize:story_resize");

TEST(longer__rings_that_wrapped__keep_their_order)
{
	story_begin_qlen(4);
	for (uint64_t i = 1; i <= 3; i++)
		script_complete(&st.dev, i);
	for (uint64_t i = 1; i <= 3; i++)
		story_dequeues(&st, i);
	for (uint64_t i = 0; i < 3; i++)
		ck_assert_int_eq(script_post(&st.dev, 100 + i), 0);
	story_dequeues(&st, 100);
	story_dequeues(&st, 101);
	for (uint64_t i = 4; i <= 7; i++)
		script_complete(&st.dev, i);
	ck_assert_int_eq(evd_refresh(evd_self(&st.dev.evd)), 0);
	for (uint64_t i = 0; i < 3; i++)
		ck_assert_int_eq(script_post(&st.dev, 110 + i), 0);
	ck_assert_int_eq(story_resize(9), 0);
	ck_assert_int_eq(qlen(), 9);
	for (uint64_t i = 0; i < 5; i++)
		ck_assert_int_eq(script_post(&st.dev, 120 + i), 0);
	ck_assert_int_eq(script_post(&st.dev, 130), -ENOSPC);
	story_dequeues(&st, 102);
	for (uint64_t i = 4; i <= 7; i++)
		story_dequeues(&st, i);
	for (uint64_t i = 0; i < 3; i++)
		story_dequeues(&st, 110 + i);
	for (uint64_t i = 0; i < 5; i++)
		story_dequeues(&st, 120 + i);
	story_empty(&st);
	story_end(&st);
}

TEST(shorter__just_fits__keeps_all_and_holds_no_more)
{
	story_begin_qlen(8);
	script_complete(&st.dev, 1);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	script_complete(&st.dev, 2);
	ck_assert_int_eq(story_resize(2), -EAGAIN);
	ck_assert_int_eq(qlen(), 8);
	ck_assert_int_eq(story_resize(3), 0);
	ck_assert_int_eq(qlen(), 3);
	ck_assert_int_eq(script_post(&st.dev, 101), 0);
	ck_assert_int_eq(script_post(&st.dev, 102), 0);
	ck_assert_int_eq(script_post(&st.dev, 103), -ENOSPC);
	story_dequeues(&st, 100);
	story_dequeues(&st, 1);
	story_dequeues(&st, 2);
	story_dequeues(&st, 101);
	story_dequeues(&st, 102);
	story_empty(&st);
	story_end(&st);
}

TEST(shorter__full_of_software_events__moves_just_these)
{
	story_begin_qlen(8);
	for (uint64_t i = 100; i < 103; i++)
		ck_assert_int_eq(script_post(&st.dev, i), 0);
	ck_assert_int_eq(story_resize(3), 0);
	for (uint64_t i = 100; i < 103; i++)
		story_dequeues(&st, i);
	story_empty(&st);
	story_end(&st);
}

TEST(shorter__what_the_device_holds__counts_as_queued)
{
	story_begin_qlen(8);
	for (uint64_t i = 1; i <= 5; i++)
		script_complete(&st.dev, i);
	ck_assert_int_eq(story_resize(4), -EAGAIN);
	ck_assert_int_eq(story_resize(5), 0);
	for (uint64_t i = 1; i <= 5; i++)
		story_dequeues(&st, i);
	story_empty(&st);
	story_end(&st);
}

static int
resize_to_six(void)
{
	return story_resize(6);
}

TEST(longer__ring_was_full__what_stayed_in_the_device_is_reported)
{
	story_begin_qlen(2);
	cno_story_refill(&st, resize_to_six);
	story_end(&st);
}

TEST(resize__upcalls_stand__every_event_makes_one)
{
	story_begin_qlen(4);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_show(&st.dev, 1); /* visible, undecided: only the story_resize's own poll sees it */
	ck_assert_int_eq(story_resize(8), 0);
	story_run(&st);
	story_upcall(&st, 1);
	script_decide(&st.dev);
	story_settle(&st);
	script_complete(&st.dev, 2);
	story_settle(&st);
	story_upcall(&st, 2);
	story_expect_nothing(&st);
	story_end(&st);
}

TEST(resize__a_waiter_is_blocked__refused_and_it_goes_on_waiting)
{
	struct waiter w;

	story_begin_qlen(4);
	waiter_start(&w, &st.dev, EVD_FOREVER, 1);
	ck_assert_int_eq(story_resize(8), -EBUSY);
	ck_assert_int_eq(qlen(), 4);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(waiter_join(&w), 0);
	ck_assert_uint_eq(waiter_id(&w), 100);
	story_end(&st);
}

TEST(resize__a_barrier_waits__it_goes_on_waiting_for_all_that_were_before_it)
{
	struct script_event event = script_event(900);

	story_begin_qlen(8);
	evd_set_depth(evd_self(&st.dev.evd), 64);
	ck_assert_int_eq(story_resize(2), 0);
	for (uint64_t i = 1; i <= 8; i++)
		script_complete(&st.dev, i);
	ck_assert_int_eq(
	    evd_post_ordered(evd_self(&st.dev.evd), EVD_STREAM_CONNECTION, &event, &script_barrier),
	    0);
	for (uint64_t i = 1; i <= 4; i++)
		story_dequeues(&st, i);
	/* so many are left, and so many were polled since */
	evd_set_depth(evd_self(&st.dev.evd), 4);
	for (uint64_t i = 5; i <= 8; i++)
		story_dequeues(&st, i);
	story_dequeues(&st, 900);
	story_empty(&st);
	story_end(&st);
}

static bool
is_900(const void *event, const void *key)
{
	(void)key;
	return script_id(event) == 900;
}

TEST(resize__two_barriers_wait_and_the_first_is_purged__the_second_goes_on_waiting)
{
	struct script_event event;

	story_begin_qlen(4);
	evd_set_depth(evd_self(&st.dev.evd), 64);
	for (uint64_t i = 1; i <= 8; i++)
		script_complete(&st.dev, i);
	for (uint64_t id = 900; id < 902; id++) {
		event = script_event(id);
		ck_assert_int_eq(evd_post_ordered(evd_self(&st.dev.evd), EVD_STREAM_CONNECTION,
				     &event, &script_barrier),
		    0);
	}
	for (uint64_t i = 1; i <= 4; i++)
		story_dequeues(&st, i);
	evd_set_depth(evd_self(&st.dev.evd), 4);
	evd_purge(evd_self(&st.dev.evd), NULL, NULL, is_900, NULL);
	for (uint64_t i = 5; i <= 8; i++)
		story_dequeues(&st, i);
	story_dequeues(&st, 901);
	story_empty(&st);
	story_end(&st);
}

TEST(resize__receives_are_held__they_stay_held_and_in_order)
{
	struct script_event event = script_event(900);
	struct evd_hold hold;
	const struct evd_order order = { .endpoint = &hold, .hold = &hold };

	story_begin_qlen(4);
	ck_assert_int_eq(evd_hold_init(&hold, 4), 0);
	st.dev.hold[1] = &hold;
	evd_hold_begin(evd_self(&st.dev.evd), &hold);
	script_complete_on(&st.dev, 1, 1);
	script_complete_on(&st.dev, 2, 2);
	ck_assert_int_eq(story_resize(1), 0); /* what is held is not in the queue */
	story_dequeues(&st, 2);
	story_empty(&st);
	ck_assert_int_eq(story_resize(4), 0);
	ck_assert_int_eq(
	    evd_post_ordered(evd_self(&st.dev.evd), EVD_STREAM_CONNECTION, &event, &order), 0);
	script_complete_on(&st.dev, 1, 3);
	ck_assert_int_eq(story_resize(8), 0);
	story_dequeues(&st, 900);
	story_dequeues(&st, 1);
	story_dequeues(&st, 3);
	story_empty(&st);
	evd_purge(evd_self(&st.dev.evd), &hold, NULL, NULL, NULL);
	evd_hold_fini(&hold);
	story_end(&st);
}

TEST(resize__the_device_fails__reported_unless_the_evd_is_over)
{
	story_begin_qlen(4);
	st.dev.fail_polls = 1;
	ck_assert_int_eq(story_resize(8), -EIO);
	ck_assert_int_eq(qlen(), 4);
	ck_assert(evd_mark_overflow(evd_self(&st.dev.evd)));
	st.dev.fail_polls = 1;
	ck_assert_int_eq(story_resize(8), 0);
	ck_assert_int_eq(qlen(), 8);
	st.dev.fail_polls = 0;
	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
	ck_assert_int_eq(story_resize(8), -ENODEV);
	story_end(&st);
}
