/* SPDX-License-Identifier: BSD-3-Clause */
/* Remote memory regions whose binds are not executed, or whose endpoint is gone. */
#include "bound.h"
#include "lib/runner.h"

/* Frees the endpoint of `b`, or resets it. */
static void
leave_endpoint(struct bound *s, bool reset)
{
	if (reset) {
		dt_ok(dat_ep_reset(s->pair.b.ep));
		return;
	}
	dt_ok(dat_ep_free(s->pair.b.ep));
	s->pair.b.ep = DAT_HANDLE_NULL;
}

/* The other end writes through the context, on another connection. */
static void
write_anew(struct bound *s, DAT_RMR_CONTEXT context, DAT_DTO_COMPLETION_STATUS status)
{
	bound_connect_second(s);
	bound_write(s, context, 0, status);
}

DT_CASE("settle:settle");

/* Bound again, to other memory, or unbound: the device keeps the first range. */
/* clause: e.7.44 */
/* origin: outside.68 */
TEST_LOOP(bind__of_a_bound_region_is_flushed__the_other_end_loses_access, 4)
{
	DAT_LMR_TRIPLET range, none = { 0 };
	DAT_RMR_CONTEXT first;
	DAT_LMR_HANDLE lmr;
	struct bound s;

	first = bound_open_and_bind(&s, _i % 2);
	lmr = bound_second_lmr(&s, &range);
	bound_stop(&s);
	if (_i / 2)
		dt_ok(bound_bind_to(&s, lmr, &range, 2));
	else
		dt_ok(bound_bind_to(&s, DAT_HANDLE_NULL, &none, 2));
	bound_flush(&s);
	dt_ok(dat_lmr_free(lmr));
	ck_assert_uint_eq(bound_length(&s), 0);
	dt_expect_disconnected(&s.pair.b);
	dt_expect_disconnected(&s.pair.a);
	write_anew(&s, first, DAT_DTO_ERR_REMOTE_ACCESS);
	dt_ok(dat_lmr_free(s.pair.b.lmr));
	dt_pair_close(&s.pair);
}

/* clause: e.7.44 */
TEST_LOOP(query__flushed_bind_is_not_reported__the_region_is_unbound, 2)
{
	DAT_RMR_CONTEXT first;
	struct bound s;

	first = bound_open_and_bind(&s, _i);
	bound_bind_later(&s, 64, 32);
	bound_disconnect(&s); /* reported after what was flushed */
	ck_assert_uint_eq(bound_length(&s), 0);
	write_anew(&s, first, DAT_DTO_ERR_REMOTE_ACCESS);
	dt_pair_close(&s.pair);
}

/* clause: e.7.44, e.7.45 */
/* origin: outside.69 */
TEST_LOOP(endpoint_is_left__flushed_bind_is_not_reported__the_region_is_unbound, 4)
{
	DAT_RMR_CONTEXT first;
	DAT_LMR_TRIPLET range;
	DAT_LMR_HANDLE lmr;
	struct bound s;

	first = bound_open_and_bind(&s, _i % 2);
	lmr = bound_second_lmr(&s, &range);
	bound_stop(&s);
	dt_ok(bound_bind_to(&s, lmr, &range, 2));
	bound_disconnect(&s);
	leave_endpoint(&s, _i / 2);
	dt_assert_empty(s.pair.b.request);
	dt_ok(dat_lmr_free(lmr));
	ck_assert_uint_eq(bound_length(&s), 0);
	bound_connect_second(&s);
	bound_bind(&s, 64, 64, BOTH);
	bound_write(&s, s.context, 64, DAT_DTO_SUCCESS);
	bound_write(&s, first, 0, DAT_DTO_ERR_REMOTE_ACCESS);
	dt_pair_close(&s.pair);
}

/* clause: e.7.45 */
TEST_LOOP(endpoint_is_left__invalidation_is_not_reported__the_region_is_unbound, 2)
{
	struct bound s;

	bound_open_and_bind(&s, true);
	bound_invalidate(&s, s.context);
	bound_disconnect(&s);
	leave_endpoint(&s, _i);
	ck_assert_uint_eq(bound_length(&s), 0);
	dt_ok(dat_lmr_free(s.pair.b.lmr));
	dt_ok(dat_rmr_free(s.rmr));
	dt_pair_close(&s.pair);
}

