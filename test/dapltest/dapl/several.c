/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_evd_dequeue_n() */
#include <dat2/dat_upcall.h>

#include "deliver.h"
#include "lib/runner.h"

#define MESSAGES 6

static void
is_receive(const DAT_EVENT *event, const struct dt_side *side, DAT_UINT64 cookie)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *dto = &event->event_data.dto_completion_event_data;

	ck_assert_int_eq(event->event_number, DAT_DTO_COMPLETION_EVENT);
	ck_assert_ptr_eq(event->evd_handle, side->recv);
	ck_assert_ptr_eq(dto->ep_handle, side->ep);
	ck_assert_uint_eq(dto->user_cookie.as_64, cookie);
	ck_assert_int_eq(dto->status, DAT_DTO_SUCCESS);
	ck_assert_uint_eq(dto->transfered_length, 8 * (cookie % 8 + 1));
	ck_assert_int_eq((int)dto->operation, DAT_DTO_RECEIVE);
	ck_assert_uint_eq(dto->rmr_context, 0);
}

static void
deliver_numbered(struct dt_pair *pair, DAT_UINT64 first, DAT_UINT64 n)
{
	for (DAT_UINT64 i = first; i < first + n; i++)
		deliver(pair, 8 * (i % 8 + 1), i);
}

static void
open_connected(struct dt_pair *pair, DAT_EVD_FLAGS flags, DAT_COUNT qlen)
{
	dt_pair_open(pair, DT_SEPARATE);
	(void)give_evd(&pair->b, flags, qlen);
	dt_connect_pair(pair);
}

/* Takes n events as they arrive, in calls that have room for `more` more of them. */
static void
take_all(DAT_EVD_HANDLE evd, DAT_EVENT *events, DAT_COUNT n, DAT_COUNT more)
{
	DAT_COUNT taken = 0, got;
	DAT_RETURN ret;

	for (int ms = 0; taken < n && ms < DT_FOREVER_MS;) {
		ret = dat_evd_dequeue_n(evd, n - taken + more, &events[taken], &got);
		if (DAT_GET_TYPE(ret) == DAT_QUEUE_EMPTY) {
			ck_assert_int_eq(got, 0);
			dt_nap_ms(1);
			ms++;
			continue;
		}
		dt_ok(ret);
		ck_assert_int_ge(got, 1);
		taken += got;
	}
	ck_assert_int_eq(taken, n);
}

static void
nothing_is_left(DAT_EVD_HANDLE evd)
{
	DAT_COUNT n = 77;
	DAT_EVENT event;

	dt_assert_type(dat_evd_dequeue_n(evd, 1, &event, &n), DAT_QUEUE_EMPTY);
	ck_assert_int_eq(n, 0);
}

DT_CASE("several:several");

TEST(dequeue_n__completions_in_the_device__all_come_whole_and_in_order)
{
	DAT_EVENT events[MESSAGES + 1];
	struct dt_pair pair;

	open_connected(&pair, DAT_EVD_DTO_FLAG, 64);
	deliver_numbered(&pair, 0, MESSAGES);
	memset(events, 0xa5, sizeof events);
	take_all(pair.b.recv, events, MESSAGES, 1);
	for (DAT_UINT64 i = 0; i < MESSAGES; i++)
		is_receive(&events[i], &pair.b, i);
	for (size_t i = 0; i < sizeof *events; i++)
		ck_assert_uint_eq(((const unsigned char *)&events[MESSAGES])[i], 0xa5);
	nothing_is_left(pair.b.recv);
	dt_pair_close(&pair);
}

TEST_LOOP(dequeue_n__fewer_places_than_events__the_next_call_goes_on, 4)
{
	struct dt_pair pair;
	DAT_EVENT events[4];
	DAT_UINT64 taken = 0;
	DAT_COUNT n;

	open_connected(&pair, DAT_EVD_DTO_FLAG, 64);
	deliver_numbered(&pair, 0, 4 * MESSAGES);
	while (taken < 4 * MESSAGES) {
		DAT_RETURN ret = dat_evd_dequeue_n(pair.b.recv, _i + 1, events, &n);

		if (DAT_GET_TYPE(ret) != DAT_QUEUE_EMPTY)
			dt_ok(ret);
		ck_assert_int_le(n, _i + 1);
		for (DAT_COUNT i = 0; i < n; i++)
			is_receive(&events[i], &pair.b, taken++);
	}
	nothing_is_left(pair.b.recv);
	dt_pair_close(&pair);
}

/* More than the provider polls at once. */
TEST(dequeue_n__a_hundred_events__all_come_in_order)
{
	enum { MANY = 100 };
	struct dt_pair pair;
	DAT_EVENT events[MANY];

	open_connected(&pair, DAT_EVD_DTO_FLAG, 128);
	deliver_numbered(&pair, 0, MANY);
	take_all(pair.b.recv, events, MANY, 0);
	for (DAT_UINT64 i = 0; i < MANY; i++)
		is_receive(&events[i], &pair.b, i);
	nothing_is_left(pair.b.recv);
	dt_pair_close(&pair);
}

/* What other calls polled into the queue, and a software event, keep their places. */
TEST(dequeue_n__software_event_among_completions__is_taken_in_its_place)
{
	struct dt_pair pair;
	DAT_EVENT events[16], first;
	DAT_COUNT n, more;

	open_connected(&pair, DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG, 64);
	deliver_numbered(&pair, 0, 4);
	dt_ok(dat_evd_wait(pair.b.recv, DT_FOREVER_MS * 1000u, 4, &first, &more));
	dt_post_se(pair.b.recv, 42);
	deliver_numbered(&pair, 4, 4);
	dt_ok(dat_evd_dequeue_n(pair.b.recv, 16, events, &n));
	ck_assert_int_eq(n, 4); /* it does not poll while events are queued */
	for (DAT_UINT64 i = 0; i < 3; i++)
		is_receive(&events[i], &pair.b, i + 1);
	ck_assert_int_eq(events[3].event_number, DAT_SOFTWARE_EVENT);
	ck_assert_ptr_eq(events[3].evd_handle, pair.b.recv);
	take_all(pair.b.recv, events, 4, 0);
	for (DAT_UINT64 i = 0; i < 4; i++)
		is_receive(&events[i], &pair.b, i + 4);
	dt_pair_close(&pair);
}

