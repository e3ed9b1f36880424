/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clauses d.3 and d.5: events lost and devices that fail.
 *
 * The device is the software device with faults.
 */
#include <stdlib.h>
#include <string.h>

#include "fault/fault.h"
#include "lib/contract.h"

static void
open_side(struct dt_side *side, enum dt_evds evds)
{
	dt_side_open(side, "faulty", evds);
}

static void
open_pair(struct dt_pair *pair, enum dt_evds evds, int i)
{
	dt_personality(i);
	open_side(&pair->a, evds);
	open_side(&pair->b, evds);
	dt_side_listen(&pair->b);
	dt_connect_pair(pair);
}

/* Two adapters read the device's events: that of the queue pair may come before or after. */
static void
expect_async(DAT_EVD_HANDLE async, DAT_EVENT_NUMBER number, DAT_HANDLE handle, DAT_COUNT reason)
{
	DAT_EVENT event;

	do
		dt_next(async, &event);
	while (event.event_number == DAT_ASYNC_ERROR_EP_BROKEN);
	ck_assert_int_eq(event.event_number, number);
	ck_assert_ptr_eq(event.event_data.asynch_error_event_data.dat_handle, handle);
	ck_assert_int_eq(event.event_data.asynch_error_event_data.reason, reason);
}

static void
expect_overflow(DAT_EVD_HANDLE async, DAT_EVD_HANDLE evd)
{
	expect_async(async, DAT_ASYNC_ERROR_EVD_OVERFLOW, evd, DAT_EVD_OVERFLOW_ERROR);
}

/* An event found no room. */
static void
await_overflow(DAT_EVD_HANDLE evd)
{
	struct dat_rearm_evd_counters counters;
	int ms = 0;

	do {
		dt_ok(dat_evd_query_upcall_counters(evd, &counters));
		ck_assert_int_lt(ms++, DT_FOREVER_MS);
		dt_nap_ms(1);
	} while (counters.overflows == 0);
}

/* A delayed device shows completions late.  A query of the endpoint's state polls them. */
static void
await_shown(const struct dt_side *side, DAT_UINT64 completions)
{
	struct dat_rearm_evd_counters counters;
	DAT_BOOLEAN idle;
	int ms = 0;

	for (;;) {
		dt_ok(dat_ep_get_status(side->ep, NULL, &idle, NULL));
		dt_ok(dat_evd_query_upcall_counters(side->recv, &counters));
		if (counters.dto_events == completions)
			return;
		ck_assert_int_lt(ms++, DT_FOREVER_MS);
		dt_nap_ms(1);
	}
}

/* Two messages arrive, the completion of the third is lost. */
static void
lose_the_third(struct dt_pair *pair)
{
	DAT_EVENT event;

	for (DAT_UINT64 i = 0; i < 3; i++)
		dt_recv(&pair->b, 0, 64, i);
	for (DAT_UINT64 i = 0; i < 2; i++) {
		dt_send(&pair->a, 0, 64, i);
		dt_expect_dto(pair->a.request, pair->a.ep, i, DAT_DTO_SUCCESS, &event);
	}
	if (strcmp(getenv("SOFTVERBS_PERSONALITY"), "delayed") == 0)
		await_shown(&pair->b, 2);
	fault_cq_overrun(1);
	dt_send(&pair->a, 0, 64, 2);
}

DT_CASE("d.5-overflow:overflow", .teardown = fault_clear, .needs = dt_is_soft,
    .reason = "needs a completion queue that overruns on demand");

/* clause: d.5.1, d.3.1, d.0.11 */
TEST_LOOP(completion_queue__overruns__is_reported_once_after_what_was_queued, dt_personalities())
{
	struct dt_pair pair;
	DAT_EVENT event;
	DAT_COUNT more;

	open_pair(&pair, DT_SEPARATE, _i);
	lose_the_third(&pair);
	expect_overflow(pair.b.async, pair.b.recv);
	for (DAT_UINT64 i = 0; i < 2; i++)
		dt_expect_dto(pair.b.recv, pair.b.ep, i, DAT_DTO_SUCCESS, &event);
	dt_assert_ret(
	    dat_evd_dequeue(pair.b.recv, &event), DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE));
	dt_assert_ret(dat_evd_wait(pair.b.recv, DAT_TIMEOUT_INFINITE, 1, &event, &more),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE));
	while (dat_evd_dequeue(pair.b.async, &event) == DAT_SUCCESS)
		ck_assert_int_ne(event.event_number, DAT_ASYNC_ERROR_EVD_OVERFLOW);
	dt_pair_close(&pair);
}

