/* SPDX-License-Identifier: BSD-3-Clause */
/* TEARDOWN: when it returns, and what happens afterwards */
#include <sched.h>

#include "lib/upcall_story.h"
#include "lib/runner.h"

DT_CASE("teardown:teardown");

/* clause: c.14.12 */
TEST_LOOP(teardown__nothing_runs__returns_at_once, UP_POLICIES)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, up_policies[_i], DAT_EVD_SOFTWARE_FLAG);
	up_set(&up, DAT_UPCALL_TEARDOWN);
	up_set(&up, DAT_UPCALL_TEARDOWN);
	up_assert_policy(&up, DAT_UPCALL_TEARDOWN);
	dt_side_close(&side);
}

/* clause: c.14.12 */
TEST_LOOP(teardown__upcalls_stand__returns_after_the_last, UP_ENABLING *dt_personalities())
{
	DAT_UPCALL_POLICY policy = up_policies[_i % UP_ENABLING];
	struct up_ending t;
	struct dt_side side;
	struct up up;

	dt_personality(_i / UP_ENABLING);
	up_begin(&up, &side, policy, DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG);
	up_let_stand(&up, policy);
	up_tear_down(&t, &up);
	ck_assert(!t.returned);
	up_let_end(&t);
	ck_assert_int_eq(up.returned, up_standing(policy));
	up_assert_no_more(&up, up_standing(policy));
	dt_side_close(&side);
}

/* clause: c.14.12, c.14.10 */
TEST(teardown__events_queued__none_of_them_is_called_during_or_after)
{
	struct up_ending t;
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	up_let_stand(&up, DAT_UPCALL_MANY);
	for (uintptr_t i = 4; i < 10; i++)
		dt_post_se(up.evd, i);
	up_tear_down(&t, &up);
	up_let_end(&t);
	ck_assert_int_eq(up.entered, 4);
	dt_post_se(up.evd, 10);
	up_assert_no_more(&up, 4);
	up_drain(&up, NULL);
	ck_assert_int_eq(up.noted, 11);
	dt_side_close(&side);
}

struct posting {
	struct up *up;
	_Atomic(bool) stop;
};

static void *
posts(void *arg)
{
	struct posting *p = arg;
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };

	while (!p->stop) {
		/* Not endless: the test drains the queued events. */
		if (p->up->noted < UP_NOTES / 2)
			(void)dat_evd_post_se(p->up->evd, &event);
		sched_yield();
	}
	return NULL;
}

/* clause: c.14.12 */
TEST_LOOP(teardown__against_a_poster__after_it_none_runs_and_none_starts, UP_ENABLING)
{
	DAT_UPCALL_POLICY policy = up_policies[_i];
	struct posting posting = { 0 };
	struct dt_side side;
	pthread_t thread;
	struct up up;
	int entered;

	up_begin(&up, &side, policy, DAT_EVD_SOFTWARE_FLAG);
	posting.up = &up;
	thread = up_thread(posts, &posting);
	for (int round = 0; round < 60; round++) {
		entered = up.entered;
		up_set(&up, policy);
		up_await_entered(&up, entered + 1);
		up_set(&up, DAT_UPCALL_TEARDOWN);
		ck_assert_int_eq(up.inside, 0);
		entered = up.entered;
		sched_yield();
		if (round % 20 == 0)
			dt_nap_ms(3);
		ck_assert_int_eq(up.entered, entered);
		ck_assert_int_eq(up.returned, entered);
		up.noted = 0; /* no thread writes now */
		up_drain(&up, NULL);
		up.noted = 0;
	}
	posting.stop = true;
	up_join(thread);
	dt_side_close(&side);
}

/* clause: c.14.12 */
TEST_LOOP(teardown__by_three_threads__all_return_after_the_upcalls, UP_ENABLING)
{
	struct up_ending t[3];
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, up_policies[_i], DAT_EVD_SOFTWARE_FLAG);
	up_let_stand(&up, up_policies[_i]);
	for (int i = 0; i < 3; i++)
		up_tear_down(&t[i], &up);
	for (int i = 0; i < 3; i++)
		ck_assert(!t[i].returned);
	for (int i = 0; i < 3; i++)
		up_let_end(&t[i]);
	dt_side_close(&side);
}

/* clause: c.14.12, c.14.14 */
TEST_LOOP(teardown__then_enabled_again__upcalls_come_again, UP_ENABLING)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	dt_post_se(up.evd, 0);
	up_await_returned(&up, 1);
	up_set(&up, DAT_UPCALL_TEARDOWN);
	dt_ok(up_try(&up, up_policies[_i], DAT_UPCALL_INVOC_NEW));
	up_assert_policy(&up, up_policies[_i]);
	dt_side_close(&side);
}

/* clause: c.14.12 */
TEST_LOOP(teardown__enabled_while_it_waits__answers_and_changes_nothing, UP_ENABLING)
{
	struct up_ending t;
	struct dt_side side;
	DAT_EVENT event;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	up_let_stand(&up, DAT_UPCALL_SINGLE_INSTANCE);
	up_tear_down(&t, &up);
	dt_ok(up_try(&up, up_policies[_i], DAT_UPCALL_INVOC_NEW));
	dt_post_se(up.evd, 9);
	dt_assert_type(up_try(&up, up_policies[_i], DAT_UPCALL_INVOC_NEW), DAT_INVALID_STATE);
	dt_ok(up_try(&up, up_policies[_i], DAT_UPCALL_INVOC_ANY));
	up_assert_no_more(&up, 1);
	up_let_end(&t);
	dt_ok(dat_evd_dequeue(up.evd, &event));
	ck_assert_uint_eq(up_value(&event), 9);
	up_assert_policy(&up, DAT_UPCALL_TEARDOWN);
	dt_side_close(&side);
}

