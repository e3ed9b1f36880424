/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a connection: which operations are flushed or kept, and the next connection. */
#include "endpoint.h"

#include <pthread.h>

DT_CASE("reuse:end");

/* clause: d.4.1, e.2.3 */
TEST_LOOP(completions__of_mixed_operations__come_in_the_order_of_posting, 2)
{
	enum { N = 64 };
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;
	DAT_EVENT event;
	struct scene s;

	scene_open(&s, _i % 2 ? SCENE_CONNECTED_ACTIVE : SCENE_CONNECTED_PASSIVE);
	local = dt_local(s.me, 0, 8);
	remote = dt_remote(s.peer, 64, 8);
	for (DAT_UINT64 i = 0, done = 0, sent = 0; done < N; done++) {
		for (; i < N && i < done + 12; i++) {
			DAT_RETURN ret;

			if (i % 3 == 0) {
				dt_recv(s.peer, 0, 64, 1000 + sent++);
				ret = dt_try_send(s.me, 0, 8, i, DAT_COMPLETION_DEFAULT_FLAG);
			} else if (i % 3 == 1) {
				ret = dat_ep_post_rdma_write(s.me->ep, 1, &local, dt_cookie(i),
				    &remote, DAT_COMPLETION_DEFAULT_FLAG);
			} else {
				ret = dat_ep_post_rdma_read(s.me->ep, 1, &local, dt_cookie(i),
				    &remote, DAT_COMPLETION_DEFAULT_FLAG);
			}
			dt_ok(ret);
		}
		dt_expect_dto(s.me->request, s.me->ep, done, DAT_DTO_SUCCESS, &event);
		if (done % 3 == 0)
			dt_expect_dto(
			    s.peer->recv, s.peer->ep, 1000 + done / 3, DAT_DTO_SUCCESS, &event);
	}
	dt_assert_stays_empty(s.me->request);
	dt_assert_stays_empty(s.peer->recv);
	scene_close(&s);
}

