/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_evd_modify_upcall_array(): upcalls that get several events */
#include "lib/upcall_story.h"
#include "lib/runner.h"

#define ROOM 4

/* What the upcalls got. */
struct arrays {
	_Atomic(int) calls, events, inside, most_inside, longest, empty;
	_Atomic(DAT_UINT64) sum;
	_Atomic(bool) disordered, foreign;
	_Atomic(DAT_UINT64) next; /* of SINGLE: the value of the next event */
	DAT_EVD_HANDLE evd;
	_Atomic(bool) tears_down;
	DAT_RETURN ret;
};

static void
raise_to(_Atomic(int) *most, int value)
{
	int now = atomic_load(most);

	while (now < value && !atomic_compare_exchange_weak(most, &now, value))
		;
}

static void
gets_array(DAT_PVOID instance, const DAT_EVENT *events, DAT_COUNT n, DAT_BOOLEAN more)
{
	struct arrays *a = instance;

	(void)more;
	raise_to(&a->most_inside, atomic_fetch_add(&a->inside, 1) + 1);
	raise_to(&a->longest, n);
	if (!events)
		atomic_fetch_add(&a->empty, n == 0);
	for (DAT_COUNT i = 0; i < n; i++) {
		if (up_value(&events[i]) != atomic_fetch_add(&a->next, 1))
			a->disordered = true;
		if (events[i].evd_handle != a->evd)
			a->foreign = true;
		atomic_fetch_add(&a->sum, up_value(&events[i]));
	}
	if (a->tears_down)
		a->ret = dat_evd_modify_upcall_array(
		    a->evd, DAT_UPCALL_TEARDOWN, DAT_UPCALL_ARRAY_SAME, DAT_UPCALL_INVOC_ANY);
	atomic_fetch_sub(&a->inside, 1);
	atomic_fetch_add(&a->events, n);
	atomic_fetch_add(&a->calls, 1);
}

static DAT_RETURN
set_room(struct arrays *a, DAT_UPCALL_POLICY policy, DAT_COUNT room)
{
	const DAT_UPCALL_ARRAY_OBJECT object = { a, gets_array, room };

	return dat_evd_modify_upcall_array(a->evd, policy, &object, DAT_UPCALL_INVOC_ANY);
}

static DAT_RETURN
set_array(struct arrays *a, DAT_UPCALL_POLICY policy)
{
	return set_room(a, policy, ROOM);
}

/* Until that many events were delivered, and the upcalls have returned. */
static void
await_events(struct arrays *a, int n)
{
	dt_await_count(&a->events, n);
	dt_ok(dat_evd_modify_upcall_array(
	    a->evd, DAT_UPCALL_TEARDOWN, DAT_UPCALL_ARRAY_SAME, DAT_UPCALL_INVOC_ANY));
	ck_assert_int_eq(atomic_load(&a->events), n);
	ck_assert_int_eq(atomic_load(&a->inside), 0);
	ck_assert(!a->foreign);
}

/* Messages 0 to n - 1, all arrived, and none taken. */
static void
send_numbered(struct dt_pair *pair, DAT_UINT64 first, DAT_UINT64 n)
{
	for (DAT_UINT64 i = first; i < first + n; i++)
		up_send(pair, i);
}

/* Messages 0 to n, all arrived; the first of them was taken. */
static void
gather(struct dt_pair *pair, struct arrays *a, DAT_COUNT n)
{
	DAT_EVENT event;
	DAT_COUNT more;

	send_numbered(pair, 0, (DAT_UINT64)n + 1);
	dt_ok(dat_evd_wait(a->evd, DT_FOREVER_MS * 1000u, n + 1, &event, &more));
	ck_assert_uint_eq(up_value(&event), 0);
	a->next = 1;
}

DT_CASE("array:array");

TEST(array__ten_events_are_there__come_in_order_and_several_at_once)
{
	struct arrays a = { 0 };
	struct dt_pair pair;
	struct up up;

	up_connect(&up, &pair, DAT_UPCALL_DISABLE, 11);
	a.evd = up.evd;
	gather(&pair, &a, 10);
	dt_ok(set_array(&a, DAT_UPCALL_SINGLE_INSTANCE));
	await_events(&a, 10);
	ck_assert(!a.disordered);
	ck_assert_int_eq(a.longest, ROOM);
	ck_assert_int_eq(a.most_inside, 1);
	ck_assert_uint_eq(up_counters(&up).upcalls, (DAT_UINT64)a.calls);
	dt_pair_close(&pair);
}

