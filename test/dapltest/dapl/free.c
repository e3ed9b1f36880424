/* SPDX-License-Identifier: BSD-3-Clause */
/* Freeing objects while they are in use. */
#include <pthread.h>

#include "lib/dt.h"

DT_CASE("free:endpoint");

TEST(ep_free__with_receives_posted__lets_go_of_its_evds_at_once)
{
	struct dt_side side;

	dt_side_open(&side, "soft", DT_SEPARATE);
	for (DAT_UINT64 i = 0; i < 16; i++)
		dt_recv(&side, 0, 64, i);
	dt_ok(dat_ep_free(side.ep));
	dt_ok(dat_evd_free(side.recv));
	dt_ok(dat_evd_free(side.request));
	dt_ok(dat_evd_free(side.connect));
	dt_side_close(&side);
}

/* clause: e.1.10 */
TEST(ep_free__with_completions_undelivered__leaves_no_event_that_names_it)
{
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	for (DAT_UINT64 i = 0; i < 8; i++)
		dt_recv(&pair.b, 0, 64, i);
	dt_connect_pair(&pair);
	for (DAT_UINT64 i = 0; i < 8; i++)
		dt_send(&pair.a, 0, 8, i);
	for (DAT_UINT64 i = 0; i < 8; i++)
		dt_expect_dto(pair.a.request, pair.a.ep, i, DAT_DTO_SUCCESS, &event);
	/* One is taken, so that the others are in the buffer of the EVD. */
	dt_expect_dto(pair.b.recv, pair.b.ep, 0, DAT_DTO_SUCCESS, &event);
	dt_ok(dat_ep_free(pair.b.ep));
	dt_assert_stays_empty(pair.b.recv);
	dt_ok(dat_evd_free(pair.b.recv));
	dt_expect_disconnected(&pair.a);
	dt_pair_close(&pair);
}

TEST(ep_free__with_a_connection_event_undelivered__takes_it_back)
{
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_cr_accept(dt_request(&pair.b), pair.b.ep, 0, NULL));
	dt_await_state(pair.a.ep, DAT_EP_STATE_CONNECTED);
	dt_ok(dat_ep_free(pair.a.ep));
	dt_assert_stays_empty(pair.a.connect);
	dt_ok(dat_evd_free(pair.a.connect));
	dt_pair_close(&pair);
}

/* clause: e.1.10 */
/* origin: race.D8 */
TEST(ep_free__in_every_state__ends_soon)
{
	for (int state = 0; state < 6; state++) {
		struct dt_pair pair;
		DAT_CR_HANDLE cr;

		dt_pair_open(&pair, DT_MERGED);
		if (state >= 1)
			dt_connect(&pair.a, &pair.b, NULL, 0);
		if (state >= 2) {
			cr = dt_request(&pair.b);
			if (state >= 3)
				dt_ok(dat_cr_accept(cr, pair.b.ep, 0, NULL));
		}
		if (state >= 4)
			dt_await_state(pair.b.ep, DAT_EP_STATE_CONNECTED);
		if (state >= 5)
			dt_ok(dat_ep_disconnect(pair.b.ep, DAT_CLOSE_ABRUPT_FLAG));
		dt_ok(dat_ep_free(pair.a.ep));
		dt_ok(dat_ep_free(pair.b.ep));
		dt_ok(dat_evd_free(pair.a.recv));
		dt_ok(dat_evd_free(pair.b.recv));
		dt_pair_close(&pair);
	}
}

TEST(ep_free__of_the_connected_peer__disconnects_the_other_end_once)
{
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	dt_ok(dat_ep_free(pair.a.ep));
	dt_expect_disconnected(&pair.b);
	dt_assert_stays_empty(pair.b.connect);
	dt_pair_close(&pair);
}

TEST(ia_close__of_the_connected_peer__disconnects_the_other_end_once)
{
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	dt_side_close(&pair.a);
	dt_expect_disconnected(&pair.b);
	dt_assert_stays_empty(pair.b.connect);
	dt_side_close(&pair.b);
}

