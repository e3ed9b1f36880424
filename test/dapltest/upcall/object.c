/* SPDX-License-Identifier: BSD-3-Clause */
/* Upcall objects: function and instance, replaced, kept and removed */
#include <sched.h>

#include "lib/upcall_story.h"
#include "lib/runner.h"

DT_CASE("object:object");

/* clause: c.14.18 */
TEST_LOOP(
    object__replaced_while_an_upcall_stands__the_next_uses_the_new_one, UP_ENABLING *UP_ENABLING)
{
	DAT_UPCALL_POLICY policy = up_policies[_i % UP_ENABLING];
	DAT_UPCALL_POLICY to = up_policies[_i / UP_ENABLING];
	struct up up, other;
	struct dt_side side;

	up_begin(&up, &side, policy, DAT_EVD_SOFTWARE_FLAG);
	up_init(&other);
	other.evd = up.evd;
	up.gate = true;
	up.act = up_take_reported;
	other.act = up_take_reported;
	dt_post_se(up.evd, 0);
	up_await_inside(&up, 1);
	/* Under NORIFY the event is still queued, and is reported to the new object as well. */
	dt_ok(dat_evd_modify_upcall(up.evd, to, &other.object, DAT_UPCALL_INVOC_ANY));
	if (policy == DAT_UPCALL_NORIFY) {
		up.act = NULL;
		up.gate = false;
		up_await_returned(&other, 1);
		up_assert_values(&other, 0, 1);
	} else {
		dt_post_se(up.evd, 1);
		if (to == DAT_UPCALL_MANY)
			up_await_returned(&other, 1);
		else
			up_assert_no_more(&other, 0); /* one at a time, whatever the object */
		up.gate = false;
		up_await_returned(&other, 1);
		up_assert_values(&other, 1, 1);
		up_assert_values(&up, 0, 1);
	}
	up_await_returned(&up, 1);
	ck_assert_int_eq(up.entered, 1);
	dt_side_close(&side);
}

/* clause: c.14.18, c.14.10 */
TEST_LOOP(object__given_while_disabled__is_in_force_at_the_next_enabling, 2)
{
	DAT_UPCALL_POLICY off = up_policies[UP_ENABLING + _i];
	struct up up, other;
	struct dt_side side;

	up_begin(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	up_init(&other);
	other.evd = up.evd;
	dt_ok(dat_evd_modify_upcall(up.evd, off, &other.object, DAT_UPCALL_INVOC_NEW));
	up_set(&up, DAT_UPCALL_SINGLE_INSTANCE);
	up_assert_policy(&other, DAT_UPCALL_SINGLE_INSTANCE);
	ck_assert_int_eq(up.entered, 0);
	dt_side_close(&side);
}

/* clause: c.14.19 */
TEST(object__same__keeps_function_and_instance_through_every_policy)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	for (int i = 0; i < UP_POLICIES; i++) {
		up_set(&up, up_policies[i]);
		up_assert_policy(&up, up_policies[i]);
	}
	up_set(&up, DAT_UPCALL_SINGLE_INSTANCE);
	up_assert_policy(&up, DAT_UPCALL_SINGLE_INSTANCE);
	dt_side_close(&side);
}

/* clause: c.14.18, c.14.20 */
TEST(object__the_null_object_while_disabled__takes_the_function_away)
{
	DAT_UPCALL_OBJECT none = DAT_UPCALL_NULL;
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	dt_ok(dat_evd_modify_upcall(up.evd, DAT_UPCALL_DISABLE, &none, DAT_UPCALL_INVOC_NEW));
	dt_assert_ret(up_try(&up, DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_INVOC_NEW),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	up_assert_policy(&up, DAT_UPCALL_DISABLE);
	dt_side_close(&side);
}

/* Two objects with the same function: the instance data shows which one was in force. */
static _Atomic(bool) torn_pair;

static void
first_function(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	(void)event;
	(void)more;
	if (*(char *)instance != '1')
		torn_pair = true;
}

static void
second_function(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	(void)event;
	(void)more;
	if (*(char *)instance != '2')
		torn_pair = true;
}

static _Atomic(bool) stop_posting;

static void *
posts_until_reported(void *arg)
{
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };
	struct up *up = arg;

	while (!stop_posting)
		if (dat_evd_post_se(up->evd, &event) != DAT_SUCCESS)
			sched_yield();
	return NULL;
}

/* clause: c.14.18 */
TEST_LOOP(object__replaced_under_load__function_and_instance_stay_together, UP_ENABLING)
{
	static char one = '1', two = '2';
	DAT_UPCALL_OBJECT first = { &one, first_function }, second = { &two, second_function };
	struct dt_side side;
	pthread_t thread;
	struct up up;

	torn_pair = false;
	stop_posting = false;
	up_init(&up);
	up.object = first;
	dt_side_open(&side, "soft", DT_SEPARATE);
	up_open(&up, &side, up_policies[_i], DAT_EVD_SOFTWARE_FLAG);
	thread = up_thread(posts_until_reported, &up);
	for (int i = 0; i < 400; i++)
		dt_ok(dat_evd_modify_upcall(
		    up.evd, up_policies[_i], i & 1 ? &first : &second, DAT_UPCALL_INVOC_ANY));
	stop_posting = true;
	up_join(thread);
	up_set(&up, DAT_UPCALL_TEARDOWN);
	ck_assert(!torn_pair);
	dt_side_close(&side);
}