/* clause: d.5.1 */
TEST_LOOP(completion_queue__overruns_under_a_waiter__releases_it, dt_personalities())
{
	struct evd_waiter w;
	struct dt_pair pair;
	DAT_RETURN ret;
	DAT_EVENT event;
	DAT_COUNT more;

	open_pair(&pair, DT_SEPARATE, _i);
	dt_recv(&pair.b, 0, 64, 1);
	evd_waiter_start(&w, pair.b.recv, DAT_TIMEOUT_INFINITE, 1);
	fault_cq_overrun(1);
	dt_send(&pair.a, 0, 64, 1);
	ret = evd_waiter_join(&w);
	expect_overflow(pair.b.async, pair.b.recv);
	/* It may poll the failed queue before the loop has read what the device says of it. */
	if (DAT_GET_TYPE(ret) == DAT_INTERNAL_ERROR)
		ret = dat_evd_wait(pair.b.recv, DAT_TIMEOUT_INFINITE, 1, &event, &more);
	dt_assert_ret(ret, DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE));
	dt_pair_close(&pair);
}

struct tally {
	_Atomic(int) dtos, connection;
};

static void
count(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	struct tally *tally = instance;

	(void)more;
	if (event->event_number == DAT_DTO_COMPLETION_EVENT)
		tally->dtos++;
	else
		tally->connection++;
}

/* clause: d.5.1 */
TEST_LOOP(
    completion_queue__overruns_under_upcalls__connection_events_still_come, dt_personalities())
{
	struct tally tally = { 0, 0 };
	const DAT_UPCALL_OBJECT upcall = { &tally, count };
	struct dt_pair pair;
	DAT_EVENT event;

	open_pair(&pair, DT_MERGED, _i);
	dt_ok(dat_evd_modify_upcall(
	    pair.b.recv, DAT_UPCALL_SINGLE_INSTANCE, &upcall, DAT_UPCALL_INVOC_ANY));
	lose_the_third(&pair);
	expect_overflow(pair.b.async, pair.b.recv);
	dt_await_count(&tally.dtos, 2);
	dt_await_count(&tally.connection, 1); /* the queue pair has failed */
	ck_assert_int_eq(tally.dtos, 2);
	dt_nap_ms(20);
	ck_assert_int_eq(tally.connection, 1);
	while (dat_evd_dequeue(pair.b.async, &event) == DAT_SUCCESS)
		ck_assert_int_eq(event.event_number, DAT_ASYNC_ERROR_EP_BROKEN);
	dt_pair_close(&pair);
}

/* clause: d.5.1, c.14.16, c.14.30 */
TEST_LOOP(
    completion_queue__overran_while_disabled__dequeue_and_enable_come_to_an_end, dt_personalities())
{
	struct tally tally = { 0, 0 };
	const DAT_UPCALL_OBJECT upcall = { &tally, count };
	struct dt_pair pair;
	DAT_EVENT event;
	int refused = 0;
	DAT_RETURN ret;

	open_pair(&pair, DT_SEPARATE, _i);
	lose_the_third(&pair);
	expect_overflow(pair.b.async, pair.b.recv);
	do {
		ret = dat_evd_modify_upcall(
		    pair.b.recv, DAT_UPCALL_SINGLE_INSTANCE, &upcall, DAT_UPCALL_INVOC_NEW);
		if (DAT_GET_TYPE(ret) == DAT_INVALID_STATE)
			ck_assert_int_le(++refused, 2);
		while (dat_evd_dequeue(pair.b.recv, &event) == DAT_SUCCESS)
			tally.dtos++;
	} while (DAT_GET_TYPE(ret) == DAT_INVALID_STATE);
	dt_ok(ret); /* for the events of its other streams */
	ck_assert_int_eq(tally.dtos, 2);
	dt_pair_close(&pair);
}