TEST(reused_endpoint__gets_no_completion_of_its_predecessor)
{
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	for (int round = 0; round < 100; round++) {
		for (DAT_UINT64 i = 0; i < 4; i++)
			dt_recv(&pair.b, 0, 64, 1000);
		dt_connect_pair(&pair);
		dt_send(&pair.a, 0, 8, 1);
		dt_expect_dto(pair.a.request, pair.a.ep, 1, DAT_DTO_SUCCESS, &event);
		dt_ok(dat_ep_free(pair.b.ep));
		pair.b.ep = dt_ep(&pair.b, NULL);
		dt_assert_empty(pair.b.recv);
		dt_expect_disconnected(&pair.a);
		dt_ok(dat_ep_free(pair.a.ep));
		pair.a.ep = dt_ep(&pair.a, NULL);
	}
	dt_assert_stays_empty(pair.b.recv);
	dt_pair_close(&pair);
}

struct storm {
	struct dt_pair *pair;
	_Atomic(int) stop;
	unsigned long dequeued;
};

static void *
dequeue_body(void *arg)
{
	struct storm *storm = arg;
	DAT_EVENT event;

	while (!storm->stop) {
		if (dat_evd_dequeue(storm->pair->b.recv, &event) == DAT_SUCCESS)
			storm->dequeued++;
	}
	return NULL;
}

DT_CASE("free:race");

TEST(ep_free__against_a_dequeuing_thread__is_safe)
{
	struct dt_pair pair;
	struct storm storm = { .pair = &pair };
	pthread_t thread;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	pthread_create(&thread, NULL, dequeue_body, &storm);
	for (int round = 0; round < 60; round++) {
		for (DAT_UINT64 i = 0; i < 8; i++)
			dt_recv(&pair.b, 0, 64, i);
		dt_connect_pair(&pair);
		for (DAT_UINT64 i = 0; i < 6; i++)
			dt_send(&pair.a, 0, 8, i);
		dt_ok(dat_ep_free(pair.b.ep));
		dt_expect_disconnected(&pair.a);
		dt_ok(dat_ep_free(pair.a.ep));
		while (dat_evd_dequeue(pair.a.request, &event) == DAT_SUCCESS)
			;
		pair.a.ep = dt_ep(&pair.a, NULL);
		pair.b.ep = dt_ep(&pair.b, NULL);
	}
	storm.stop = 1;
	pthread_join(thread, NULL);
	dt_pair_close(&pair);
}

struct drain {
	DAT_EVD_HANDLE evd;
	DAT_EP_HANDLE ep;
	_Atomic(int) running, go, stop;
	int nameless;
};

static void *
drain_body(void *arg)
{
	struct drain *drain = arg;
	DAT_EVENT event;

	drain->running = 1;
	while (!drain->go)
		;
	while (!drain->stop)
		if (dat_evd_dequeue(drain->evd, &event) == DAT_SUCCESS &&
		    event.event_data.dto_completion_event_data.ep_handle != drain->ep)
			drain->nameless++;
	return NULL;
}

TEST(ep_free__while_a_thread_drains__every_completion_names_its_endpoint)
{
	struct dt_pair pair;
	struct drain drain;
	pthread_t thread;
	DAT_EVENT event;

	for (int round = 0; round < 40; round++) {
		dt_pair_open(&pair, DT_SEPARATE);
		for (DAT_UINT64 i = 0; i < 16; i++)
			dt_recv(&pair.b, 0, 64, i);
		dt_connect_pair(&pair);
		for (DAT_UINT64 i = 0; i < 16; i++)
			dt_send(&pair.a, 0, 8, i);
		for (DAT_UINT64 i = 0; i < 16; i++)
			dt_expect_dto(pair.a.request, pair.a.ep, i, DAT_DTO_SUCCESS, &event);
		/* One is taken, so that the others are in the buffer of the EVD. */
		dt_expect_dto(pair.b.recv, pair.b.ep, 0, DAT_DTO_SUCCESS, &event);
		drain = (struct drain){ .evd = pair.b.recv, .ep = pair.b.ep };
		pthread_create(&thread, NULL, drain_body, &drain);
		while (!drain.running)
			;
		drain.go = 1;
		dt_ok(dat_ep_free(pair.b.ep));
		drain.stop = 1;
		pthread_join(thread, NULL);
		ck_assert_int_eq(drain.nameless, 0);
		dt_pair_close(&pair);
	}
}

