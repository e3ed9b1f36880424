/* SPDX-License-Identifier: BSD-3-Clause */
/* Connecting: the events of each side, rejections, timeouts, full queues */
#include "lib/dt.h"

#include <stdlib.h>

static const char hello[48] = "from the one that connects, with forty-eight...";
static const char welcome[48] = "from the one that accepts, as long as the other";

DT_CASE("connect:active");

/* clause: e.1.16, d.0.2 */
TEST(connect__accepted__establishes_both_ends_once)
{
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_CONNECTED);
	ck_assert_int_eq(dt_state(pair.b.ep), DAT_EP_STATE_CONNECTED);
	dt_assert_stays_empty(pair.a.connect);
	dt_assert_stays_empty(pair.b.connect);
	dt_assert_stays_empty(pair.b.cr);
	dt_pair_close(&pair);
}

/* clause: d.0.3, e.3.6, e.4.1 */
TEST(connect__private_data__travels_both_ways)
{
	struct dt_pair pair;
	DAT_CR_PARAM param;
	DAT_CR_HANDLE cr;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect(&pair.a, &pair.b, hello, sizeof hello);
	cr = dt_request(&pair.b);
	dt_ok(dat_cr_query(cr, (DAT_CR_PARAM_MASK)0xF, &param));
	ck_assert_int_ge(param.private_data_size, (int)sizeof hello);
	ck_assert_mem_eq(param.private_data, hello, sizeof hello);
	ck_assert_int_eq(param.remote_ia_address_ptr->sa_family, AF_INET);
	ck_assert_ptr_null(param.local_ep_handle);
	/* The consumer may write to the data until it answers, and may answer with it. */
	memcpy(param.private_data, welcome, sizeof welcome);
	dt_ok(dat_cr_accept(cr, pair.b.ep, sizeof welcome, param.private_data));

	dt_expect(pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
	ck_assert_int_ge(
	    event.event_data.connect_event_data.private_data_size, (int)sizeof welcome);
	ck_assert_mem_eq(event.event_data.connect_event_data.private_data, welcome, sizeof welcome);
	dt_expect(pair.b.connect, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
	ck_assert_int_eq(event.event_data.connect_event_data.private_data_size, 0);
	dt_pair_close(&pair);
}

/* clause: d.0.4, e.3.8 */
TEST(connect__rejected_by_the_consumer__is_a_peer_rejection_with_data)
{
	struct dt_pair pair;
	DAT_CR_HANDLE cr;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect(&pair.a, &pair.b, hello, sizeof hello);
	cr = dt_request(&pair.b);
	dt_ok(dat_cr_reject(cr, sizeof welcome, (DAT_PVOID)(uintptr_t)welcome));
	dt_expect(pair.a.connect, DAT_CONNECTION_EVENT_PEER_REJECTED, &event);
	ck_assert_ptr_eq(event.event_data.connect_event_data.ep_handle, pair.a.ep);
	ck_assert_int_ge(
	    event.event_data.connect_event_data.private_data_size, (int)sizeof welcome);
	ck_assert_mem_eq(event.event_data.connect_event_data.private_data, welcome, sizeof welcome);
	ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_DISCONNECTED);
	dt_assert_ret(
	    dat_cr_reject(cr, 0, NULL), DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR));
	dt_assert_stays_empty(pair.a.connect);
	dt_pair_close(&pair);
}

/* clause: e.5.2 */
TEST(connect__rejected_without_data__is_still_the_peers_doing)
{
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_cr_reject(dt_request(&pair.b), 0, NULL));
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_PEER_REJECTED, pair.a.ep);
	dt_pair_close(&pair);
}

/* clause: d.0.5 */
TEST(connect__no_listener__is_a_non_peer_rejection)
{
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_ok(dat_psp_free(pair.b.psp));
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, pair.a.ep);
	dt_assert_stays_empty(pair.a.connect);
	dt_pair_close(&pair);
}

#define UNUSED_QUAL 21347 /* no test listens there, and none of the ports that are given out */

/* Two sides; neither listens, and requests are held for a minute. */
static void
open_without_listener(struct dt_pair *pair)
{
	setenv("SOFTVERBS_LISTENER_WAIT", "60000", 1);
	dt_side_open(&pair->a, "soft", DT_SEPARATE);
	dt_side_open(&pair->b, "soft", DT_SEPARATE);
	unsetenv("SOFTVERBS_LISTENER_WAIT");
	pair->b.cr = dt_evd(&pair->b, DAT_EVD_CR_FLAG, 8);
}

DT_CASE("connect:held");

