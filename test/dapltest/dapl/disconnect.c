/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/dt.h"

#define ABRUPT DAT_CLOSE_ABRUPT_FLAG
#define GRACEFUL DAT_CLOSE_GRACEFUL_FLAG

DT_CASE("disconnect:disconnect");

/* clause: d.0.7, e.2.4 */
TEST(disconnect__either_end__both_get_one_event)
{
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	dt_ok(dat_ep_disconnect(pair.b.ep, ABRUPT));
	dt_expect_disconnected(&pair.a);
	dt_expect_disconnected(&pair.b);
	ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_DISCONNECTED);
	ck_assert_int_eq(dt_state(pair.b.ep), DAT_EP_STATE_DISCONNECTED);
	/* A disconnect after the end succeeds and makes no event. */
	dt_ok(dat_ep_disconnect(pair.a.ep, ABRUPT));
	dt_ok(dat_ep_disconnect(pair.b.ep, GRACEFUL));
	dt_assert_stays_empty(pair.a.connect);
	dt_assert_stays_empty(pair.b.connect);
	dt_pair_close(&pair);
}

/* clause: e.2.4 */
TEST(disconnect__both_ends_at_once__each_gets_one_event)
{
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	dt_ok(dat_ep_disconnect(pair.a.ep, ABRUPT));
	dt_ok(dat_ep_disconnect(pair.b.ep, ABRUPT));
	dt_expect_disconnected(&pair.a);
	dt_expect_disconnected(&pair.b);
	dt_assert_stays_empty(pair.a.connect);
	dt_assert_stays_empty(pair.b.connect);
	dt_pair_close(&pair);
}

/* clause: e.1.6 */
TEST(disconnect__unconnected__is_refused)
{
	struct dt_side side;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_assert_ret(dat_ep_disconnect(side.ep, ABRUPT),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED));
	dt_assert_ret(dat_ep_disconnect(side.ep, (DAT_CLOSE_FLAGS)9),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_stays_empty(side.connect);
	dt_side_close(&side);
}

/* clause: e.1.7 */
TEST(disconnect__while_connecting__withdraws_the_attempt)
{
	struct dt_pair pair;
	DAT_CR_HANDLE cr;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	cr = dt_request(&pair.b);
	dt_ok(dat_ep_disconnect(pair.a.ep, ABRUPT));
	dt_expect_disconnected(&pair.a);
	dt_ok(dat_cr_accept(cr, pair.b.ep, 0, NULL));
	dt_expect_connection(
	    pair.b.connect, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR, pair.b.ep);
	dt_assert_stays_empty(pair.a.connect);
	dt_assert_stays_empty(pair.b.connect);
	dt_pair_close(&pair);
}

/* clause: e.2.1 */
/* The state becomes "connected" shortly before the event comes. */
TEST(disconnect__as_soon_as_the_state_allows__comes_after_established)
{
	for (int i = 0; i < 50; i++) {
		struct dt_pair pair;

		dt_pair_open(&pair, i % 2 ? DT_MERGED : DT_SEPARATE);
		dt_connect(&pair.a, &pair.b, NULL, 0);
		dt_ok(dat_cr_accept(dt_request(&pair.b), pair.b.ep, 0, NULL));
		while (dt_state(pair.a.ep) != DAT_EP_STATE_CONNECTED)
			;
		dt_ok(dat_ep_disconnect(pair.a.ep, ABRUPT));
		dt_expect_established(&pair.a);
		dt_expect_disconnected(&pair.a);
		dt_assert_empty(pair.a.connect);
		dt_pair_close(&pair);
	}
}

/* clause: e.2.1, e.2.3 */
TEST(disconnect__abrupt__flushes_every_receive_exactly_once)
{
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	for (DAT_UINT64 i = 0; i < 16; i++) {
		dt_recv(&pair.a, 0, 64, i);
		dt_recv(&pair.b, 0, 64, 100 + i);
	}
	dt_connect_pair(&pair);
	dt_ok(dat_ep_disconnect(pair.a.ep, ABRUPT));
	dt_expect_disconnected(&pair.a);
	dt_expect_disconnected(&pair.b);
	for (DAT_UINT64 i = 0; i < 16; i++) {
		dt_expect_dto(pair.a.recv, pair.a.ep, i, DAT_DTO_ERR_FLUSHED, &event);
		dt_expect_dto(pair.b.recv, pair.b.ep, 100 + i, DAT_DTO_ERR_FLUSHED, &event);
	}
	dt_assert_stays_empty(pair.a.recv);
	dt_assert_stays_empty(pair.b.recv);
	dt_pair_close(&pair);
}

