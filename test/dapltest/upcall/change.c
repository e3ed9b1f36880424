/* SPDX-License-Identifier: BSD-3-Clause */
/* modify_upcall from outside: every policy to every policy, with and without events */
#include "lib/upcall_story.h"
#include "lib/runner.h"
#include "lib/personalities.h"

#define FLAGS 2

/* ---- the table: from x to x flag, nothing queued ---- */

DT_CASE("change:table");

/* clause: c.14.14, c.14.7 */
TEST_LOOP(change__nothing_queued__takes_effect_whatever_the_flag, UP_POLICIES *UP_POLICIES *FLAGS)
{
	DAT_UPCALL_POLICY from = up_policies[_i % UP_POLICIES];
	DAT_UPCALL_POLICY to = up_policies[_i / UP_POLICIES % UP_POLICIES];
	DAT_UPCALL_FLAG flag = (DAT_UPCALL_FLAG)(_i / (UP_POLICIES * UP_POLICIES));
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, from, DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG);
	dt_ok(up_try(&up, to, flag));
	up_assert_policy(&up, to);
	dt_side_close(&side);
}

/* ---- the table: to x flag, events queued while disabled ---- */

/* clause: c.14.15, c.14.16 */
TEST_LOOP(enable__events_queued__called_for_any_and_refused_for_new, UP_ENABLING * 2 * FLAGS)
{
	DAT_UPCALL_POLICY to = up_policies[_i % UP_ENABLING];
	DAT_UPCALL_POLICY from = up_policies[UP_ENABLING + _i / UP_ENABLING % 2];
	DAT_UPCALL_FLAG flag = (DAT_UPCALL_FLAG)(_i / (UP_ENABLING * 2));
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, from, DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG);
	up.act = to == DAT_UPCALL_NORIFY ? up_drain : NULL;
	for (uintptr_t i = 0; i < 3; i++)
		dt_post_se(up.evd, i);
	if (flag == DAT_UPCALL_INVOC_ANY) {
		dt_ok(up_try(&up, to, flag));
		up_await_noted(&up, 3);
		up_await_returned(&up, to == DAT_UPCALL_NORIFY ? 1 : 3);
		ck_assert_int_eq(up.noted, 3);
		up_assert_policy(&up, to);
	} else {
		dt_assert_ret(up_try(&up, to, flag), DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE));
		up_assert_no_more(&up, 0);
		up_drain(&up, NULL);
		up_assert_values(&up, 0, 3);
		up_assert_policy(&up, from);
	}
	dt_side_close(&side);
}

/* clause: c.14.16 */
TEST_LOOP(enable__refused_over_and_over__until_the_last_event_is_taken, UP_ENABLING)
{
	struct dt_side side;
	DAT_EVENT event;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_DISABLE, DAT_EVD_SOFTWARE_FLAG);
	for (uintptr_t i = 0; i < 4; i++)
		dt_post_se(up.evd, i);
	for (int i = 0; i < 4; i++) {
		dt_assert_ret(up_try(&up, up_policies[_i], DAT_UPCALL_INVOC_NEW),
		    DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE));
		dt_ok(dat_evd_dequeue(up.evd, &event));
		ck_assert_uint_eq(up_value(&event), (DAT_UINT64)i);
	}
	dt_ok(up_try(&up, up_policies[_i], DAT_UPCALL_INVOC_NEW));
	up_assert_policy(&up, up_policies[_i]);
	dt_side_close(&side);
}

/* clause: c.14.16 */
TEST_LOOP(enable__refused_with_another_object__leaves_the_object, UP_ENABLING)
{
	_Atomic(int) calls = 0;
	DAT_UPCALL_OBJECT other = { &calls, dt_count_call };
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_DISABLE, DAT_EVD_SOFTWARE_FLAG);
	dt_post_se(up.evd, 1);
	dt_assert_ret(dat_evd_modify_upcall(up.evd, up_policies[_i], &other, DAT_UPCALL_INVOC_NEW),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE));
	up_drain(&up, NULL);
	up_set(&up, up_policies[_i]);
	up_assert_policy(&up, up_policies[_i]);
	ck_assert_int_eq(calls, 0);
	dt_side_close(&side);
}

/* clause: c.14.16 */
TEST_LOOP(change__refused_while_enabled__the_old_policy_goes_on, UP_ENABLING)
{
	DAT_UPCALL_POLICY to = up_policies[_i];
	struct dt_side side;
	struct up up;

	/* Only NORIFY leaves events queued: it reports events and does not take them. */
	up_begin(&up, &side, DAT_UPCALL_NORIFY, DAT_EVD_SOFTWARE_FLAG);
	dt_post_se(up.evd, 1);
	up_await_returned(&up, 1);
	dt_assert_ret(
	    up_try(&up, to, DAT_UPCALL_INVOC_NEW), DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE));
	up_drain(&up, NULL);
	up_assert_policy(&up, DAT_UPCALL_NORIFY);
	dt_side_close(&side);
}