TEST(array__events_arrive_one_by_one__each_comes)
{
	struct arrays a = { 0 };
	struct dt_pair pair;
	struct up up;

	up_connect(&up, &pair, DAT_UPCALL_DISABLE, 16);
	a.evd = up.evd;
	dt_ok(set_array(&a, DAT_UPCALL_SINGLE_INSTANCE));
	send_numbered(&pair, 0, 16);
	await_events(&a, 16);
	ck_assert(!a.disordered);
	dt_pair_close(&pair);
}

TEST(array__many__each_event_comes_once)
{
	struct arrays a = { 0 };
	struct dt_pair pair;
	struct up up;

	up_connect(&up, &pair, DAT_UPCALL_DISABLE, 16);
	a.evd = up.evd;
	send_numbered(&pair, 0, 8);
	dt_ok(set_array(&a, DAT_UPCALL_MANY));
	send_numbered(&pair, 8, 8);
	await_events(&a, 16);
	ck_assert_uint_eq(a.sum, 16 * 15 / 2);
	dt_pair_close(&pair);
}

TEST(array__notify__gets_no_events)
{
	struct arrays a = { 0 };
	struct dt_pair pair;
	DAT_EVENT event;
	struct up up;

	up_connect(&up, &pair, DAT_UPCALL_DISABLE, 4);
	a.evd = up.evd;
	send_numbered(&pair, 0, 4);
	dt_ok(set_array(&a, DAT_UPCALL_NOTIFY));
	dt_await_count(&a.empty, 1);
	await_events(&a, 0);
	ck_assert_int_eq(a.empty, a.calls);
	for (DAT_UINT64 i = 0; i < 4; i++) {
		dt_poll_next(up.evd, &event);
		ck_assert_uint_eq(up_value(&event), i);
	}
	dt_pair_close(&pair);
}

TEST(array__software_events_among_completions__all_come_in_order)
{
	struct arrays a = { 0 };
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_DISABLE, DAT_EVD_SOFTWARE_FLAG);
	a.evd = up.evd;
	for (uintptr_t i = 0; i < 10; i++)
		dt_post_se(up.evd, i);
	dt_ok(set_array(&a, DAT_UPCALL_SINGLE_INSTANCE));
	for (uintptr_t i = 10; i < 20; i++)
		dt_post_se(up.evd, i);
	await_events(&a, 20);
	ck_assert(!a.disordered);
	dt_side_close(&side);
}

/* An EVD without a completion queue, beside the one above; and each length. */
/* origin: out33.EE1 */
TEST_LOOP(array__each_length_and_kind_of_evd__all_come_once, 5 * 5 * 2)
{
	static const DAT_COUNT rooms[] = { 1, 2, 31, 32, 1000 };
	static const int kinds[] = { 0, DAT_EVD_DTO_FLAG, DAT_EVD_CR_FLAG, DAT_EVD_CONNECTION_FLAG,
		DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_DTO_FLAG };
	const DAT_COUNT room = rooms[_i % 5];
	const bool many = _i / 25;
	struct arrays a = { 0 };
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_DISABLE,
	    DAT_EVD_SOFTWARE_FLAG | (DAT_EVD_FLAGS)kinds[_i / 5 % 5]);
	a.evd = up.evd;
	for (uintptr_t i = 0; i < 10; i++)
		dt_post_se(up.evd, i);
	dt_ok(set_room(&a, many ? DAT_UPCALL_MANY : DAT_UPCALL_SINGLE_INSTANCE, room));
	for (uintptr_t i = 10; i < 20; i++)
		dt_post_se(up.evd, i);
	await_events(&a, 20);
	ck_assert(many || !a.disordered);
	ck_assert_uint_eq(a.sum, 20 * 19 / 2);
	ck_assert_int_le(a.longest, room);
	dt_side_close(&side);
}