/* clause: c.14.12 */
TEST(teardown__of_one_evd__does_not_wait_for_upcalls_of_another)
{
	struct dt_side side;
	struct up up, other;

	up_begin(&up, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	up_init(&other);
	up_open(&other, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	other.gate = true;
	dt_post_se(other.evd, 1);
	up_await_inside(&other, 1);
	dt_post_se(up.evd, 1);
	up_await_returned(&up, 1);
	up_set(&up, DAT_UPCALL_TEARDOWN);
	ck_assert_int_eq(other.inside, 1);
	other.gate = false;
	up_await_returned(&other, 1);
	dt_side_close(&side);
}

/* ---- from inside ---- */

static _Atomic(int) torn;

static void
tears_its_own(struct up *up, const DAT_EVENT *event)
{
	(void)event;
	dt_ok(up_try(up, DAT_UPCALL_TEARDOWN, DAT_UPCALL_INVOC_ANY));
	torn++;
}

DT_CASE("teardown:inside");

/* clause: c.14.13 */
TEST_LOOP(teardown_inside__of_its_own_evd__returns_and_no_other_starts, UP_ENABLING)
{
	struct dt_side side;
	struct up up;

	torn = 0;
	up_begin(&up, &side, up_policies[_i], DAT_EVD_SOFTWARE_FLAG);
	up.act = tears_its_own;
	for (uintptr_t i = 0; i < 3; i++)
		dt_post_se(up.evd, i);
	dt_await_count(&torn, 1);
	up_set(&up, DAT_UPCALL_TEARDOWN);
	ck_assert_int_eq(up.inside, 0);
	/* Under MANY other upcalls may have been claimed before. */
	up_assert_no_more(&up, up_policies[_i] == DAT_UPCALL_MANY ? up.entered : 1);
	dt_side_close(&side);
}

static _Atomic(bool) others_may_go;

static void
first_tears_down(struct up *up, const DAT_EVENT *event)
{
	if (up_value(event) == 0) {
		up_await_inside(up, 4);
		dt_ok(up_try(up, DAT_UPCALL_TEARDOWN, DAT_UPCALL_INVOC_ANY));
		ck_assert_int_eq(up->returned, 3);
		torn++;
		return;
	}
	for (int i = 0; !others_may_go && i < DT_FOREVER_MS; i++)
		dt_nap_ms(1);
}

/* clause: c.14.13, c.14.12 */
TEST(teardown_inside__others_stand__returns_after_them)
{
	struct dt_side side;
	struct up up;

	torn = 0;
	others_may_go = false;
	up_begin(&up, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	up.act = first_tears_down;
	for (uintptr_t i = 0; i < 4; i++)
		dt_post_se(up.evd, i);
	up_await_inside(&up, 4);
	dt_nap_ms(8);
	ck_assert_int_eq(torn, 0);
	others_may_go = true;
	dt_await_count(&torn, 1);
	up_await_returned(&up, 4);
	dt_side_close(&side);
}

static void
all_tear_down(struct up *up, const DAT_EVENT *event)
{
	up_await_entered(up, 4);
	tears_its_own(up, event);
}

/* clause: c.14.13 */
TEST(teardown_inside__four_at_once__none_waits_for_ever)
{
	struct dt_side side;
	struct up up;

	torn = 0;
	up_begin(&up, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	up.act = all_tear_down;
	for (uintptr_t i = 0; i < 4; i++)
		dt_post_se(up.evd, i);
	dt_await_count(&torn, 4);
	up_await_returned(&up, 4);
	up_assert_no_more(&up, 4);
	dt_side_close(&side);
}

static void
tears_the_other(struct up *up, const DAT_EVENT *event)
{
	struct up *other = up->arg;

	(void)event;
	dt_ok(up_try(other, DAT_UPCALL_TEARDOWN, DAT_UPCALL_INVOC_ANY));
	ck_assert_int_eq(other->inside, 0);
	torn++;
}

/* clause: c.14.12, c.14.24 */
TEST(teardown_inside__of_another_evd__waits_for_its_upcalls)
{
	struct dt_side side;
	struct up up, other;

	torn = 0;
	up_begin(&up, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	up_init(&other);
	up_open(&other, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	other.gate = true;
	dt_post_se(other.evd, 1);
	up_await_inside(&other, 1);
	up.act = tears_the_other;
	up.arg = &other;
	dt_post_se(up.evd, 1);
	up_await_inside(&up, 1);
	dt_nap_ms(8);
	ck_assert_int_eq(torn, 0);
	other.gate = false;
	up_await_returned(&up, 1);
	ck_assert_int_eq(torn, 1);
	dt_side_close(&side);
}

/* clause: c.14.12, c.14.24 */
TEST(teardown_inside__of_another_evd_of_the_same_thread__that_is_due__returns)
{
	struct dt_side side;
	struct up up, other;

	torn = 0;
	up_begin(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	up_init(&other);
	up_open(&other, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	up.gate = true;
	up.act = tears_the_other;
	up.arg = &other;
	dt_post_se(up.evd, 1);
	up_await_inside(&up, 1);
	dt_post_se(other.evd, 1); /* its upcall is due as soon as this one returns */
	up.gate = false;
	up_await_returned(&up, 1);
	up_assert_no_more(&other, 0);
	dt_side_close(&side);
}
