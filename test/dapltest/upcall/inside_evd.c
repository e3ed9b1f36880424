/* SPDX-License-Identifier: BSD-3-Clause */
/* From inside an upcall, under every policy: calls on EVDs, above all on its own */
#include "inside.h"
#include "lib/runner.h"

/* ---- dequeue, post_se, wait ---- */

static void
dequeues_nothing(struct inside *in)
{
	in->ret = dat_evd_dequeue(in->up.evd, &in->event);
}

DT_CASE("inside-evd:take");

/* clause: c.14.22 */
TEST_LOOP(dequeue_inside__nothing_queued__empty, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	inside_do(&in, dequeues_nothing);
	dt_assert_type(in.ret, DAT_QUEUE_EMPTY);
	inside_close(&in);
}

static void
posts_and_dequeues(struct inside *in)
{
	if (in->policy == DAT_UPCALL_MANY) /* other upcalls would take them */
		dt_ok(up_try(&in->up, DAT_UPCALL_DISABLE, DAT_UPCALL_INVOC_NEW));
	for (uintptr_t i = 10; i < 14; i++)
		dt_post_se(in->up.evd, i);
	for (DAT_UINT64 i = 10; i < 14; i++) {
		dt_ok(dat_evd_dequeue(in->up.evd, &in->event));
		ck_assert_uint_eq(up_value(&in->event), i);
	}
	in->ret = dat_evd_dequeue(in->up.evd, &in->event);
	if (in->policy == DAT_UPCALL_MANY)
		dt_ok(up_try(&in->up, DAT_UPCALL_MANY, DAT_UPCALL_INVOC_NEW));
}

/* clause: c.14.22 */
TEST_LOOP(
    dequeue_inside__events_queued__gives_them_in_order_and_no_upcall_comes_for_them, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	inside_do(&in, posts_and_dequeues);
	dt_assert_type(in.ret, DAT_QUEUE_EMPTY);
	if (in.policy != DAT_UPCALL_NORIFY) { /* which may report events that came meanwhile */
		up_assert_no_more(&in.up, 1);
	} else {
		dt_nap_ms(10);
	}
	inside_close(&in);
}

static const int not_many[] = { 0, 2, 3, 4 }; /* MANY has its own test */

static void
posts_two(struct inside *in)
{
	dt_post_se(in->up.evd, 10);
	dt_post_se(in->up.evd, 11);
	if (in->policy == DAT_UPCALL_SINGLE_INSTANCE || in->policy == DAT_UPCALL_NORIFY)
		up_assert_no_more(&in->up, 1); /* not while this one runs */
	if (in->policy == DAT_UPCALL_NORIFY)
		in->up.act = up_drain;
}

/* clause: c.14.24, c.14.35, c.14.8 */
TEST_LOOP(post_inside__to_its_own_evd__called_as_the_policy_demands_and_never_nested, 4)
{
	struct inside in;

	inside_open(&in, not_many[_i]);
	inside_do(&in, posts_two);
	if (up_calls(in.policy)) {
		up_await_noted(&in.up, 3);
		up_await_returned(&in.up, in.policy == DAT_UPCALL_NORIFY ? 2 : 3);
		ck_assert_int_eq(in.up.most_inside, 1);
	} else {
		up_assert_no_more(&in.up, 1);
		up_drain(&in.up, NULL);
	}
	ck_assert_int_eq(in.up.noted, 3);
	for (int i = 1; i < 3; i++)
		ck_assert_uint_eq(up_value(&in.up.notes[i].event), (DAT_UINT64)i + 9);
	inside_close(&in);
}

static void
posts_and_sees_others_run(struct inside *in)
{
	dt_post_se(in->up.evd, 10);
	up_await_returned(&in->up, 1);
	ck_assert(!pthread_equal(in->up.notes[1].thread, pthread_self()));
}

/* clause: c.14.24, c.14.35, c.14.9 */
TEST(post_inside__to_its_own_evd_under_many__another_thread_calls_meanwhile)
{
	struct inside in;

	inside_open(&in, 1);
	inside_do(&in, posts_and_sees_others_run);
	up_await_returned(&in.up, 2);
	inside_close(&in);
}

static struct up neighbour;

static void
posts_to_the_neighbour(struct inside *in)
{
	dt_post_se(neighbour.evd, 5);
	if (in->policy != DAT_UPCALL_MANY)
		up_assert_no_more(&neighbour, 0); /* the same thread makes its upcalls */
}

