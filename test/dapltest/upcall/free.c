/* SPDX-License-Identifier: BSD-3-Clause */
/* Freeing an EVD with upcalls: from outside, from inside, and by a close of its adapter */
#include <stdlib.h>

#include "lib/upcall_story.h"
#include "lib/runner.h"

static _Atomic(int) gone;

DT_CASE("free:free");

/* clause: c.14.26 */
TEST_LOOP(free__upcalls_stand__returns_after_the_last, UP_ENABLING *dt_personalities())
{
	DAT_UPCALL_POLICY policy = up_policies[_i % UP_ENABLING];
	struct up_ending t;
	struct dt_side side;
	DAT_EVENT event;
	struct up up;

	dt_personality(_i / UP_ENABLING);
	up_begin(&up, &side, policy, DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG);
	up_let_stand(&up, policy);
	up_free(&t, &up);
	ck_assert(!t.returned);
	dt_assert_type(dat_evd_dequeue(up.evd, &event), DAT_INVALID_HANDLE);
	dt_assert_type(up_try(&up, policy, DAT_UPCALL_INVOC_ANY), DAT_INVALID_HANDLE);
	up_let_end(&t);
	ck_assert_int_eq(up.entered, up_standing(policy));
	dt_side_close(&side);
}

/* clause: c.14.26, c.12.2 */
TEST(free__events_queued__none_of_them_is_called)
{
	struct up_ending t;
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	up_let_stand(&up, DAT_UPCALL_SINGLE_INSTANCE);
	for (uintptr_t i = 1; i < 9; i++)
		dt_post_se(up.evd, i);
	up_free(&t, &up);
	up_let_end(&t);
	ck_assert_int_eq(up.entered, 1);
	up_assert_no_more(&up, 1);
	dt_side_close(&side);
}

static void
frees_its_own(struct up *up, const DAT_EVENT *event)
{
	DAT_EVENT next;

	(void)event;
	dt_ok(dat_evd_free(up->evd));
	dt_assert_type(dat_evd_free(up->evd), DAT_INVALID_HANDLE);
	dt_assert_type(dat_evd_dequeue(up->evd, &next), DAT_INVALID_HANDLE);
	dt_assert_type(
	    up_try(up, DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_INVOC_ANY), DAT_INVALID_HANDLE);
	dt_assert_type(up_try(up, DAT_UPCALL_TEARDOWN, DAT_UPCALL_INVOC_ANY), DAT_INVALID_HANDLE);
}

/* clause: c.14.25 */
TEST_LOOP(free_inside__of_its_own_evd__the_handle_is_bad_at_once, UP_ENABLING *dt_personalities())
{
	struct dt_side side;
	struct up up;

	dt_personality(_i / UP_ENABLING);
	up_begin(
	    &up, &side, up_policies[_i % UP_ENABLING], DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG);
	up.gate = true;
	up.act = frees_its_own;
	dt_post_se(up.evd, 1);
	up_await_inside(&up, 1);
	up.gate = false;
	up_await_returned(&up, 1);
	up_assert_no_more(&up, 1);
	dt_side_close(&side);
}

static void
one_frees(struct up *up, const DAT_EVENT *event)
{
	if (up_value(event) == 2) {
		dt_ok(dat_evd_free(up->evd));
		gone++;
		return;
	}
	dt_await_count(&gone, 1);
	dt_assert_type(up_try(up, DAT_UPCALL_DISABLE, DAT_UPCALL_INVOC_ANY), DAT_INVALID_HANDLE);
}

/* clause: c.14.25 */
TEST(free_inside__others_stand__they_end_and_it_goes_with_the_last)
{
	struct dt_side side;
	struct up up;

	gone = 0;
	up_begin(&up, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	up.gate = true;
	up.act = one_frees;
	for (uintptr_t i = 0; i < 4; i++)
		dt_post_se(up.evd, i);
	up_await_inside(&up, 4);
	up.gate = false;
	up_await_returned(&up, 4);
	dt_side_close(&side);
}

/* clause: c.14.25, c.14.12 */
TEST_LOOP(free_inside__while_a_thread_tears_down__both_return, UP_ENABLING)
{
	struct up_ending t;
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, up_policies[_i], DAT_EVD_SOFTWARE_FLAG);
	up_let_stand(&up, DAT_UPCALL_SINGLE_INSTANCE);
	up.act = frees_its_own;
	up_tear_down(&t, &up);
	up_let_end(&t);
	dt_side_close(&side);
}

struct freeing {
	DAT_EVD_HANDLE evd;
	DAT_RETURN ret;
};

static void *
frees(void *arg)
{
	struct freeing *freeing = arg;

	freeing->ret = dat_evd_free(freeing->evd);
	return NULL;
}

/* clause: c.14.25, c.14.26 */
TEST_LOOP(free__by_four_threads__one_frees_the_others_get_invalid_handle, UP_POLICIES)
{
	struct freeing freeing[4];
	pthread_t threads[4];
	struct dt_side side;
	int freed = 0;
	struct up up;

	up_begin(&up, &side, up_policies[_i], DAT_EVD_SOFTWARE_FLAG);
	dt_post_se(up.evd, 1);
	for (int i = 0; i < 4; i++) {
		freeing[i].evd = up.evd;
		threads[i] = up_thread(frees, &freeing[i]);
	}
	for (int i = 0; i < 4; i++) {
		up_join(threads[i]);
		if (freeing[i].ret == DAT_SUCCESS)
			freed++;
		else
			dt_assert_type(freeing[i].ret, DAT_INVALID_HANDLE);
	}
	ck_assert_int_eq(freed, 1);
	dt_side_close(&side);
}

/* clause: c.14.26, e.9.1 */
TEST_LOOP(close__abruptly_while_upcalls_stand__returns_after_them, UP_ENABLING)
{
	struct dt_side side;
	struct up up;
	struct up_ending t;

	up_begin(&up, &side, up_policies[_i], DAT_EVD_SOFTWARE_FLAG);
	up_let_stand(&up, up_policies[_i]);
	up_tear_down(&t, &up);
	up.gate = false;
	dt_ok(dat_ia_close(side.ia, DAT_CLOSE_ABRUPT_FLAG));
	ck_assert_int_eq(up.inside, 0);
	ck_assert_int_eq(up.returned, up_standing(up_policies[_i]));
	up_join(t.thread);
	free(side.buffer);
}

/* origin: outside.40 */
TEST(slot__held_a_queue_then_none__later_queues_keep_their_own_notifications)
{
	DAT_EVD_HANDLE last;
	struct dt_pair pair;
	struct up up;

	dt_pair_open(&pair, DT_SEPARATE);
	for (int i = 0; i < 2; i++) {
		dt_ok(dat_evd_create(pair.b.ia, 8, DAT_HANDLE_NULL,
		    i ? DAT_EVD_SOFTWARE_FLAG : DAT_EVD_DTO_FLAG, &last));
		dt_ok(dat_evd_free(last));
	}
	dt_pair_close(&pair);
	up_init(&up);
	up_connect(&up, &pair, DAT_UPCALL_SINGLE_INSTANCE, 2);
	dt_ok(dat_evd_create(pair.b.ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &last));
	for (DAT_UINT64 i = 1; i <= 2; i++) {
		up_send(&pair, i);
		up_await_noted(&up, (int)i);
	}
	dt_ok(dat_evd_free(last));
	dt_pair_close(&pair);
}