/* clause: e.3.18 */
TEST(connect__listener_comes_a_little_later__is_established)
{
	struct dt_pair pair;

	if (!dt_on_soft("only the software device holds a request for a listener that comes later"))
		return;
	open_without_listener(&pair);
	pair.b.qual = UNUSED_QUAL;
	dt_connect(&pair.a, &pair.b, hello, sizeof hello);
	dt_nap_ms(30);
	dt_assert_empty(pair.a.connect);
	dt_ok(
	    dat_psp_create(pair.b.ia, UNUSED_QUAL, pair.b.cr, DAT_PSP_CONSUMER_FLAG, &pair.b.psp));
	dt_ok(dat_cr_accept(dt_request(&pair.b), pair.b.ep, 0, NULL));
	dt_expect_established(&pair.a);
	dt_expect_established(&pair.b);
	dt_pair_close(&pair);
}

/* clause: e.3.18, d.0.6 */
TEST(connect__times_out_while_it_waits_for_a_listener__one_event)
{
	struct dt_pair pair;

	if (!dt_on_soft("only the software device holds a request for a listener that comes later"))
		return;
	open_without_listener(&pair);
	dt_ok(dat_ep_connect(pair.a.ep, dt_address(pair.b.ia), UNUSED_QUAL, 30000, 0, NULL,
	    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_TIMED_OUT, pair.a.ep);
	ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_DISCONNECTED);
	/* The request ended with the attempt. */
	dt_ok(
	    dat_psp_create(pair.b.ia, UNUSED_QUAL, pair.b.cr, DAT_PSP_CONSUMER_FLAG, &pair.b.psp));
	dt_nap_ms(30);
	dt_assert_empty(pair.b.cr);
	dt_assert_stays_empty(pair.a.connect);
	dt_pair_close(&pair);
}

/* clause: e.3.18 */
TEST(connect__disconnected_while_it_waits_for_a_listener__one_event)
{
	struct dt_pair pair;

	if (!dt_on_soft("only the software device holds a request for a listener that comes later"))
		return;
	open_without_listener(&pair);
	pair.b.qual = UNUSED_QUAL;
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_nap_ms(10);
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(&pair.a);
	dt_assert_stays_empty(pair.a.connect);
	dt_pair_close(&pair);
}

/* clause: e.3.4, e.3.18 */
TEST(connect__after_the_service_point_was_freed__is_refused_at_once)
{
	struct dt_pair pair;

	open_without_listener(&pair);
	dt_side_listen(&pair.b);
	dt_ok(dat_psp_free(pair.b.psp));
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, pair.a.ep);
	dt_pair_close(&pair);
}

DT_CASE("connect:unreachable", .seconds = 100);

