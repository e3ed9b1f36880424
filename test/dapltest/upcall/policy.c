/* SPDX-License-Identifier: BSD-3-Clause */
/* What each policy guarantees while it does not change, and what DISABLE does */
#include <sched.h>

#include "lib/upcall_story.h"
#include "lib/runner.h"

static void
post_many(DAT_EVD_HANDLE evd, uintptr_t first, int n)
{
	for (int i = 0; i < n; i++)
		dt_post_se(evd, first + (uintptr_t)i);
}

DT_CASE("policy:persistence");

/* clause: c.14.7 */
TEST_LOOP(policy__that_calls__stays_for_many_events, UP_ENABLING)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, up_policies[_i], DAT_EVD_SOFTWARE_FLAG);
	up.act = up_policies[_i] == DAT_UPCALL_NORIFY ? up_drain : NULL;
	for (uintptr_t i = 0; i < 40; i++) {
		dt_post_se(up.evd, i);
		up_await_noted(&up, (int)i + 1);
	}
	up_assert_values(&up, 0, 40);
	dt_side_close(&side);
}

/* clause: c.14.7, c.14.11 */
TEST_LOOP(policy__one_shot_notifications_of_the_device__persists, UP_ENABLING)
{
	struct dt_pair pair;
	struct up up;

	up_init(&up);
	up.act = up_policies[_i] == DAT_UPCALL_NORIFY ? up_drain : NULL;
	up_connect(&up, &pair, up_policies[_i], 12);
	for (DAT_UINT64 i = 0; i < 12; i++) {
		up_send(&pair, i);
		up_await_noted(&up, (int)i + 1); /* so each needs its own notification */
	}
	up_assert_values(&up, 0, 12);
	dt_pair_close(&pair);
}

/* clause: c.14.7, c.14.10 */
TEST_LOOP(policy__disabled__stays_disabled, UP_POLICIES - UP_ENABLING)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, up_policies[UP_ENABLING + _i], DAT_EVD_SOFTWARE_FLAG);
	for (uintptr_t i = 0; i < 5; i++) {
		dt_post_se(up.evd, i);
		up_assert_no_more(&up, 0);
	}
	up_drain(&up, NULL);
	up_assert_values(&up, 0, 5);
	ck_assert_int_eq(up.entered, 0);
	dt_side_close(&side);
}

/* ---- SINGLE_INSTANCE ---- */

DT_CASE("policy:single");

/* clause: c.14.8, c.14.35 */
TEST(single__a_burst__one_at_a_time_in_order)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	up.gate = true;
	post_many(up.evd, 0, 50);
	up_await_inside(&up, 1);
	up_assert_no_more(&up, 1);
	up.gate = false;
	up_await_returned(&up, 50);
	ck_assert_int_eq(up.most_inside, 1);
	up_assert_values(&up, 0, 50);
	for (int i = 0; i < 50; i++)
		ck_assert(!pthread_equal(up.notes[i].thread, pthread_self()));
	dt_side_close(&side);
}

static void *
posts_100(void *arg)
{
	struct up *up = arg;

	for (uintptr_t i = 0; i < 100; i++)
		dt_post_se_patiently(up->evd, i);
	return NULL;
}

/* clause: c.14.8 */
TEST(single__three_threads_post__never_two_at_once_and_none_lost)
{
	struct dt_side side;
	pthread_t threads[3];
	DAT_UINT64 sum = 0;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	for (int i = 0; i < 3; i++)
		threads[i] = up_thread(posts_100, &up);
	for (int i = 0; i < 3; i++)
		up_join(threads[i]);
	up_await_returned(&up, 300);
	ck_assert_int_eq(up.most_inside, 1);
	for (int i = 0; i < 300; i++)
		sum += up_value(&up.notes[i].event);
	ck_assert_uint_eq(sum, 3 * 99 * 100 / 2);
	up_assert_no_more(&up, 300);
	dt_side_close(&side);
}

/* clause: c.14.8 */
TEST(single__two_evds__one_that_stands_delays_only_itself_on_loops_of_their_own)
{
	static struct up ups[3];
	struct dt_side side;

	dt_side_open(&side, "soft-loops", DT_SEPARATE);
	for (int i = 0; i < 3; i++) {
		up_init(&ups[i]);
		up_open(&ups[i], &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	}
	ups[0].gate = true;
	dt_post_se(ups[0].evd, 1);
	up_await_inside(&ups[0], 1);
	dt_post_se(ups[1].evd, 2);
	dt_post_se(ups[2].evd, 3);
	up_await_returned(&ups[1], 1);
	up_await_returned(&ups[2], 1);
	ck_assert_int_eq(ups[0].returned, 0);
	ups[0].gate = false;
	up_await_returned(&ups[0], 1);
	dt_side_close(&side);
}

/* ---- NORIFY ---- */

DT_CASE("policy:norify");

/* clause: c.14.6 */
TEST(norify__an_event__is_reported_and_not_taken)
{
	struct dt_side side;
	DAT_EVENT event;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_NORIFY, DAT_EVD_SOFTWARE_FLAG);
	dt_post_se(up.evd, 5);
	up_await_returned(&up, 1);
	ck_assert_int_eq(up.nulls, 1);
	ck_assert_int_eq(up.noted, 0);
	dt_ok(dat_evd_dequeue(up.evd, &event));
	ck_assert_uint_eq(up_value(&event), 5);
	dt_assert_empty(up.evd);
	dt_side_close(&side);
}

