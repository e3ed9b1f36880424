/* SPDX-License-Identifier: BSD-3-Clause */
/* A drain polls the device queue on to the completions that sort() drops. */
#include "cno_story.h"
#include "window.h"

#define DEPTH 24

static void
begin(int qlen)
{
	const struct script_options opt = { .qlen = qlen };

	story_begin(&st, &opt);
	evd_set_depth(evd_self(&st.dev.evd), DEPTH);
}

static int
drain(void)
{
	return evd_drain(evd_self(&st.dev.evd));
}

/*
 * Completions of an endpoint that goes stand behind so many of one that stays, who begins with
 * `first`.
 */
static void
complete_and_leave(uint64_t first, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		script_complete_on(&st.dev, 0, first + i);
	for (uint64_t i = 0; i < 4; i++)
		script_complete_on(&st.dev, 1, 800 + i);
	st.dev.gone[1] = true;
}

CASE("evd_drain:drain");

TEST(drain__ring_has_room__only_drops)
{
	begin(8);
	complete_and_leave(1, 3);
	ck_assert_int_eq(drain(), 0);
	ck_assert_uint_eq(st.dev.count, 0);
	for (uint64_t i = 1; i <= 3; i++)
		story_dequeues(&st, i);
	story_empty(&st);
	story_end(&st);
}

TEST(drain__ring_is_full__keeps_all_in_order)
{
	begin(4);
	/* The oldest is not at the beginning. */
	for (uint64_t i = 1; i <= 4; i++)
		script_complete(&st.dev, i);
	ck_assert_int_eq(evd_refresh(evd_self(&st.dev.evd)), 0);
	story_dequeues(&st, 1);
	story_dequeues(&st, 2);
	complete_and_leave(5, 12);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(drain(), 0);
	ck_assert_uint_eq(st.dev.count, 0);
	script_complete(&st.dev, 17);
	story_dequeues(&st, 3);
	story_dequeues(&st, 4);
	story_dequeues(&st, 100);
	for (uint64_t i = 5; i <= 17; i++)
		story_dequeues(&st, i);
	story_empty(&st);
	story_end(&st);
}

TEST(drain__ring_has_grown__posted_events_and_the_length_are_as_before)
{
	struct evd_status status;

	begin(4);
	complete_and_leave(1, 12);
	ck_assert_int_eq(drain(), 0);
	ck_assert_int_eq(evd_query(evd_self(&st.dev.evd), &status), 0);
	ck_assert_int_eq(status.qlen, 4);
	for (uint64_t i = 100; i < 104; i++)
		ck_assert_int_eq(script_post(&st.dev, i), 0);
	ck_assert_int_eq(script_post(&st.dev, 104), -ENOSPC);
	ck_assert_int_eq(evd_resize(evd_self(&st.dev.evd), 15), -EAGAIN);
	ck_assert_int_eq(evd_resize(evd_self(&st.dev.evd), 16), 0);
	for (uint64_t i = 1; i <= 12; i++)
		story_dequeues(&st, i);
	for (uint64_t i = 100; i < 104; i++)
		story_dequeues(&st, i);
	story_empty(&st);
	story_end(&st);
}

/* Again and again, until the ring is longer than the device queue is deep. */
TEST(drain__a_ring_as_long_as_the_device_queue_is_full__still_grows)
{
	uint64_t n = 0;

	begin(4);
	for (int round = 0; round < 4; round++) {
		st.dev.gone[1] = false;
		complete_and_leave(n + 1, 16);
		n += 16;
		ck_assert_int_eq(drain(), 0);
		ck_assert_uint_eq(st.dev.count, 0);
	}
	for (uint64_t i = 1; i <= n; i++)
		story_dequeues(&st, i);
	story_empty(&st);
	story_end(&st);
}

TEST(drain__upcalls_stand__every_event_that_it_polled_makes_one)
{
	begin(2);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	for (uint64_t i = 1; i <= 6; i++)
		script_show(&st.dev, i); /* visible, undecided: only the drain sees them */
	ck_assert_int_eq(drain(), 0);
	story_run(&st);
	for (uint64_t i = 1; i <= 6; i++)
		story_upcall(&st, i);
	for (uint64_t i = 1; i <= 6; i++)
		script_decide(&st.dev);
	story_settle(&st);
	script_complete(&st.dev, 7);
	story_settle(&st);
	story_upcall(&st, 7);
	story_expect_nothing(&st);
	story_end(&st);
}

static void
lengthen_to_32(void)
{
	must(evd_resize(evd_self(&st.dev.evd), 32) == 0);
}

/* The drain allocates a longer ring without the lock.  The queue becomes longer than that. */
TEST(drain__resized_while_it_allocates__keeps_the_new_length)
{
	struct evd_status status;

	begin(4);
	complete_and_leave(1, 12);
	window_at(&st.dev.evd.lock, 1, lengthen_to_32);
	ck_assert_int_eq(drain(), 0);
	ck_assert(!window_missed());
	for (uint64_t i = 13; i <= 32; i++)
		script_complete(&st.dev, i);
	ck_assert_int_eq(evd_refresh(evd_self(&st.dev.evd)), 0);
	ck_assert_int_eq(evd_query(evd_self(&st.dev.evd), &status), 0);
	ck_assert_int_eq(status.qlen, 32);
	ck_assert_int_eq(status.queued, 32);
	for (uint64_t i = 1; i <= 32; i++)
		story_dequeues(&st, i);
	story_empty(&st);
	story_end(&st);
}

TEST(drain__ring_was_full__a_cno_is_notified_of_what_stayed_in_the_device)
{
	begin(2);
	cno_story_refill(&st, drain);
	story_end(&st);
}

TEST(drain__a_barrier_waits__opens)
{
	struct script_event event = script_event(900);

	begin(2);
	complete_and_leave(1, 4);
	ck_assert_int_eq(
	    evd_post_ordered(evd_self(&st.dev.evd), EVD_STREAM_CONNECTION, &event, &script_barrier),
	    0);
	ck_assert_int_eq(drain(), 0);
	for (uint64_t i = 1; i <= 4; i++)
		story_dequeues(&st, i);
	story_dequeues(&st, 900);
	story_empty(&st);
	story_end(&st);
}

TEST(drain__the_device_fails_or_the_evd_was_freed__returns_the_error)
{
	begin(4);
	st.dev.fail_polls = 1;
	ck_assert_int_eq(drain(), -EIO);
	ck_assert_int_eq(drain(), 0);
	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
	ck_assert_int_eq(drain(), -ENODEV);
	story_end(&st);
}

TEST(drain__no_device__nothing_to_do)
{
	const struct script_options opt = { .qlen = 2, .no_device = true };

	story_begin(&st, &opt);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(script_post(&st.dev, 101), 0);
	ck_assert_int_eq(drain(), 0);
	story_dequeues(&st, 100);
	story_dequeues(&st, 101);
	story_end(&st);
}
