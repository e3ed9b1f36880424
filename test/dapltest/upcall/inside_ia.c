/* SPDX-License-Identifier: BSD-3-Clause */
/* From inside an upcall, under every policy: calls on adapters, and on any handle */

#include "inside.h"
#include "lib/runner.h"

static void
closes_gracefully(struct inside *in)
{
	in->ret = dat_ia_close(in->up.ia, DAT_CLOSE_GRACEFUL_FLAG);
}

DT_CASE("inside-ia:adapter");

/* clause: c.14.31, e.9.2 */
TEST_LOOP(close_inside__gracefully_with_objects_left__is_refused, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	inside_do(&in, closes_gracefully);
	dt_assert_ret(in.ret, DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE));
	inside_close(&in);
}

static void
frees_all_and_closes(struct inside *in)
{
	struct dt_side *side = &in->pair.b;

	dt_ok(dat_lmr_free(side->lmr));
	dt_ok(dat_ep_free(side->ep));
	dt_ok(dat_evd_free(side->recv));
	dt_ok(dat_evd_free(side->request));
	dt_ok(dat_evd_free(side->connect));
	dt_ok(dat_pz_free(side->pz));
	dt_ok(dat_evd_free(in->up.evd));
	in->ret = dat_ia_close(in->up.ia, DAT_CLOSE_GRACEFUL_FLAG);
}

/* clause: c.14.25, c.14.31, e.9.2 */
TEST_LOOP(close_inside__gracefully_after_everything_was_freed__closes, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	inside_do(&in, frees_all_and_closes);
	dt_ok(in.ret);
	in.closed = true;
	up_assert_no_more(&in.up, 1);
	inside_close(&in);
}

static void
closes_abruptly(struct inside *in)
{
	in->ret = dat_ia_close(in->up.ia, DAT_CLOSE_ABRUPT_FLAG);
	in->second = dat_ia_close(in->up.ia, DAT_CLOSE_ABRUPT_FLAG);
	dt_assert_type(dat_evd_dequeue(in->up.evd, &in->event), DAT_INVALID_HANDLE);
	dt_assert_type(
	    up_try(&in->up, DAT_UPCALL_DISABLE, DAT_UPCALL_INVOC_ANY), DAT_INVALID_HANDLE);
	in->closed = true;
}

/* clause: c.14.31, e.9.1 */
TEST_LOOP(close_inside__abruptly__closes_and_ends_no_thread_under_itself, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	inside_do(&in, closes_abruptly);
	dt_ok(in.ret);
	dt_assert_type(in.second, DAT_INVALID_HANDLE);
	up_assert_no_more(&in.up, 1);
	inside_close(&in);
}

/* clause: c.14.31, e.9.1 */
TEST_LOOP(close_inside__abruptly_with_a_connection__the_other_end_gets_an_event, UP_POLICIES)
{
	struct inside in;

	inside_open_pair(&in, _i);
	inside_do(&in, closes_abruptly);
	dt_ok(in.ret);
	dt_expect_disconnected(&in.pair.a);
	inside_close(&in);
}

static void
opens_and_closes(struct inside *in)
{
	DAT_EVD_HANDLE async;
	DAT_IA_HANDLE ia = dt_open("soft", &async);

	ck_assert_ptr_ne(ia, in->up.ia);
	in->ret = dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG);
}

/* clause: c.14.31 */
TEST_LOOP(open_inside__another_adapter__opens_and_closes, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	inside_do(&in, opens_and_closes);
	dt_ok(in.ret);
	inside_close(&in);
}

static DAT_IA_HANDLE elsewhere;

static void
closes_another(struct inside *in)
{
	in->ret = dat_ia_close(elsewhere, DAT_CLOSE_ABRUPT_FLAG);
}

/* clause: c.14.31, e.9.1 */
TEST_LOOP(close_inside__another_adapter_with_an_evd__closes, UP_POLICIES)
{
	DAT_EVD_HANDLE evd;
	struct inside in;

	inside_open(&in, _i);
	elsewhere = dt_open("soft", NULL);
	dt_ok(dat_evd_create(elsewhere, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd));
	inside_do(&in, closes_another);
	dt_ok(in.ret);
	dt_assert_type(dat_evd_enable(evd), DAT_INVALID_HANDLE);
	inside_close(&in);
}

static void
asks_adapter(struct inside *in)
{
	DAT_PROVIDER_ATTR provider = { 0 };
	DAT_EVD_HANDLE async;
	DAT_IA_ATTR attr;

	dt_ok(dat_ia_query(
	    in->up.ia, &async, DAT_IA_FIELD_ALL, &attr, DAT_PROVIDER_FIELD_ALL, &provider));
	ck_assert_ptr_eq(async, in->pair.b.async);
	ck_assert_int_gt(attr.max_evds, 0);
}

/* clause: c.14.24 */
TEST_LOOP(ia_query_inside__returns_the_attributes, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	inside_do(&in, asks_adapter);
	inside_close(&in);
}

static void
marks_its_evd(struct inside *in)
{
	DAT_CONTEXT context = { .as_64 = 0x1234 };
	DAT_HANDLE_TYPE type;

	dt_ok(dat_set_consumer_context(in->up.evd, context));
	context.as_64 = 0;
	dt_ok(dat_get_consumer_context(in->up.evd, &context));
	ck_assert_uint_eq(context.as_64, 0x1234);
	dt_ok(dat_get_handle_type(in->up.evd, &type));
	ck_assert_int_eq(type, DAT_HANDLE_TYPE_EVD);
}

/* clause: c.14.24, e.8.1, e.8.2 */
TEST_LOOP(context_inside__of_its_own_evd__is_kept, UP_POLICIES)
{
	DAT_CONTEXT context;
	struct inside in;

	inside_open(&in, _i);
	inside_do(&in, marks_its_evd);
	dt_ok(dat_get_consumer_context(in.up.evd, &context));
	ck_assert_uint_eq(context.as_64, 0x1234);
	inside_close(&in);
}
