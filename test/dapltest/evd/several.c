/* SPDX-License-Identifier: BSD-3-Clause */
/* A wait that takes several events. */
#include "story.h"

STORY_CASE("evd_several:wait");

static int
wait_for(int threshold, unsigned int most, struct script_event *events)
{
	return evd_wait_several(script_ref(&st.dev), 0, threshold, most, events);
}

TEST(wait_several__enough_are_there__takes_the_oldest_and_no_more_than_asked)
{
	struct script_event got[8] = { 0 };

	ck_assert_int_eq(script_post(&st.dev, 1), 0);
	story_complete(2, 4);
	ck_assert_int_eq(wait_for(3, 4, got), 4);
	for (uint64_t i = 0; i < 4; i++)
		ck_assert_uint_eq(got[i].id, 1 + i);
	ck_assert_uint_eq(got[4].kind, 0);
	ck_assert_int_eq(wait_for(1, 8, got), 1);
	ck_assert_uint_eq(got[0].id, 5);
	story_empty(&st);
}

TEST(wait_several__too_few__none_is_taken)
{
	struct script_event got[4];

	story_complete(1, 2);
	ck_assert_int_eq(wait_for(3, 4, got), -ETIMEDOUT);
	story_dequeues(&st, 1);
	story_dequeues(&st, 2);
	story_empty(&st);
}

/* The effect runs, without the lock, before the call returns; what follows comes next. */
TEST(wait_several__one_has_an_effect__ends_with_it)
{
	const struct script_record record = { .id = 2, .flags = SCRIPT_EFFECT };
	struct script_event got[4];

	story_complete(1, 1);
	script_show_record(&st.dev, &record);
	script_decide(&st.dev);
	story_complete(3, 1);
	ck_assert_int_eq(wait_for(3, 4, got), 2);
	ck_assert_uint_eq(got[1].id, 2);
	ck_assert_int_eq(st.dev.effects, 1);
	story_dequeues(&st, 3);
}

TEST(wait_several__the_device_fails__returned_once)
{
	struct script_event got[4];

	st.dev.fail_polls = 1;
	ck_assert_int_eq(wait_for(1, 4, got), -EIO);
	ck_assert_int_eq(wait_for(1, 4, got), -ETIMEDOUT);
	ck_assert_int_eq(
	    evd_wait_several((struct evd_ref){ &st.dev.evd, 1 }, 0, 1, 4, got), -ENODEV);
}
