/* SPDX-License-Identifier: BSD-3-Clause */
/* Clauses c.4, c.5 and c.7: waiting, dequeuing, and EVDs that may not be waited on. */
#include <signal.h>

#include "lib/contract.h"

#define FOREVER (DT_FOREVER_MS * 1000u)
#define BOTH (DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG)

/* An EVD with a completion queue and one without. */
static const DAT_EVD_FLAGS kinds[] = { DAT_EVD_SOFTWARE_FLAG, BOTH };

DT_CASE("c.4-wait:timeout");

/* clause: c.4.8, c.4.4 */
TEST_LOOP(timeout__is_absolute__whatever_wakes_the_thread_meanwhile, dt_personalities())
{
	unsigned long long begun, took;
	struct dt_side side;
	DAT_EVD_HANDLE evd;
	struct evd_waiter w;

	contract_side(&side, _i);
	evd = dt_evd(&side, BOTH, 128);
	begun = dt_now_us();
	evd_waiter_start(&w, evd, 150000, 101);
	for (int i = 0; i < 100 && !w.done; i++) {
		dt_post_se(evd, 1); /* each wakes it, none completes the threshold */
		dt_nap_ms(20);
	}
	dt_assert_type(evd_waiter_join(&w), DAT_TIMEOUT_EXPIRED);
	took = dt_now_us() - begun;
	ck_assert_int_ge(w.more, 1);
	ck_assert_uint_ge(took, 150000);
	/* If each wake-up restarted the timeout, the wait would take two seconds. */
	ck_assert_uint_lt(took, 1500000);
	dt_side_close(&side);
}