/* clause: d.5.1 */
TEST_LOOP(completion_queue__overruns_under_a_cno__the_cno_is_notified, dt_personalities())
{
	DAT_EVD_HANDLE triggered;
	struct dt_pair pair;
	DAT_CNO_HANDLE cno;
	DAT_EVENT event;

	open_pair(&pair, DT_SEPARATE, _i);
	cno = contract_cno(&pair.b);
	dt_ok(dat_evd_modify_cno(pair.b.recv, cno));
	lose_the_third(&pair);
	expect_overflow(pair.b.async, pair.b.recv);
	dt_ok(dat_cno_wait(cno, DT_FOREVER_MS * 1000u, &triggered));
	ck_assert_ptr_eq(triggered, pair.b.recv);
	for (DAT_UINT64 i = 0; i < 2; i++)
		dt_expect_dto(pair.b.recv, pair.b.ep, i, DAT_DTO_SUCCESS, &event);
	dt_assert_type(dat_evd_dequeue(pair.b.recv, &event), DAT_INVALID_STATE);
	dt_pair_close(&pair);
}

/* clause: d.5.1 */
TEST_LOOP(completion_queue__overrun__the_evd_may_still_be_changed_and_freed, dt_personalities())
{
	const DAT_UPCALL_OBJECT upcall = { NULL, count };
	struct dt_pair pair;
	DAT_CNO_HANDLE cno;

	open_pair(&pair, DT_SEPARATE, _i);
	lose_the_third(&pair);
	expect_overflow(pair.b.async, pair.b.recv);
	dt_ok(dat_evd_resize(pair.b.recv, 100));
	cno = contract_cno(&pair.b);
	dt_ok(dat_evd_modify_cno(pair.b.recv, cno));
	dt_ok(dat_evd_modify_cno(pair.b.recv, DAT_HANDLE_NULL));
	dt_ok(dat_evd_set_unwaitable(pair.b.recv));
	dt_ok(
	    dat_evd_modify_upcall(pair.b.recv, DAT_UPCALL_DISABLE, &upcall, DAT_UPCALL_INVOC_NEW));
	dt_ok(dat_ep_free(pair.b.ep));
	dt_ok(dat_evd_free(pair.b.recv));
	dt_pair_close(&pair);
}

DT_CASE("d.5-overflow:events");

/* clause: d.5.2 */
TEST(connection_requests__more_than_the_evd_holds__are_rejected_and_reported_once)
{
	DAT_EP_HANDLE eps[3];
	struct dt_pair pair;
	DAT_EVENT event;
	DAT_CR_HANDLE cr;

	dt_personality(0);
	dt_pair_open(&pair, DT_SEPARATE);
	dt_ok(dat_psp_free(pair.b.psp));
	dt_ok(dat_evd_free(pair.b.cr));
	pair.b.cr = dt_evd(&pair.b, DAT_EVD_CR_FLAG, 1);
	dt_ok(dat_psp_create_any(
	    pair.b.ia, &pair.b.qual, pair.b.cr, DAT_PSP_CONSUMER_FLAG, &pair.b.psp));
	for (int i = 0; i < 3; i++) {
		eps[i] = dt_ep(&pair.a, NULL);
		pair.a.ep = eps[i];
		dt_connect(&pair.a, &pair.b, NULL, 0);
		if (i > 0)
			dt_expect_connection(
			    pair.a.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, eps[i]);
		else
			dt_nap_ms(20);
	}
	expect_overflow(pair.b.async, pair.b.cr);
	dt_assert_stays_empty(pair.b.async);
	cr = dt_request(&pair.b);
	dt_assert_type(dat_evd_dequeue(pair.b.cr, &event), DAT_QUEUE_EMPTY);
	dt_ok(dat_cr_accept(cr, pair.b.ep, 0, NULL));
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED, eps[0]);
	dt_pair_close(&pair);
}