/* A region of the zone serves other endpoints; one for an endpoint is of no use without it. */
/* clause: e.7.45, e.7.24 */
TEST_LOOP(endpoint_is_left__bound_region_of_the_zone_stays__one_for_it_does_not, 4)
{
	const bool for_ep = _i % 2;
	struct bound s;

	bound_open_and_bind(&s, for_ep);
	bound_disconnect(&s);
	leave_endpoint(&s, _i / 2);
	ck_assert_uint_eq(bound_length(&s), for_ep ? 0 : 64);
	write_anew(&s, s.context, for_ep ? DAT_DTO_ERR_REMOTE_ACCESS : DAT_DTO_SUCCESS);
	if (for_ep)
		dt_ok(dat_lmr_free(s.pair.b.lmr));
	else
		bound_bind(&s, 0, 16, BOTH);
	dt_pair_close(&s.pair);
}

/*
 * The other region depends on another endpoint, and stays as it is.  In one of the turns the queue
 * pairs of the two have the same generation.
 */
/* clause: e.7.45 */
TEST_LOOP(endpoint_is_left__regions_of_another_endpoint_stay, 2)
{
	DAT_RMR_HANDLE first, second;
	DAT_EP_HANDLE left, used[2];
	struct bound s;

	bound_open(&s, true);
	first = s.rmr;
	left = s.pair.b.ep;
	bound_bind(&s, 0, 64, BOTH);
	dt_ok(dat_rmr_create_for_ep(s.pair.b.pz, &second));
	s.rmr = second;
	if (_i) { /* the two ends of the second connection get used slots */
		used[0] = dt_ep(&s.pair.b, NULL);
		used[1] = dt_ep(&s.pair.b, NULL);
		dt_ok(dat_ep_free(used[0]));
		dt_ok(dat_ep_free(used[1]));
	}
	bound_connect_second(&s);
	bound_bind(&s, 64, 32, BOTH);
	dt_ok(dat_ep_free(left));
	ck_assert_uint_eq(bound_length(&s), 32);
	bound_write(&s, s.context, 64, DAT_DTO_SUCCESS);
	s.rmr = first;
	ck_assert_uint_eq(bound_length(&s), 0);
	dt_pair_close(&s.pair);
}

/* clause: e.7.46 */
/* origin: outside.70 */
TEST_LOOP(bind__through_a_second_endpoint_that_is_full__is_refused_as_a_whole, 2)
{
	DAT_LMR_TRIPLET none = { 0 };
	DAT_RMR_CONTEXT first;
	DAT_EP_PARAM param;
	DAT_EP_ATTR attr;
	struct dt_pair one;
	struct bound s;

	first = bound_open_and_bind(&s, _i);
	one = s.pair;
	dt_ok(dat_ep_query(s.pair.b.ep, DAT_EP_FIELD_ALL, &param));
	attr = param.ep_attr;
	attr.max_request_dtos = 1;
	s.pair.a.ep = dt_ep(&s.pair.a, NULL);
	s.pair.b.ep = dt_ep(&s.pair.b, &attr);
	dt_connect_pair(&s.pair);
	bound_stop(&s);
	dt_assert_ret(bound_try(&s, 64, 32, BOTH, DEFAULT, 2), FULL);
	if (!_i)
		dt_assert_ret(bound_bind_to(&s, DAT_HANDLE_NULL, &none, 3), FULL);
	ck_assert_uint_eq(bound_length(&s), 64);
	bound_let_go(&s);
	s.pair.a.ep = one.a.ep;
	bound_write(&s, first, 0, DAT_DTO_SUCCESS);
	s.pair.b.ep = one.b.ep;
	bound_bind(&s, 0, 16, BOTH);
	bound_write(&s, s.context, 0, DAT_DTO_SUCCESS);
	dt_pair_close(&s.pair);
}

/* clause: e.7.32 */
TEST_LOOP(unbind__through_another_endpoint__ends_the_access, 2)
{
	DAT_LMR_TRIPLET none = { 0 };
	DAT_RMR_CONTEXT first;
	struct dt_pair one;
	struct bound s;

	first = bound_open_and_bind(&s, _i);
	one = s.pair;
	bound_connect_second(&s);
	dt_ok(bound_bind_to(&s, DAT_HANDLE_NULL, &none, 2));
	bound_expect(&s, 2, DAT_DTO_SUCCESS);
	ck_assert_uint_eq(bound_length(&s), 0);
	dt_ok(dat_lmr_free(s.pair.b.lmr));
	s.pair.a.ep = one.a.ep;
	bound_write(&s, first, 0, DAT_DTO_ERR_REMOTE_ACCESS);
	dt_pair_close(&s.pair);
}

/* clause: e.7.25 */
TEST_LOOP(free__while_a_bind_is_outstanding__is_refused, 2)
{
	struct bound s;

	bound_open(&s, _i);
	bound_bind_later(&s, 0, 64);
	dt_assert_ret(dat_rmr_free(s.rmr), IN_STATE(DAT_NO_SUBTYPE));
	ck_assert_uint_eq(bound_length(&s), 64);
	bound_let_go(&s);
	bound_expect(&s, 2, DAT_DTO_SUCCESS);
	dt_ok(dat_rmr_free(s.rmr));
	dt_pair_close(&s.pair);
}

