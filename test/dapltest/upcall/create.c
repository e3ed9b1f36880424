/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_evd_kcreate(), and the arguments of both upcall calls */
#include <stdlib.h>

#include "lib/upcall_story.h"
#include "lib/runner.h"

DT_CASE("create:kcreate");

/* clause: c.14.1, c.14.33 */
TEST_LOOP(kcreate__each_policy__stands_from_the_first_event_on, UP_POLICIES)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, up_policies[_i], DAT_EVD_SOFTWARE_FLAG);
	up_assert_policy(&up, up_policies[_i]);
	dt_side_close(&side);
}

/* clause: c.14.1 */
TEST_LOOP(kcreate__each_policy__arms_the_device_if_and_only_if_it_calls, UP_POLICIES)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, up_policies[_i], DAT_EVD_DTO_FLAG);
	/* After a spurious notification the device is armed once more. */
	ck_assert_int_eq(up_counters(&up).arms > 0, up_calls(up_policies[_i]));
	dt_side_close(&side);
}

/* clause: c.14.1, c.14.32 */
TEST_LOOP(kcreate__each_single_stream__is_what_the_query_returns, 5)
{
	static const DAT_EVD_FLAGS streams[] = { DAT_EVD_SOFTWARE_FLAG, DAT_EVD_CR_FLAG,
		DAT_EVD_DTO_FLAG, DAT_EVD_CONNECTION_FLAG, DAT_EVD_RMR_BIND_FLAG };
	struct dt_side side;
	DAT_EVD_PARAM param;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, streams[_i]);
	dt_ok(dat_evd_query(up.evd, DAT_EVD_FIELD_ALL, &param));
	ck_assert_ptr_eq(param.ia_handle, side.ia);
	ck_assert_ptr_eq(param.cno_handle, DAT_HANDLE_NULL);
	ck_assert_int_eq(param.evd_flags, streams[_i]);
	ck_assert_int_ge(param.evd_qlen, 64);
	dt_side_close(&side);
}

static _Atomic(DAT_EVD_HANDLE) known_inside;

static void
looks_at_its_evd(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	known_inside = event->evd_handle;
	up_upcall(instance, event, more);
}

/* clause: c.14.1, c.14.3 */
TEST(kcreate__the_handle__is_the_one_that_events_name)
{
	struct dt_side side;
	struct up up;

	up_init(&up);
	up.object.upcall_func = looks_at_its_evd;
	dt_side_open(&side, "soft", DT_SEPARATE);
	up_open(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	dt_post_se(up.evd, 1);
	up_await_returned(&up, 1);
	ck_assert_ptr_eq(known_inside, up.evd);
	dt_side_close(&side);
}

/* clause: c.14.1 */
TEST(kcreate__the_object__is_copied)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	up.object = DAT_UPCALL_NULL;
	dt_post_se(up.evd, 1);
	up_await_returned(&up, 1);
	dt_side_close(&side);
}

/* clause: c.14.1, c.14.19 */
TEST(kcreate__disabled_with_an_object__same_enables_it)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_DISABLE, DAT_EVD_SOFTWARE_FLAG);
	dt_post_se(up.evd, 7);
	up_assert_no_more(&up, 0);
	up_set(&up, DAT_UPCALL_SINGLE_INSTANCE);
	up_await_returned(&up, 1);
	up_assert_values(&up, 7, 1);
	dt_side_close(&side);
}

/* clause: c.14.1 */
TEST(kcreate__many_evds__each_calls_its_own_object)
{
	enum { EVDS = 24 };
	struct up *ups = calloc(EVDS, sizeof *ups);
	struct dt_side side;

	dt_side_open(&side, "soft", DT_SEPARATE);
	for (int i = 0; i < EVDS; i++) {
		up_init(&ups[i]);
		up_open(&ups[i], &side, up_policies[i % 2], DAT_EVD_SOFTWARE_FLAG);
	}
	for (int i = 0; i < EVDS; i++)
		dt_post_se(ups[i].evd, (uintptr_t)i);
	for (int i = 0; i < EVDS; i++) {
		up_await_returned(&ups[i], 1);
		up_assert_values(&ups[i], (DAT_UINT64)i, 1);
	}
	dt_side_close(&side);
	free(ups);
}

/* ---- bad arguments ---- */

enum object { GOOD, NO_FUNCTION, NO_OBJECT };

