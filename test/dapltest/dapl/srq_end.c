/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues: the end of connections, the depth and the watermark. */
#include "shared.h"
#include "lib/runner.h"

/* ---- the end of connections ---- */

/* Ways in which the connection of an endpoint ends. */
static void
end_connection(struct shared *s, int end, int way)
{
	switch (way) {
	case 0:
		dt_ok(dat_ep_disconnect(s->to[end], DAT_CLOSE_ABRUPT_FLAG));
		break;
	case 1:
		dt_ok(dat_ep_disconnect(s->to[end], DAT_CLOSE_GRACEFUL_FLAG));
		break;
	default:
		dt_ok(dat_ep_disconnect(s->from[end], DAT_CLOSE_ABRUPT_FLAG));
	}
	dt_expect_connection(s->pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED, s->to[end]);
	dt_expect_connection(s->pair.a.connect, DAT_CONNECTION_EVENT_DISCONNECTED, s->from[end]);
}

DT_CASE("srq-end:end");

/* clause: d.3.6, e.7.17 */
TEST_LOOP(disconnect__ep_broken_once__posted_buffers_stay, 3)
{
	struct shared s;

	shared_open(&s, DT_SEPARATE);
	(void)shared_connect(&s, s.pair.b.recv);
	(void)shared_connect(&s, s.pair.b.recv);
	shared_post(&s, 0, 4);
	end_connection(&s, 0, _i);
	shared_expect_async(s.pair.b.async, s.to[0], DAT_EP_TRANSFER_TO_ERROR);
	dt_assert_stays_empty(s.pair.b.async);
	dt_assert_empty(s.pair.b.recv);
	shared_assert_counts(s.srq, 5, 5);
	shared_send(&s, 1, 'q');
	(void)shared_expect(&s, s.pair.b.recv, 1, 'q');

	/* Each connection has an end of its own. */
	dt_ok(dat_ep_reset(s.to[0]));
	dt_ok(dat_ep_reset(s.from[0]));
	s.pair.a.ep = s.from[0];
	s.pair.b.ep = s.to[0];
	dt_connect_pair(&s.pair);
	shared_send(&s, 0, 'r');
	(void)shared_expect(&s, s.pair.b.recv, 0, 'r');
	end_connection(&s, 0, _i);
	shared_expect_async(s.pair.b.async, s.to[0], DAT_EP_TRANSFER_TO_ERROR);
	dt_assert_stays_empty(s.pair.b.async);
	dt_assert_empty(s.pair.a.async);
	shared_close(&s);
}

/* clause: e.7.17 */
TEST_LOOP(free_or_reset__undelivered_receives__their_entries_are_free_again, 2 * dt_personalities())
{
	struct shared s;

	dt_personality(_i / 2);
	shared_open(&s, DT_SEPARATE);
	(void)shared_connect(&s, s.pair.b.recv);
	(void)shared_connect(&s, s.pair.b.recv);
	shared_post(&s, 0, 7);
	for (int i = 0; i < 3; i++)
		shared_send(&s, 0, 'l');
	shared_send(&s, 1, 'k');
	if (_i % 2) {
		end_connection(&s, 0, 0);
		dt_ok(dat_ep_reset(s.to[0]));
	} else {
		dt_ok(dat_ep_free(s.to[0]));
	}
	shared_assert_counts(s.srq, 4, 5);
	(void)shared_expect(&s, s.pair.b.recv, 1, 'k');
	dt_assert_empty(s.pair.b.recv);
	shared_assert_counts(s.srq, 4, 4);
	shared_post(&s, 8, 8 + SHARED_DEPTH - 5);
	dt_assert_ret(shared_try_post(&s, 100), FULL);
	shared_close(&s);
}

/* The last entries of a queue that was longer are in use. */
/* clause: e.7.17, e.7.18 */
TEST(free__undelivered_receives_of_a_longer_queue__their_entries_are_free_again)
{
	struct shared s;

	shared_open(&s, DT_SEPARATE);
	(void)shared_connect(&s, s.pair.b.recv);
	shared_post(&s, 0, 7);
	for (int i = 0; i < 4; i++) {
		shared_send(&s, 0, 'l');
		(void)shared_expect(&s, s.pair.b.recv, 0, 'l');
	}
	for (int i = 0; i < 2; i++)
		shared_send(&s, 0, 'm');
	dt_ok(dat_srq_resize(s.srq, 4));
	dt_ok(dat_ep_free(s.to[0]));
	shared_assert_counts(s.srq, 2, 2);
	shared_post(&s, 8, 9);
	dt_assert_ret(shared_try_post(&s, 10), FULL);
	shared_close(&s);
}