/* clause: e.2.3, e.6.3 */
TEST(disconnect__more_receives_than_the_evd_is_long__loses_none)
{
	enum { ENDPOINTS = 20, DEPTH = 16 };
	DAT_EP_HANDLE ep[ENDPOINTS];
	struct dt_side side;
	struct dt_pair pair;
	int flushed = 0;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	side = pair.b;
	side.recv = dt_evd(&pair.b, DAT_EVD_DTO_FLAG, 1);
	for (int i = 0; i < ENDPOINTS; i++) {
		pair.a.ep = dt_ep(&pair.a, NULL);
		pair.b.ep = ep[i] = side.ep = dt_ep(&side, NULL);
		for (DAT_UINT64 j = 0; j < DEPTH; j++)
			dt_recv(&side, 0, 64, j);
		dt_connect_pair(&pair);
	}
	for (int i = 0; i < ENDPOINTS; i++)
		dt_ok(dat_ep_disconnect(ep[i], DAT_CLOSE_ABRUPT_FLAG));
	for (; flushed < ENDPOINTS * DEPTH; flushed++) {
		dt_expect(side.recv, DAT_DTO_COMPLETION_EVENT, &event);
		ck_assert_int_eq(
		    event.event_data.dto_completion_event_data.status, DAT_DTO_ERR_FLUSHED);
	}
	dt_assert_stays_empty(side.recv);
	dt_assert_stays_empty(pair.b.async);
	dt_pair_close(&pair);
}

/* clause: e.1.12 */
TEST(disconnected__posts__are_flushed_at_once)
{
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	dt_ok(dat_ep_disconnect(pair.a.ep, ABRUPT));
	dt_expect_disconnected(&pair.a);
	dt_send(&pair.a, 0, 8, 1);
	dt_recv(&pair.a, 0, 8, 2);
	dt_expect_dto(pair.a.request, pair.a.ep, 1, DAT_DTO_ERR_FLUSHED, &event);
	ck_assert_int_eq(event.event_data.dto_completion_event_data.operation, DAT_DTO_SEND);
	dt_expect_dto(pair.a.recv, pair.a.ep, 2, DAT_DTO_ERR_FLUSHED, &event);
	ck_assert_int_eq(event.event_data.dto_completion_event_data.operation, DAT_DTO_RECEIVE);
	dt_assert_stays_empty(pair.a.connect);
	dt_recv(&pair.a, 0, 8, 3);
	dt_ok(dat_ep_free(pair.a.ep)); /* ... drops the events that it left */
	dt_assert_stays_empty(pair.a.recv);
	dt_pair_close(&pair);
}

