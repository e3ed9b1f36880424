/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints whose receives, requests and connection events share one EVD. */
#include "lib/dt.h"

DT_CASE("order:merged");

/* clause: d.4.3 */
/* origin: peer.29 */
TEST(merged__established__comes_before_any_receive)
{
	struct dt_pair pair;
	DAT_EVENT event;

	/* The connecting side sends as soon as it can; the accepting side polls its EVD late. */
	for (int round = 0; round < 20; round++) {
		dt_pair_open(&pair, DT_MERGED);
		for (DAT_UINT64 i = 0; i < 8; i++)
			dt_recv(&pair.b, 0, 64, i);
		dt_connect(&pair.a, &pair.b, NULL, 0);
		dt_ok(dat_cr_accept(dt_request(&pair.b), pair.b.ep, 0, NULL));
		dt_expect_established(&pair.a);
		for (DAT_UINT64 i = 0; i < 8; i++)
			dt_send(&pair.a, 0, 8, i);
		dt_expect_established(&pair.b);
		for (DAT_UINT64 i = 0; i < 8; i++)
			dt_expect_dto(pair.b.recv, pair.b.ep, i, DAT_DTO_SUCCESS, &event);
		dt_pair_close(&pair);
	}
}

static void
step(const struct dt_side *side)
{
	DAT_COUNT n;

	dt_ok(dat_ia_step(side->ia, 1, &n));
}

/* The accepting adapter has no thread: its ESTABLISHED is unread when the messages are polled. */
/* clause: d.4.3 */
/* origin: peer.29 */
TEST(merged__receives_polled_before_established_was_read__are_held)
{
	DAT_EVENT event = { .event_number = 0 };
	struct dt_pair pair;

	dt_side_open(&pair.a, "soft", DT_MERGED);
	dt_side_open(&pair.b, "soft-step", DT_MERGED);
	dt_side_listen(&pair.b);
	for (DAT_UINT64 i = 0; i < 4; i++)
		dt_recv(&pair.b, 0, 64, i);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	while (dat_evd_dequeue(pair.b.cr, &event) != DAT_SUCCESS)
		step(&pair.b);
	dt_ok(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, pair.b.ep, 0, NULL));
	dt_expect_established(&pair.a);
	for (DAT_UINT64 i = 0; i < 4; i++) {
		dt_send(&pair.a, 0, 8, i);
		dt_expect_dto(pair.a.connect, pair.a.ep, i, DAT_DTO_SUCCESS, &event);
	}
	dt_assert_stays_empty(pair.b.connect);
	while (dat_evd_dequeue(pair.b.connect, &event) != DAT_SUCCESS)
		step(&pair.b);
	ck_assert_int_eq(event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
	for (DAT_UINT64 i = 0; i < 4; i++) {
		dt_poll_next(pair.b.recv, &event);
		ck_assert_int_eq(event.event_number, DAT_DTO_COMPLETION_EVENT);
		ck_assert_uint_eq(event.event_data.dto_completion_event_data.user_cookie.as_64, i);
	}
	dt_pair_close(&pair);
}