/* clause: d.5.3 */
TEST(connection_events__more_than_the_evd_holds__are_reported_once)
{
	DAT_EP_HANDLE eps[3];
	struct dt_pair pair;
	DAT_EVENT event;

	dt_personality(0);
	dt_pair_open(&pair, DT_SEPARATE);
	pair.b.connect = dt_evd(&pair.b, DAT_EVD_CONNECTION_FLAG, 1);
	for (int i = 0; i < 3; i++) {
		eps[i] = pair.b.ep = dt_ep(&pair.b, NULL);
		pair.a.ep = dt_ep(&pair.a, NULL);
		dt_connect(&pair.a, &pair.b, NULL, 0);
		dt_ok(dat_cr_accept(dt_request(&pair.b), eps[i], 0, NULL));
		dt_expect_established(&pair.a);
		dt_await_state(eps[i], DAT_EP_STATE_CONNECTED);
	}
	expect_overflow(pair.b.async, pair.b.connect);
	dt_assert_stays_empty(pair.b.async);
	dt_expect_connection(pair.b.connect, DAT_CONNECTION_EVENT_ESTABLISHED, eps[0]);
	dt_assert_type(dat_evd_dequeue(pair.b.connect, &event), DAT_INVALID_STATE);
	dt_pair_close(&pair);
}

DT_CASE("d.5-overflow:overflow", .teardown = fault_clear, .needs = dt_is_soft,
    .reason = "needs a completion queue that overruns on demand");

/* clause: d.5.4, d.3.2 */
TEST(async_evd__is_full__nothing_else_ends)
{
	static const enum ibv_event_type events[] = { IBV_EVENT_DEVICE_FATAL, IBV_EVENT_PORT_ERR };
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL, evd;
	DAT_IA_HANDLE ia;
	DAT_EVENT event;

	dt_personality(0);
	dt_ok(dat_ia_open((DAT_NAME_PTR)(uintptr_t) "faulty", 1, &async, &ia));
	ck_assert_int_eq(contract_query(async).evd_qlen, 1);
	for (int i = 0; i < 2; i++)
		fault_raise(events[i], NULL);
	await_overflow(async);
	expect_async(async, DAT_ASYNC_ERROR_IA_CATASTROPHIC, ia, DAT_IA_CATASTROPHIC_ERROR);
	dt_assert_ret(dat_evd_dequeue(async, &event), DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE));
	dt_ok(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &evd));
	dt_post_se(evd, 1);
	contract_expect_se(evd, 1);
	dt_close(ia);
}

DT_CASE("d.5-overflow:device", .teardown = fault_clear, .needs = dt_is_soft,
    .reason = "needs a device that fails on demand");

/* clause: d.0.12, d.3.2, d.3.3, d.3.5 */
TEST_LOOP(device__fails__every_adapter_gets_the_events_that_concern_it, dt_personalities())
{
	static const enum ibv_event_type harmless[] = { IBV_EVENT_PORT_ACTIVE, IBV_EVENT_LID_CHANGE,
		IBV_EVENT_PKEY_CHANGE, IBV_EVENT_SM_CHANGE, IBV_EVENT_CLIENT_REREGISTER,
		IBV_EVENT_GID_CHANGE };
	struct dt_side one, two;

	dt_personality(_i);
	open_side(&one, DT_SEPARATE);
	open_side(&two, DT_SEPARATE);
	fault_raise(IBV_EVENT_DEVICE_FATAL, NULL);
	expect_async(one.async, DAT_ASYNC_ERROR_IA_CATASTROPHIC, one.ia, DAT_IA_CATASTROPHIC_ERROR);
	expect_async(two.async, DAT_ASYNC_ERROR_IA_CATASTROPHIC, two.ia, DAT_IA_CATASTROPHIC_ERROR);
	fault_raise(IBV_EVENT_PORT_ERR, NULL);
	expect_async(one.async, DAT_ASYNC_ERROR_IA_CATASTROPHIC, one.ia, DAT_IA_OTHER_ERROR);
	expect_async(two.async, DAT_ASYNC_ERROR_IA_CATASTROPHIC, two.ia, DAT_IA_OTHER_ERROR);
	for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
		fault_raise(harmless[i], NULL);
	dt_assert_stays_empty(one.async);
	dt_assert_empty(two.async);
	dt_side_close(&one);
	dt_side_close(&two);
}

