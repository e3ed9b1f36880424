/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Closing and freeing: tests for hangs, leaks and use after free in dapl and similar projects, see
 * origins.txt.
 */
#include <sys/resource.h>

#include "lib/contract.h"

#define ROUNDS 200

DT_CASE("race-end:end");

/* origin: race.D6 */
/* clause: e.1.10 */
TEST(race_d6__endpoint_freed_with_completions_undelivered__no_event_names_it)
{
	struct dt_pair pair;
	DAT_COUNT more = 0;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	for (DAT_UINT64 i = 0; i < 8; i++)
		dt_recv(&pair.b, 0, 64, i);
	dt_connect_pair(&pair);
	for (DAT_UINT64 i = 0; i < 4; i++) {
		dt_send(&pair.a, 0, 64, i);
		dt_expect_dto(pair.a.request, pair.a.ep, i, DAT_DTO_SUCCESS, &event);
	}
	/* A failed wait polls them from the device; none leaves the EVD. */
	while (more < 4)
		dt_assert_type(
		    dat_evd_wait(pair.b.recv, 1000, 8, &event, &more), DAT_TIMEOUT_EXPIRED);
	dt_ok(dat_ep_free(pair.b.ep));
	memset(&event, 0xaa, sizeof event);
	while (dat_evd_dequeue(pair.b.recv, &event) == DAT_SUCCESS) {
		ck_assert_int_eq(event.event_number, DAT_DTO_COMPLETION_EVENT);
		ck_assert_ptr_ne(event.event_data.dto_completion_event_data.ep_handle, pair.b.ep);
	}
	dt_ok(dat_evd_free(pair.b.recv));
	dt_pair_close(&pair);
}

/* origin: race.D7 */
/* clause: d.5.2 */
TEST(race_d7__burst_of_requests_to_an_evd_of_one__rejected_and_reported)
{
	struct dt_pair pair;
	DAT_EVENT event;
	int refused = 0;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_ok(dat_psp_free(pair.b.psp));
	dt_ok(dat_evd_free(pair.b.cr));
	pair.b.cr = dt_evd(&pair.b, DAT_EVD_CR_FLAG, 1);
	dt_ok(
	    dat_psp_create(pair.b.ia, pair.b.qual, pair.b.cr, DAT_PSP_CONSUMER_FLAG, &pair.b.psp));
	for (int i = 0; i < 16; i++) {
		pair.a.ep = dt_ep(&pair.a, NULL);
		dt_connect(&pair.a, &pair.b, NULL, 0);
	}
	for (; refused < 15; refused++)
		dt_expect(pair.a.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, &event);
	dt_expect(pair.b.async, DAT_ASYNC_ERROR_EVD_OVERFLOW, &event);
	dt_ok(dat_psp_free(pair.b.psp));
	dt_ok(dat_evd_free(pair.b.cr));
	dt_expect(pair.a.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, &event);
	dt_pair_close(&pair);
}

/* origin: race.D8 */
/* clause: e.1.10 */
TEST(race_d8__endpoint_freed_while_its_connection_comes_and_goes__ends_soon)
{
	for (int i = 0; i < 40; i++) {
		unsigned long long began;
		struct dt_pair pair;

		dt_pair_open(&pair, DT_SEPARATE);
		dt_connect(&pair.a, &pair.b, NULL, 0);
		if (i % 4 > 0)
			dt_ok(dat_cr_accept(dt_request(&pair.b), pair.b.ep, 0, NULL));
		if (i % 4 > 1)
			dt_expect_established(&pair.a);
		if (i % 4 > 2)
			dt_ok(dat_ep_disconnect(pair.b.ep, DAT_CLOSE_ABRUPT_FLAG));
		began = dt_now_us();
		dt_ok(dat_ep_free(pair.a.ep));
		dt_ok(dat_ep_free(pair.b.ep));
		ck_assert_uint_lt(dt_now_us() - began, 2000000);
		dt_pair_close(&pair);
	}
}