/* clause: c.14.10, c.14.16 */
TEST_LOOP(disable__events_queued__is_never_refused, 2 * FLAGS)
{
	DAT_UPCALL_POLICY to = up_policies[UP_ENABLING + _i % 2];
	DAT_UPCALL_FLAG flag = (DAT_UPCALL_FLAG)(_i / 2);
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_NORIFY, DAT_EVD_SOFTWARE_FLAG);
	dt_post_se(up.evd, 1);
	up_await_returned(&up, 1);
	dt_ok(up_try(&up, to, flag));
	up_drain(&up, NULL);
	up_assert_values(&up, 1, 1);
	up_assert_policy(&up, to);
	dt_side_close(&side);
}

/* ---- completions of the device ---- */

DT_CASE("change:device");

/* clause: c.14.16, c.14.17 */
TEST_LOOP(enable__a_completion_in_the_device__counts_as_queued, UP_ENABLING *dt_personalities())
{
	DAT_UPCALL_POLICY to = up_policies[_i % UP_ENABLING];
	struct dt_pair pair;
	DAT_RETURN ret;
	struct up up;

	dt_personality(_i / UP_ENABLING);
	up_init(&up);
	up_connect(&up, &pair, DAT_UPCALL_DISABLE, 2);
	up_send(&pair, 0);
	/* A device may show it late: then enabling succeeds, and an upcall is made for it. */
	while ((ret = up_try(&up, to, DAT_UPCALL_INVOC_NEW)) == DAT_SUCCESS && !up.entered) {
		ck_assert_int_eq(_i / UP_ENABLING, DT_PERSONALITIES - 1); /* the one that delays */
		dt_nap_ms(1);
		up_set(&up, DAT_UPCALL_TEARDOWN);
	}
	if (ret != DAT_SUCCESS) {
		/* NOTIFY may have made its upcall before the TEARDOWN, and left it queued. */
		const int entered = up.entered;

		dt_assert_ret(ret, DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE));
		ck_assert_int_le(entered, to == DAT_UPCALL_NOTIFY);
		up_drain(&up, NULL);
		dt_ok(up_try(&up, to, DAT_UPCALL_INVOC_NEW));
		up_assert_no_more(&up, entered);
	}
	up_set(&up, DAT_UPCALL_TEARDOWN);
	if (up.nulls)
		up_drain(&up, NULL);
	up_assert_values(&up, 0, 1);
	dt_pair_close(&pair);
}

/* clause: c.14.15, c.14.17 */
TEST_LOOP(enable__for_any_with_completions_in_the_device__upcalls_for_all,
    UP_ENABLING *dt_personalities())
{
	DAT_UPCALL_POLICY to = up_policies[_i % UP_ENABLING];
	struct dt_pair pair;
	struct up up;

	dt_personality(_i / UP_ENABLING);
	up_init(&up);
	up.act = to == DAT_UPCALL_NORIFY ? up_drain : NULL;
	up_connect(&up, &pair, DAT_UPCALL_DISABLE, 8);
	for (DAT_UINT64 i = 0; i < 5; i++)
		up_send(&pair, i);
	up_set(&up, to);
	for (DAT_UINT64 i = 5; i < 8; i++)
		up_send(&pair, i);
	up_await_noted(&up, 8);
	if (to != DAT_UPCALL_MANY)
		up_assert_values(&up, 0, 8);
	dt_pair_close(&pair);
}

static void *
sends_16(void *arg)
{
	struct dt_pair *pair = arg;

	for (DAT_UINT64 i = 0; i < 16; i++)
		up_send(pair, i);
	return NULL;
}

/* clause: c.14.16, c.14.17 */
TEST_LOOP(enable__against_completions__each_is_found_or_called_and_none_twice, dt_personalities())
{
	struct dt_pair pair;
	DAT_RETURN ret;
	pthread_t thread;
	struct up up;

	dt_personality(_i);
	up_init(&up);
	up_connect(&up, &pair, DAT_UPCALL_DISABLE, 16);
	thread = up_thread(sends_16, &pair);
	for (int i = 0; i < DT_FOREVER_MS * 50 && up.noted < 16; i++) {
		ret = up_try(&up, DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_INVOC_NEW);
		if (ret == DAT_SUCCESS)
			sched_yield();
		else
			dt_assert_ret(ret, DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE));
		up_set(&up, DAT_UPCALL_TEARDOWN);
		up_drain(&up, NULL);
	}
	up_join(thread);
	up_assert_values(&up, 0, 16);
	dt_pair_close(&pair);
}

/* ---- one policy in place of another, while upcalls run ---- */

DT_CASE("change:running");