/* clause: e.2.2 */
TEST(disconnect__graceful__finishes_the_posted_sends_first)
{
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	/* No receive is posted: the sends wait for one. */
	for (DAT_UINT64 i = 0; i < 3; i++)
		dt_send(&pair.a, 0, 32, i);
	dt_ok(dat_ep_disconnect(pair.a.ep, GRACEFUL));
	ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_DISCONNECT_PENDING);
	dt_assert_ret(dt_try_send(&pair.a, 0, 8, 9, DAT_COMPLETION_DEFAULT_FLAG),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_DISCPENDING));
	dt_assert_ret(dat_ep_disconnect(pair.a.ep, GRACEFUL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_stays_empty(pair.a.connect);
	for (DAT_UINT64 i = 0; i < 3; i++)
		dt_recv(&pair.b, 0, 64, i);
	for (DAT_UINT64 i = 0; i < 3; i++)
		dt_expect_dto(pair.b.recv, pair.b.ep, i, DAT_DTO_SUCCESS, &event);
	dt_expect_disconnected(&pair.a);
	dt_expect_disconnected(&pair.b);
	for (DAT_UINT64 i = 0; i < 3; i++)
		dt_expect_dto(pair.a.request, pair.a.ep, i, DAT_DTO_SUCCESS, &event);
	dt_pair_close(&pair);
}

/* clause: e.1.8 */
TEST(disconnect__abrupt_during_a_graceful_one__ends_it)
{
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	dt_send(&pair.a, 0, 32, 1);
	dt_ok(dat_ep_disconnect(pair.a.ep, GRACEFUL));
	dt_ok(dat_ep_disconnect(pair.a.ep, ABRUPT));
	dt_expect_disconnected(&pair.a);
	dt_expect_dto(pair.a.request, pair.a.ep, 1, DAT_DTO_ERR_FLUSHED, &event);
	dt_assert_stays_empty(pair.a.connect);
	dt_pair_close(&pair);
}

DT_CASE("disconnect:reset");

/* clause: e.1.9, g.1.7 */
TEST(reset__after_disconnect__makes_the_endpoint_usable_again)
{
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	for (int round = 0; round < 5; round++) {
		dt_recv(&pair.b, 0, 64, 7); /* before the next connection */
		dt_connect_pair(&pair);
		pair.a.buffer[0] = (char)round;
		dt_send(&pair.a, 0, 16, 1);
		dt_expect_dto(pair.b.recv, pair.b.ep, 7, DAT_DTO_SUCCESS, &event);
		dt_expect_dto(pair.a.request, pair.a.ep, 1, DAT_DTO_SUCCESS, &event);
		ck_assert_int_eq(pair.b.buffer[0], round);
		dt_recv(&pair.b, 0, 64, 8); /* lost with the reset */
		dt_ok(dat_ep_disconnect(pair.a.ep, ABRUPT));
		dt_expect_disconnected(&pair.a);
		dt_expect_disconnected(&pair.b);
		dt_ok(dat_ep_reset(pair.a.ep));
		dt_ok(dat_ep_reset(pair.b.ep));
		ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_UNCONNECTED);
		dt_ok(dat_ep_reset(pair.a.ep)); /* nothing to do */
		dt_assert_empty(pair.b.recv);
	}
	dt_pair_close(&pair);
}

/* clause: e.1.9 */
TEST(reset__of_a_connection__is_refused)
{
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	dt_assert_ret(
	    dat_ep_reset(pair.a.ep), DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_CONNECTED));
	dt_pair_close(&pair);
}

/* A completion that failed, not flushed; the error differs between devices. */
static void
expect_failed(DAT_EVD_HANDLE evd, DAT_EP_HANDLE ep, DAT_UINT64 cookie)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *dto;
	DAT_EVENT event;

	dt_expect(evd, DAT_DTO_COMPLETION_EVENT, &event);
	dto = &event.event_data.dto_completion_event_data;
	ck_assert_ptr_eq(dto->ep_handle, ep);
	ck_assert_uint_eq(dto->user_cookie.as_64, cookie);
	ck_assert_int_ne(dto->status, DAT_DTO_SUCCESS);
	ck_assert_int_ne(dto->status, DAT_DTO_ERR_FLUSHED);
}

DT_CASE("disconnect:broken");

/* clause: d.0.8 */
TEST(broken__by_a_bad_address__comes_once_after_the_failed_request)
{
	struct dt_pair pair;
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_recv(&pair.a, 0, 64, 5);
	dt_connect_pair(&pair);
	local = dt_local(&pair.a, 0, 64);
	remote = dt_remote(&pair.b, 0, 64);
	remote.rmr_context ^= 0x5a5a;
	dt_ok(dat_ep_post_rdma_write(
	    pair.a.ep, 1, &local, dt_cookie(1), &remote, DAT_COMPLETION_DEFAULT_FLAG));
	dt_send(&pair.a, 0, 8, 2);
	dt_expect_dto(pair.a.request, pair.a.ep, 1, DAT_DTO_ERR_REMOTE_ACCESS, &event);
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN, pair.a.ep);
	ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_DISCONNECTED);
	dt_expect_dto(pair.a.request, pair.a.ep, 2, DAT_DTO_ERR_FLUSHED, &event);
	dt_expect_dto(pair.a.recv, pair.a.ep, 5, DAT_DTO_ERR_FLUSHED, &event);
	dt_assert_stays_empty(pair.a.connect); /* neither DISCONNECTED nor a second BROKEN */
	dt_await_state(pair.b.ep, DAT_EP_STATE_DISCONNECTED);
	dt_next(pair.b.connect, &event);
	dt_assert_stays_empty(pair.b.connect);
	dt_pair_close(&pair);
}