static const struct creation {
	DAT_COUNT length;
	int policy;
	enum object object;
	int flags;
	DAT_RETURN_SUBTYPE wrong;
} creations[] = {
	{ 0, DAT_UPCALL_SINGLE_INSTANCE, GOOD, DAT_EVD_DTO_FLAG, DAT_INVALID_ARG2 },
	{ -1, DAT_UPCALL_MANY, GOOD, DAT_EVD_DTO_FLAG, DAT_INVALID_ARG2 },
	{ 8, 3, GOOD, DAT_EVD_DTO_FLAG, DAT_INVALID_ARG3 },
	{ 8, -2, GOOD, DAT_EVD_DTO_FLAG, DAT_INVALID_ARG3 },
	{ 8, 99, GOOD, DAT_EVD_DTO_FLAG, DAT_INVALID_ARG3 },
	{ 8, 101, NO_OBJECT, DAT_EVD_SOFTWARE_FLAG, DAT_INVALID_ARG3 },
	{ 8, DAT_UPCALL_SINGLE_INSTANCE, NO_FUNCTION, DAT_EVD_DTO_FLAG, DAT_INVALID_ARG4 },
	{ 8, DAT_UPCALL_MANY, NO_FUNCTION, DAT_EVD_DTO_FLAG, DAT_INVALID_ARG4 },
	{ 8, DAT_UPCALL_NORIFY, NO_FUNCTION, DAT_EVD_SOFTWARE_FLAG, DAT_INVALID_ARG4 },
	{ 8, DAT_UPCALL_SINGLE_INSTANCE, NO_OBJECT, DAT_EVD_DTO_FLAG, DAT_INVALID_ARG4 },
	{ 8, DAT_UPCALL_MANY, NO_OBJECT, DAT_EVD_SOFTWARE_FLAG, DAT_INVALID_ARG4 },
	{ 8, DAT_UPCALL_NORIFY, NO_OBJECT, DAT_EVD_DTO_FLAG, DAT_INVALID_ARG4 },
	{ 8, DAT_UPCALL_SINGLE_INSTANCE, GOOD, 0, DAT_INVALID_ARG5 },
	{ 8, DAT_UPCALL_DISABLE, NO_OBJECT, 0x8000, DAT_INVALID_ARG5 },
};

DT_CASE("create:arguments");

/* clause: c.14.2 */
TEST_LOOP(
    kcreate__a_bad_argument__is_named_and_nothing_is_made, (sizeof creations / sizeof creations[0]))
{
	const struct creation *c = &creations[_i];
	DAT_UPCALL_OBJECT object = { NULL, c->object == GOOD ? up_upcall : NULL };
	DAT_EVD_HANDLE evd = (DAT_EVD_HANDLE)5;
	DAT_EVD_HANDLE async;
	DAT_IA_HANDLE ia = dt_open("soft", &async);

	dt_assert_ret(dat_evd_kcreate(ia, c->length, (DAT_UPCALL_POLICY)c->policy,
			  c->object == NO_OBJECT ? NULL : &object, (DAT_EVD_FLAGS)c->flags, &evd),
	    DAT_ERROR(DAT_INVALID_PARAMETER, c->wrong));
	ck_assert_ptr_eq(evd, (DAT_EVD_HANDLE)5);
	dt_ok(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG)); /* no EVD was left */
}

/* clause: c.14.2 */
TEST(kcreate__no_place_for_the_handle__is_named)
{
	struct dt_side side;
	struct up up;

	up_init(&up);
	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_assert_ret(dat_evd_kcreate(side.ia, 8, DAT_UPCALL_SINGLE_INSTANCE, &up.object,
			  DAT_EVD_SOFTWARE_FLAG, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
	dt_side_close(&side);
}

/* clause: c.14.2, c.14.33 */
TEST_LOOP(kcreate__no_open_adapter__is_refused, 3)
{
	DAT_EVD_HANDLE evd = (DAT_EVD_HANDLE)5;
	struct dt_side side;
	DAT_IA_HANDLE bad;
	struct up up;

	up_init(&up);
	dt_side_open(&side, "soft", DT_SEPARATE);
	bad = _i == 0 ? DAT_HANDLE_NULL : _i == 1 ? (DAT_IA_HANDLE)77 : (DAT_IA_HANDLE)side.pz;
	dt_assert_ret(dat_evd_kcreate(bad, 8, DAT_UPCALL_SINGLE_INSTANCE, &up.object,
			  DAT_EVD_SOFTWARE_FLAG, &evd),
	    DAT_ERROR(DAT_INVALID_HANDLE, /* the registry, or the provider */
		_i < 2 ? DAT_INVALID_HANDLE1 : DAT_INVALID_HANDLE_IA));
	ck_assert_ptr_eq(evd, (DAT_EVD_HANDLE)5);
	dt_side_close(&side);
}

static const DAT_UPCALL_POLICY off[] = { DAT_UPCALL_DISABLE, DAT_UPCALL_TEARDOWN };

/* clause: c.14.2 */
TEST_LOOP(kcreate__off_and_without_a_function__works, 4)
{
	DAT_UPCALL_OBJECT empty = { NULL, NULL };
	struct dt_side side;
	DAT_EVD_HANDLE evd;
	struct up up;

	up_init(&up);
	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_evd_kcreate(
	    side.ia, 8, off[_i / 2], _i % 2 ? &empty : NULL, DAT_EVD_SOFTWARE_FLAG, &evd));
	dt_assert_ret(dat_evd_modify_upcall(
			  evd, DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_ANY),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_ok(dat_evd_modify_upcall(
	    evd, DAT_UPCALL_SINGLE_INSTANCE, &up.object, DAT_UPCALL_INVOC_ANY));
	dt_post_se(evd, 7);
	up_await_returned(&up, 1);
	dt_ok(dat_evd_free(evd));
	dt_side_close(&side);
}

/* clause: c.14.2 */
TEST(kcreate__longer_than_the_device_can__is_a_shortage)
{
	DAT_EVD_HANDLE evd = (DAT_EVD_HANDLE)5;
	struct dt_side side;
	DAT_IA_ATTR attr;
	struct up up;

	up_init(&up);
	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_ia_query(side.ia, NULL, DAT_IA_FIELD_IA_MAX_EVD_QLEN, &attr, 0, NULL));
	ck_assert_int_lt(attr.max_evd_qlen, 0x7fffffff);
	dt_assert_ret(dat_evd_kcreate(side.ia, attr.max_evd_qlen + 1, DAT_UPCALL_SINGLE_INSTANCE,
			  &up.object, DAT_EVD_DTO_FLAG, &evd),
	    DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD));
	ck_assert_ptr_eq(evd, (DAT_EVD_HANDLE)5);
	dt_side_close(&side);
}

