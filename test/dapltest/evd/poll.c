/* SPDX-License-Identifier: BSD-3-Clause */
/* A poll that fails: the queue is lost, or a batch has more receives than were posted. */
#include "story.h"
#include "suites.h"

#define POSTED 4 /* receives of an endpoint, so its hold has room for as many */

static int
refresh(void)
{
	return evd_refresh(evd_self(&st.dev.evd));
}

START_TEST(poll__queue_is_lost__is_an_overflow)
{
	DAT_EVENT event;

	st.dev.poll_error = EVD_DEVICE_LOST;
	st.dev.fail_polls = 1;
	ck_assert_int_eq(refresh(), -EOVERFLOW);
	st.dev.fail_polls = 1;
	ck_assert_int_eq(evd_dequeue(evd_self(&st.dev.evd), &event), -EOVERFLOW);
	ck_assert_int_eq(story_enable(&st, DAT_UPCALL_SINGLE_INSTANCE), 0);
	st.dev.fail_polls = 1;
	script_spurious(&st.dev);
	ck_assert(script_deliver(&st.dev));
	ck_assert_int_eq(story_turn(&st), 1);
	ck_assert_int_eq(st.dev.faults, 1);
	ck_assert_int_eq(st.dev.last_fault, -EOVERFLOW);
}
END_TEST

START_TEST(poll__fails_with_any_other_error__is_the_devices_failure)
{
	st.dev.poll_error = -EOVERFLOW; /* as an errno it means what the device likes */
	st.dev.fail_polls = 1;
	ck_assert_int_eq(refresh(), -EIO);
}
END_TEST

/* The batch is full, so the device may have more.  The next batch alone would succeed. */
START_TEST(poll__full_batch_with_more_receives_than_were_posted__fails_at_once)
{
	const struct script_options opt = { .qlen = 2 * EVD_BATCH };
	struct evd_hold hold;

	story_begin(&st, &opt);
	ck_assert_int_eq(evd_hold_init(&hold, POSTED), 0);
	st.dev.hold[1] = &hold;
	evd_hold_begin(evd_self(&st.dev.evd), &hold);
	for (uint64_t i = 0; i < EVD_BATCH; i++)
		script_complete_on(&st.dev, 1, 800 + i);
	script_complete(&st.dev, 1);
	ck_assert_int_eq(refresh(), -EIO);
	ck_assert_uint_eq(hold.count, POSTED);
	ck_assert_uint_eq(script_queued(&st.dev), 1);
	ck_assert_int_eq(refresh(), 0);
	story_dequeues(&st, 1);
	story_empty(&st);
	evd_purge(evd_self(&st.dev.evd), &hold, NULL, NULL, NULL);
	st.dev.hold[1] = NULL;
	evd_hold_fini(&hold);
	story_end(&st);
}
END_TEST

Suite *
evd_poll_suite(void)
{
	Suite *s = suite_create("evd_poll");
	TCase *tc = story_tcase(s, "poll");
	TCase *own = runner_tcase(s, "batch");

	tcase_add_test(tc, poll__queue_is_lost__is_an_overflow);
	tcase_add_test(tc, poll__fails_with_any_other_error__is_the_devices_failure);
	tcase_add_test(own, poll__full_batch_with_more_receives_than_were_posted__fails_at_once);
	return s;
}
