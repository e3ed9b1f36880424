/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting: tests for bugs of OpenFabrics dapl 2.1.10, see origins.txt. */
#include "lib/contract.h"

#define HALF_A_SECOND 500000u
#define MANY 64 /* more than the fast way takes */
#define MIXED (DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG)

DT_CASE("peer-wait:wait");

/* origin: peer.1 */
/* clause: c.9.6 */
TEST(peer_01__post_to_a_merged_evd__wakes_its_blocked_waiter)
{
	struct dt_side side;
	struct evd_waiter w;

	dt_side_open(&side, "soft", DT_SEPARATE);
	evd_waiter_start(&w, dt_evd(&side, MIXED, 8), DAT_TIMEOUT_INFINITE, 1);
	dt_post_se(w.evd, 42);
	dt_assert_ret(evd_waiter_join(&w), DAT_SUCCESS);
	ck_assert_ptr_eq(w.event.event_data.software_event_data.pointer, (void *)42);
	ck_assert_int_eq(w.more, 0);
	dt_side_close(&side);
}

/* origin: peer.2 */
/* clause: c.7.1 */
TEST(peer_02__set_unwaitable__wakes_the_waiter_on_completions)
{
	struct dt_side side;
	struct evd_waiter w;

	dt_side_open(&side, "soft", DT_SEPARATE);
	evd_waiter_start(&w, side.recv, DAT_TIMEOUT_INFINITE, 1);
	dt_ok(dat_evd_set_unwaitable(side.recv));
	dt_assert_ret(
	    evd_waiter_join(&w), DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_UNWAITABLE));
	dt_side_close(&side);
}