/* clause: c.14.20 */
TEST_LOOP(modify__enabling_without_a_function__is_refused_and_changes_nothing, UP_ENABLING)
{
	DAT_UPCALL_OBJECT empty = DAT_UPCALL_NULL;
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_DISABLE, DAT_EVD_SOFTWARE_FLAG);
	dt_assert_ret(dat_evd_modify_upcall(up.evd, up_policies[_i], &empty, DAT_UPCALL_INVOC_ANY),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	up_assert_policy(&up, DAT_UPCALL_DISABLE);
	up_set(&up, DAT_UPCALL_SINGLE_INSTANCE); /* the object is still there */
	up_assert_policy(&up, DAT_UPCALL_SINGLE_INSTANCE);
	dt_side_close(&side);
}

/* clause: c.14.20 */
TEST_LOOP(modify__same_where_no_object_ever_was__is_refused, UP_ENABLING)
{
	struct dt_side side;
	struct up up;

	up_init(&up);
	dt_side_open(&side, "soft", DT_SEPARATE);
	up.evd = dt_evd(&side, DAT_EVD_SOFTWARE_FLAG, 8);
	dt_assert_ret(up_try(&up, up_policies[_i], DAT_UPCALL_INVOC_ANY),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	up_assert_policy(&up, DAT_UPCALL_DISABLE);
	dt_side_close(&side);
}

static const int unknown_policies[] = { -2, 3, 55, 99, 101, 0x7fffffff };

/* clause: c.14.21 */
TEST_LOOP(modify__an_unknown_policy__is_refused_and_changes_nothing, 6)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	dt_assert_ret(up_try(&up, (DAT_UPCALL_POLICY)unknown_policies[_i], DAT_UPCALL_INVOC_ANY),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	up_assert_policy(&up, DAT_UPCALL_MANY);
	dt_side_close(&side);
}

/* clause: c.14.21 */
TEST_LOOP(modify__an_unknown_flag__is_refused_under_every_policy, UP_POLICIES)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	dt_assert_ret(up_try(&up, up_policies[_i], (DAT_UPCALL_FLAG)2),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
	dt_assert_ret(up_try(&up, up_policies[_i], (DAT_UPCALL_FLAG)-1),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
	up_assert_policy(&up, DAT_UPCALL_SINGLE_INSTANCE);
	dt_side_close(&side);
}

/* clause: c.14.34 */
TEST_LOOP(modify__no_evd__is_a_bad_handle, 6)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	if (_i == 5)
		dt_ok(dat_evd_free(up.evd));
	else
		up.evd = _i == 0 ? DAT_HANDLE_NULL :
			 _i == 1 ? (DAT_EVD_HANDLE)(uintptr_t)9 :
			 _i == 2 ? side.ep :
			 _i == 3 ? side.pz :
				   side.ia;
	dt_assert_type(up_try(&up, DAT_UPCALL_DISABLE, DAT_UPCALL_INVOC_ANY), DAT_INVALID_HANDLE);
	dt_assert_type(up_try(&up, DAT_UPCALL_MANY, DAT_UPCALL_INVOC_NEW), DAT_INVALID_HANDLE);
	dt_side_close(&side);
}