/* clause: d.4.1, e.2.1, e.2.3 */
TEST_LOOP(disconnect__whatever_is_outstanding__completes_once_and_in_order, 2)
{
	DAT_EVENT event;
	struct scene s;

	scene_open(&s, SCENE_CONNECTED_ACTIVE);
	for (DAT_UINT64 i = 0; i < 6; i++)
		dt_recv(s.me, 0, 8, i);
	/* The peer has one receive for these. */
	dt_recv(s.peer, 0, 8, 0);
	for (DAT_UINT64 i = 0; i < 6; i++)
		dt_ok(dt_try_send(s.me, 0, 8, i,
		    i % 2 ? DAT_COMPLETION_SUPPRESS_FLAG : DAT_COMPLETION_DEFAULT_FLAG));
	dt_expect_dto(s.me->request, s.me->ep, 0, DAT_DTO_SUCCESS, &event);
	dt_ok(dat_ep_disconnect(_i ? s.peer->ep : s.me->ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(s.me);
	for (DAT_UINT64 i = 1; i < 6; i++) /* suppressed or not: it did not succeed */
		dt_expect_dto(s.me->request, s.me->ep, i, DAT_DTO_ERR_FLUSHED, &event);
	for (DAT_UINT64 i = 0; i < 6; i++)
		dt_expect_dto(s.me->recv, s.me->ep, i, DAT_DTO_ERR_FLUSHED, &event);
	dt_assert_stays_empty(s.me->request);
	dt_assert_stays_empty(s.me->recv);
	dt_assert_empty(s.me->connect);
	scene_close(&s);
}

/* clause: e.2.2, e.2.4 */
TEST(disconnect__gracefully__what_is_posted_arrives_first)
{
	DAT_EVENT event;
	struct scene s;

	scene_open(&s, SCENE_CONNECTED_ACTIVE);
	for (DAT_UINT64 i = 0; i < 8; i++)
		dt_send(s.me, 0, 8, i);
	dt_ok(dat_ep_disconnect(s.me->ep, DAT_CLOSE_GRACEFUL_FLAG));
	dt_assert_ret(dt_try_send(s.me, 0, 8, 99, DAT_COMPLETION_DEFAULT_FLAG),
	    scene_refusal(DAT_EP_STATE_DISCONNECT_PENDING));
	for (DAT_UINT64 i = 0; i < 8; i++)
		dt_recv(s.peer, 0, 8, i);
	for (DAT_UINT64 i = 0; i < 8; i++) {
		dt_expect_dto(s.peer->recv, s.peer->ep, i, DAT_DTO_SUCCESS, &event);
		dt_expect_dto(s.me->request, s.me->ep, i, DAT_DTO_SUCCESS, &event);
	}
	dt_expect_disconnected(s.me);
	dt_expect_disconnected(s.peer);
	dt_assert_stays_empty(s.me->connect);
	dt_assert_stays_empty(s.peer->connect);
	scene_close(&s);
}

DT_CASE("reuse:reset");

/* clause: e.1.9, g.1.7 */
TEST(reset__again_and_again__each_connection_is_like_the_first)
{
	DAT_EVENT event;
	struct scene s;

	scene_open(&s, SCENE_FRESH);
	for (DAT_UINT64 round = 0; round < 10; round++) {
		dt_recv(s.me, 0, 64, round);
		dt_recv(s.peer, 0, 64, 100 + round);
		dt_connect_pair(&s.pair);
		dt_send(s.me, 0, 8, 200 + round);
		dt_expect_dto(s.peer->recv, s.peer->ep, 100 + round, DAT_DTO_SUCCESS, &event);
		dt_expect_dto(s.me->request, s.me->ep, 200 + round, DAT_DTO_SUCCESS, &event);
		dt_ok(dat_ep_disconnect(round % 2 ? s.me->ep : s.peer->ep, DAT_CLOSE_ABRUPT_FLAG));
		dt_expect_disconnected(s.me);
		dt_expect_disconnected(s.peer);
		if (round % 3)
			dt_expect_dto(s.me->recv, s.me->ep, round, DAT_DTO_ERR_FLUSHED, &event);
		/* else the reset drops the events that were not taken */
		dt_ok(dat_ep_reset(s.me->ep));
		dt_ok(dat_ep_reset(s.peer->ep));
		dt_assert_empty(s.me->recv);
		dt_assert_empty(s.me->connect);
	}
	scene_close(&s);
}

/* clause: e.1.9, e.4.1 */
TEST(reset__after_a_connection_with_data__the_next_has_none_of_it)
{
	const DAT_PVOID hello = (DAT_PVOID)(uintptr_t) "hello";
	DAT_CR_PARAM param;
	struct scene s;
	DAT_EVENT event;

	scene_open(&s, SCENE_FRESH);
	dt_connect(s.me, s.peer, hello, 6);
	dt_ok(dat_cr_accept(dt_request(s.peer), s.peer->ep, 6, hello));
	dt_expect_established(s.me);
	dt_expect_established(s.peer);
	dt_ok(dat_ep_disconnect(s.me->ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(s.me);
	dt_expect_disconnected(s.peer);
	dt_ok(dat_ep_reset(s.me->ep));
	dt_ok(dat_ep_reset(s.peer->ep));
	dt_connect(s.me, s.peer, NULL, 0);
	s.cr = dt_request(s.peer);
	dt_ok(dat_cr_query(s.cr, DAT_CR_FIELD_ALL, &param));
	for (DAT_COUNT i = 0; i < param.private_data_size; i++) /* the device may pad it */
		ck_assert_int_eq(((const char *)param.private_data)[i], 0);
	dt_ok(dat_cr_reject(s.cr, 0, NULL));
	dt_next(s.me->connect, &event);
	dt_ok(dat_ep_reset(s.me->ep));
	/* The end that has asked is asked now: its event has no data, and no place of them. */
	dt_side_listen(s.me);
	dt_connect(s.peer, s.me, NULL, 0);
	dt_ok(dat_cr_accept(dt_request(s.me), s.me->ep, 0, NULL));
	dt_expect(s.me->connect, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
	ck_assert_int_eq(event.event_data.connect_event_data.private_data_size, 0);
	ck_assert_ptr_null(event.event_data.connect_event_data.private_data);
	dt_expect(s.peer->connect, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
	scene_close(&s);
}

/* clause: e.1.9 */
TEST_LOOP(reset__after_every_end__connects_anew, 5)
{
	static const enum scene_place ends[] = {
		SCENE_ENDED_BY_ME,
		SCENE_ENDED_BY_PEER,
		SCENE_REJECTED,
		SCENE_BROKEN,
		SCENE_RESET,
	};
	struct scene s;

	scene_open(&s, ends[_i]);
	dt_recv(s.me, 0, 8, 1); /* flushed or, unconnected, kept; gone after the reset */
	dt_ok(dat_ep_reset(s.me->ep));
	dt_ok(dat_ep_reset(s.peer->ep));
	dt_connect_pair(&s.pair);
	scene_close(&s);
}

DT_CASE("reuse:end");

/* clause: e.4.1, e.4.2 */
TEST_LOOP(private_data__of_the_answer__stays_until_reset, 2)
{
	char data[56];
	const void *got;
	DAT_EVENT event;
	struct scene s;

	scene_open(&s, SCENE_CONNECTING);
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (char)(i * 7);
	if (_i)
		dt_ok(dat_cr_reject(s.cr, sizeof data, data));
	else
		dt_ok(dat_cr_accept(s.cr, s.peer->ep, sizeof data, data));
	dt_next(s.me->connect, &event);
	got = event.event_data.connect_event_data.private_data;
	ck_assert_int_ge(event.event_data.connect_event_data.private_data_size, (int)sizeof data);
	ck_assert_mem_eq(got, data, sizeof data);
	if (!_i) {
		dt_expect_established(s.peer);
		dt_ok(dat_ep_disconnect(s.peer->ep, DAT_CLOSE_ABRUPT_FLAG));
		dt_expect_disconnected(s.me);
	}
	dt_ok(dat_ep_disconnect(s.me->ep, DAT_CLOSE_ABRUPT_FLAG));
	ck_assert_mem_eq(got, data, sizeof data);
	scene_close(&s);
}

/* clause: e.1.10 */
TEST_LOOP(free__in_each_state_with_work_outstanding__leaves_nothing_behind, SCENE_PLACES)
{
	struct scene s;

	scene_open(&s, (enum scene_place)_i);
	for (DAT_UINT64 i = 0; i < 8 && s.state != DAT_EP_STATE_UNCONFIGURED_TENTATIVE; i++)
		dt_recv(s.me, 0, 8, i);
	if (s.state == DAT_EP_STATE_CONNECTED)
		for (DAT_UINT64 i = 0; i < 8; i++)
			dt_send(s.me, 0, 8, i);
	if (s.rsp) { /* not before the service point and its request have ended */
		dt_assert_ret(dat_ep_free(s.me->ep), scene_refusal(s.state));
		dt_ok(dat_rsp_free(s.rsp));
		if (s.cr)
			dt_ok(dat_cr_reject(s.cr, 0, NULL));
	}
	if (_i == SCENE_MADE ||
	    _i == SCENE_MADE_COMPLETE) { /* never, but it is freed with its request */
		dt_assert_ret(dat_ep_free(s.me->ep), scene_refusal(s.state));
		dt_ok(dat_cr_reject(s.cr, 0, NULL));
	} else {
		dt_ok(dat_ep_free(s.me->ep));
	}
	dt_assert_empty(s.me->recv);
	dt_assert_empty(s.me->request);
	scene_step(&s);
	dt_assert_stays_empty(s.me->connect);
	dt_assert_empty(s.me->async);
	dt_ok(dat_evd_free(s.me->recv));
	dt_ok(dat_evd_free(s.me->request));
	dt_ok(dat_evd_free(s.me->connect));
	if (s.state == DAT_EP_STATE_CONNECTED || s.state == DAT_EP_STATE_DISCONNECT_PENDING) {
		dt_expect_disconnected(s.peer);
		dt_assert_stays_empty(s.peer->connect);
	}
	scene_close(&s);
}

struct ender {
	DAT_EP_HANDLE ep;
	pthread_barrier_t *barrier;
	bool free;
};

static void *
end_it(void *arg)
{
	struct ender *e = arg;

	pthread_barrier_wait(e->barrier);
	if (e->free)
		dt_ok(dat_ep_free(e->ep));
	else
		dt_ok(dat_ep_disconnect(e->ep, DAT_CLOSE_ABRUPT_FLAG));
	return NULL;
}

/* clause: e.2.4, e.1.16 */
TEST(disconnect__by_many_threads_at_both_ends__makes_one_event_each)
{
	enum { THREADS = 4 };

	for (int round = 0; round < 20; round++) {
		pthread_t threads[THREADS];
		struct ender enders[THREADS];
		pthread_barrier_t barrier;
		struct scene s;

		scene_open(&s, SCENE_CONNECTED_ACTIVE);
		pthread_barrier_init(&barrier, NULL, THREADS);
		for (int i = 0; i < THREADS; i++) {
			enders[i] =
			    (struct ender){ i % 2 ? s.me->ep : s.peer->ep, &barrier, false };
			ck_assert_int_eq(pthread_create(&threads[i], NULL, end_it, &enders[i]), 0);
		}
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		pthread_barrier_destroy(&barrier);
		dt_expect_disconnected(s.me);
		dt_expect_disconnected(s.peer);
		dt_nap_ms(2);
		dt_assert_empty(s.me->connect);
		dt_assert_empty(s.peer->connect);
		scene_close(&s);
	}
}

/* clause: e.1.10, e.2.4 */
TEST(free__against_a_disconnect_of_the_peer__the_peer_gets_one_event)
{
	for (int round = 0; round < 20; round++) {
		pthread_t threads[2];
		pthread_barrier_t barrier;
		struct ender enders[2];
		struct scene s;

		scene_open(&s, round % 2 ? SCENE_CONNECTED_ACTIVE : SCENE_CONNECTED_PASSIVE);
		pthread_barrier_init(&barrier, NULL, 2);
		enders[0] = (struct ender){ s.me->ep, &barrier, true };
		enders[1] = (struct ender){ s.peer->ep, &barrier, false };
		for (int i = 0; i < 2; i++)
			ck_assert_int_eq(pthread_create(&threads[i], NULL, end_it, &enders[i]), 0);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
		pthread_barrier_destroy(&barrier);
		dt_expect_disconnected(s.peer);
		dt_nap_ms(2);
		dt_assert_empty(s.peer->connect);
		dt_assert_empty(s.me->connect);
		scene_close(&s);
	}
}

/* With or without an ESTABLISHED before it, one event ends it. */
static void
expect_one_end(const struct dt_side *side, DAT_EVENT_NUMBER failed)
{
	DAT_EVENT event;

	dt_next(side->connect, &event);
	if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED)
		dt_expect_disconnected(side);
	else
		ck_assert_int_eq(event.event_number, failed);
	dt_await_state(side->ep, DAT_EP_STATE_DISCONNECTED);
}

/* clause: e.1.7, e.1.16 */
TEST(accept__against_the_withdrawal_of_its_request__ends_each_end_once)
{
	for (int round = 0; round < 40; round++) {
		pthread_barrier_t barrier;
		struct ender ender;
		pthread_t thread;
		struct scene s;
		DAT_CR_HANDLE cr;

		scene_open(&s, SCENE_FRESH);
		dt_connect(s.me, s.peer, NULL, 0);
		cr = dt_request(s.peer);
		pthread_barrier_init(&barrier, NULL, 2);
		ender = (struct ender){ s.me->ep, &barrier, false };
		ck_assert_int_eq(pthread_create(&thread, NULL, end_it, &ender), 0);
		pthread_barrier_wait(&barrier);
		dt_ok(dat_cr_accept(cr, s.peer->ep, 0, NULL));
		pthread_join(thread, NULL);
		pthread_barrier_destroy(&barrier);
		expect_one_end(s.me, DAT_CONNECTION_EVENT_DISCONNECTED);
		expect_one_end(s.peer, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
		dt_assert_empty(s.me->connect);
		dt_assert_empty(s.peer->connect);
		scene_close(&s);
	}
}