/* origin: race.D11 */
/* clause: g.1.2 */
TEST(race_d11__opened_and_closed_under_50_descriptors__never_short)
{
	struct rlimit limit;

	dt_close(dt_open("soft", NULL));
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = 50;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (int i = 0; i < 100; i++) {
		struct dt_side side;

		dt_side_open(&side, "soft", DT_SEPARATE);
		dt_side_close(&side);
	}
}

/* Both EVDs use the channel of the loop; one message notifies the one, one the other. */
/* origin: race.X1 */
TEST(race_x1__two_evds_of_one_channel__both_can_be_freed)
{
	_Atomic(int) calls = 0;
	DAT_UPCALL_OBJECT object = { &calls, dt_count_call };
	DAT_EVD_HANDLE recv, request;
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_ok(dat_evd_kcreate(
	    pair.b.ia, 64, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_EVD_DTO_FLAG, &recv));
	dt_ok(dat_evd_kcreate(
	    pair.b.ia, 64, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_EVD_DTO_FLAG, &request));
	dt_ok(dat_ep_free(pair.b.ep));
	dt_ok(dat_ep_create(pair.b.ia, pair.b.pz, recv, request, pair.b.connect, NULL, &pair.b.ep));
	dt_recv(&pair.b, 0, 16, 1);
	dt_recv(&pair.a, 0, 16, 1);
	dt_connect_pair(&pair);
	dt_send(&pair.a, 0, 16, 1);
	dt_send(&pair.b, 0, 16, 1);
	dt_await_count(&calls, 2);
	dt_ok(dat_ep_free(pair.b.ep));
	dt_ok(dat_evd_free(recv));
	dt_ok(dat_evd_free(request));
	dt_pair_close(&pair);
}

/* A completion and the free of its EVD meet in the loop. */
/* origin: race.X5, race.D3 */
/* clause: c.14.26 */
TEST(race_x5__evd_freed_while_its_notification_is_handled__safe)
{
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_ok(dat_ep_free(pair.b.ep));
	for (int i = 0; i < ROUNDS; i++) {
		_Atomic(int) calls = 0;
		DAT_UPCALL_OBJECT object = { &calls, dt_count_call };
		DAT_EVD_HANDLE evd;

		dt_ok(dat_evd_kcreate(pair.b.ia, 8, DAT_UPCALL_SINGLE_INSTANCE, &object,
		    DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG, &evd));
		dt_ok(dat_ep_create(pair.b.ia, pair.b.pz, evd, evd, evd, NULL, &pair.b.ep));
		dt_recv(&pair.b, 0, 16, 1);
		if (i % 8 == 0) {
			dt_ok(dat_ep_free(pair.a.ep));
			while (dat_evd_dequeue(pair.a.connect, &event) == DAT_SUCCESS)
				;
			pair.a.ep = dt_ep(&pair.a, NULL);
			dt_connect(&pair.a, &pair.b, NULL, 0);
			dt_ok(dat_cr_accept(dt_request(&pair.b), pair.b.ep, 0, NULL));
			dt_expect_established(&pair.a);
			dt_send(&pair.a, 0, 16, 1);
		}
		dt_ok(dat_ep_free(pair.b.ep));
		dt_ok(dat_evd_free(evd));
	}
	dt_pair_close(&pair);
}

/* origin: race.X6 */
/* clause: e.9.1 */
TEST(race_x6__adapter_closed_with_its_threads_asleep__ends_at_once)
{
	unsigned long long began;
	struct dt_side side;

	for (int i = 0; i < 20; i++) {
		dt_side_open(&side, i % 2 ? "soft" : "soft-loops", DT_SEPARATE);
		dt_nap_ms(5); /* they are asleep */
		began = dt_now_us();
		dt_side_close(&side);
		ck_assert_uint_lt(dt_now_us() - began, 2000000);
	}
}