/* clause: c.14.18 */
TEST_LOOP(
    change__while_an_upcall_stands__it_ends_and_the_new_policy_holds, UP_ENABLING *UP_POLICIES)
{
	DAT_UPCALL_POLICY from = up_policies[_i % UP_ENABLING];
	DAT_UPCALL_POLICY to = up_policies[_i / UP_ENABLING];
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, from, DAT_EVD_SOFTWARE_FLAG);
	up.gate = true;
	dt_post_se(up.evd, 0);
	up_await_inside(&up, 1);
	if (from == DAT_UPCALL_NORIFY)
		up_take_reported(&up, NULL);
	if (to != DAT_UPCALL_TEARDOWN)
		up_set(&up, to);
	up.gate = false;
	if (to == DAT_UPCALL_TEARDOWN)
		up_set(&up, to);
	up_await_returned(&up, 1);
	up_assert_no_more(&up, 1);
	up_assert_values(&up, 0, 1);
	up_assert_policy(&up, to);
	dt_side_close(&side);
}

/* ---- waiting ---- */

DT_CASE("change:waiting");

/* clause: c.14.27 */
TEST_LOOP(wait__under_each_policy__is_refused_if_and_only_if_upcalls_are_enabled, 2 * UP_POLICIES)
{
	DAT_UPCALL_POLICY policy = up_policies[_i % UP_POLICIES];
	DAT_TIMEOUT timeout = _i / UP_POLICIES ? 2000 : 0;
	struct dt_side side;
	DAT_EVENT event;
	DAT_COUNT more;
	struct up up;

	up_begin(&up, &side, policy, DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG);
	if (up_calls(policy)) {
		dt_assert_ret(dat_evd_wait(up.evd, timeout, 1, &event, &more),
		    DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE));
	} else {
		dt_assert_type(
		    dat_evd_wait(up.evd, timeout, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
		dt_post_se(up.evd, 3);
		dt_ok(dat_evd_wait(up.evd, timeout, 1, &event, &more));
		ck_assert_uint_eq(up_value(&event), 3);
		ck_assert_int_eq(more, 0);
	}
	up_assert_policy(&up, policy);
	dt_side_close(&side);
}

struct waiting {
	struct up *up;
	DAT_RETURN ret;
	DAT_EVENT event;
};

static void *
waits(void *arg)
{
	struct waiting *w = arg;
	DAT_COUNT more;

	w->ret = dat_evd_wait(w->up->evd, DT_FOREVER_MS * 1000u, 1, &w->event, &more);
	return NULL;
}

/* clause: c.14.28 */
TEST_LOOP(enable__while_a_thread_waits__is_refused_and_the_wait_goes_on, UP_ENABLING *FLAGS)
{
	DAT_UPCALL_FLAG flag = (DAT_UPCALL_FLAG)(_i / UP_ENABLING);
	struct waiting w = { 0 };
	struct dt_side side;
	pthread_t thread;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_DISABLE, DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG);
	w.up = &up;
	thread = up_thread(waits, &w);
	up_await_waiter(&up);
	dt_assert_ret(up_try(&up, up_policies[_i % UP_ENABLING], flag),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_WAITER));
	dt_ok(up_try(&up, DAT_UPCALL_DISABLE, flag)); /* which changes nothing for the waiter */
	dt_post_se(up.evd, 8);
	up_join(thread);
	dt_ok(w.ret);
	ck_assert_uint_eq(up_value(&w.event), 8);
	ck_assert_int_eq(up.entered, 0);
	dt_ok(up_try(&up, up_policies[_i % UP_ENABLING], flag));
	up_assert_policy(&up, up_policies[_i % UP_ENABLING]);
	dt_side_close(&side);
}

/* ---- overflow ---- */

DT_CASE("change:full");

/* clause: c.14.30, c.9.5 */
TEST_LOOP(full__while_disabled__posts_are_refused_and_what_is_queued_gets_its_upcalls, UP_ENABLING)
{
	DAT_UPCALL_POLICY to = up_policies[_i];
	struct dt_side side;
	DAT_EVD_PARAM param;
	struct up up;

	up_init(&up);
	up.act = to == DAT_UPCALL_NORIFY ? up_drain : NULL;
	dt_side_open(&side, "soft", DT_SEPARATE);
	up_open_length(&up, &side, DAT_UPCALL_DISABLE, DAT_EVD_SOFTWARE_FLAG, 8);
	dt_ok(dat_evd_query(up.evd, DAT_EVD_FIELD_ALL, &param));
	for (int i = 0; i < param.evd_qlen; i++)
		dt_post_se(up.evd, (uintptr_t)i);
	for (int i = 0; i < 3; i++) {
		DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };

		dt_assert_type(dat_evd_post_se(up.evd, &event), DAT_QUEUE_FULL);
	}
	dt_assert_stays_empty(side.async); /* a refused software event is no overflow */
	up_set(&up, to);
	up_await_noted(&up, param.evd_qlen);
	up_await_returned(&up, to == DAT_UPCALL_NORIFY ? 1 : param.evd_qlen);
	ck_assert_int_eq(up.noted, param.evd_qlen);
	up_assert_policy(&up, to);
	dt_side_close(&side);
}
