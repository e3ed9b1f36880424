/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues: the order of events, and room for them. */
#include "shared.h"
#include "lib/runner.h"
#include "lib/personalities.h"

#include <dat2/dat_ib_extensions.h>

#define LONG 256 /* more than an EVD keeps apart from the device */
#define MANY 20	 /* more endpoints than an EVD for asynchronous events has places */

/* A connection whose second end receives from a queue of that depth, and has one EVD for all. */
static void
open_merged(struct shared *s, DAT_COUNT depth, const char *name)
{
	memset(s, 0, sizeof *s);
	dt_side_open(&s->pair.a, "soft", DT_MERGED);
	dt_side_open(&s->pair.b, name, DT_MERGED);
	dt_side_listen(&s->pair.b);
	s->srq = shared_srq(&s->pair.b, depth);
	s->pair.b.ep = s->to[0] = shared_ep(&s->pair.b, s->pair.b.recv, s->srq);
	s->from[0] = s->pair.a.ep;
	s->ends = 1;
}

DT_CASE("srq-order:order");

/* No thread takes the events while they come. */
/* clause: d.4.4 */
TEST_LOOP(disconnected__on_the_evd_of_the_receives__comes_behind_them, 2)
{
	const int sent = _i ? 150 : 40;
	struct shared s;
	DAT_EVENT event;

	open_merged(&s, LONG, "soft");
	shared_post(&s, 0, LONG - 1);
	dt_connect_pair(&s.pair);
	for (int i = 0; i < sent; i++) {
		dt_send(&s.pair.a, 0, 1, 1);
		dt_expect_dto(s.pair.a.request, s.from[0], 1, DAT_DTO_SUCCESS, &event);
	}
	dt_ok(dat_ep_disconnect(s.from[0], DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(&s.pair.a);
	dt_await_state(s.to[0], DAT_EP_STATE_DISCONNECTED);
	for (int i = 0; i < sent; i++)
		dt_expect(s.pair.b.recv, DAT_DTO_COMPLETION_EVENT, &event);
	dt_expect_disconnected(&s.pair.b);
	dt_assert_stays_empty(s.pair.b.recv);
	shared_close(&s);
}

/* The receives may be on their way to the completion queue when the connection ends. */
/* origin: outside.93 */
/* clause: d.4.4 */
TEST_LOOP(disconnected__at_once__comes_behind_the_receives, DT_PERSONALITIES)
{
	DAT_COUNT taken = 0;
	struct shared s;
	DAT_EVENT event;

	dt_personality(_i);
	open_merged(&s, SHARED_DEPTH, "soft");
	shared_post(&s, 0, SHARED_DEPTH - 1);
	dt_connect_pair(&s.pair);
	for (int i = 0; i < 10; i++)
		dt_send(&s.pair.a, 0, 1, (DAT_UINT64)i);
	dt_ok(dat_ep_disconnect(s.from[0], DAT_CLOSE_ABRUPT_FLAG));
	for (;;) {
		dt_next(s.pair.b.recv, &event);
		if (event.event_number != DAT_DTO_COMPLETION_EVENT)
			break;
		taken++;
	}
	ck_assert_int_eq(event.event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
	dt_assert_stays_empty(s.pair.b.recv);
	shared_assert_counts(s.srq, SHARED_DEPTH - taken, SHARED_DEPTH - taken);
	shared_close(&s);
}

static void
step(const struct dt_side *side)
{
	DAT_COUNT n;

	dt_ok(dat_ia_step(side->ia, 1, &n));
}

/* Ways in which the queue gets longer than the endpoint was made for. */
enum longer { BEFORE, BEFORE_A_MODIFY, WHILE_HELD, LONGER_WAYS };

static void
lengthen(struct shared *s, enum longer way)
{
	DAT_EP_PARAM param = { .ep_attr.max_request_dtos = 5 };

	dt_ok(dat_srq_resize(s->srq, SHARED_DEPTH));
	if (way == BEFORE_A_MODIFY) /* the endpoint gets another queue pair */
		dt_ok(dat_ep_modify(s->to[0], DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS, &param));
}

/* A message comes for each buffer, and ESTABLISHED behind them. */
/* clause: d.4.1, d.4.3, e.7.18 */
TEST_LOOP(receives__before_established_and_a_resize__keep_their_order, LONGER_WAYS)
{
	const DAT_COUNT before = 3;
	struct shared s;
	DAT_EVENT event;
	int sent = 0;

	open_merged(&s, before, "soft-step");
	if (_i != WHILE_HELD)
		lengthen(&s, (enum longer)_i);
	shared_post(&s, 0, before - 1);
	dt_connect(&s.pair.a, &s.pair.b, NULL, 0);
	while (dat_evd_dequeue(s.pair.b.cr, &event) != DAT_SUCCESS)
		step(&s.pair.b);
	dt_ok(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, s.to[0], 0, NULL));
	dt_expect_established(&s.pair.a);
	while (sent < before)
		shared_send(&s, 0, (char)sent++);
	dt_assert_empty(s.pair.b.connect); /* polls: the receives are held */
	if (_i == WHILE_HELD)
		lengthen(&s, WHILE_HELD);
	shared_post(&s, before, SHARED_DEPTH - 1);
	while (sent < SHARED_DEPTH)
		shared_send(&s, 0, (char)sent++);
	dt_assert_empty(s.pair.b.connect);
	while (dat_evd_dequeue(s.pair.b.connect, &event) != DAT_SUCCESS)
		step(&s.pair.b);
	ck_assert_int_eq(event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
	for (int i = 0; i < SHARED_DEPTH; i++)
		ck_assert_uint_eq(shared_expect(&s, s.pair.b.recv, 0, (char)i), i);
	shared_close(&s);
}

/* ---- the EVD for asynchronous events ---- */

DT_CASE("srq-order:report");

/* clause: d.3.6 */
TEST(disconnect__many_endpoints_and_a_short_async_evd__all_are_reported)
{
	bool seen[MANY] = { false };
	struct shared s;
	DAT_EVENT event;

	shared_open(&s, DT_SEPARATE);
	for (int i = 0; i < MANY; i++)
		(void)shared_connect(&s, s.pair.b.recv);
	for (int i = 0; i < MANY; i++) {
		dt_ok(dat_ep_disconnect(s.to[i], DAT_CLOSE_ABRUPT_FLAG));
		dt_expect_connection(s.pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED, s.to[i]);
	}
	for (int i = 0; i < MANY; i++) {
		int end = 0;

		dt_expect(s.pair.b.async, DAT_ASYNC_ERROR_EP_BROKEN, &event);
		while (event.event_data.asynch_error_event_data.dat_handle != s.to[end])
			ck_assert_int_lt(++end, MANY);
		ck_assert(!seen[end]);
		seen[end] = true;
	}
	dt_assert_stays_empty(s.pair.b.async);
	shared_close(&s);
}

/* The reset does not wait for the last buffer, and the event does not go with it. */
/* clause: e.1.9, e.2.4 */
TEST(reset__right_after_the_disconnect__its_event_comes_all_the_same)
{
	struct shared s;

	shared_open(&s, DT_SEPARATE);
	(void)shared_connect(&s, s.pair.b.recv);
	s.pair.a.ep = s.from[0];
	s.pair.b.ep = s.to[0];
	for (int i = 0; i < MANY; i++) {
		dt_ok(dat_ep_disconnect(s.to[0], DAT_CLOSE_ABRUPT_FLAG));
		dt_ok(dat_ep_reset(s.to[0]));
		dt_expect_connection(s.pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED, s.to[0]);
		dt_assert_empty(s.pair.b.connect);
		dt_expect_connection(
		    s.pair.a.connect, DAT_CONNECTION_EVENT_DISCONNECTED, s.from[0]);
		dt_ok(dat_ep_reset(s.from[0]));
		dt_connect_pair(&s.pair);
	}
	shared_close(&s);
}

/* origin: outside.91 */
/* clause: d.3.6 */
TEST(disconnect__again_and_again_and_the_events_are_not_read__one_is_queued)
{
	struct shared s;

	shared_open(&s, DT_SEPARATE);
	(void)shared_connect(&s, s.pair.b.recv);
	s.pair.a.ep = s.from[0];
	s.pair.b.ep = s.to[0];
	for (int i = 0; i < MANY; i++) {
		dt_ok(dat_ep_disconnect(s.from[0], DAT_CLOSE_ABRUPT_FLAG));
		dt_expect_connection(
		    s.pair.a.connect, DAT_CONNECTION_EVENT_DISCONNECTED, s.from[0]);
		dt_expect_connection(s.pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED, s.to[0]);
		dt_ok(dat_ep_reset(s.from[0]));
		dt_ok(dat_ep_reset(s.to[0]));
		dt_connect_pair(&s.pair);
	}
	shared_expect_async(s.pair.b.async, s.to[0], DAT_EP_TRANSFER_TO_ERROR);
	dt_assert_stays_empty(s.pair.b.async);
	dt_ok(dat_ep_disconnect(s.from[0], DAT_CLOSE_ABRUPT_FLAG));
	shared_expect_async(s.pair.b.async, s.to[0], DAT_EP_TRANSFER_TO_ERROR);
	shared_close(&s);
}

/* A resize keeps the room; the room of endpoints that were freed is given back. */
/* clause: d.3.6, c.10.1 */
TEST(disconnect__after_a_resize_of_the_async_evd__all_are_reported)
{
	struct shared s;

	shared_open(&s, DT_SEPARATE);
	for (int i = 0; i < MANY; i++) {
		(void)shared_connect(&s, s.pair.b.recv);
		dt_ok(dat_ep_free(s.to[i]));
		dt_ok(dat_ep_free(s.from[i]));
	}
	s.ends = 0;
	for (int i = 0; i < MANY; i++)
		(void)shared_connect(&s, s.pair.b.recv);
	dt_ok(dat_evd_resize(s.pair.b.async, 2));
	for (int i = 0; i < MANY; i++)
		dt_ok(dat_ep_disconnect(s.to[i], DAT_CLOSE_ABRUPT_FLAG));
	for (int i = 0; i < MANY; i++)
		shared_expect_async(s.pair.b.async, s.to[i], DAT_EP_TRANSFER_TO_ERROR);
	dt_assert_stays_empty(s.pair.b.async);
	shared_close(&s);
}

/* That of another opening has the room, and the events, and loses them again. */
/* clause: d.3.6, c.2.13 */
TEST(disconnect__the_async_evd_is_elsewhere__all_are_reported_there)
{
	DAT_EVD_HANDLE async;
	struct shared s;

	memset(&s, 0, sizeof s);
	dt_side_open(&s.pair.a, "soft", DT_SEPARATE);
	dt_side_open(&s.pair.b, "soft-elsewhere", DT_SEPARATE);
	dt_side_listen(&s.pair.b);
	s.srq = shared_srq(&s.pair.b, SHARED_DEPTH);
	async = s.pair.a.async;
	for (int i = 0; i < MANY; i++)
		(void)shared_connect(&s, s.pair.b.recv);
	for (int i = 0; i < MANY; i++) {
		dt_ok(dat_ep_disconnect(s.to[i], DAT_CLOSE_ABRUPT_FLAG));
		dt_expect_connection(s.pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED, s.to[i]);
	}
	for (int i = 0; i < MANY / 2; i++)
		shared_expect_async(async, s.to[i], DAT_EP_TRANSFER_TO_ERROR);
	for (int i = MANY / 2; i < MANY; i++)
		dt_ok(dat_ep_free(s.to[i]));
	dt_assert_stays_empty(async);
	dt_pair_close(&s.pair);
}

/* Waits until the provider has reported so many asynchronous events of the adapter. */
static void
await_reports(DAT_IA_HANDLE ia, DAT_UINT64 n)
{
	DAT_UINT64 counts[DCNT_IA_ALL_COUNTERS] = { 0 };

	for (;;) {
		dt_ok(dat_ib_query_counters(ia, DCNT_IA_ASYNC_ERROR, counts, 0));
		if (counts[DCNT_IA_ASYNC_ERROR] >= n)
			return;
		dt_nap_ms(1);
	}
}

/* clause: e.7.19 */
TEST(watermark__is_set_again_and_again_and_its_events_are_not_read__one_is_queued)
{
	struct shared s;

	shared_open(&s, DT_SEPARATE);
	for (DAT_UINT64 i = 1; i <= MANY; i++) {
		dt_ok(dat_srq_set_lw(s.srq, 1)); /* none is posted */
		await_reports(s.pair.b.ia, i);
	}
	shared_expect_async(s.pair.b.async, s.srq, DAT_SRQ_LOW_WATERMARK_EVENT);
	dt_assert_stays_empty(s.pair.b.async);
	shared_close(&s);
}

/* Nothing is posted when the queue is created. */
/* clause: e.7.19 */
TEST(watermark__of_the_create__counts_when_it_was_reached_once)
{
	DAT_SRQ_ATTR attr = { SHARED_DEPTH, 1, 4 };
	struct shared s;

	shared_open(&s, DT_SEPARATE);
	dt_ok(dat_srq_free(s.srq));
	dt_ok(dat_srq_create(s.pair.b.ia, s.pair.b.pz, &attr, &s.srq));
	(void)shared_connect(&s, s.pair.b.recv);
	shared_post(&s, 0, 2);
	shared_send(&s, 0, 'a');
	(void)shared_expect(&s, s.pair.b.recv, 0, 'a');
	dt_assert_stays_empty(s.pair.b.async);
	shared_post(&s, 3, 5); /* now there are 5 */
	shared_send(&s, 0, 'b');
	dt_assert_stays_empty(s.pair.b.async);
	shared_send(&s, 0, 'c');
	shared_expect_async(s.pair.b.async, s.srq, DAT_SRQ_LOW_WATERMARK_EVENT);
	shared_post(&s, 6, 10); /* once, as with dat_srq_set_lw() */
	for (int i = 0; i < 7; i++)
		shared_send(&s, 0, 'd');
	dt_assert_stays_empty(s.pair.b.async);
	shared_close(&s);
}

/* clause: d.3.6 */
TEST(connect__is_rejected__an_endpoint_that_was_never_connected_is_not_reported)
{
	struct shared s;

	shared_open(&s, DT_SEPARATE);
	s.pair.b.ep = s.to[0] = shared_ep(&s.pair.b, s.pair.b.recv, s.srq);
	/* This side has the queue here, and asks. */
	dt_ok(dat_ep_free(s.pair.a.ep));
	s.srq = shared_srq(&s.pair.a, SHARED_DEPTH);
	s.pair.a.ep = shared_ep(&s.pair.a, s.pair.a.recv, s.srq);
	for (int i = 0; i < 2; i++) {
		dt_connect(&s.pair.a, &s.pair.b, NULL, 0);
		dt_ok(dat_cr_reject(dt_request(&s.pair.b), 0, NULL));
		dt_expect_connection(
		    s.pair.a.connect, DAT_CONNECTION_EVENT_PEER_REJECTED, s.pair.a.ep);
		dt_assert_stays_empty(s.pair.a.async);
		dt_ok(dat_ep_reset(s.pair.a.ep));
	}
	dt_connect_pair(&s.pair);
	dt_ok(dat_ep_disconnect(s.pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	shared_expect_async(s.pair.a.async, s.pair.a.ep, DAT_EP_TRANSFER_TO_ERROR);
	shared_expect_async(s.pair.b.async, s.to[0], DAT_EP_TRANSFER_TO_ERROR);
	dt_assert_stays_empty(s.pair.a.async);
	shared_close(&s);
}
