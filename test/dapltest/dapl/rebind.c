/* SPDX-License-Identifier: BSD-3-Clause */
/* Remote memory regions that are bound again. */
#include "bound.h"
#include "lib/runner.h"

DT_CASE("rebind:connection");

/* clause: e.7.31 */
/* origin: outside.60 */
TEST_LOOP(bind__on_a_disconnected_endpoint__changes_nothing, 2)
{
	DAT_RMR_CONTEXT first;
	struct bound s;

	first = bound_open_and_bind(&s, _i);
	bound_disconnect(&s);
	dt_ok(bound_try(&s, 64, 32, BOTH, DEFAULT, 2));
	bound_expect(&s, 2, DAT_DTO_ERR_FLUSHED);
	ck_assert_uint_eq(bound_length(&s), 64);
	ck_assert_uint_eq(s.context, first);
	bound_reconnect(&s);
	bound_bind(&s, 128, 16, BOTH);
	ck_assert_uint_eq(bound_length(&s), 16);
	bound_write(&s, s.context, 128, DAT_DTO_SUCCESS);
	dt_pair_close(&s.pair);
}

/*
 * A bind that the device flushes: the region is not bound, and is when it is bound again.
 */
/* clause: e.7.31 */
/* origin: outside.61 */
TEST_LOOP(bind__flushed_by_the_device__leaves_the_region_unbound, 2)
{
	struct bound s;

	bound_open(&s, _i);
	bound_bind_later(&s, 64, 32);
	ck_assert_uint_eq(bound_length(&s), 32);
	bound_flush(&s);
	ck_assert_uint_eq(bound_length(&s), 0);
	dt_expect_disconnected(&s.pair.b);
	dt_expect_disconnected(&s.pair.a);
	bound_reconnect(&s);
	bound_bind(&s, 0, 64, BOTH);
	ck_assert_uint_eq(bound_length(&s), 64);
	bound_write(&s, s.context, 0, DAT_DTO_SUCCESS);
	dt_pair_close(&s.pair);
}

/* clause: e.7.32 */
TEST_LOOP(bind__after_a_reset__goes_through_the_new_connection, 2)
{
	struct bound s;

	bound_open_and_bind(&s, _i);
	bound_disconnect(&s);
	bound_reconnect(&s);
	bound_bind(&s, 64, 64, BOTH);
	bound_write(&s, s.context, 64, DAT_DTO_SUCCESS);
	dt_pair_close(&s.pair);
}

/* clause: e.7.32 */
/* origin: outside.62 */
TEST_LOOP(bind__through_another_connection__moves_the_region, 2)
{
	DAT_RMR_CONTEXT first;
	struct dt_pair one;
	struct bound s;

	first = bound_open_and_bind(&s, _i);
	one = s.pair;
	bound_connect_second(&s);
	bound_bind(&s, 64, 64, BOTH);
	ck_assert_uint_ne(s.context, first);
	bound_write(&s, s.context, 64, DAT_DTO_SUCCESS);
	/* The first connection is as it was, but for the region. */
	ck_assert_int_eq(dt_state(one.b.ep), DAT_EP_STATE_CONNECTED);
	s.pair.a.ep = one.a.ep;
	bound_write(&s, first, 0, DAT_DTO_ERR_REMOTE_ACCESS);
	dt_pair_close(&s.pair);
}

/* clause: e.7.32 */
/* origin: outside.63 */
TEST_LOOP(bind__while_one_is_outstanding_elsewhere__is_refused, 2)
{
	DAT_EP_HANDLE first, second;
	struct bound s;
	DAT_EP_HANDLE peer;

	bound_open(&s, _i);
	first = s.pair.b.ep;
	peer = s.pair.a.ep;
	bound_stop(&s);
	dt_ok(bound_try(&s, 0, 64, BOTH, DEFAULT, 1));
	bound_connect_second(&s);
	dt_assert_ret(bound_try(&s, 64, 32, BOTH, DEFAULT, 2), IN_STATE(DAT_NO_SUBTYPE));
	ck_assert_uint_eq(bound_length(&s), 64);
	second = s.pair.b.ep;
	s.pair.b.ep = first;
	s.pair.a.ep = peer;
	bound_let_go(&s);
	bound_expect(&s, 1, DAT_DTO_SUCCESS);
	s.pair.b.ep = second;
	bound_bind(&s, 64, 32, BOTH);
	dt_pair_close(&s.pair);
}

DT_CASE("rebind:window");

/* clause: e.7.33 */
/* origin: outside.64 */
TEST(bind__invalidated_but_not_reported__binds)
{
	struct bound s;
	DAT_EVENT event;

	bound_open_and_bind(&s, true);
	bound_invalidate(&s, s.context);
	bound_bind(&s, 64, 64, BOTH);
	bound_write(&s, s.context, 64, DAT_DTO_SUCCESS);
	/* The report is of the old context, and the region stays bound. */
	dt_expect_dto(s.pair.b.recv, s.pair.b.ep, 21, DAT_DTO_SUCCESS, &event);
	bound_write(&s, s.context, 64, DAT_DTO_SUCCESS);
	bound_bind(&s, 0, 16, BOTH);
	ck_assert_uint_eq(bound_length(&s), 16);
	dt_pair_close(&s.pair);
}