/* The software events fill the queue before the completion is polled. */
/* origin: peer.14 */
TEST(peer_14__queue_full_when_a_completion_comes__nothing_lost_and_usable_again)
{
	DAT_EVENT post = { .event_number = DAT_SOFTWARE_EVENT }, event;
	DAT_COUNT posted = 0, more, completions = 0;
	struct dt_pair pair;
	DAT_EVD_HANDLE evd;
	DAT_EP_HANDLE ep;

	dt_pair_open(&pair, DT_SEPARATE);
	evd = dt_evd(&pair.b, MIXED, 8);
	dt_ok(dat_ep_create(pair.b.ia, pair.b.pz, evd, pair.b.request, pair.b.connect, NULL, &ep));
	dt_ok(dat_ep_free(pair.b.ep));
	pair.b.ep = ep;
	dt_recv(&pair.b, 0, 64, 7);
	dt_connect_pair(&pair);
	while (dat_evd_post_se(evd, &post) == DAT_SUCCESS)
		posted++;
	dt_send(&pair.a, 0, 64, 1);
	dt_expect_dto(pair.a.request, pair.a.ep, 1, DAT_DTO_SUCCESS, &event);
	for (int i = 0; i < posted + 1; i++) {
		dt_ok(dat_evd_wait(evd, DT_FOREVER_MS * 1000u, 1, &event, &more));
		completions += event.event_number == DAT_DTO_COMPLETION_EVENT;
	}
	ck_assert_int_eq(completions, 1);
	dt_assert_type(dat_evd_wait(evd, 1000, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	dt_assert_empty(evd);
	dt_pair_close(&pair);
}

/* origin: peer.15 */
/* clause: c.4.14, c.12.3 */
TEST(peer_15__free_with_a_waiter__the_wait_ends_at_once_with_abort)
{
	unsigned long long began;
	struct dt_side side;
	struct evd_waiter w;

	dt_side_open(&side, "soft", DT_SEPARATE);
	evd_waiter_start(&w, dt_evd(&side, DAT_EVD_DTO_FLAG, 8), 4000000, 1);
	began = dt_now_us();
	dt_ok(dat_evd_free(w.evd));
	ck_assert_uint_lt(dt_now_us() - began, 3000000);
	dt_assert_ret(evd_waiter_join(&w), DAT_ERROR(DAT_ABORT, DAT_NO_SUBTYPE));
	evd_waiter_start(&w, side.recv, 4000000, 1);
	began = dt_now_us();
	dt_side_close(&side);
	ck_assert_uint_lt(dt_now_us() - began, 3000000);
	dt_assert_ret(evd_waiter_join(&w), DAT_ERROR(DAT_ABORT, DAT_NO_SUBTYPE));
}

/* origin: peer.18 */
/* clause: c.4.8, c.4.4 */
TEST(peer_18__events_trickle_in_below_the_threshold__the_deadline_stays)
{
	unsigned long long began, took;
	struct dt_side side;
	struct evd_waiter w;
	DAT_EVD_HANDLE evd;
	DAT_EP_HANDLE ep;

	dt_side_open(&side, "soft", DT_SEPARATE);
	evd = dt_evd(&side, MIXED, 32);
	/* By the default flags of its endpoint the EVD allows thresholds. */
	dt_ok(dat_ep_create(side.ia, side.pz, evd, side.request, side.connect, NULL, &ep));
	began = dt_now_us();
	evd_waiter_start(&w, evd, HALF_A_SECOND, 20);
	for (int i = 0; !w.done && i < 19; i++) {
		dt_post_se(evd, 1);
		dt_nap_ms(100);
	}
	dt_assert_type(evd_waiter_join(&w), DAT_TIMEOUT_EXPIRED);
	took = dt_now_us() - began;
	ck_assert_uint_ge(took, HALF_A_SECOND);
	ck_assert_uint_lt(took, 3 * HALF_A_SECOND);
	ck_assert_int_ge(w.more, 1);
	dt_side_close(&side);
}

/* origin: peer.19 */
/* clause: c.4.8, g.1.5 */
TEST(peer_19__timeouts_below_a_millisecond__are_waited_out)
{
	static const DAT_TIMEOUT timeouts[] = { 10, 100, 500, 900, 1500 };
	unsigned long long began;
	struct dt_side side;
	DAT_EVENT event;
	DAT_COUNT more;

	dt_side_open(&side, "soft", DT_SEPARATE);
	for (size_t i = 0; i < sizeof timeouts / sizeof timeouts[0]; i++) {
		began = dt_now_us();
		dt_assert_type(
		    dat_evd_wait(side.recv, timeouts[i], 1, &event, &more), DAT_TIMEOUT_EXPIRED);
		ck_assert_uint_ge(dt_now_us() - began, timeouts[i]);
	}
	began = dt_now_us();
	dt_assert_type(dat_evd_wait(side.recv, 0, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	dt_side_close(&side);
}

/* origin: peer.20 */
/* clause: c.4.6 */
TEST(peer_20__the_longest_timeouts__do_not_end_at_once)
{
	/* As nanoseconds in 32 bits, the last two would overflow to very short times. */
	static const DAT_TIMEOUT timeouts[] = { DAT_TIMEOUT_INFINITE, DAT_TIMEOUT_INFINITE - 1,
		DAT_TIMEOUT_INFINITE - 999999, 0x80000000, 4294968 };
	struct cno_waiter of_cno;
	struct dt_side side;
	struct evd_waiter w;
	DAT_CNO_HANDLE cno;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;

	dt_side_open(&side, "soft", DT_SEPARATE);
	cno = contract_cno(&side);
	evd = contract_evd(&side, cno, DAT_EVD_SOFTWARE_FLAG, 8);
	for (size_t i = 0; i < sizeof timeouts / sizeof timeouts[0]; i++) {
		evd_waiter_start(&w, evd, timeouts[i], 1);
		ck_assert_int_eq(w.done, 0);
		dt_post_se(evd, 1);
		dt_assert_ret(evd_waiter_join(&w), DAT_SUCCESS);
		cno_waiter_start(&of_cno, cno, timeouts[i]);
		ck_assert_int_eq(of_cno.done, 0);
		dt_post_se(evd, 1);
		dt_assert_ret(cno_waiter_join(&of_cno), DAT_SUCCESS);
		dt_ok(dat_evd_dequeue(evd, &event));
	}
	dt_side_close(&side);
}

/* Existing programs compare the raw value on EVDs for completions: there it has no class. */
/* origin: peer.21 */
/* clause: g.1.1, c.5.2 */
TEST(peer_21__empty_and_expired__have_one_type_on_every_kind_of_evd)
{
	struct dt_side side;
	DAT_EVD_HANDLE evds[4];
	DAT_EVENT event, many[MANY];
	DAT_COUNT more;

	dt_side_open(&side, "soft", DT_SEPARATE);
	evds[0] = side.recv;
	evds[1] = side.connect;
	evds[2] = dt_evd(&side, DAT_EVD_SOFTWARE_FLAG, 8);
	evds[3] = dt_evd(&side, MIXED, 8);
	for (int i = 0; i < 4; i++) {
		dt_assert_type(dat_evd_dequeue(evds[i], &event), DAT_QUEUE_EMPTY);
		dt_assert_type(dat_evd_wait(evds[i], 0, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	}
	/* Of completions: what the fast way says, and the general one. */
	ck_assert_uint_eq(dat_evd_dequeue(side.recv, &event), 0x000d0000u);
	ck_assert_uint_eq(dat_evd_dequeue_n(side.recv, MANY, many, &more), 0x000d0000u);
	dt_side_close(&side);
}

/* origin: peer.32 */
/* clause: c.4.9, c.4.10, c.4.11 */
TEST(peer_32__errors_of_a_wait__leave_the_evd_as_it_was)
{
	struct dt_side side;
	struct evd_waiter w;
	DAT_EVENT event;
	DAT_COUNT more;
	DAT_EVD_HANDLE evd;

	dt_side_open(&side, "soft", DT_SEPARATE);
	evd = dt_evd(&side, MIXED, 8);
	for (int i = 0; i < 3; i++) {
		dt_assert_type(dat_evd_wait(side.ep, 0, 1, &event, &more), DAT_INVALID_HANDLE);
		dt_assert_ret(dat_evd_wait(evd, 0, 1, NULL, &more),
		    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
		dt_assert_ret(dat_evd_wait(evd, 0, 1, &event, NULL),
		    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
		dt_assert_ret(dat_evd_wait(evd, 0, 0, &event, &more),
		    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
		dt_assert_ret(dat_evd_wait(evd, 0, 100000, &event, &more),
		    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
		evd_waiter_start(&w, evd, DAT_TIMEOUT_INFINITE, 1);
		dt_assert_type(dat_evd_wait(evd, 0, 1, &event, &more), DAT_INVALID_STATE);
		dt_post_se(evd, 1);
		dt_assert_ret(evd_waiter_join(&w), DAT_SUCCESS);
	}
	dt_side_close(&side);
}