/* clause: e.2.4, d.0.8 */
/* origin: outside.43 */
TEST(disconnect__gracefully_and_a_request_fails__is_broken)
{
	struct dt_pair pair;
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	local = dt_local(&pair.a, 0, 64);
	remote = dt_remote(&pair.b, 0, 64);
	remote.rmr_context ^= 0x5a5a;
	dt_send(&pair.a, 0, 8, 1); /* waits for a receive; later requests wait behind it */
	/*
	 * The other end refuses it: soft-RoCE completes neither of them if the second fails at this
	 * end.
	 */
	dt_ok(dat_ep_post_rdma_write(
	    pair.a.ep, 1, &local, dt_cookie(2), &remote, DAT_COMPLETION_DEFAULT_FLAG));
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_GRACEFUL_FLAG));
	ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_DISCONNECT_PENDING);
	dt_recv(&pair.b, 0, 8, 3);
	dt_expect_dto(pair.a.request, pair.a.ep, 1, DAT_DTO_SUCCESS, &event);
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN, pair.a.ep);
	dt_expect_dto(pair.a.request, pair.a.ep, 2, DAT_DTO_ERR_REMOTE_ACCESS, &event);
	dt_assert_stays_empty(pair.a.connect);
	dt_pair_close(&pair);
}

#define FEW 4

DT_CASE("disconnect:disconnect");

/*
 * Receives before and after the call, while the device flushes the first ones: soft-RoCE overlooks
 * one that comes late.
 */
/* clause: e.2.1 */
TEST(receives__posted_while_the_device_flushes__are_flushed_too)
{
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	for (int round = 0; round < 20; round++) {
		for (DAT_UINT64 i = 0; i < FEW; i++)
			dt_recv(&pair.a, 0, 8, i);
		dt_connect_pair(&pair);
		dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
		for (DAT_UINT64 i = FEW; i < 2 * FEW; i++)
			dt_recv(&pair.a, 0, 8, i);
		for (DAT_UINT64 i = 0; i < 2 * FEW; i++)
			dt_expect_dto(pair.a.recv, pair.a.ep, i, DAT_DTO_ERR_FLUSHED, &event);
		dt_expect_disconnected(&pair.a);
		dt_expect_disconnected(&pair.b);
		dt_ok(dat_ep_reset(pair.a.ep));
		dt_ok(dat_ep_reset(pair.b.ep));
	}
	dt_pair_close(&pair);
}

DT_CASE("disconnect:broken");

/* clause: e.1.16 */
TEST(broken__then_disconnect__adds_nothing)
{
	struct dt_pair pair;
	DAT_LMR_TRIPLET local;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_recv(&pair.b, 0, 64, 1);
	dt_connect_pair(&pair);
	local = dt_local(&pair.a, 0, 64);
	local.lmr_context ^= 0x1234;
	dt_ok(dat_ep_post_send(pair.a.ep, 1, &local, dt_cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
	expect_failed(pair.a.request, pair.a.ep, 1);
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN, pair.a.ep);
	dt_ok(dat_ep_disconnect(pair.a.ep, ABRUPT));
	dt_assert_stays_empty(pair.a.connect);
	dt_pair_close(&pair);
}

/* clause: d.2.1 */
TEST(receive__too_short__breaks_the_connection_at_both_ends)
{
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_recv(&pair.b, 0, 8, 3);
	dt_connect_pair(&pair);
	dt_send(&pair.a, 0, 64, 1);
	expect_failed(pair.b.recv, pair.b.ep, 3);
	dt_expect_connection(pair.b.connect, DAT_CONNECTION_EVENT_BROKEN, pair.b.ep);
	dt_expect(pair.a.request, DAT_DTO_COMPLETION_EVENT, &event);
	ck_assert_int_ne(event.event_data.dto_completion_event_data.status, DAT_DTO_SUCCESS);
	dt_next(pair.a.connect, &event); /* broken, or disconnected if that came first */
	dt_assert_stays_empty(pair.a.connect);
	dt_assert_stays_empty(pair.b.connect);
	dt_pair_close(&pair);
}