/* clause: c.14.6 */
TEST(norify__an_event_that_stays__is_reported_once)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_NORIFY, DAT_EVD_SOFTWARE_FLAG);
	dt_post_se(up.evd, 5);
	up_await_returned(&up, 1);
	up_assert_no_more(&up, 1);
	dt_post_se(up.evd, 6); /* reported, although the queue was not empty */
	up_await_returned(&up, 2);
	up_assert_no_more(&up, 2);
	up_drain(&up, NULL);
	up_assert_values(&up, 5, 2);
	dt_side_close(&side);
}

/* clause: c.14.6 */
TEST(norify__a_burst_during_an_upcall__is_reported_once_more)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_NORIFY, DAT_EVD_SOFTWARE_FLAG);
	up.gate = true;
	dt_post_se(up.evd, 0);
	up_await_inside(&up, 1);
	post_many(up.evd, 1, 9);
	up_assert_no_more(&up, 1);
	up.gate = false;
	up_await_returned(&up, 2);
	up_assert_no_more(&up, 2);
	ck_assert_int_eq(up.most_inside, 1);
	up_drain(&up, NULL);
	up_assert_values(&up, 0, 10);
	dt_side_close(&side);
}

/* clause: c.14.6, c.14.15 */
TEST(norify__enabled_with_events_queued__reports_them)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_DISABLE, DAT_EVD_SOFTWARE_FLAG);
	up.act = up_drain;
	post_many(up.evd, 0, 4);
	up_set(&up, DAT_UPCALL_NORIFY);
	up_await_noted(&up, 4);
	ck_assert_int_eq(up.nulls, 1);
	up_assert_values(&up, 0, 4);
	dt_side_close(&side);
}

/* ---- DISABLE ---- */

DT_CASE("policy:disable");

/* clause: c.14.10, c.14.17 */
TEST(disable__with_events_queued_behind_an_upcall__none_of_them_is_called)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	up.gate = true;
	post_many(up.evd, 0, 6);
	up_await_inside(&up, 1);
	up_set(&up, DAT_UPCALL_DISABLE); /* returns although one runs */
	ck_assert_int_eq(up.inside, 1);
	up.gate = false;
	up_await_returned(&up, 1);
	up_assert_no_more(&up, 1);
	up_drain(&up, NULL);
	up_assert_values(&up, 0, 6);
	dt_side_close(&side);
}

/* clause: c.14.10 */
TEST(disable__against_a_poster__at_most_one_claimed_before_still_enters)
{
	struct dt_side side;
	pthread_t thread;
	struct up up;
	int before;

	dt_side_open(&side, "soft", DT_SEPARATE);
	for (int round = 0; round < 20; round++) {
		up_init(&up);
		up_open_length(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG, 128);
		thread = up_thread(posts_100, &up);
		while (up.entered < 3 + round)
			sched_yield();
		up_set(&up, DAT_UPCALL_DISABLE);
		before = up.entered;
		up_join(thread);
		dt_nap_ms(2);
		ck_assert_int_le(up.entered, before + 1);
		up_drain(&up, NULL);
		up_assert_values(&up, 0, 100);
		dt_ok(dat_evd_free(up.evd));
	}
	dt_side_close(&side);
}

/* clause: c.14.10, c.14.11 */
TEST_LOOP(disable__completions_arrive__stay_queued_and_arm_nothing, dt_personalities())
{
	DAT_UINT64 arms;
	struct dt_pair pair;
	struct up up;

	dt_personality(_i);
	up_init(&up);
	up_connect(&up, &pair, DAT_UPCALL_SINGLE_INSTANCE, 8);
	up_set(&up, DAT_UPCALL_DISABLE);
	arms = up_counters(&up).arms;
	for (DAT_UINT64 i = 0; i < 4; i++)
		up_send(&pair, i);
	up_assert_no_more(&up, 0);
	/* The notification of the earlier arm finds no sink, and the queue is not armed again. */
	ck_assert_uint_eq(up_counters(&up).arms, arms);
	up_set(&up, DAT_UPCALL_SINGLE_INSTANCE);
	up_await_returned(&up, 4);
	for (DAT_UINT64 i = 4; i < 8; i++)
		dt_send(&pair.a, 0, 8, i);
	up_await_returned(&up, 8);
	up_assert_values(&up, 0, 8);
	dt_pair_close(&pair);
}

/* clause: c.14.10, c.14.11 */
TEST_LOOP(disable_and_enable__over_and_over__loses_nothing, dt_personalities())
{
	enum { ROUNDS = 30 };
	struct dt_pair pair;
	DAT_EVENT event;
	struct up up;

	dt_personality(_i);
	up_init(&up);
	up_connect(&up, &pair, DAT_UPCALL_SINGLE_INSTANCE, 1);
	for (int i = 0; i < ROUNDS; i++) {
		dt_send(&pair.a, 0, 8, (DAT_UINT64)i);
		up_set(&up, DAT_UPCALL_DISABLE);
		dt_recv(&pair.b, 0, 64, (DAT_UINT64)i + 1);
		up_set(&up, DAT_UPCALL_SINGLE_INSTANCE);
		dt_expect(pair.a.request, DAT_DTO_COMPLETION_EVENT, &event);
		up_await_noted(&up, i + 1);
	}
	up_assert_values(&up, 0, ROUNDS);
	dt_pair_close(&pair);
}