/* clause: c.4.8, c.4.5 */
TEST(timeout__below_a_millisecond__is_neither_zero_nor_forgotten)
{
	static const DAT_TIMEOUT timeouts[] = { 1, 50, 300, 999, 1001, 2500 };
	unsigned long long begun;
	struct dt_side side;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;
	DAT_COUNT more;

	contract_side(&side, 0);
	for (int k = 0; k < 2; k++) {
		evd = dt_evd(&side, kinds[k], 8);
		for (size_t i = 0; i < sizeof timeouts / sizeof timeouts[0]; i++) {
			begun = dt_now_us();
			dt_assert_type(
			    dat_evd_wait(evd, timeouts[i], 1, &event, &more), DAT_TIMEOUT_EXPIRED);
			ck_assert_uint_ge(dt_now_us() - begun + 1, timeouts[i]);
			ck_assert_int_eq(more, 0);
		}
		dt_assert_type(dat_evd_wait(evd, 0, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	}
	dt_side_close(&side);
}

/* clause: c.4.6 */
TEST_LOOP(timeout__infinite__waits_until_something_comes, dt_personalities())
{
	struct dt_side side;
	struct evd_waiter w;
	DAT_EVD_HANDLE evd;

	contract_side(&side, _i);
	for (int k = 0; k < 2; k++) {
		evd = dt_evd(&side, kinds[k], 8);
		evd_waiter_start(&w, evd, DAT_TIMEOUT_INFINITE, 1);
		dt_nap_ms(150);
		ck_assert_int_eq(w.done, 0);
		dt_post_se(evd, 5);
		dt_ok(evd_waiter_join(&w));
		ck_assert_ptr_eq(w.event.event_data.software_event_data.pointer, (void *)5);
		ck_assert_int_eq(w.more, 0);
	}
	dt_side_close(&side);
}

DT_CASE("c.4-wait:wait");

/* clause: c.4.3, c.4.4 */
TEST(threshold__every_number__wakes_at_the_last_and_takes_the_oldest)
{
	struct dt_side side;
	struct evd_waiter w;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;
	DAT_COUNT more;

	contract_side(&side, 0);
	for (int k = 0; k < 2; k++)
		for (DAT_COUNT threshold = 1; threshold <= 4; threshold++) {
			evd = dt_evd(&side, kinds[k], 8);
			evd_waiter_start(&w, evd, FOREVER, threshold);
			for (DAT_COUNT i = 1; i < threshold; i++)
				dt_post_se(evd, (uintptr_t)i);
			dt_nap_ms(5);
			ck_assert_int_eq(w.done, 0);
			dt_post_se(evd, (uintptr_t)threshold);
			dt_ok(evd_waiter_join(&w));
			ck_assert_int_eq(w.more, threshold - 1);
			ck_assert_ptr_eq(w.event.event_data.software_event_data.pointer, (void *)1);
			dt_assert_type(
			    dat_evd_wait(evd, 100, threshold, &event, &more), DAT_TIMEOUT_EXPIRED);
			ck_assert_int_eq(more, threshold - 1);
			for (uintptr_t i = 2; i <= (uintptr_t)threshold; i++)
				contract_expect_se(evd, i);
			dt_ok(dat_evd_free(evd));
		}
	dt_side_close(&side);
}

/* clause: c.4.11, c.4.10, c.4.9, c.5.3, c.5.7 */
TEST(bad_arguments__each_gets_its_own_code_and_takes_nothing)
{
	const DAT_RETURN bad_threshold = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	const DAT_RETURN bad_handle = DAT_ERROR(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
	struct dt_side side;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;
	DAT_COUNT more;

	contract_side(&side, 0);
	for (int k = 0; k < 2; k++) {
		evd = dt_evd(&side, kinds[k], 8);
		dt_post_se(evd, 1);
		dt_assert_ret(dat_evd_wait(evd, 0, 0, &event, &more), bad_threshold);
		dt_assert_ret(dat_evd_wait(evd, 0, -1, &event, &more), bad_threshold);
		dt_assert_ret(dat_evd_wait(evd, 0, contract_query(evd).evd_qlen + 1, &event, &more),
		    bad_threshold);
		dt_assert_ret(dat_evd_wait(evd, 0, 1, NULL, &more),
		    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
		dt_assert_ret(dat_evd_wait(evd, 0, 1, &event, NULL),
		    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
		dt_assert_ret(
		    dat_evd_dequeue(evd, NULL), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
		contract_expect_se(evd, 1);
		dt_ok(dat_evd_free(evd));
		dt_assert_ret(dat_evd_wait(evd, 0, 1, &event, &more), bad_handle);
		dt_assert_ret(dat_evd_dequeue(evd, &event), bad_handle);
	}
	dt_assert_ret(dat_evd_wait(side.ep, 0, 1, &event, &more), bad_handle);
	dt_assert_ret(dat_evd_dequeue(side.ep, &event), bad_handle);
	dt_side_close(&side);
}

/* clause: c.4.1, c.5.4 */
TEST_LOOP(waiter__owns_the_evd__others_are_refused_and_take_nothing, dt_personalities())
{
	const DAT_RETURN refused = DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE);
	struct dt_side side;
	struct evd_waiter w;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;
	DAT_COUNT more;

	contract_side(&side, _i);
	evd = dt_evd(&side, BOTH, 8);
	evd_waiter_start(&w, evd, FOREVER, 2);
	dt_assert_ret(dat_evd_wait(evd, 0, 1, &event, &more), refused);
	dt_assert_ret(dat_evd_dequeue(evd, &event), refused);
	dt_post_se(evd, 1);
	dt_nap_ms(5);
	dt_assert_ret(dat_evd_dequeue(evd, &event), refused);
	dt_post_se(evd, 2);
	dt_ok(evd_waiter_join(&w));
	contract_expect_se(evd, 2);
	dt_side_close(&side);
}

/* clause: c.4.2, c.4.7 */
TEST_LOOP(
    waiter__on_an_evd_with_a_cno__the_cno_is_not_triggered_until_it_leaves, dt_personalities())
{
	DAT_EVD_HANDLE evd, triggered;
	struct dt_side side;
	struct evd_waiter w;
	DAT_CNO_HANDLE cno;

	contract_side(&side, _i);
	cno = contract_cno(&side);
	evd = contract_evd(&side, cno, BOTH, 8);
	evd_waiter_start(&w, evd, FOREVER, 3);
	dt_post_se(evd, 1);
	dt_post_se(evd, 2);
	dt_assert_type(dat_cno_wait(cno, 20000, &triggered), DAT_QUEUE_EMPTY);
	dt_post_se(evd, 3);
	dt_ok(evd_waiter_join(&w));
	/* The events that it left are reported to the next sink. */
	dt_ok(dat_cno_wait(cno, FOREVER, &triggered));
	ck_assert_ptr_eq(triggered, evd);
	contract_expect_se(evd, 2);
	contract_expect_se(evd, 3);
	dt_ok(dat_evd_disable(evd));
	evd_waiter_start(&w, evd, FOREVER, 1);
	dt_post_se(evd, 4);
	dt_ok(evd_waiter_join(&w));
	dt_side_close(&side);
}

static void
nothing(int number)
{
	(void)number;
}

/* clause: c.4.13 */
TEST_LOOP(waiter__interrupted_by_a_signal__loses_nothing, dt_personalities())
{
	const struct sigaction action = { .sa_handler = nothing };
	struct dt_side side;
	struct evd_waiter w;
	DAT_EVD_HANDLE evd;

	contract_side(&side, _i);
	sigaction(SIGUSR1, &action, NULL);
	for (int k = 0; k < 2; k++) {
		evd = dt_evd(&side, kinds[k], 8);
		evd_waiter_start(&w, evd, DAT_TIMEOUT_INFINITE, 2);
		dt_post_se(evd, 7);
		while (!w.done) {
			pthread_kill(w.thread, SIGUSR1);
			dt_nap_ms(1);
		}
		dt_assert_ret(evd_waiter_join(&w), DAT_ERROR(DAT_INTERRUPTED_CALL, DAT_NO_SUBTYPE));
		contract_expect_se(evd, 7);
	}
	dt_side_close(&side);
}

/* clause: c.4.14, c.12.3 */
TEST_LOOP(waiter__its_evd_is_freed_or_its_adapter_closed__gets_abort, dt_personalities())
{
	struct evd_waiter w[2];
	struct dt_side side;
	DAT_EVD_HANDLE evd;

	contract_side(&side, _i);
	for (int k = 0; k < 2; k++) {
		evd = dt_evd(&side, kinds[k], 8);
		dt_post_se(evd, 1);
		evd_waiter_start(&w[0], evd, DAT_TIMEOUT_INFINITE, 2);
		dt_ok(dat_evd_free(evd));
		dt_assert_ret(evd_waiter_join(&w[0]), DAT_ERROR(DAT_ABORT, DAT_NO_SUBTYPE));
	}
	for (int k = 0; k < 2; k++)
		evd_waiter_start(&w[k], dt_evd(&side, kinds[k], 8), DAT_TIMEOUT_INFINITE, 1);
	dt_side_close(&side);
	for (int k = 0; k < 2; k++)
		dt_assert_ret(evd_waiter_join(&w[k]), DAT_ERROR(DAT_ABORT, DAT_NO_SUBTYPE));
}

DT_CASE("c.4-wait:unwaitable");

/* clause: c.7.1, c.4.12 */
TEST_LOOP(unwaitable__wakes_the_waiter_and_refuses_the_next, dt_personalities())
{
	const DAT_RETURN refused = DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_UNWAITABLE);
	struct dt_side side;
	struct evd_waiter w;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;
	DAT_COUNT more;

	contract_side(&side, _i);
	for (int k = 0; k < 2; k++) {
		evd = dt_evd(&side, kinds[k], 8);
		dt_post_se(evd, 1);
		evd_waiter_start(&w, evd, DAT_TIMEOUT_INFINITE, 2);
		dt_ok(dat_evd_set_unwaitable(evd));
		dt_assert_ret(evd_waiter_join(&w), refused);
		dt_assert_ret(dat_evd_wait(evd, FOREVER, 1, &event, &more), refused);
		dt_ok(dat_evd_set_unwaitable(evd));
		dt_assert_ret(dat_evd_wait(evd, 0, 1, &event, &more), refused);
		contract_expect_se(evd, 1);
	}
	dt_side_close(&side);
}

/* clause: c.7.1, c.4.12 */
TEST_LOOP(unwaitable__cleared_at_once__the_blocked_waiter_goes_all_the_same, dt_personalities())
{
	struct dt_side side;
	struct evd_waiter w;
	DAT_EVD_HANDLE evd;

	contract_side(&side, _i);
	for (int k = 0; k < 10; k++) {
		evd = dt_evd(&side, kinds[k % 2], 8);
		evd_waiter_start(&w, evd, 1000000, 1);
		dt_ok(dat_evd_set_unwaitable(evd));
		dt_ok(dat_evd_clear_unwaitable(evd));
		dt_assert_ret(evd_waiter_join(&w),
		    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_UNWAITABLE));
		dt_post_se(evd, 1);
		evd_waiter_start(&w, evd, FOREVER, 1);
		dt_assert_ret(evd_waiter_join(&w), DAT_SUCCESS);
	}
	dt_side_close(&side);
}

/* clause: c.7.2, c.7.3, c.5.5, c.7.4 */
TEST_LOOP(unwaitable__dequeue_and_cno_go_on__and_it_can_be_cleared, dt_personalities())
{
	const DAT_RETURN bad_handle = DAT_ERROR(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
	DAT_EVD_HANDLE evd, triggered;
	struct dt_side side;
	DAT_CNO_HANDLE cno;
	DAT_EVENT event;
	DAT_COUNT more;

	contract_side(&side, _i);
	cno = contract_cno(&side);
	evd = contract_evd(&side, cno, BOTH, 8);
	dt_ok(dat_evd_set_unwaitable(evd));
	ck_assert_uint_eq(
	    contract_query(evd).evd_state, DAT_EVD_STATE_ENABLED | DAT_EVD_STATE_UNWAITABLE);
	dt_post_se(evd, 1);
	dt_ok(dat_cno_wait(cno, FOREVER, &triggered));
	ck_assert_ptr_eq(triggered, evd);
	contract_expect_se(evd, 1);
	dt_ok(dat_evd_disable(evd));
	dt_post_se(evd, 2);
	contract_expect_se(evd, 2);
	dt_ok(dat_evd_clear_unwaitable(evd));
	ck_assert_uint_eq(
	    contract_query(evd).evd_state, DAT_EVD_STATE_DISABLED | DAT_EVD_STATE_WAITABLE);
	dt_post_se(evd, 3);
	dt_ok(dat_evd_wait(evd, FOREVER, 1, &event, &more));
	dt_assert_ret(dat_evd_set_unwaitable(side.ep), bad_handle);
	dt_assert_ret(dat_evd_clear_unwaitable(side.ep), bad_handle);
	dt_side_close(&side);
}

struct readers {
	DAT_EVD_HANDLE evd;
	int n;
	_Atomic(int) taken;
	_Atomic(int) seen[4000];
	_Atomic(int) disorder;
};

static void *
take_all(void *arg)
{
	struct readers *t = arg;
	DAT_EVENT event;
	int last = -1, id;

	while (t->taken < t->n) {
		if (dat_evd_dequeue(t->evd, &event) != DAT_SUCCESS)
			continue;
		id = (int)(uintptr_t)event.event_data.software_event_data.pointer;
		t->disorder += id <= last;
		last = id;
		t->seen[id]++;
		t->taken++;
	}
	return NULL;
}

DT_CASE("c.4-wait:dequeue");

/* clause: c.5.6, c.5.1, d.4.5 */
TEST(dequeue__by_three_threads__each_event_once_and_each_thread_in_order)
{
	static struct readers t;
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };
	pthread_t thread[3];
	struct dt_side side;

	memset(&t, 0, sizeof t);
	t.n = contract_load(4000) < 4000 ? contract_load(4000) : 4000;
	contract_side(&side, 0);
	t.evd = dt_evd(&side, BOTH, 64);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, take_all, &t), 0);
	for (int i = 0; i < t.n;) {
		event.event_data.software_event_data.pointer = (DAT_PVOID)(uintptr_t)i;
		i += dat_evd_post_se(t.evd, &event) == DAT_SUCCESS;
	}
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < t.n; i++)
		ck_assert_int_eq(t.seen[i], 1);
	ck_assert_int_eq(t.disorder, 0);
	dt_side_close(&side);
}

/* clause: c.5.2, c.4.4 */
TEST(nothing_there__has_the_codes_that_programs_compare)
{
	struct dt_side side;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;
	DAT_COUNT more;

	contract_side(&side, 0);
	evd = dt_evd(&side, kinds[0], 8);
	ck_assert_uint_eq(dat_evd_dequeue(evd, &event), 0x800D0000);
	ck_assert_uint_eq(dat_evd_wait(evd, 0, 1, &event, &more), 0x800F0000);
	evd = dt_evd(&side, kinds[1], 8);
	ck_assert_uint_eq(dat_evd_dequeue(evd, &event), 0x000D0000);
	ck_assert_uint_eq(dat_evd_wait(evd, 0, 1, &event, &more), 0x000F0000);
	dt_side_close(&side);
}