/* clause: d.0.10 */
TEST(connect__to_an_unused_address__is_unreachable)
{
	struct sockaddr_in nowhere = { .sin_family = AF_INET };
	struct dt_side side;
	DAT_EVENT event;
	DAT_COUNT more;

	/* An address of a network reserved for documentation. */
	nowhere.sin_addr.s_addr = htonl(0xc6336401);
	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_ep_connect(side.ep, (DAT_IA_ADDRESS_PTR)&nowhere, 7777, DAT_TIMEOUT_INFINITE, 0,
	    NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	/* With a real network the resolution takes up to a minute. */
	dt_ok(dat_evd_wait(side.connect, 90000000, 1, &event, &more));
	ck_assert_int_eq(event.event_number, DAT_CONNECTION_EVENT_UNREACHABLE);
	ck_assert_ptr_eq(event.event_data.connect_event_data.ep_handle, side.ep);
	ck_assert_int_eq(dt_state(side.ep), DAT_EP_STATE_DISCONNECTED);
	dt_side_close(&side);
}

DT_CASE("connect:active");

/* clause: d.0.6, d.0.9 */
TEST(connect__unanswered__times_out_and_the_late_accept_fails)
{
	struct dt_pair pair;
	DAT_CR_HANDLE cr;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_ok(dat_ep_connect(pair.a.ep, dt_address(pair.b.ia), pair.b.qual, 30000, 0, NULL,
	    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	cr = dt_request(&pair.b);
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_TIMED_OUT, pair.a.ep);
	ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_DISCONNECTED);
	dt_ok(dat_cr_accept(cr, pair.b.ep, 0, NULL));
	dt_expect_connection(
	    pair.b.connect, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR, pair.b.ep);
	ck_assert_int_eq(dt_state(pair.b.ep), DAT_EP_STATE_DISCONNECTED);
	dt_assert_stays_empty(pair.a.connect);
	dt_assert_stays_empty(pair.b.connect);
	dt_pair_close(&pair);
}

TEST(connect__with_a_timeout_that_is_not_needed__stays_connected)
{
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_ok(dat_ep_connect(pair.a.ep, dt_address(pair.b.ia), pair.b.qual, 500000, 0, NULL,
	    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	dt_ok(dat_cr_accept(dt_request(&pair.b), pair.b.ep, 0, NULL));
	dt_expect_established(&pair.a);
	dt_nap_ms(600);
	ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_CONNECTED);
	dt_assert_empty(pair.a.connect);
	dt_pair_close(&pair);
}

/* clause: e.1.3, e.1.4 */
TEST(connect__bad_arguments__each_gets_its_own_code)
{
	DAT_PVOID data = (DAT_PVOID)(uintptr_t)hello;
	struct sockaddr unknown = { .sa_family = AF_UNIX };
	struct dt_pair pair;
	DAT_IA_ADDRESS_PTR to;
	DAT_EP_HANDLE ep;

	dt_pair_open(&pair, DT_SEPARATE);
	to = dt_address(pair.b.ia);
#define CONNECT(addr, timeout, size, data, qos, flags) \
	dat_ep_connect(pair.a.ep, (addr), pair.b.qual, (timeout), (size), (data), (qos), (flags))
	dt_assert_ret(CONNECT(NULL, 1000, 0, NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_type(
	    CONNECT(&unknown, 1000, 0, NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
	    DAT_INVALID_ADDRESS);
	dt_assert_ret(CONNECT(to, 0, 0, NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
	dt_assert_ret(CONNECT(to, 1000, 57, data, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
	dt_assert_ret(CONNECT(to, 1000, 8, NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
	dt_assert_ret(CONNECT(to, 1000, 0, NULL, DAT_QOS_PREMIUM, DAT_CONNECT_DEFAULT_FLAG),
	    DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE));
#undef CONNECT
	dt_ok(dat_ep_create(
	    pair.a.ia, pair.a.pz, pair.a.recv, pair.a.request, DAT_HANDLE_NULL, NULL, &ep));
	dt_assert_ret(dat_ep_connect(ep, to, pair.b.qual, 1000, 0, NULL, DAT_QOS_BEST_EFFORT,
			  DAT_CONNECT_DEFAULT_FLAG),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_NOTREADY));
	ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_UNCONNECTED);
	dt_pair_close(&pair);
}

/* clause: e.1.2 */
TEST(connect__in_a_wrong_state__names_the_state)
{
	struct dt_pair pair;
	DAT_IA_ADDRESS_PTR to;

	dt_pair_open(&pair, DT_SEPARATE);
	to = dt_address(pair.b.ia);
#define AGAIN(want) \
	dt_assert_ret(dat_ep_connect(pair.a.ep, to, pair.b.qual, 1000, 0, NULL, \
			  DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG), \
	    DAT_ERROR(DAT_INVALID_STATE, want))
	dt_connect(&pair.a, &pair.b, NULL, 0);
	AGAIN(DAT_INVALID_STATE_EP_ACTCONNPENDING);
	dt_ok(dat_cr_accept(dt_request(&pair.b), pair.b.ep, 0, NULL));
	dt_expect_established(&pair.a);
	AGAIN(DAT_INVALID_STATE_EP_CONNECTED);
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	AGAIN(DAT_INVALID_STATE_EP_DISCONNECTED);
#undef AGAIN
	dt_pair_close(&pair);
}

/* clause: e.1.5 */
TEST(dup_connect__of_a_connected_endpoint__reaches_the_same_listener)
{
	DAT_CONN_QUAL qual = 0x123456789abcULL; /* beyond the ports */
	DAT_EP_HANDLE first, served;
	struct dt_pair pair;
	DAT_CR_PARAM asked;
	DAT_EP_PARAM param;
	DAT_PSP_HANDLE psp;
	DAT_CR_HANDLE cr;
	DAT_RETURN ret;

	dt_pair_open(&pair, DT_SEPARATE);
	/* Another process may use its port. */
	do
		ret = dat_psp_create(pair.b.ia, ++qual, pair.b.cr, DAT_PSP_CONSUMER_FLAG, &psp);
	while (DAT_GET_TYPE(ret) == DAT_CONN_QUAL_IN_USE);
	dt_ok(ret);
	pair.b.psp = psp;
	pair.b.qual = qual;
	first = pair.a.ep;
	pair.a.ep = dt_ep(&pair.a, NULL);
	dt_assert_ret(dat_ep_dup_connect(
			  pair.a.ep, first, DAT_TIMEOUT_INFINITE, 0, NULL, DAT_QOS_BEST_EFFORT),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED));
	{
		DAT_EP_HANDLE second = pair.a.ep;

		pair.a.ep = first;
		dt_connect_pair(&pair);
		pair.a.ep = second;
	}
	served = pair.b.ep;
	pair.b.ep = dt_ep(&pair.b, NULL);
	/* One that is not answered, and one with data. */
	dt_ok(dat_ep_dup_connect(pair.a.ep, first, 50000, 0, NULL, DAT_QOS_BEST_EFFORT));
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_TIMED_OUT, pair.a.ep);
	dt_ok(dat_cr_reject(dt_request(&pair.b), 0, NULL));
	dt_ok(dat_ep_reset(pair.a.ep));
	dt_ok(dat_ep_dup_connect(pair.a.ep, first, DAT_TIMEOUT_INFINITE, 5,
	    (DAT_PVOID)(uintptr_t) "once", DAT_QOS_BEST_EFFORT));
	cr = dt_request(&pair.b);
	dt_ok(dat_cr_query(cr, DAT_CR_FIELD_ALL, &asked));
	ck_assert_str_eq(asked.private_data, "once");
	dt_ok(dat_cr_accept(cr, pair.b.ep, 0, NULL));
	dt_expect_established(&pair.a);
	dt_expect_established(&pair.b);
	ck_assert_int_eq(dt_state(served), DAT_EP_STATE_CONNECTED);
	dt_ok(dat_ep_query(pair.a.ep, DAT_EP_FIELD_ALL, &param));
	ck_assert_uint_eq(param.remote_port_qual, pair.b.qual);
	dt_pair_close(&pair);
}

DT_CASE("connect:overflow");

/* clause: d.5.2, d.0.11 */
/* origin: race.D7 */
TEST(cr_evd__full__rejects_the_rest_and_reports_the_overflow_once)
{
	DAT_EP_HANDLE eps[4];
	struct dt_pair pair;
	int rejected = 0;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_ok(dat_psp_free(pair.b.psp));
	dt_ok(dat_evd_free(pair.b.cr));
	pair.b.cr = dt_evd(&pair.b, DAT_EVD_CR_FLAG, 1);
	dt_ok(
	    dat_psp_create(pair.b.ia, pair.b.qual, pair.b.cr, DAT_PSP_CONSUMER_FLAG, &pair.b.psp));
	for (int i = 0; i < 4; i++) {
		eps[i] = pair.a.ep = dt_ep(&pair.a, NULL);
		dt_connect(&pair.a, &pair.b, NULL, 0);
	}
	for (; rejected < 3; rejected++)
		dt_expect(pair.a.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, &event);
	dt_expect(pair.b.async, DAT_ASYNC_ERROR_EVD_OVERFLOW, &event);
	ck_assert_ptr_eq(event.event_data.asynch_error_event_data.dat_handle, pair.b.cr);
	dt_assert_stays_empty(pair.b.async);
	/* The events queued before are delivered, and the EVD stays usable. */
	dt_ok(dat_evd_dequeue(pair.b.cr, &event));
	dt_ok(dat_cr_reject(event.event_data.cr_arrival_event_data.cr_handle, 0, NULL));
	dt_expect(pair.a.connect, DAT_CONNECTION_EVENT_PEER_REJECTED, &event);
	dt_assert_type(dat_evd_dequeue(pair.b.cr, &event), DAT_QUEUE_EMPTY);
	(void)eps;
	dt_pair_close(&pair);
}

/* clause: e.3.9, c.12.2 */
TEST(cr_evd__freed_with_a_request_queued__rejects_it)
{
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_nap_ms(30);
	dt_ok(dat_psp_free(pair.b.psp));
	dt_ok(dat_evd_free(pair.b.cr));
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, pair.a.ep);
	dt_pair_close(&pair);
}

/* clause: d.5.3 */
TEST(connect_evd__full__reports_the_overflow)
{
	struct dt_pair pair;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	evd = dt_evd(&pair.a, DAT_EVD_CONNECTION_FLAG, 1);
	dt_ok(dat_ep_create(
	    pair.a.ia, pair.a.pz, pair.a.recv, pair.a.request, evd, NULL, &pair.a.ep));
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_cr_accept(dt_request(&pair.b), pair.b.ep, 0, NULL));
	dt_expect_established(&pair.b);
	dt_await_state(pair.a.ep, DAT_EP_STATE_CONNECTED);
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect(pair.a.async, DAT_ASYNC_ERROR_EVD_OVERFLOW, &event);
	ck_assert_ptr_eq(event.event_data.asynch_error_event_data.dat_handle, evd);
	dt_expect_connection(evd, DAT_CONNECTION_EVENT_ESTABLISHED, pair.a.ep);
	dt_assert_type(dat_evd_dequeue(evd, &event), DAT_INVALID_STATE);
	dt_pair_close(&pair);
}

DT_CASE("connect:endpoint");

/* clause: e.1.14 */
TEST(ep_query__of_a_connection__returns_both_ends)
{
	DAT_EP_PARAM param;
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_ok(dat_ep_query(pair.a.ep, DAT_EP_FIELD_ALL, &param));
	ck_assert_int_eq(param.ep_state, DAT_EP_STATE_UNCONNECTED);
	ck_assert_ptr_null(param.remote_ia_address_ptr);
	dt_connect_pair(&pair);
	dt_ok(dat_ep_query(pair.a.ep, DAT_EP_FIELD_ALL, &param));
	ck_assert_ptr_eq(param.ia_handle, pair.a.ia);
	ck_assert_int_eq(param.ep_state, DAT_EP_STATE_CONNECTED);
	ck_assert_ptr_eq(param.pz_handle, pair.a.pz);
	ck_assert_ptr_eq(param.recv_evd_handle, pair.a.recv);
	ck_assert_ptr_eq(param.request_evd_handle, pair.a.request);
	ck_assert_ptr_eq(param.connect_evd_handle, pair.a.connect);
	ck_assert_uint_eq(param.remote_port_qual, pair.b.qual);
	ck_assert_ptr_nonnull(param.remote_ia_address_ptr);
	ck_assert_int_eq(param.ep_attr.max_recv_dtos, 16);
	ck_assert_int_eq(param.ep_attr.max_request_iov, 4);
	dt_assert_ret(dat_ep_query(pair.a.ep, DAT_EP_FIELD_ALL, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_pair_close(&pair);
}

/* clause: e.6.1, e.6.2 */
TEST(ep_create__attributes_beyond_the_device__are_refused)
{
	struct dt_side side;
	DAT_EP_PARAM param;
	DAT_EP_HANDLE ep;
	DAT_IA_ATTR ia;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_ia_query(side.ia, NULL, DAT_IA_FIELD_ALL, &ia, 0, NULL));
	dt_ok(dat_ep_query(side.ep, DAT_EP_FIELD_ALL, &param));
	param.ep_attr.max_recv_dtos = ia.max_dto_per_ep + 1;
	dt_assert_ret(dat_ep_create(side.ia, side.pz, side.recv, side.request, side.connect,
			  &param.ep_attr, &ep),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
	param.ep_attr.max_recv_dtos = -1;
	dt_assert_ret(dat_ep_create(side.ia, side.pz, side.recv, side.request, side.connect,
			  &param.ep_attr, &ep),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
	param.ep_attr.max_recv_dtos = 40;
	dt_ok(dat_ep_create(
	    side.ia, side.pz, side.recv, side.request, side.connect, &param.ep_attr, &ep));
	dt_ok(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
	ck_assert_int_eq(param.ep_attr.max_recv_dtos, 40);
	param.ep_attr.max_rdma_read_in = 1;
	dt_ok(dat_ep_modify(ep, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN, &param));
	dt_assert_ret(dat_ep_modify(ep, DAT_EP_FIELD_EP_STATE, &param),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_side_close(&side);
}

DT_CASE("connect:active");

/* clause: e.6.3 */
TEST(many_connections__one_listener__each_event_names_its_endpoint)
{
	enum { N = 40 };
	DAT_EP_HANDLE a[N], b[N];
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	for (int i = 0; i < N; i++) {
		a[i] = pair.a.ep = dt_ep(&pair.a, NULL);
		b[i] = pair.b.ep = dt_ep(&pair.b, NULL);
		dt_connect_pair(&pair);
	}
	for (int i = 0; i < N; i++)
		dt_ok(dat_ep_disconnect(a[i], DAT_CLOSE_ABRUPT_FLAG));
	for (int i = 0; i < N; i++) {
		dt_expect(pair.a.connect, DAT_CONNECTION_EVENT_DISCONNECTED, &event);
		ck_assert_ptr_eq(event.event_data.connect_event_data.ep_handle, a[i]);
		dt_await_state(b[i], DAT_EP_STATE_DISCONNECTED);
		dt_expect(pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED, &event);
	}
	dt_assert_stays_empty(pair.a.connect);
	dt_assert_stays_empty(pair.b.connect);
	dt_pair_close(&pair);
}