/* A message that is longer than the buffer breaks its own connection only. */
/* clause: e.7.17 */
TEST(receive_fails__only_its_connection_breaks)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *dto;
	DAT_LMR_TRIPLET iov;
	struct shared s;
	DAT_EVENT event;

	shared_open(&s, DT_SEPARATE);
	(void)shared_connect(&s, s.pair.b.recv);
	(void)shared_connect(&s, s.pair.b.recv);
	iov = dt_local(&s.pair.b, 0, 1);
	dt_ok(dat_srq_post_recv(s.srq, 1, &iov, dt_cookie(50)));
	s.pair.a.ep = s.from[0];
	dt_send(&s.pair.a, 0, 64, 1);
	dt_expect(s.pair.b.recv, DAT_DTO_COMPLETION_EVENT, &event);
	dto = &event.event_data.dto_completion_event_data;
	ck_assert_ptr_eq(dto->ep_handle, s.to[0]);
	ck_assert_uint_eq(dto->user_cookie.as_64, 50);
	if (dto->status != DAT_DTO_ERR_LOCAL_EP) /* as soft-RoCE reports it */
		ck_assert_int_eq(dto->status, DAT_DTO_ERR_LOCAL_LENGTH);
	dt_expect_connection(s.pair.b.connect, DAT_CONNECTION_EVENT_BROKEN, s.to[0]);
	shared_post(&s, 1, 1);
	dt_next(s.pair.a.request, &event);
	shared_send(&s, 1, 'v');
	(void)shared_expect(&s, s.pair.b.recv, 1, 'v');
	shared_expect_async(s.pair.b.async, s.to[0], DAT_EP_TRANSFER_TO_ERROR);
	dt_assert_stays_empty(s.pair.b.async);
	shared_close(&s);
}

/* ---- depth and watermark ---- */

DT_CASE("srq-end:depth");

/* clause: e.7.18 */
TEST_LOOP(resize__longer_and_shorter__keeps_what_is_outstanding, dt_personalities())
{
	const DAT_RETURN state = DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE);
	struct shared s;
	DAT_UINT64 cookie;

	dt_personality(_i);
	shared_open(&s, DT_SEPARATE);
	(void)shared_connect(&s, s.pair.b.recv);
	(void)shared_connect(&s, s.other);
	dt_assert_ret(dat_srq_resize(s.pair.b.ep, 5), BAD(SRQ));
	dt_assert_ret(dat_srq_resize(s.srq, 0), PARAMETER(2));
	dt_assert_ret(dat_srq_resize(s.srq, -4), PARAMETER(2));
	dt_assert_ret(dat_srq_resize(s.srq, 0x7fffffff), PARAMETER(2));
	shared_post(&s, 0, SHARED_DEPTH - 1);
	shared_send(&s, 0, 'a');
	dt_assert_ret(dat_srq_resize(s.srq, SHARED_DEPTH - 1), state);
	dt_ok(dat_srq_resize(s.srq, 200));
	for (cookie = SHARED_DEPTH; cookie < 200; cookie++)
		dt_ok(shared_try_post(&s, cookie));
	dt_assert_ret(shared_try_post(&s, 200), FULL);
	(void)shared_expect(&s, s.pair.b.recv, 0, 'a');
	for (int i = 1; i < 200; i++) { /* one at a time: buffers share memory */
		shared_send(&s, i % 2, (char)i);
		(void)shared_expect(&s, i % 2 ? s.other : s.pair.b.recv, i % 2, (char)i);
	}
	shared_assert_counts(s.srq, 0, 0);
	dt_ok(dat_srq_resize(s.srq, 2));
	dt_assert_ret(dat_srq_set_lw(s.srq, 3), PARAMETER(2)); /* however long it was */
	shared_post(&s, 0, 1);
	dt_assert_ret(shared_try_post(&s, 2), FULL);
	dt_ok(dat_srq_resize(s.srq, SHARED_DEPTH));
	shared_post(&s, 2, SHARED_DEPTH - 1);
	dt_assert_ret(shared_try_post(&s, 100), FULL);
	dt_assert_empty(s.pair.b.async);
	shared_close(&s);
}