static void *
connect_storm_body(void *arg)
{
	struct storm *storm = arg;
	struct dt_pair *pair = storm->pair;
	DAT_EVENT event;

	while (!storm->stop)
		if (dat_evd_dequeue(pair->b.cr, &event) == DAT_SUCCESS)
			(void)dat_cr_reject(
			    event.event_data.cr_arrival_event_data.cr_handle, 0, NULL);
	return NULL;
}

/* origin: race.D8 */
TEST(ep_free__against_events_of_the_connection_manager__is_safe)
{
	struct dt_pair pair;
	struct storm storm = { .pair = &pair };
	pthread_t thread;

	dt_pair_open(&pair, DT_SEPARATE);
	pthread_create(&thread, NULL, connect_storm_body, &storm);
	for (int round = 0; round < 200; round++) {
		dt_connect(&pair.a, &pair.b, NULL, 0);
		if (round % 4)
			dt_nap_ms((unsigned int)round % 3);
		dt_ok(dat_ep_free(pair.a.ep));
		dt_assert_empty(pair.a.connect);
		pair.a.ep = dt_ep(&pair.a, NULL);
	}
	storm.stop = 1;
	pthread_join(thread, NULL);
	dt_pair_close(&pair);
}

TEST(evd_free__with_completions_in_the_device__works)
{
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	for (DAT_UINT64 i = 0; i < 8; i++)
		dt_recv(&pair.b, 0, 64, i);
	dt_connect_pair(&pair);
	for (DAT_UINT64 i = 0; i < 8; i++)
		dt_send(&pair.a, 0, 8, i);
	dt_ok(dat_ep_free(pair.b.ep));
	dt_ok(dat_evd_free(pair.b.recv));
	dt_pair_close(&pair);
}

/* What a thread leaves behind at most: three of them need few descriptors. */
#define MAKER_PAIRS 8

struct maker {
	struct dt_side side;
	DAT_RETURN end;
};

/*
 * The oldest pair is freed for each that is made, so that the calls end with the adapter and not
 * with a shortage.
 */
static void *
make_body(void *arg)
{
	struct maker *maker = arg;
	const struct dt_side *side = &maker->side;
	DAT_EVD_HANDLE evds[MAKER_PAIRS];
	DAT_EP_HANDLE eps[MAKER_PAIRS];
	unsigned int n = 0;

	for (;; n++) {
		const unsigned int i = n % MAKER_PAIRS;

		maker->end = DAT_SUCCESS;
		if (n >= MAKER_PAIRS)
			maker->end = dat_ep_free(eps[i]);
		if (maker->end == DAT_SUCCESS && n >= MAKER_PAIRS)
			maker->end = dat_evd_free(evds[i]);
		if (maker->end == DAT_SUCCESS)
			maker->end = dat_evd_create(
			    side->ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evds[i]);
		if (maker->end == DAT_SUCCESS)
			maker->end = dat_ep_create(
			    side->ia, side->pz, evds[i], evds[i], side->connect, NULL, &eps[i]);
		if (maker->end != DAT_SUCCESS)
			return NULL;
	}
}

/* A late call would access freed memory, which the sanitizers report. */
/* clause: e.9.1 */
TEST(ia_close__against_threads_that_create__waits_for_their_calls)
{
	struct maker makers[3];
	pthread_t threads[3];

	for (unsigned int round = 0; round < 20; round++) {
		dt_side_open(&makers[0].side, "soft", DT_SEPARATE);
		makers[1].side = makers[2].side = makers[0].side;
		for (int i = 0; i < 3; i++)
			pthread_create(&threads[i], NULL, make_body, &makers[i]);
		dt_nap_ms(1 + round % 3);
		dt_side_close(&makers[0].side);
		for (int i = 0; i < 3; i++) {
			pthread_join(threads[i], NULL);
			dt_assert_type(makers[i].end, DAT_INVALID_HANDLE);
		}
	}
}