/* No event is asked for, and none is taken: the call itself polls. */
/* clause: e.7.25 */
TEST_LOOP(free__a_suppressed_bind_is_executed__succeeds, 2)
{
	DAT_EVENT event;
	struct bound s;

	bound_open(&s, _i);
	dt_ok(bound_try(&s, 0, 64, BOTH, DAT_COMPLETION_SUPPRESS_FLAG, 2));
	dt_recv(&s.pair.a, 0, 64, 3);
	dt_send(&s.pair.b, 0, 8, 4);
	dt_expect_dto(s.pair.a.recv, s.pair.a.ep, 3, DAT_DTO_SUCCESS, &event);
	while (dat_rmr_free(s.rmr) != DAT_SUCCESS)
		dt_nap_ms(1);
	dt_expect_dto(s.pair.b.request, s.pair.b.ep, 4, DAT_DTO_SUCCESS, &event);
	dt_ok(dat_lmr_free(s.pair.b.lmr));
	dt_pair_close(&s.pair);
}

/* ---- invalidations that are not reported ---- */

DT_CASE("settle:invalidated");

/* What was not reported is that of other regions: this one is bound again in its turn. */
/* clause: e.7.33 */
/* origin: outside.71 */
TEST(bind__another_region_was_invalidated__the_old_range_stays_until_it_is_executed)
{
	DAT_RMR_CONTEXT first, other;
	DAT_RMR_HANDLE rmr;
	struct bound s;
	DAT_EVENT event;

	bound_open(&s, true);
	rmr = s.rmr;
	bound_bind(&s, 64, 64, BOTH);
	other = s.context;
	dt_ok(dat_rmr_create_for_ep(s.pair.b.pz, &s.rmr));
	bound_bind(&s, 0, 64, BOTH);
	first = s.context;
	bound_invalidate(&s, other);
	bound_bind_later(&s, 0, 32);
	bound_write(&s, first, 0, DAT_DTO_SUCCESS);
	dt_ok(bound_try(&s, 0, 16, BOTH, DEFAULT, 3));
	bound_let_go(&s);
	bound_expect(&s, 2, DAT_DTO_SUCCESS);
	bound_expect(&s, 3, DAT_DTO_SUCCESS);
	bound_write(&s, s.context, 0, DAT_DTO_SUCCESS);
	dt_expect_dto(s.pair.b.recv, s.pair.b.ep, 21, DAT_DTO_SUCCESS, &event);
	ck_assert_uint_eq(bound_length(&s), 16);
	s.rmr = rmr;
	ck_assert_uint_eq(bound_length(&s), 0);
	dt_pair_close(&s.pair);
}

#define MANY 20

/* More than the endpoint has places for, of which each is bound again, and none twice. */
/* clause: e.7.33 */
TEST(bind__many_regions_were_invalidated__each_can_be_bound_again)
{
	DAT_RMR_HANDLE rmr[MANY];
	DAT_RMR_CONTEXT old[MANY];
	DAT_EP_PARAM param;
	DAT_EP_ATTR attr;
	DAT_EVENT event;
	struct bound s;

	memset(&s, 0, sizeof s);
	dt_pair_open(&s.pair, DT_SEPARATE);
	dt_ok(dat_ep_query(s.pair.b.ep, DAT_EP_FIELD_ALL, &param));
	attr = param.ep_attr;
	attr.max_recv_dtos = 2 * MANY;
	s.pair.b.recv = dt_evd(&s.pair.b, DAT_EVD_DTO_FLAG, 2 * MANY);
	bound_give_evd(&s.pair.b, &attr);
	dt_connect_pair(&s.pair);
	for (int i = 0; i < MANY; i++) {
		dt_ok(dat_rmr_create_for_ep(s.pair.b.pz, &rmr[i]));
		s.rmr = rmr[i];
		bound_bind(&s, 64 * (size_t)i, 64, BOTH);
		old[i] = s.context;
	}
	for (int i = 0; i < MANY; i++)
		bound_invalidate(&s, old[i]);
	for (int i = 0; i < MANY; i++) {
		s.rmr = rmr[i];
		bound_bind(&s, 64 * (size_t)i, 32, BOTH);
		ck_assert_uint_ne(s.context, old[i]);
	}
	for (int i = 0; i < MANY; i++)
		dt_expect_dto(s.pair.b.recv, s.pair.b.ep, 21, DAT_DTO_SUCCESS, &event);
	/* All is reported: a region keeps its range until the next bind is executed. */
	for (int i = 0; i < MANY; i += MANY - 1) {
		DAT_RMR_CONTEXT before;

		s.rmr = rmr[i];
		ck_assert_uint_eq(bound_length(&s), 32);
		bound_bind(&s, 64 * (size_t)i, 16, BOTH);
		before = s.context;
		bound_stop(&s);
		dt_ok(bound_try(&s, 64 * (size_t)i, 8, BOTH, DEFAULT, 2));
		bound_write(&s, before, 64 * (size_t)i, DAT_DTO_SUCCESS);
		bound_let_go(&s);
		bound_expect(&s, 2, DAT_DTO_SUCCESS);
	}
	dt_pair_close(&s.pair);
}