/* clause: e.7.19, d.0.16 */
TEST(watermark__fewer_buffers_are_left__one_event_until_it_is_set_again)
{
	const DAT_RETURN state = DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE);
	struct shared s;

	shared_open(&s, DT_SEPARATE);
	(void)shared_connect(&s, s.pair.b.recv);
	shared_post(&s, 0, 7);
	dt_assert_ret(dat_srq_set_lw(s.pair.b.ep, 1), BAD(SRQ));
	dt_assert_ret(dat_srq_set_lw(s.srq, -1), PARAMETER(2));
	dt_assert_ret(dat_srq_set_lw(s.srq, SHARED_DEPTH + 1), PARAMETER(2));
	dt_ok(dat_srq_set_lw(s.srq, 6));
	dt_assert_ret(dat_srq_resize(s.srq, 5), state);
	for (int i = 0; i < 2; i++)
		shared_send(&s, 0, 'w');
	dt_assert_stays_empty(s.pair.b.async);
	shared_send(&s, 0, 'w');
	shared_expect_async(s.pair.b.async, s.srq, DAT_SRQ_LOW_WATERMARK_EVENT);
	shared_send(&s, 0, 'w');
	dt_assert_stays_empty(s.pair.b.async);
	dt_ok(dat_srq_set_lw(s.srq, 6)); /* fewer are left already */
	shared_expect_async(s.pair.b.async, s.srq, DAT_SRQ_LOW_WATERMARK_EVENT);
	dt_ok(dat_srq_set_lw(s.srq, 3));
	dt_ok(dat_srq_set_lw(s.srq, DAT_SRQ_LW_DEFAULT));
	for (int i = 0; i < 3; i++)
		shared_send(&s, 0, 'w');
	dt_assert_stays_empty(s.pair.b.async);
	shared_close(&s);
}

/* clause: e.7.19 */
TEST(watermark__its_event_is_queued_and_the_queue_freed__is_removed)
{
	struct shared s;

	shared_open(&s, DT_SEPARATE);
	dt_ok(dat_srq_set_lw(s.srq, 1)); /* none is posted */
	dt_nap_ms(20);
	dt_ok(dat_srq_free(s.srq));
	dt_assert_stays_empty(s.pair.b.async);
	shared_close(&s);
}

/* clause: e.7.20 */
TEST(recv_query_and_set_watermark__report_what_the_device_has)
{
	const DAT_RETURN none = DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	const DAT_COUNT infinite = DAT_WATERMARK_INFINITE;
	DAT_COUNT allocated, span;
	struct shared s;
	DAT_EP_HANDLE ep;

	shared_open(&s, DT_SEPARATE);
	dt_recv(&s.pair.b, 0, 8, 1);
	dt_recv(&s.pair.b, 0, 8, 2);
	dt_ok(dat_ep_recv_query(s.pair.b.ep, &allocated, &span));
	ck_assert_int_eq(allocated, 2);
	ck_assert_int_eq(span, 2);
	allocated = span = -1;
	dt_ok(dat_ep_recv_query(s.pair.b.ep, NULL, NULL));
	dt_ok(dat_ep_recv_query(s.pair.b.ep, &allocated, NULL));
	dt_ok(dat_ep_recv_query(s.pair.b.ep, NULL, &span));
	ck_assert_int_eq(allocated, 2);
	ck_assert_int_eq(span, 2);
	dt_assert_ret(dat_ep_recv_query(s.pair.b.pz, &allocated, &span), BAD(EP));
	ep = shared_ep(&s.pair.b, s.pair.b.recv, s.srq);
	dt_assert_ret(dat_ep_recv_query(ep, &allocated, &span), none);
	dt_assert_ret(dat_ep_set_watermark(s.pair.b.pz, infinite, infinite), BAD(EP));
	dt_assert_ret(dat_ep_set_watermark(ep, -5, infinite), PARAMETER(2));
	dt_assert_ret(dat_ep_set_watermark(ep, infinite, -5), PARAMETER(3));
	dt_assert_ret(dat_ep_set_watermark(ep, 4, 8), none);
	dt_ok(dat_ep_set_watermark(ep, infinite, infinite));
	shared_close(&s);
}