/* clause: c.14.24, c.14.35 */
TEST_LOOP(post_inside__to_another_evd__its_upcall_comes_afterwards, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	up_init(&neighbour);
	up_open(&neighbour, &in.pair.b, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	inside_do(&in, posts_to_the_neighbour);
	up_await_returned(&neighbour, 1);
	up_assert_values(&neighbour, 5, 1);
	inside_close(&in);
}

static void
waits_on_its_own(struct inside *in)
{
	in->ret = dat_evd_wait(in->up.evd, 3000, 1, &in->event, &in->more);
}

/* clause: c.14.27, c.14.31 */
TEST_LOOP(wait_inside__on_its_own_evd__refused_while_enabled_else_in_time, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	inside_do(&in, waits_on_its_own);
	dt_assert_type(in.ret, up_calls(in.policy) ? DAT_INVALID_STATE : DAT_TIMEOUT_EXPIRED);
	inside_close(&in);
}

static void
disables_and_waits(struct inside *in)
{
	dt_ok(up_try(&in->up, DAT_UPCALL_DISABLE, DAT_UPCALL_INVOC_NEW));
	in->ret = dat_evd_wait(in->up.evd, DT_FOREVER_MS * 1000u, 1, &in->event, &in->more);
	if (up_calls(in->policy))
		dt_ok(up_try(&in->up, in->policy, DAT_UPCALL_INVOC_NEW));
}

/* clause: c.14.31, c.14.27 */
TEST_LOOP(wait_inside__on_its_own_evd_disabled_before__wakes, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	inside_begin(&in, disables_and_waits);
	up_await_noted(&in.up, 1);
	up_await_waiter(&in.up);
	dt_post_se(in.up.evd, 6);
	inside_end(&in);
	dt_ok(in.ret);
	ck_assert_uint_eq(up_value(&in.event), 6);
	inside_close(&in);
}

static void
waits_on_another(struct inside *in)
{
	in->ret = dat_evd_wait(in->handle, DT_FOREVER_MS * 1000u, 1, &in->event, &in->more);
}

/* clause: c.14.31 */
TEST_LOOP(wait_inside__on_another_evd__wakes, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	in.handle = dt_evd(&in.pair.b, DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG, 8);
	inside_begin(&in, waits_on_another);
	dt_nap_ms(3);
	dt_post_se(in.handle, 4);
	inside_end(&in);
	dt_ok(in.ret);
	ck_assert_uint_eq(up_value(&in.event), 4);
	inside_close(&in);
}

/* clause: c.14.31, c.14.35 */
TEST_LOOP(wait_inside__an_upcall_of_another_evd_is_due__comes_after_the_return, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	up_init(&neighbour);
	up_open(&neighbour, &in.pair.b, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	in.handle = dt_evd(&in.pair.b, DAT_EVD_SOFTWARE_FLAG, 8);
	inside_begin(&in, waits_on_another);
	up_await_noted(&in.up, 1);
	dt_nap_ms(3);
	dt_post_se(neighbour.evd, 9);
	if (in.policy != DAT_UPCALL_MANY) /* its upcalls have their own threads */
		up_assert_no_more(&neighbour, 0);
	dt_post_se(in.handle, 4);
	inside_end(&in);
	dt_ok(in.ret);
	up_await_returned(&neighbour, 1);
	up_assert_values(&neighbour, 9, 1);
	inside_close(&in);
}

/* clause: c.14.31 */
TEST_LOOP(wait_inside__for_a_connection_that_its_own_thread_reads__wakes, UP_POLICIES)
{
	struct inside in;

	inside_open_pair(&in, _i);
	in.handle = in.pair.b.connect;
	inside_begin(&in, waits_on_another);
	dt_nap_ms(3);
	dt_ok(dat_ep_disconnect(in.pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	inside_end(&in);
	dt_ok(in.ret);
	ck_assert_int_eq(in.event.event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
	inside_close(&in);
}

/* ---- settings of its own EVD ---- */

static void
queries(struct inside *in)
{
	struct dat_rearm_evd_counters counters;
	DAT_EVD_PARAM param;

	dt_ok(dat_evd_query(in->up.evd, DAT_EVD_FIELD_ALL, &param));
	ck_assert_ptr_eq(param.ia_handle, in->up.ia);
	ck_assert_int_eq(param.evd_flags, DAT_EVD_SOFTWARE_FLAG);
	dt_ok(dat_evd_query_upcall_counters(in->up.evd, &counters));
	ck_assert_uint_eq(counters.upcalls, 1); /* this one */
	ck_assert_uint_eq(counters.software_events, 1);
}

DT_CASE("inside-evd:settings");

/* clause: c.14.24, c.11.1 */
TEST_LOOP(query_inside__its_own_evd__returns_the_parameters, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	inside_do(&in, queries);
	inside_close(&in);
}

static void
disables_the_cno_link(struct inside *in)
{
	DAT_EVD_PARAM param;

	dt_ok(dat_evd_disable(in->up.evd));
	dt_ok(dat_evd_query(in->up.evd, DAT_EVD_FIELD_ALL, &param));
	ck_assert_int_ne(param.evd_state & DAT_EVD_STATE_DISABLED, 0);
}

/* clause: c.14.24, c.6.1 */
TEST_LOOP(disable_inside__of_the_cno_link__leaves_upcalls_alone, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	inside_do(&in, disables_the_cno_link);
	up_assert_policy(&in.up, in.policy);
	dt_ok(dat_evd_enable(in.up.evd));
	inside_close(&in);
}

static void
makes_it_unwaitable(struct inside *in)
{
	dt_ok(dat_evd_set_unwaitable(in->up.evd));
	in->ret = dat_evd_wait(in->up.evd, 0, 1, &in->event, &in->more);
	dt_ok(dat_evd_clear_unwaitable(in->up.evd));
	in->second = dat_evd_wait(in->up.evd, 0, 1, &in->event, &in->more);
}

/* clause: c.14.24, c.7.1, c.7.3, c.14.27 */
TEST_LOOP(set_unwaitable_inside__its_own_evd__leaves_upcalls_alone, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	inside_do(&in, makes_it_unwaitable);
	dt_assert_type(in.ret, DAT_INVALID_STATE);
	dt_assert_type(in.second, up_calls(in.policy) ? DAT_INVALID_STATE : DAT_TIMEOUT_EXPIRED);
	inside_close(&in);
}

static void
resizes(struct inside *in)
{
	DAT_EVD_PARAM param;

	dt_ok(dat_evd_resize(in->up.evd, 200));
	dt_ok(dat_evd_query(in->up.evd, DAT_EVD_FIELD_ALL, &param));
	ck_assert_int_ge(param.evd_qlen, 200);
	dt_ok(dat_evd_resize(in->up.evd, 16));
	in->ret = dat_evd_resize(in->up.evd, 0);
}

/* clause: c.14.24, c.10.1, c.10.2 */
TEST_LOOP(resize_inside__its_own_evd__longer_and_shorter, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	inside_do(&in, resizes);
	dt_assert_ret(in.ret, DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	inside_close(&in);
}

/* ---- creating and freeing EVDs ---- */

static void
makes_another(struct inside *in)
{
	up_init(&neighbour);
	up_open(&neighbour, &in->pair.b, DAT_UPCALL_SINGLE_INSTANCE,
	    DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG);
	dt_post_se(neighbour.evd, 3);
}

DT_CASE("inside-evd:free");

/* clause: c.14.24, c.14.1 */
TEST_LOOP(kcreate_inside__another_evd__its_upcalls_come, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	inside_do(&in, makes_another);
	up_await_returned(&neighbour, 1);
	up_assert_policy(&neighbour, DAT_UPCALL_SINGLE_INSTANCE);
	inside_close(&in);
}

static void
frees_the_neighbour(struct inside *in)
{
	if (in->policy != DAT_UPCALL_MANY) /* else another thread makes the upcall at once */
		dt_post_se(neighbour.evd, 5);
	in->ret = dat_evd_free(neighbour.evd);
	ck_assert_int_eq(neighbour.inside, 0);
}

/* clause: c.14.24, c.14.26 */
TEST_LOOP(free_inside__another_evd_with_its_upcall_due__none_comes, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	up_init(&neighbour);
	up_open(&neighbour, &in.pair.b, DAT_UPCALL_SINGLE_INSTANCE,
	    DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG);
	inside_begin(&in, frees_the_neighbour);
	inside_end(&in);
	dt_ok(in.ret);
	up_assert_no_more(&neighbour, 0);
	inside_close(&in);
}

static void
frees_its_own(struct inside *in)
{
	in->ret = dat_evd_free(in->up.evd);
	in->second = up_try(&in->up, DAT_UPCALL_DISABLE, DAT_UPCALL_INVOC_ANY);
	dt_assert_type(dat_evd_free(in->up.evd), DAT_INVALID_HANDLE);
	dt_assert_type(dat_evd_dequeue(in->up.evd, &in->event), DAT_INVALID_HANDLE);
	dt_assert_type(dat_evd_wait(in->up.evd, 0, 1, &in->event, &in->more), DAT_INVALID_HANDLE);
	in->up.evd = DAT_HANDLE_NULL;
}

/* clause: c.14.25 */
TEST_LOOP(free_inside__its_own_evd__goes_when_the_upcall_returns, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	inside_do(&in, frees_its_own);
	dt_ok(in.ret);
	dt_assert_type(in.second, DAT_INVALID_HANDLE);
	up_assert_no_more(&in.up, 1);
	inside_close(&in);
}

static void
posts_and_frees(struct inside *in)
{
	for (uintptr_t i = 0; i < 5 && in->policy != DAT_UPCALL_MANY; i++)
		dt_post_se(in->up.evd, i);
	frees_its_own(in);
}

/* clause: c.14.25, c.12.2 */
TEST_LOOP(free_inside__its_own_evd_with_events_queued__they_go_with_it, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	inside_do(&in, posts_and_frees);
	dt_ok(in.ret);
	up_assert_no_more(&in.up, 1);
	inside_close(&in);
}