/* ---- events ---- */

DT_CASE("settle:event");

/* A bind on a disconnected endpoint is flushed by the provider: its event names no endpoint. */
/* clause: e.7.45 */
/* origin: outside.72 */
TEST_LOOP(endpoint_is_left__its_flushed_binds_are_removed_and_no_others, 4)
{
	DAT_EP_HANDLE other;
	DAT_EVENT event;
	struct bound s;

	bound_open(&s, _i % 2);
	bound_disconnect(&s);
	other = s.pair.b.ep;
	bound_connect_second(&s);
	bound_disconnect(&s);
	dt_ok(bound_try(&s, 0, 64, BOTH, DEFAULT, 2));
	dt_send(&s.pair.b, 0, 8, 9);
	s.pair.b.ep = other;
	dt_ok(bound_try(&s, 0, 64, BOTH, DEFAULT, 3));
	dt_ok(bound_try(&s, 0, 64, BOTH, DEFAULT, 4));
	leave_endpoint(&s, _i / 2);
	bound_expect(&s, 2, DAT_DTO_ERR_FLUSHED);
	dt_expect(s.pair.b.request, DAT_DTO_COMPLETION_EVENT, &event);
	dt_assert_empty(s.pair.b.request);
	dt_pair_close(&s.pair);
}

/* Nothing is to be done by the device; the event counts like those that the device makes. */
/* clause: e.7.25 */
/* origin: outside.73 */
TEST_LOOP(unbind__of_an_unbound_region_unsignalled__wakes_no_thread, 2)
{
	DAT_LMR_TRIPLET none = { 0 };
	DAT_COUNT more = -1;
	struct bound s;
	DAT_EVENT event;

	bound_open(&s, _i);
	dt_ok(dat_rmr_bind(s.rmr, DAT_HANDLE_NULL, &none, DAT_MEM_PRIV_NONE_FLAG, DAT_VA_TYPE_VA,
	    s.pair.b.ep, dt_cookie(2), DAT_COMPLETION_UNSIGNALLED_FLAG, NULL));
	dt_assert_type(dat_evd_wait(s.pair.b.request, 0, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	ck_assert_int_eq(more, 1);
	dt_ok(dat_rmr_bind(s.rmr, DAT_HANDLE_NULL, &none, DAT_MEM_PRIV_NONE_FLAG, DAT_VA_TYPE_VA,
	    s.pair.b.ep, dt_cookie(3), DEFAULT, NULL));
	bound_expect(&s, 2, DAT_DTO_SUCCESS);
	bound_expect(&s, 3, DAT_DTO_SUCCESS);
	dt_ok(dat_rmr_bind(s.rmr, DAT_HANDLE_NULL, &none, DAT_MEM_PRIV_NONE_FLAG, DAT_VA_TYPE_VA,
	    s.pair.b.ep, dt_cookie(4), DAT_COMPLETION_SUPPRESS_FLAG, NULL));
	dt_assert_empty(s.pair.b.request);
	/* The device makes the next one. */
	dt_ok(bound_try(&s, 0, 64, BOTH, DAT_COMPLETION_UNSIGNALLED_FLAG, 6));
	dt_assert_type(
	    dat_evd_wait(s.pair.b.request, 100000, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	ck_assert_int_eq(more, 1);
	dt_ok(dat_evd_dequeue(s.pair.b.request, &event));
	ck_assert_uint_eq(event.event_data.rmr_completion_event_data.user_cookie.as_64, 6);
	/* What is flushed counts, as a failure that the device reports. */
	bound_disconnect(&s);
	dt_ok(bound_try(&s, 0, 64, BOTH, DAT_COMPLETION_UNSIGNALLED_FLAG, 5));
	dt_ok(dat_evd_wait(s.pair.b.request, 0, 1, &event, &more));
	ck_assert_int_eq(event.event_number, DAT_RMR_BIND_COMPLETION_EVENT);
	dt_pair_close(&s.pair);
}
