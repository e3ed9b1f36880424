/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An EVD that is created without room for posted events: the first post makes it, in several lock
 * sections.  Whatever happens between them, the post succeeds and no event is lost, moved or
 * refused below the length.
 */
#include "story.h"
#include "window.h"

#define FIRST 100
#define INTRUDER 500
#define FILL 600

static void
begin(int qlen)
{
	const struct script_options opt = { .qlen = qlen, .posted_on_demand = true };

	story_begin(&st, &opt);
}

/* Posts from `first` on until the queue is full. */
static void
posts_fit(uint64_t first, unsigned int n)
{
	for (uint64_t i = 0; i < n; i++)
		ck_assert_int_eq(script_post(&st.dev, first + i), 0);
	ck_assert_int_eq(script_post(&st.dev, first + n), -ENOSPC);
}

CASE("evd_first_post:first_post");

TEST(first_post__makes_room__for_as_many_as_the_length)
{
	begin(4);
	ck_assert_uint_eq(st.dev.evd.queue.posted.length, 0);
	script_complete(&st.dev, 1);
	ck_assert_int_eq(evd_refresh(evd_self(&st.dev.evd)), 0);
	posts_fit(FIRST, 4);
	story_dequeues(&st, 1);
	for (uint64_t i = 0; i < 4; i++)
		story_dequeues(&st, FIRST + i);
	story_empty(&st);
	story_end(&st);
}

TEST(resize__nothing_posted_yet__the_first_post_makes_room_for_the_new_length)
{
	begin(4);
	ck_assert_int_eq(story_resize(6), 0);
	ck_assert_uint_eq(st.dev.evd.queue.posted.length, 0);
	posts_fit(FIRST, 6);
	ck_assert_int_eq(story_resize(7), 0);
	posts_fit(FIRST + 6, 1);
	for (uint64_t i = 0; i < 7; i++)
		story_dequeues(&st, FIRST + i);
	story_empty(&st);
	story_end(&st);
}

TEST(reserve__nothing_posted_yet__makes_room_that_a_resize_keeps)
{
	begin(4);
	ck_assert_int_eq(evd_reserve(evd_self(&st.dev.evd), 2), 0);
	ck_assert_int_eq(story_resize(1), 0);
	posts_fit(FIRST, 3);
	for (uint64_t i = 0; i < 3; i++)
		story_dequeues(&st, FIRST + i);
	story_end(&st);
}

/* ---- windows ---- */

static void (*intruder)(void);
static bool came_last; /* after the first post */

static void
intrude(void)
{
	came_last = st.dev.evd.counters.software > 0;
	intruder();
}

static void
intrude_post(void)
{
	must(script_post(&st.dev, INTRUDER) == 0);
}

static void
intrude_post_twice(void)
{
	intrude_post();
	must(script_post(&st.dev, INTRUDER + 1) == 0);
}

static void
intrude_longer(void)
{
	must(story_resize(9) == 0);
}

static void
intrude_shorter(void)
{
	must(story_resize(3) == 0);
}

static void
intrude_post_and_longer(void)
{
	intrude_post();
	intrude_longer();
}

static void
intrude_reserve(void)
{
	must(evd_reserve(evd_self(&st.dev.evd), 3) == 0);
}

static void (*const intruders[])(void) = {
	intrude_post,
	intrude_post_twice,
	intrude_longer,
	intrude_shorter,
	intrude_post_and_longer,
	intrude_reserve,
};
#define INTRUDERS ((int)(sizeof intruders / sizeof intruders[0]))

static void
post_first(void)
{
	must(script_post(&st.dev, FIRST) == 0);
}

static void
resize_to_four(void)
{
	must(story_resize(4) == 0);
}

static void
reserve_one(void)
{
	must(evd_reserve(evd_self(&st.dev.evd), 1) == 0);
}

static void (*const calls[])(void) = { post_first, resize_to_four, reserve_one };
#define CALLS ((int)(sizeof calls / sizeof calls[0]))

static void
dequeues(uint64_t id, int n)
{
	for (int i = 0; i < n; i++)
		story_dequeues(&st, id + (uint64_t)i);
}

/*
 * All that was posted is queued, once and in the order of the posts, and the rest of the length is
 * free.  `last`: the intruder came after the call.
 */
static void
check_queue(bool first, bool last)
{
	const bool posted = intruder == intrude_post || intruder == intrude_post_twice ||
			    intruder == intrude_post_and_longer;
	const int intruding = posted + (intruder == intrude_post_twice);
	struct evd_status status;
	int left;

	ck_assert_int_eq(evd_query(evd_self(&st.dev.evd), &status), 0);
	ck_assert_int_eq(status.queued, first + intruding);
	left = status.qlen - status.queued;
	for (int i = 0; i < left; i++)
		ck_assert_int_eq(script_post(&st.dev, FILL + (uint64_t)i), 0);
	dequeues(FIRST, first && last);
	dequeues(INTRUDER, intruding);
	dequeues(FIRST, first && !last);
	dequeues(FILL, left);
	story_empty(&st);
}

TEST_LOOP(
    call_that_makes_room__anything_in_its_windows__no_event_is_lost_or_refused, CALLS *INTRUDERS)
{
	void (*const call)(void) = calls[_i / INTRUDERS];
	bool missed = false;
	int window;

	intruder = intruders[_i % INTRUDERS];
	for (window = 1; !missed; window++) {
		begin(6);
		window_at(&st.dev.evd.lock, window, intrude);
		call();
		missed = window_missed();
		if (missed)
			intrude();
		check_queue(call == post_first, came_last);
		story_end(&st);
	}
	ck_assert_int_gt(window, 3);
}