/*
 * More windows were invalidated than an endpoint keeps in mind one by one, and no event has
 * reported them when the endpoint is reset: a bind of the next connection need not wait for them.
 */
/* clause: e.7.33 */
/* origin: out33.D3 */
TEST(bind__after_a_reset__does_not_wait_for_windows_of_before)
{
	enum { MANY = 20 };
	const DAT_EP_ATTR attr = { .service_type = DAT_SERVICE_TYPE_RC,
		.max_recv_dtos = MANY,
		.max_request_dtos = 8,
		.max_recv_iov = 1,
		.max_request_iov = 1,
		.recv_completion_flags = DAT_COMPLETION_EVD_THRESHOLD_FLAG,
		.request_completion_flags = DAT_COMPLETION_DEFAULT_FLAG };
	DAT_RMR_HANDLE first;
	struct bound s;

	dt_pair_open(&s.pair, DT_SEPARATE);
	bound_give_evd(&s.pair.b, &attr);
	dt_connect_pair(&s.pair);
	dt_ok(dat_rmr_create_for_ep(s.pair.b.pz, &first));
	for (int i = 0; i < MANY; i++) {
		dt_ok(dat_rmr_create_for_ep(s.pair.b.pz, &s.rmr));
		bound_bind(&s, 0, 64, BOTH);
		bound_invalidate(&s, s.context);
	}
	bound_await_arrivals(&s, MANY);
	dt_ok(dat_ep_get_status(s.pair.b.ep, NULL, &(DAT_BOOLEAN){ DAT_FALSE }, NULL)); /* polls */
	bound_disconnect(&s);
	bound_reconnect(&s);
	s.rmr = first;
	bound_stop(&s);
	dt_ok(bound_try(&s, 0, 64, BOTH, DEFAULT, 1));
	dt_ok(bound_try(&s, 64, 64, BOTH, DEFAULT, 2)); /* behind the first, which is outstanding */
	bound_let_go(&s);
	bound_expect(&s, 1, DAT_DTO_SUCCESS);
	bound_expect(&s, 2, DAT_DTO_SUCCESS);
	bound_write(&s, s.context, 64, DAT_DTO_SUCCESS);
	dt_pair_close(&s.pair);
}

/* clause: e.7.34 */
/* origin: outside.65 */
TEST_LOOP(lmr_free__a_bind_away_from_it_is_outstanding__is_in_use, 2)
{
	DAT_LMR_TRIPLET range[2];
	DAT_LMR_HANDLE lmr[2];
	DAT_RETURN first;
	struct bound s;

	bound_open_and_bind(&s, _i);
	for (int i = 0; i < 2; i++)
		lmr[i] = bound_second_lmr(&s, &range[i]);
	dt_ok(bound_bind_to(&s, lmr[0], &range[0], 1));
	bound_expect(&s, 1, DAT_DTO_SUCCESS);
	bound_stop(&s);
	dt_ok(bound_bind_to(&s, lmr[1], &range[1], 2));
	/*
	 * The window is bound to the first one until the request is executed.  Soft-RoCE does not
	 * execute a bind of type 1 behind the send, but at once.
	 */
	first = dat_lmr_free(lmr[0]);
	if (_i || dt_is_soft() || first != DAT_SUCCESS)
		dt_assert_ret(first, IN_STATE(DAT_INVALID_STATE_LMR_IN_USE));
	dt_ok(bound_bind_to(&s, s.pair.b.lmr,
	    &(DAT_LMR_TRIPLET){ .segment_length = 64,
		.virtual_address = range[0].virtual_address,
		.lmr_context = s.pair.b.lmr_context },
	    3));
	/* The request that binds it to the second one would fail. */
	dt_assert_ret(dat_lmr_free(lmr[1]), IN_STATE(DAT_INVALID_STATE_LMR_IN_USE));
	bound_let_go(&s);
	bound_expect(&s, 2, DAT_DTO_SUCCESS);
	bound_expect(&s, 3, DAT_DTO_SUCCESS);
	if (first != DAT_SUCCESS)
		dt_ok(dat_lmr_free(lmr[0]));
	dt_ok(dat_lmr_free(lmr[1]));
	bound_write(&s, s.context, 0, DAT_DTO_SUCCESS);
	dt_pair_close(&s.pair);
}

/*
 * Requests that never complete, because the endpoint is freed, do not keep the LMR.
 */
/* clause: e.7.34 */
/* origin: outside.66 */
TEST_LOOP(lmr_free__the_endpoint_of_the_bind_is_freed__succeeds, 2)
{
	DAT_LMR_TRIPLET range;
	DAT_LMR_HANDLE lmr;
	struct bound s;

	bound_open(&s, _i);
	lmr = bound_second_lmr(&s, &range);
	bound_stop(&s);
	dt_ok(bound_bind_to(&s, lmr, &range, 1));
	dt_ok(bound_try(&s, 0, 64, BOTH, DEFAULT, 2));
	dt_assert_ret(dat_lmr_free(lmr), IN_STATE(DAT_INVALID_STATE_LMR_IN_USE));
	dt_ok(dat_ep_free(s.pair.b.ep));
	s.pair.b.ep = DAT_HANDLE_NULL;
	dt_ok(dat_lmr_free(lmr));
	dt_ok(dat_rmr_free(s.rmr));
	dt_pair_close(&s.pair);
}