/* clause: d.4.4 */
TEST(merged__successes__come_before_disconnected)
{
	struct dt_pair pair;
	DAT_EVENT event;
	int flushed = 0;

	dt_pair_open(&pair, DT_MERGED);
	for (DAT_UINT64 i = 0; i < 12; i++)
		dt_recv(&pair.b, 0, 64, i);
	dt_connect_pair(&pair);
	for (DAT_UINT64 i = 0; i < 10; i++)
		dt_send(&pair.a, 0, 8, i);
	for (DAT_UINT64 i = 0; i < 10; i++)
		dt_expect_dto(pair.a.request, pair.a.ep, i, DAT_DTO_SUCCESS, &event);
	/* b has not polled yet: ten completions wait in the device. */
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_await_state(pair.b.ep, DAT_EP_STATE_DISCONNECTED);
	for (DAT_UINT64 i = 0; i < 10; i++)
		dt_expect_dto(pair.b.recv, pair.b.ep, i, DAT_DTO_SUCCESS, &event);
	for (int i = 0; i < 3; i++) {
		dt_next(pair.b.recv, &event);
		if (event.event_number == DAT_DTO_COMPLETION_EVENT) {
			ck_assert_int_eq(
			    event.event_data.dto_completion_event_data.status, DAT_DTO_ERR_FLUSHED);
			flushed++;
		} else {
			ck_assert_int_eq(event.event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
		}
	}
	ck_assert_int_eq(flushed, 2);
	dt_assert_stays_empty(pair.b.recv);
	dt_pair_close(&pair);
}

/* clause: d.4.2 */
TEST(merged__software_connection_and_completions__share_one_queue)
{
	DAT_EVD_FLAGS all = DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_SOFTWARE_FLAG |
			    DAT_EVD_CR_FLAG | DAT_EVD_RMR_BIND_FLAG | DAT_EVD_ASYNC_FLAG;
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	pair.b.recv = pair.b.request = pair.b.connect = dt_evd(&pair.b, all, 32);
	pair.b.ep = dt_ep(&pair.b, NULL);
	dt_recv(&pair.b, 0, 64, 5);
	dt_post_se(pair.b.recv, 77);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_cr_accept(dt_request(&pair.b), pair.b.ep, 0, NULL));
	dt_expect_established(&pair.a);
	dt_expect(pair.b.recv, DAT_SOFTWARE_EVENT, &event);
	ck_assert_ptr_eq(event.event_data.software_event_data.pointer, (void *)77);
	dt_expect_established(&pair.b);
	dt_send(&pair.a, 0, 8, 1);
	dt_expect_dto(pair.b.recv, pair.b.ep, 5, DAT_DTO_SUCCESS, &event);
	dt_post_se(pair.b.recv, 78);
	dt_expect(pair.b.recv, DAT_SOFTWARE_EVENT, &event);
	dt_assert_stays_empty(pair.b.recv);
	dt_pair_close(&pair);
}

/* Other ends of an attempt: see test-endpoint. */
/* clause: d.4.4 */
/* origin: out33.Q11 */
TEST_LOOP(merged__attempt_to_connect_ends__after_its_receives, 4)
{
	static const DAT_EVENT_NUMBER ends[] = { DAT_CONNECTION_EVENT_PEER_REJECTED,
		DAT_CONNECTION_EVENT_DISCONNECTED, DAT_CONNECTION_EVENT_DISCONNECTED,
		DAT_CONNECTION_EVENT_TIMED_OUT };
	struct dt_pair pair;
	DAT_CR_HANDLE cr;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_MERGED);
	for (DAT_UINT64 i = 0; i < 4; i++)
		dt_recv(&pair.a, 0, 64, i);
	dt_ok(dat_ep_connect(pair.a.ep, dt_address(pair.b.ia), pair.b.qual,
	    _i == 3 ? 200000 : DAT_TIMEOUT_INFINITE, 0, NULL, DAT_QOS_BEST_EFFORT,
	    DAT_CONNECT_DEFAULT_FLAG));
	cr = dt_request(&pair.b);
	if (_i == 0)
		dt_ok(dat_cr_reject(cr, 0, NULL));
	else if (_i < 3)
		dt_ok(dat_ep_disconnect(
		    pair.a.ep, _i == 1 ? DAT_CLOSE_ABRUPT_FLAG : DAT_CLOSE_GRACEFUL_FLAG));
	for (DAT_UINT64 i = 0; i < 4; i++)
		dt_expect_dto(pair.a.recv, pair.a.ep, i, DAT_DTO_ERR_FLUSHED, &event);
	dt_expect_connection(pair.a.connect, ends[_i], pair.a.ep);
	dt_assert_stays_empty(pair.a.recv);
	dt_pair_close(&pair);
}

/* clause: d.4.4 */
TEST(merged__broken__comes_after_the_completions_before_it)
{
	struct dt_pair pair;
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_MERGED);
	dt_recv(&pair.b, 0, 64, 1);
	dt_connect_pair(&pair);
	dt_send(&pair.a, 0, 8, 1);
	local = dt_local(&pair.a, 0, 8);
	remote = dt_remote(&pair.b, 0, 8);
	remote.rmr_context ^= 0x77;
	dt_ok(dat_ep_post_rdma_write(
	    pair.a.ep, 1, &local, dt_cookie(2), &remote, DAT_COMPLETION_DEFAULT_FLAG));
	dt_expect_dto(pair.a.request, pair.a.ep, 1, DAT_DTO_SUCCESS, &event);
	dt_expect_dto(pair.a.request, pair.a.ep, 2, DAT_DTO_ERR_REMOTE_ACCESS, &event);
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN, pair.a.ep);
	dt_assert_stays_empty(pair.a.connect);
	dt_pair_close(&pair);
}