/* clause: d.0.14 */
TEST_LOOP(device__refuses_a_request_for_notification__is_reported_once_and_tried_again,
    dt_personalities())
{
	DAT_EVD_HANDLE triggered;
	struct dt_pair pair;
	DAT_CNO_HANDLE cno;

	open_pair(&pair, DT_SEPARATE, _i);
	cno = contract_cno(&pair.b);
	fault_cq_refuse_arms(3);
	dt_ok(dat_evd_modify_cno(pair.b.recv, cno));
	expect_async(pair.b.async, DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR, pair.b.recv,
	    DAT_EVD_OTHER_ERROR);
	dt_recv(&pair.b, 0, 64, 1);
	dt_send(&pair.a, 0, 64, 1);
	dt_ok(dat_cno_wait(cno, DT_FOREVER_MS * 1000u, &triggered));
	ck_assert_ptr_eq(triggered, pair.b.recv);
	dt_assert_stays_empty(pair.b.async);
	dt_pair_close(&pair);
}

/* clause: c.10.6, c.10.5 */
TEST_LOOP(device__cannot_resize__the_evd_gets_its_length_all_the_same, dt_personalities())
{
	struct dt_pair pair;
	DAT_EVENT event;

	open_pair(&pair, DT_SEPARATE, _i);
	fault_cq_refuse_resize(true);
	for (DAT_UINT64 i = 0; i < 8; i++) {
		dt_recv(&pair.b, 0, 64, i);
		dt_send(&pair.a, 0, 64, i);
		dt_expect_dto(pair.a.request, pair.a.ep, i, DAT_DTO_SUCCESS, &event);
	}
	dt_ok(dat_evd_resize(pair.b.recv, 1000));
	ck_assert_int_ge(contract_query(pair.b.recv).evd_qlen, 1000);
	dt_ok(dat_evd_resize(pair.b.recv, 9));
	for (DAT_UINT64 i = 0; i < 8; i++)
		dt_expect_dto(pair.b.recv, pair.b.ep, i, DAT_DTO_SUCCESS, &event);
	dt_recv(&pair.b, 0, 64, 9);
	dt_send(&pair.a, 0, 64, 9);
	dt_expect_dto(pair.b.recv, pair.b.ep, 9, DAT_DTO_SUCCESS, &event);
	dt_pair_close(&pair);
}

/* clause: c.10.1, c.10.5 */
TEST(device__never_resizes__an_evd_holds_all_that_it_was_made_longer_for)
{
	const int n = 1000;
	struct dt_pair pair;
	struct dt_side first;
	DAT_EP_ATTR attr;
	DAT_EP_PARAM param;
	DAT_EVENT event;

	open_side(&first, DT_SEPARATE);
	fault_cq_refuse_resize(true);
	open_side(&pair.a, DT_SEPARATE);
	open_side(&pair.b, DT_SEPARATE);
	dt_side_listen(&pair.b);
	dt_ok(dat_evd_resize(pair.b.recv, n));
	dt_ok(dat_ep_query(pair.b.ep, DAT_EP_FIELD_EP_ATTR_ALL, &param));
	attr = param.ep_attr;
	attr.max_recv_dtos = n;
	dt_ok(dat_ep_free(pair.b.ep));
	pair.b.ep = dt_ep(&pair.b, &attr);
	dt_connect_pair(&pair);
	for (int i = 0; i < n; i++)
		dt_recv(&pair.b, 0, 64, (DAT_UINT64)i);
	for (int i = 0; i < n; i++) {
		dt_send(&pair.a, 0, 64, (DAT_UINT64)i);
		dt_poll_next(pair.a.request, &event);
	}
	for (int i = 0; i < n; i++)
		dt_expect_dto(pair.b.recv, pair.b.ep, (DAT_UINT64)i, DAT_DTO_SUCCESS, &event);
	dt_assert_stays_empty(pair.b.async);
	dt_pair_close(&pair);
	dt_side_close(&first);
}