/* One object is installed: of this kind, or of the other. */
TEST(array__other_kind_of_object__takes_its_place)
{
	struct arrays a = { 0 };
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	a.evd = up.evd;
	dt_post_se(up.evd, 0);
	up_await_returned(&up, 1);
	dt_ok(set_array(&a, DAT_UPCALL_SINGLE_INSTANCE));
	dt_post_se(up.evd, 0);
	dt_await_count(&a.calls, 1);
	/* SAME keeps it, with either call. */
	up_set(&up, DAT_UPCALL_DISABLE);
	up_set(&up, DAT_UPCALL_SINGLE_INSTANCE);
	dt_post_se(up.evd, 1);
	dt_await_count(&a.calls, 2);
	ck_assert_int_eq(up.returned, 1);
	dt_ok(dat_evd_modify_upcall(
	    up.evd, DAT_UPCALL_SINGLE_INSTANCE, &up.object, DAT_UPCALL_INVOC_ANY));
	dt_ok(dat_evd_modify_upcall_array(
	    up.evd, DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_ARRAY_SAME, DAT_UPCALL_INVOC_ANY));
	dt_post_se(up.evd, 0);
	up_await_returned(&up, 2);
	ck_assert_int_eq(a.calls, 2);
	dt_side_close(&side);
}

TEST_LOOP(array__teardown_inside__no_other_upcall_starts, 2)
{
	struct arrays a = { .tears_down = true };
	struct dt_pair pair;
	struct up up;

	up_connect(&up, &pair, DAT_UPCALL_DISABLE, 11);
	a.evd = up.evd;
	gather(&pair, &a, 10);
	dt_ok(set_array(&a, _i ? DAT_UPCALL_MANY : DAT_UPCALL_SINGLE_INSTANCE));
	dt_await_count(&a.calls, 1);
	dt_ok(dat_evd_modify_upcall(
	    up.evd, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_ANY));
	dt_ok(a.ret);
	if (_i == 0)
		ck_assert_int_eq(a.events, ROOM);
	dt_pair_close(&pair);
}

TEST_TURNS(array__bad_argument__is_named_and_changes_nothing, -1, 1)
{
	DAT_UPCALL_ARRAY_OBJECT object = { NULL, gets_array, ROOM };
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	dt_assert_ret(dat_evd_modify_upcall_array(
			  up.evd, (DAT_UPCALL_POLICY)3, &object, DAT_UPCALL_INVOC_ANY),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_ret(dat_evd_modify_upcall_array(
			  up.evd, DAT_UPCALL_SINGLE_INSTANCE, &object, (DAT_UPCALL_FLAG)2),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
	object.max_events = _i;
	dt_assert_ret(
	    dat_evd_modify_upcall_array(up.evd, DAT_UPCALL_MANY, &object, DAT_UPCALL_INVOC_ANY),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	/* Such an object may be installed while no upcalls are made, but not enabled. */
	dt_ok(
	    dat_evd_modify_upcall_array(up.evd, DAT_UPCALL_DISABLE, &object, DAT_UPCALL_INVOC_ANY));
	dt_assert_ret(dat_evd_modify_upcall_array(up.evd, DAT_UPCALL_SINGLE_INSTANCE,
			  DAT_UPCALL_ARRAY_SAME, DAT_UPCALL_INVOC_ANY),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_ok(dat_evd_modify_upcall(
	    up.evd, DAT_UPCALL_SINGLE_INSTANCE, &up.object, DAT_UPCALL_INVOC_ANY));
	object = (DAT_UPCALL_ARRAY_OBJECT){ NULL, NULL, ROOM };
	dt_assert_ret(
	    dat_evd_modify_upcall_array(up.evd, DAT_UPCALL_NOTIFY, &object, DAT_UPCALL_INVOC_ANY),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_assert_type(dat_evd_modify_upcall_array(side.pz, DAT_UPCALL_DISABLE,
			   DAT_UPCALL_ARRAY_SAME, DAT_UPCALL_INVOC_ANY),
	    DAT_INVALID_HANDLE);
	dt_post_se(up.evd, 7);
	up_await_returned(&up, 1);
	up_assert_values(&up, 7, 1);
	dt_side_close(&side);
}
