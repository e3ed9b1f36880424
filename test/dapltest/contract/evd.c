/* SPDX-License-Identifier: BSD-3-Clause */
/* Clauses c.2, c.3, c.9, c.11 and c.12: create, query, post to and free an EVD. */
#include "fault/fault.h"
#include "lib/contract.h"

#define BOTH (DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG)

static const DAT_EVD_FLAGS kinds[] = { DAT_EVD_SOFTWARE_FLAG, BOTH };

static DAT_RETURN
open_with(const char *name, DAT_COUNT qlen, DAT_EVD_HANDLE *async, DAT_IA_HANDLE *ia)
{
	return dat_ia_open((DAT_NAME_PTR)(uintptr_t)name, qlen, async, ia);
}

DT_CASE("c.2-evd:create");

/* clause: c.2.2, c.2.3, c.2.4, c.2.5, c.2.6 */
TEST(create__bad_arguments__each_gets_its_own_code_and_nothing_is_made)
{
	DAT_EVD_HANDLE evd = (DAT_EVD_HANDLE)3;
	DAT_CNO_HANDLE freed, foreign;
	struct dt_side side, other;
	DAT_IA_ATTR attr;

	contract_side(&side, 0);
	contract_side(&other, 0);
	foreign = contract_cno(&other);
	freed = contract_cno(&side);
	dt_ok(dat_cno_free(freed));
	dt_ok(dat_ia_query(side.ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
	for (int k = 0; k < 2; k++) {
		dt_assert_ret(dat_evd_create(side.ep, 8, DAT_HANDLE_NULL, kinds[k], &evd),
		    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
		dt_assert_ret(dat_evd_create(side.ia, 0, DAT_HANDLE_NULL, kinds[k], &evd),
		    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
		dt_assert_ret(dat_evd_create(side.ia, -1, DAT_HANDLE_NULL, kinds[k], &evd),
		    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
		dt_assert_ret(
		    dat_evd_create(side.ia, attr.max_evd_qlen + 1, DAT_HANDLE_NULL, kinds[k], &evd),
		    DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD));
		dt_assert_ret(dat_evd_create(side.ia, 8, side.ep, kinds[k], &evd),
		    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
		dt_assert_ret(dat_evd_create(side.ia, 8, freed, kinds[k], &evd),
		    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
		dt_assert_ret(dat_evd_create(side.ia, 8, foreign, kinds[k], &evd),
		    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
	}
	dt_assert_ret(dat_evd_create(side.ia, 8, DAT_HANDLE_NULL, 0, &evd),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
	dt_assert_ret(dat_evd_create(side.ia, 8, DAT_HANDLE_NULL,
			  DAT_EVD_SOFTWARE_FLAG | (DAT_EVD_FLAGS)0x1000, &evd),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
	dt_assert_ret(dat_evd_create(side.ia, 8, DAT_HANDLE_NULL, kinds[0], NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
	ck_assert_ptr_eq(evd, (DAT_EVD_HANDLE)3);
	dt_side_close(&side);
	dt_side_close(&other);
}

/* clause: c.2.1, c.2.7, c.3.1, c.11.1 */
TEST(query__returns_attributes_and_state)
{
	DAT_EVD_PARAM param;
	struct dt_side side;
	DAT_CNO_HANDLE cno;
	DAT_EVD_HANDLE evd;

	contract_side(&side, 0);
	cno = contract_cno(&side);
	for (int k = 0; k < 2; k++) {
		evd = contract_evd(&side, DAT_HANDLE_NULL, kinds[k], 9);
		param = contract_query(evd);
		ck_assert_ptr_eq(param.ia_handle, side.ia);
		ck_assert_int_ge(param.evd_qlen, 9);
		ck_assert_uint_eq(param.evd_state, DAT_EVD_STATE_ENABLED | DAT_EVD_STATE_WAITABLE);
		ck_assert_ptr_null(param.cno_handle);
		ck_assert_int_eq(param.evd_flags, kinds[k]);
		dt_ok(dat_evd_modify_cno(evd, cno));
		dt_ok(dat_evd_disable(evd));
		dt_ok(dat_evd_set_unwaitable(evd));
		param = contract_query(evd);
		ck_assert_uint_eq(
		    param.evd_state, DAT_EVD_STATE_DISABLED | DAT_EVD_STATE_UNWAITABLE);
		ck_assert_ptr_eq(param.cno_handle, cno);
		dt_ok(dat_evd_free(evd));
	}
	dt_side_close(&side);
}

/* clause: c.11.2, c.11.3 */
TEST(query__bad_arguments__each_gets_its_own_code)
{
	DAT_EVD_PARAM param;
	struct dt_side side;

	contract_side(&side, 0);
	dt_assert_ret(dat_evd_query(side.recv, DAT_EVD_FIELD_ALL, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_assert_type(
	    dat_evd_query(side.recv, (DAT_EVD_PARAM_MASK)0x20, &param), DAT_INVALID_PARAMETER);
	dt_assert_ret(dat_evd_query(side.ep, DAT_EVD_FIELD_ALL, &param),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE));
	for (int mask = 0; mask <= 0x1f; mask++)
		dt_ok(dat_evd_query(side.recv, (DAT_EVD_PARAM_MASK)mask, &param));
	dt_side_close(&side);
}

DT_CASE("c.2-evd:post");

/* clause: c.9.1, c.9.2, c.9.3, c.9.4, c.9.5, d.0.15 */
TEST_LOOP(post_se__rules, dt_personalities())
{
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT }, got;
	struct dt_side side;
	DAT_EVD_HANDLE evd;
	DAT_COUNT n;

	contract_side(&side, _i);
	for (int k = 0; k < 2; k++) {
		evd = dt_evd(&side, kinds[k], 3);
		dt_assert_ret(
		    dat_evd_post_se(evd, NULL), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
		event.event_number = DAT_CONNECTION_EVENT_ESTABLISHED;
		dt_assert_ret(dat_evd_post_se(evd, &event),
		    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
		event.event_number = DAT_SOFTWARE_EVENT;
		event.evd_handle = side.ep; /* ignored */
		n = contract_query(evd).evd_qlen;
		for (DAT_COUNT i = 0; i < n; i++) {
			event.event_data.software_event_data.pointer = (DAT_PVOID)(uintptr_t)i;
			dt_ok(dat_evd_post_se(evd, &event));
		}
		ck_assert_uint_eq(dat_evd_post_se(evd, &event), 0x800E0000);
		for (DAT_COUNT i = 0; i < n; i++) {
			dt_ok(dat_evd_dequeue(evd, &got));
			ck_assert_ptr_eq(got.evd_handle, evd);
			ck_assert_int_eq(got.event_number, DAT_SOFTWARE_EVENT);
			ck_assert_ptr_eq(
			    got.event_data.software_event_data.pointer, (DAT_PVOID)(uintptr_t)i);
		}
		dt_assert_empty(evd); /* and it is usable: it lost no event */
		dt_ok(dat_evd_post_se(evd, &event));
		dt_ok(dat_evd_free(evd));
		dt_assert_ret(
		    dat_evd_post_se(evd, &event), DAT_ERROR(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE));
	}
	dt_assert_stays_empty(side.async);
	for (DAT_EVD_FLAGS other = DAT_EVD_CR_FLAG; other <= DAT_EVD_ASYNC_FLAG;
	     other = (DAT_EVD_FLAGS)(other * 2))
		dt_assert_ret(dat_evd_post_se(dt_evd(&side, other, 3), &event),
		    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	dt_assert_ret(
	    dat_evd_post_se(side.ep, &event), DAT_ERROR(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE));
	dt_side_close(&side);
}

/* clause: c.9.6 */
TEST_LOOP(
    post_se__on_a_completion_queue__wakes_the_waiter_while_completions_come, dt_personalities())
{
	struct evd_waiter w;
	struct dt_pair pair;
	DAT_EVENT event;

	dt_personality(_i);
	dt_pair_open(&pair, DT_SEPARATE);
	pair.b.recv = dt_evd(&pair.b, BOTH, 16);
	pair.b.ep = dt_ep(&pair.b, NULL);
	dt_connect_pair(&pair);
	for (uintptr_t i = 0; i < 10; i++) {
		evd_waiter_start(&w, pair.b.recv, DAT_TIMEOUT_INFINITE, 2);
		dt_recv(&pair.b, 0, 64, i);
		if (i % 2)
			dt_post_se(pair.b.recv, i);
		dt_send(&pair.a, 0, 64, i);
		dt_expect_dto(pair.a.request, pair.a.ep, i, DAT_DTO_SUCCESS, &event);
		if (i % 2 == 0)
			dt_post_se(pair.b.recv, i);
		dt_ok(evd_waiter_join(&w));
		dt_poll_next(pair.b.recv, &event);
		ck_assert_int_ne(event.event_number, w.event.event_number);
		dt_assert_empty(pair.b.recv);
	}
	dt_pair_close(&pair);
}

DT_CASE("c.2-evd:free");

/* clause: c.12.2, c.12.4 */
TEST_LOOP(free__with_events_queued__they_go_with_it, dt_personalities())
{
	struct dt_pair pair;
	DAT_EVENT event;

	contract_pair(&pair, DT_SEPARATE, _i);
	for (DAT_UINT64 i = 0; i < 4; i++) {
		dt_recv(&pair.b, 0, 64, i);
		dt_send(&pair.a, 0, 64, i);
		dt_expect_dto(pair.a.request, pair.a.ep, i, DAT_DTO_SUCCESS, &event);
	}
	dt_ok(dat_ep_free(pair.b.ep));
	dt_ok(dat_evd_free(pair.b.recv));
	dt_assert_ret(dat_evd_free(pair.b.recv), DAT_ERROR(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE));
	dt_assert_ret(dat_evd_free(pair.b.pz), DAT_ERROR(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE));
	dt_pair_close(&pair);
}

/* clause: c.12.2, c.12.3, e.3.9 */
TEST_LOOP(free__requests_queued_under_a_waiter_for_more__they_are_rejected, dt_personalities())
{
	struct evd_waiter w;
	struct dt_pair pair;

	dt_personality(_i);
	dt_pair_open(&pair, DT_SEPARATE);
	evd_waiter_start(&w, pair.b.cr, DAT_TIMEOUT_INFINITE, 2);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_nap_ms(30);
	dt_ok(dat_psp_free(pair.b.psp));
	dt_ok(dat_evd_free(pair.b.cr));
	dt_assert_ret(evd_waiter_join(&w), DAT_ERROR(DAT_ABORT, DAT_NO_SUBTYPE));
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, pair.a.ep);
	dt_pair_close(&pair);
}

/* clause: c.12.1, c.2.14 */
TEST(free__in_use__is_refused_by_the_name)
{
	const DAT_RETURN in_use = DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE);
	struct dt_side side;

	contract_side(&side, 0);
	dt_side_listen(&side);
	dt_assert_ret(dat_evd_free(side.recv), in_use);
	dt_assert_ret(dat_evd_free(side.request), in_use);
	dt_assert_ret(dat_evd_free(side.connect), in_use);
	dt_assert_ret(dat_evd_free(side.cr), in_use);
	dt_assert_ret(dat_evd_free(side.async), in_use);
	dt_ok(dat_ep_free(side.ep));
	dt_ok(dat_psp_free(side.psp));
	dt_ok(dat_evd_free(side.recv));
	dt_ok(dat_evd_free(side.request));
	dt_ok(dat_evd_free(side.connect));
	dt_ok(dat_evd_free(side.cr));
	dt_assert_ret(dat_evd_free(side.async), in_use);
	dt_side_close(&side);
}

DT_CASE("c.2-evd:async", .teardown = fault_clear);

/* clause: c.2.10, c.2.12 */
TEST(async__created_or_given_badly__each_gets_its_own_code)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	struct dt_side side;
	DAT_IA_HANDLE ia;

	contract_side(&side, 0);
	dt_assert_ret(
	    open_with("soft", 0, &async, &ia), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_ret(
	    open_with("soft", -1, &async, &ia), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	ck_assert_ptr_null(async);
	async = side.recv; /* no such stream */
	dt_assert_ret(open_with("soft", 8, &async, &ia),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_ASYNC));
	async = side.ep;
	dt_assert_ret(open_with("soft", 8, &async, &ia),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_ASYNC));
	async = DAT_HANDLE_NULL;
	dt_ok(open_with("soft", 5, &async, &ia));
	ck_assert_int_ge(contract_query(async).evd_qlen, 5);
	ck_assert_int_eq(contract_query(async).evd_flags, DAT_EVD_ASYNC_FLAG);
	dt_close(ia);
	dt_assert_type(dat_evd_free(async), DAT_INVALID_HANDLE);
	dt_side_close(&side);
}

static void
expect_overflow(DAT_EVD_HANDLE async, DAT_EVD_HANDLE evd)
{
	DAT_EVENT event;

	dt_expect(async, DAT_ASYNC_ERROR_EVD_OVERFLOW, &event);
	ck_assert_ptr_eq(event.event_data.asynch_error_event_data.dat_handle, evd);
}

/* clause: c.2.11 */
TEST(async__shared_by_two_openings__gets_the_events_of_both)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL, shared, queried;
	DAT_IA_HANDLE one, two;
	DAT_EVENT event[2];
	struct dt_side client;

	dt_side_open(&client, contract_device(), DT_SEPARATE);
	dt_ok(open_with(contract_device(), 8, &async, &one));
	shared = async;
	/* it has the length of its creator */
	dt_ok(open_with(contract_device(), 0, &shared, &two));
	ck_assert_ptr_eq(shared, async);
	dt_ok(dat_ia_query(two, &queried, 0, NULL, 0, NULL));
	ck_assert_ptr_eq(queried, async);
	expect_overflow(async, contract_overflow(&client, one));
	expect_overflow(async, contract_overflow(&client, two));
	if (dt_is_soft()) {
		fault_raise(IBV_EVENT_PORT_ERR, NULL);
		for (int i = 0; i < 2; i++)
			dt_expect(async, DAT_ASYNC_ERROR_IA_CATASTROPHIC, &event[i]);
		ck_assert_ptr_ne(event[0].event_data.asynch_error_event_data.dat_handle,
		    event[1].event_data.asynch_error_event_data.dat_handle);
	}
	dt_close(two);
	expect_overflow(async, contract_overflow(&client, one));
	if (dt_is_soft()) {
		fault_raise(IBV_EVENT_PORT_ERR, NULL);
		dt_expect(async, DAT_ASYNC_ERROR_IA_CATASTROPHIC, &event[0]);
		ck_assert_ptr_eq(event[0].event_data.asynch_error_event_data.dat_handle, one);
	}
	dt_assert_stays_empty(async);
	dt_close(one);
	dt_side_close(&client);
}

/* clause: c.2.13 */
TEST(async__exists_elsewhere__query_and_the_other_opening_report_it)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL, exists = DAT_EVD_ASYNC_EXISTS, queried, evd;
	DAT_IA_HANDLE one, two;
	struct dt_side client;
	DAT_EP_HANDLE ep;
	DAT_PZ_HANDLE pz;
	DAT_EVENT event;

	dt_side_open(&client, contract_device(), DT_SEPARATE);
	dt_ok(open_with(contract_device(), 8, &async, &one));
	dt_ok(open_with(contract_device(), 8, &exists, &two));
	ck_assert_ptr_eq(exists, DAT_EVD_ASYNC_EXISTS);
	dt_ok(dat_ia_query(two, &queried, 0, NULL, 0, NULL));
	ck_assert_ptr_eq(queried, DAT_EVD_OUT_OF_SCOPE);
	/* An event about an object of the second adapter. */
	expect_overflow(async, contract_overflow(&client, two));
	dt_side_close(&client);
	if (!dt_is_soft()) {
		dt_assert_stays_empty(async);
		goto close;
	}
	/* Another one: its completion is lost. */
	dt_ok(dat_pz_create(two, &pz));
	dt_ok(dat_evd_create(
	    two, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG, &evd));
	dt_ok(dat_ep_create(two, pz, evd, evd, evd, NULL, &ep));
	dt_ok(dat_ep_post_recv(ep, 0, NULL, dt_cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
	fault_cq_overrun(1);
	dt_ok(dat_ep_connect(ep, dt_address(two), 1, DAT_TIMEOUT_INFINITE, 0, NULL,
	    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	do
		dt_next(async, &event);
	while (event.event_number == DAT_ASYNC_ERROR_EP_BROKEN);
	ck_assert_int_eq(event.event_number, DAT_ASYNC_ERROR_EVD_OVERFLOW);
	ck_assert_ptr_eq(event.event_data.asynch_error_event_data.dat_handle, evd);
	/* It is reported for each adapter; the second has no async EVD. */
	fault_raise(IBV_EVENT_DEVICE_FATAL, NULL);
	dt_expect(async, DAT_ASYNC_ERROR_IA_CATASTROPHIC, &event);
	ck_assert_ptr_eq(event.event_data.asynch_error_event_data.dat_handle, one);
	dt_assert_stays_empty(async);
close:
	dt_close(two);
	dt_close(one);
}