/* Requests that take the place of a bind in the queue do not end it once more. */
/* clause: e.7.34 */
TEST_LOOP(lmr_free__other_requests_after_the_bind__succeeds, 2)
{
	DAT_LMR_TRIPLET range;
	DAT_LMR_HANDLE lmr;
	struct bound s;
	DAT_EVENT event;

	bound_open(&s, _i);
	lmr = bound_second_lmr(&s, &range);
	dt_ok(bound_bind_to(&s, lmr, &range, 1));
	bound_expect(&s, 1, DAT_DTO_SUCCESS);
	for (DAT_UINT64 i = 0; i < 40; i++) {
		dt_recv(&s.pair.a, 1024, 64, i);
		dt_ok(dt_try_send(&s.pair.b, 0, 8, i,
		    i % 2 ? DAT_COMPLETION_SUPPRESS_FLAG : DAT_COMPLETION_UNSIGNALLED_FLAG));
		dt_expect_dto(s.pair.a.recv, s.pair.a.ep, i, DAT_DTO_SUCCESS, &event);
		if (i % 2 == 0)
			dt_poll_next(s.pair.b.request, &event);
	}
	dt_assert_ret(dat_lmr_free(lmr), IN_STATE(DAT_INVALID_STATE_LMR_IN_USE));
	dt_ok(bound_try(&s, 0, 64, BOTH, DEFAULT, 2));
	bound_expect(&s, 2, DAT_DTO_SUCCESS);
	dt_ok(dat_lmr_free(lmr));
	dt_ok(dat_rmr_free(s.rmr));
	dt_pair_close(&s.pair);
}

/* An endpoint for `n` requests, with a region that is bound to 64 bytes. */
static void
open_narrow(struct bound *s, DAT_COUNT n)
{
	DAT_EP_PARAM param;
	DAT_EP_ATTR attr;

	memset(s, 0, sizeof *s);
	dt_pair_open(&s->pair, DT_SEPARATE);
	dt_ok(dat_ep_query(s->pair.b.ep, DAT_EP_FIELD_ALL, &param));
	attr = param.ep_attr;
	attr.max_request_dtos = n;
	bound_give_evd(&s->pair.b, &attr);
	dt_ok(dat_rmr_create_for_ep(s->pair.b.pz, &s->rmr));
	dt_connect_pair(&s->pair);
	bound_bind(s, 0, 64, BOTH);
}

/* clause: e.7.35 */
/* origin: outside.67 */
TEST(bind__of_a_bound_region__needs_no_second_request)
{
	struct bound s;

	open_narrow(&s, 2);
	bound_bind_later(&s, 0, 32);
	ck_assert_uint_eq(bound_length(&s), 32);
	/* Refused as a whole. */
	dt_assert_ret(bound_try(&s, 0, 16, BOTH, DEFAULT, 3), FULL);
	ck_assert_uint_eq(bound_length(&s), 32);
	bound_let_go(&s);
	bound_expect(&s, 2, DAT_DTO_SUCCESS);
	bound_write(&s, s.context, 0, DAT_DTO_SUCCESS);
	dt_pair_close(&s.pair);
}

/* clause: e.7.35 */
TEST(bind__of_a_bound_region_without_room__leaves_it_bound)
{
	struct bound s;

	open_narrow(&s, 1);
	for (DAT_SEG_LENGTH n = 1; n < 20; n++) {
		bound_bind(&s, 0, n, BOTH);
		ck_assert_uint_eq(bound_length(&s), n);
	}
	bound_stop(&s);
	dt_assert_ret(bound_try(&s, 0, 32, BOTH, DEFAULT, 2), FULL);
	ck_assert_uint_eq(bound_length(&s), 19);
	bound_write(&s, s.context, 0, DAT_DTO_SUCCESS);
	dt_pair_close(&s.pair);
}

/*
 * The queue of the device has no place for a request of the provider's own.
 */
/* clause: e.7.35 */
TEST(bind__at_the_limit_of_the_device__is_refused_as_a_whole)
{
	DAT_IA_ATTR attr;
	struct bound s;
	DAT_IA_HANDLE ia;

	ia = dt_open("soft", NULL);
	dt_ok(dat_ia_query(ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
	dt_close(ia);
	open_narrow(&s, attr.max_dto_per_ep);
	for (DAT_COUNT n = 1; n < attr.max_dto_per_ep; n++)
		dt_send(&s.pair.b, 0, 0, 70);
	dt_assert_ret(bound_try(&s, 0, 32, BOTH, DEFAULT, 2), FULL);
	ck_assert_uint_eq(bound_length(&s), 64);
	bound_write(&s, s.context, 0, DAT_DTO_SUCCESS);
	dt_pair_close(&s.pair);
}