/* Successes before the flushed receives of a connection that ends. */
TEST(dequeue_n__connection_ends__flushed_receives_follow_in_order)
{
	enum { LEFT = 3 };
	DAT_UINT64 taken = 0;
	DAT_EVENT events[16];
	struct dt_pair pair;
	DAT_RETURN ret;
	DAT_COUNT n;

	open_connected(&pair, DAT_EVD_DTO_FLAG, 64);
	deliver_numbered(&pair, 0, MESSAGES);
	for (DAT_UINT64 i = 0; i < LEFT; i++)
		dt_recv(&pair.b, 0, 64, MESSAGES + i);
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	for (int ms = 0; taken < MESSAGES + LEFT && ms < DT_FOREVER_MS; ms++) {
		ret = dat_evd_dequeue_n(pair.b.recv, 16, events, &n);
		if (DAT_GET_TYPE(ret) == DAT_QUEUE_EMPTY)
			dt_nap_ms(1);
		else
			dt_ok(ret);
		for (DAT_COUNT i = 0; i < n; i++, taken++) {
			const DAT_DTO_COMPLETION_EVENT_DATA *dto =
			    &events[i].event_data.dto_completion_event_data;

			ck_assert_uint_eq(dto->user_cookie.as_64, taken);
			ck_assert_int_eq(
			    dto->status, taken < MESSAGES ? DAT_DTO_SUCCESS : DAT_DTO_ERR_FLUSHED);
		}
	}
	ck_assert_uint_eq(taken, MESSAGES + LEFT);
	dt_pair_close(&pair);
}

/* The places of requests are free when their completions were taken. */
TEST(dequeue_n__more_requests_than_a_ring_has_places__all_are_taken)
{
	DAT_UINT64 sent = 0, taken = 0;
	struct dt_pair pair;
	DAT_EVENT events[4];
	DAT_COUNT n;

	open_connected(&pair, DAT_EVD_DTO_FLAG, 64);
	while (taken < 400) {
		for (; sent < taken + 4; sent++) {
			dt_recv(&pair.b, 0, 64, sent);
			dt_send(&pair.a, 0, 8 * (sent % 8 + 1), sent);
		}
		while (taken < sent) {
			DAT_RETURN ret = dat_evd_dequeue_n(pair.b.recv, 4, events, &n);

			if (DAT_GET_TYPE(ret) != DAT_QUEUE_EMPTY)
				dt_ok(ret);
			for (DAT_COUNT i = 0; i < n; i++)
				is_receive(&events[i], &pair.b, taken++);
		}
		for (DAT_UINT64 done = taken - 4; done < taken;) {
			DAT_RETURN ret = dat_evd_dequeue_n(pair.a.request, 4, events, &n);

			if (DAT_GET_TYPE(ret) != DAT_QUEUE_EMPTY)
				dt_ok(ret);
			for (DAT_COUNT i = 0; i < n; i++)
				ck_assert_uint_eq(
				    events[i]
					.event_data.dto_completion_event_data.user_cookie.as_64,
				    done++);
		}
	}
	dt_pair_close(&pair);
}

TEST(dequeue_n__counts__are_those_of_the_events)
{
	struct dat_rearm_evd_counters counters;
	struct dt_pair pair;
	DAT_EVENT events[MESSAGES];

	open_connected(&pair, DAT_EVD_DTO_FLAG, 64);
	deliver_numbered(&pair, 0, MESSAGES);
	take_all(pair.b.recv, events, MESSAGES, 0);
	dt_ok(dat_evd_query_upcall_counters(pair.b.recv, &counters));
	ck_assert_uint_eq(counters.dto_events, MESSAGES);
	dt_pair_close(&pair);
}

TEST(dequeue_n__bad_argument__is_named)
{
	struct dt_side side;
	DAT_EVENT event;
	DAT_EVD_HANDLE evd;
	DAT_COUNT n = 77;

	dt_side_open(&side, "soft", DT_SEPARATE);
	evd = dt_evd(&side, DAT_EVD_SOFTWARE_FLAG, 8);
	dt_post_se(evd, 1);
	dt_assert_ret(dat_evd_dequeue_n(evd, 0, &event, &n),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_ret(dat_evd_dequeue_n(evd, -1, &event, &n),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_ret(dat_evd_dequeue_n(evd, 1, NULL, &n),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_assert_ret(dat_evd_dequeue_n(evd, 1, &event, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
	ck_assert_int_eq(n, 77);
	dt_assert_type(dat_evd_dequeue_n(side.pz, 1, &event, &n), DAT_INVALID_HANDLE);
	dt_assert_type(dat_evd_dequeue_n(DAT_HANDLE_NULL, 1, &event, &n), DAT_INVALID_HANDLE);
	/* None of them took the event. */
	dt_ok(dat_evd_dequeue_n(evd, 1, &event, &n));
	ck_assert_int_eq(n, 1);
	nothing_is_left(evd);
	dt_ok(dat_evd_free(evd));
	dt_assert_type(dat_evd_dequeue_n(evd, 1, &event, &n), DAT_INVALID_HANDLE);
	dt_side_close(&side);
}
