/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the device and the connection manager refuse after a call has been checked: posts, the steps
 * of a connection, requests that arrive while there is no memory.  Nothing is left behind, and the
 * next attempt works.
 */
#include <errno.h>
#include <sys/socket.h>

#include <dat2/dat_ib_extensions.h>

#include "fault/fault.h"
#include "device.h"

#define DEPTH 4
#define CARD 28 /* bytes with which a request of a datagram endpoint begins */
#define FULL DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY)
#define DEFAULT DAT_COMPLETION_DEFAULT_FLAG

static struct dt_pair pair;

static DAT_EP_ATTR
attributes(int service)
{
	return (DAT_EP_ATTR){ .service_type = (DAT_SERVICE_TYPE)service,
		.max_recv_dtos = DEPTH,
		.max_request_dtos = DEPTH,
		.max_recv_iov = 2,
		.max_request_iov = 2,
		.max_rdma_read_in = 2,
		.max_rdma_read_out = 2 };
}

static void
give(struct dt_side *side, int service)
{
	const DAT_EP_ATTR attr = attributes(service);

	dt_ok(dat_ep_free(side->ep));
	side->ep = dt_ep(side, &attr);
}

static void
open_pair(int service)
{
	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	dt_side_open(&pair.b, "faulty", DT_SEPARATE);
	give(&pair.a, service);
	give(&pair.b, service);
	dt_side_listen(&pair.b);
}

static void
expect_datagram_event(const struct dt_side *side, int number, DAT_EVENT *event)
{
	dt_expect(side->connect, (DAT_EVENT_NUMBER)number, event);
	ck_assert_ptr_eq(event->event_data.connect_event_data.ep_handle, side->ep);
}

/* Both have an address of the other then; that of `b`. */
static DAT_IB_ADDR_HANDLE
meet(void)
{
	DAT_EVENT event;

	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_cr_accept(dt_datagram_request(&pair.b), pair.b.ep, 0, NULL));
	expect_datagram_event(&pair.b, DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED, &event);
	expect_datagram_event(&pair.a, DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED, &event);
	return ((DAT_IB_EXTENSION_EVENT_DATA *)(void *)event.event_extension_data)->remote_ah;
}

/* ---- posts ---- */

static DAT_RETURN
post_send(void)
{
	return dt_try_send(&pair.a, 0, 8, 50, DEFAULT);
}

static DAT_RETURN
post_with_invalidate(void)
{
	DAT_LMR_TRIPLET local = dt_local(&pair.a, 0, 8);

	return dat_ep_post_send_with_invalidate(
	    pair.a.ep, 1, &local, dt_cookie(50), DEFAULT, DAT_TRUE, 1);
}

static DAT_RETURN
post_write(void)
{
	DAT_LMR_TRIPLET local = dt_local(&pair.a, 0, 8);
	DAT_RMR_TRIPLET remote = dt_remote(&pair.b, 0, 8);

	return dat_ep_post_rdma_write(pair.a.ep, 1, &local, dt_cookie(50), &remote, DEFAULT);
}

static DAT_RETURN
post_read(void)
{
	DAT_LMR_TRIPLET local = dt_local(&pair.a, 0, 8);
	DAT_RMR_TRIPLET remote = dt_remote(&pair.b, 0, 8);

	return dat_ep_post_rdma_read(pair.a.ep, 1, &local, dt_cookie(50), &remote, DEFAULT);
}

static DAT_RETURN
post_write_immed(void)
{
	DAT_LMR_TRIPLET local = dt_local(&pair.a, 0, 8);
	DAT_RMR_TRIPLET remote = dt_remote(&pair.b, 0, 8);

	return dat_ib_post_rdma_write_immed(
	    pair.a.ep, 1, &local, dt_cookie(50), &remote, 7, DEFAULT);
}

static DAT_RETURN
post_fetch_and_add(void)
{
	DAT_LMR_TRIPLET local = dt_local(&pair.a, 0, 8);
	DAT_RMR_TRIPLET remote = dt_remote(&pair.b, 0, 8);

	return dat_ib_post_fetch_and_add(pair.a.ep, 1, &local, dt_cookie(50), &remote, DEFAULT);
}

static DAT_RETURN
post_cmp_and_swap(void)
{
	DAT_LMR_TRIPLET local = dt_local(&pair.a, 0, 8);
	DAT_RMR_TRIPLET remote = dt_remote(&pair.b, 0, 8);

	return dat_ib_post_cmp_and_swap(pair.a.ep, 1, 2, &local, dt_cookie(50), &remote, DEFAULT);
}

static DAT_RETURN (*const posts[])(void) = { post_send, post_with_invalidate, post_write, post_read,
	post_write_immed, post_fetch_and_add, post_cmp_and_swap };
#define POSTS (int)(sizeof posts / sizeof posts[0])

static void
refuse(DAT_RETURN (*post)(void), int already)
{
	DAT_BOOLEAN idle;

	fault_call_fail("ibv_post_send", ENOMEM);
	for (int i = 0; i < 2 * DEPTH; i++)
		dt_assert_type(post(), DAT_INSUFFICIENT_RESOURCES);
	fault_call_fail(NULL, 0);
	dt_ok(dat_ep_get_status(pair.a.ep, NULL, NULL, &idle));
	ck_assert_int_eq(idle, already ? DAT_FALSE : DAT_TRUE);
}

DEVICE_CASE("refused:refused", .needs = dt_is_soft, .reason = "needs a device that fails");

/* The other end posts no receive: what is posted stays outstanding. */
/* origin: out33.D4 */
TEST_LOOP(post__the_device_refuses__takes_no_place_among_the_requests, POSTS)
{
	DAT_UINT64 counters[DCNT_EP_ALL_COUNTERS];
	DAT_EVENT event;

	open_pair(DAT_SERVICE_TYPE_RC);
	dt_connect_pair(&pair);
	for (int n = 0; n < DEPTH; n++) {
		refuse(posts[_i], n);
		dt_send(&pair.a, 0, 8, (DAT_UINT64)n);
	}
	dt_assert_ret(posts[_i](), FULL);
	for (int n = 0; n < DEPTH; n++)
		dt_recv(&pair.b, 0, 8, (DAT_UINT64)n);
	for (int n = 0; n < DEPTH; n++)
		dt_expect_dto(pair.a.request, pair.a.ep, (DAT_UINT64)n, DAT_DTO_SUCCESS, &event);
	dt_assert_empty(pair.a.request);
	/* What was refused does not count. */
	dt_ok(dat_ib_query_counters(pair.a.ep, DCNT_EP_ALL_COUNTERS, counters, 0));
	for (int i = 0; i < DCNT_EP_ALL_COUNTERS; i++)
		ck_assert_uint_eq(counters[i], i == DCNT_EP_CONNECT	   ? 1 :
					       i == DCNT_EP_POST_SEND	   ? DEPTH :
					       i == DCNT_EP_POST_SEND_DATA ? 8 * DEPTH :
									     0);
	dt_pair_close(&pair);
}

/* origin: out33.D4 */
TEST(post__the_device_refuses_a_receive__takes_no_place)
{
	DAT_UINT64 counters[DCNT_EP_ALL_COUNTERS];
	DAT_COUNT posted;
	DAT_EVENT event;

	open_pair(DAT_SERVICE_TYPE_RC);
	dt_connect_pair(&pair);
	for (int n = 0; n < DEPTH; n++) {
		fault_call_fail("ibv_post_recv", ENOMEM);
		for (int i = 0; i < 2 * DEPTH; i++)
			dt_assert_type(dt_try_recv(&pair.b, 0, 8, 50), DAT_INSUFFICIENT_RESOURCES);
		fault_call_fail(NULL, 0);
		dt_ok(dat_ep_recv_query(pair.b.ep, &posted, NULL));
		ck_assert_int_eq(posted, n);
		dt_recv(&pair.b, 0, 8, (DAT_UINT64)n);
	}
	dt_assert_ret(dt_try_recv(&pair.b, 0, 8, 50), FULL);
	dt_ok(dat_ib_query_counters(pair.b.ep, DCNT_EP_ALL_COUNTERS, counters, 0));
	ck_assert_uint_eq(counters[DCNT_EP_POST_RECV], DEPTH);
	ck_assert_uint_eq(counters[DCNT_EP_POST_RECV_DATA], 8 * DEPTH);
	for (int n = 0; n < DEPTH; n++)
		dt_send(&pair.a, 0, 8, 9);
	for (int n = 0; n < DEPTH; n++)
		dt_expect_dto(pair.b.recv, pair.b.ep, (DAT_UINT64)n, DAT_DTO_SUCCESS, &event);
	dt_pair_close(&pair);
}

/* origin: out33.D4 */
TEST(post__the_device_refuses_a_datagram__takes_no_place)
{
	DAT_LMR_TRIPLET local;
	DAT_IB_ADDR_HANDLE to;
	DAT_EVENT event;

	open_pair(DAT_IB_SERVICE_TYPE_UD);
	to = meet();
	local = dt_local(&pair.a, 0, 8);
	for (int round = 0; round < 2; round++) {
		fault_call_fail("ibv_post_send", ENOMEM);
		for (int i = 0; i < 2 * DEPTH; i++)
			dt_assert_type(
			    dat_ib_post_send_ud(pair.a.ep, 1, &local, &to, dt_cookie(50), DEFAULT),
			    DAT_INSUFFICIENT_RESOURCES);
		fault_call_fail(NULL, 0);
		for (int n = 0; n < DEPTH; n++)
			dt_ok(dat_ib_post_send_ud(
			    pair.a.ep, 1, &local, &to, dt_cookie((DAT_UINT64)n), DEFAULT));
		for (int n = 0; n < DEPTH; n++) {
			dt_next(pair.a.request, &event);
			ck_assert_uint_eq(
			    event.event_data.dto_completion_event_data.user_cookie.as_64,
			    (DAT_UINT64)n);
		}
		dt_assert_empty(pair.a.request);
	}
	dt_pair_close(&pair);
}

/* ---- binds ---- */

static DAT_RMR_HANDLE rmr;

static DAT_RETURN
bind_region(DAT_COUNT length, DAT_UINT64 cookie)
{
	DAT_LMR_TRIPLET range = dt_local(&pair.b, 0, (size_t)length);
	DAT_RMR_CONTEXT context;

	return dat_rmr_bind(rmr, pair.b.lmr, &range, DAT_MEM_PRIV_REMOTE_READ_FLAG, DAT_VA_TYPE_VA,
	    pair.b.ep, dt_cookie(cookie), DEFAULT, &context);
}

static void
bind_and_expect(DAT_COUNT length, DAT_UINT64 cookie)
{
	const DAT_RMR_BIND_COMPLETION_EVENT_DATA *data;
	DAT_EVENT event;

	dt_ok(bind_region(length, cookie));
	dt_expect(pair.b.request, DAT_RMR_BIND_COMPLETION_EVENT, &event);
	data = &event.event_data.rmr_completion_event_data;
	ck_assert_uint_eq(data->user_cookie.as_64, cookie);
	ck_assert_int_eq(data->status, DAT_RMR_BIND_SUCCESS);
}

static DAT_SEG_LENGTH
bound_length(void)
{
	DAT_RMR_PARAM param;

	dt_ok(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param));
	return param.lmr_triplet.segment_length;
}

/* Two connections of endpoints whose requests may be binds, and a region for one at a time. */
static DAT_EP_HANDLE
open_binding(void)
{
	DAT_EP_HANDLE first;

	open_pair(DAT_SERVICE_TYPE_RC);
	pair.b.request = dt_evd(&pair.b, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG, 64);
	give(&pair.b, DAT_SERVICE_TYPE_RC);
	dt_ok(dat_rmr_create_for_ep(pair.b.pz, &rmr));
	dt_connect_pair(&pair);
	first = pair.b.ep;
	pair.a.ep = dt_ep(&pair.a, NULL);
	pair.b.ep = dt_ep(&pair.b, NULL);
	dt_connect_pair(&pair);
	return first;
}

/* origin: out33.D4 */
TEST(bind__the_device_refuses__the_region_is_as_it_was)
{
	DAT_BOOLEAN idle;

	pair.b.ep = open_binding();
	for (DAT_COUNT round = 0; round < 3; round++) {
		const DAT_SEG_LENGTH was = bound_length();

		fault_call_fail("ibv_post_send", ENOMEM);
		for (int i = 0; i < 2 * DEPTH; i++)
			dt_assert_type(bind_region(8, 1), DAT_INSUFFICIENT_RESOURCES);
		fault_call_fail(NULL, 0);
		ck_assert_uint_eq(bound_length(), was);
		dt_ok(dat_ep_get_status(pair.b.ep, NULL, NULL, &idle));
		ck_assert_int_eq(idle, DAT_TRUE);
		bind_and_expect(16 + round, 2);
		ck_assert_uint_eq(bound_length(), (DAT_SEG_LENGTH)(16 + round));
		dt_assert_empty(pair.b.request);
	}
	dt_pair_close(&pair);
}

/* The window is replaced, for which the device has no other one. */
/* origin: out33.D4 */
TEST(bind__through_another_connection_and_no_window_is_left__the_region_is_as_it_was)
{
	const DAT_EP_HANDLE first = open_binding();
	const DAT_EP_HANDLE other = pair.b.ep;

	pair.b.ep = first;
	bind_and_expect(16, 1);
	pair.b.ep = other;
	fault_call_fail("ibv_alloc_mw", ENOMEM);
	for (int i = 0; i < 3; i++)
		dt_assert_type(bind_region(8, 2), DAT_INSUFFICIENT_RESOURCES);
	fault_call_fail(NULL, 0);
	ck_assert_uint_eq(bound_length(), 16);
	pair.b.ep = first;
	bind_and_expect(24, 3);
	pair.b.ep = other;
	bind_and_expect(32, 4);
	ck_assert_uint_eq(bound_length(), 32);
	dt_assert_empty(pair.b.request);
	dt_ok(dat_rmr_free(rmr));
	dt_ok(dat_lmr_free(pair.b.lmr)); /* nothing is bound to it */
	dt_pair_close(&pair);
}

/* ---- the steps of a connection ---- */

static const char *const steps[] = { "rdma_resolve_addr", "rdma_resolve_route", "rdma_connect" };
#define STEPS (int)(sizeof steps / sizeof steps[0])

/* origin: out33.D4 */
TEST_LOOP(connect__a_step_is_refused__is_unreachable_and_works_after_a_reset, STEPS)
{
	open_pair(DAT_SERVICE_TYPE_RC);
	fault_call_fail(steps[_i], EINVAL);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_UNREACHABLE, pair.a.ep);
	ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_DISCONNECTED);
	fault_call_fail(NULL, 0);
	dt_assert_empty(pair.b.cr);
	dt_ok(dat_ep_reset(pair.a.ep));
	dt_connect_pair(&pair);
	dt_assert_stays_empty(pair.a.connect);
	dt_pair_close(&pair);
}

/* Or the address handle for what was found. */
/* origin: out33.D4 */
TEST_LOOP(lookup__a_step_is_refused__is_an_error_and_the_next_works, STEPS + 1)
{
	DAT_EVENT event;

	open_pair(DAT_IB_SERVICE_TYPE_UD);
	fault_call_fail(_i < STEPS ? steps[_i] : "ibv_create_ah", EINVAL);
	if (_i == STEPS)
		fault_call_spare(1); /* that of the other end */
	dt_connect(&pair.a, &pair.b, NULL, 0);
	if (_i == STEPS) {
		dt_ok(dat_cr_accept(dt_datagram_request(&pair.b), pair.b.ep, 0, NULL));
		expect_datagram_event(&pair.b, DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED, &event);
	}
	expect_datagram_event(&pair.a, DAT_IB_UD_CONNECTION_ERROR_EVENT, &event);
	ck_assert_int_eq(event.event_data.connect_event_data.private_data_size, 0);
	ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_UNCONNECTED);
	fault_call_fail(NULL, 0);
	dt_assert_empty(pair.b.cr);
	(void)meet();
	dt_assert_stays_empty(pair.a.connect);
	dt_pair_close(&pair);
}

/* origin: out33.D4 */
TEST(accept__is_refused__both_ends_get_their_event)
{
	DAT_CR_HANDLE cr;

	open_pair(DAT_SERVICE_TYPE_RC);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	cr = dt_request(&pair.b);
	fault_call_fail("rdma_accept", EINVAL);
	dt_ok(dat_cr_accept(cr, pair.b.ep, 0, NULL));
	fault_call_fail(NULL, 0);
	dt_expect_connection(
	    pair.b.connect, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR, pair.b.ep);
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, pair.a.ep);
	dt_assert_ret(
	    dat_cr_reject(cr, 0, NULL), DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR));
	dt_ok(dat_ep_reset(pair.a.ep));
	dt_ok(dat_ep_reset(pair.b.ep));
	dt_connect_pair(&pair);
	dt_pair_close(&pair);
}

/* origin: out33.D4 */
TEST(accept__of_a_datagram_is_refused__both_ends_get_their_event)
{
	DAT_CR_HANDLE cr;
	DAT_EVENT event;

	open_pair(DAT_IB_SERVICE_TYPE_UD);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	cr = dt_datagram_request(&pair.b);
	fault_call_fail("rdma_accept", EINVAL);
	dt_ok(dat_cr_accept(cr, pair.b.ep, 0, NULL));
	fault_call_fail(NULL, 0);
	expect_datagram_event(&pair.b, DAT_IB_UD_CONNECTION_ERROR_EVENT, &event);
	expect_datagram_event(&pair.a, DAT_IB_UD_CONNECTION_ERROR_EVENT, &event);
	dt_assert_ret(
	    dat_cr_reject(cr, 0, NULL), DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR));
	(void)meet();
	dt_assert_stays_empty(pair.b.connect);
	dt_pair_close(&pair);
}

/* The peer gets its event when the id goes: with the reset. */
/* origin: out33.D4 */
TEST(disconnect__is_refused__the_peer_is_told_at_the_reset)
{
	open_pair(DAT_SERVICE_TYPE_RC);
	for (int round = 0; round < 2; round++) {
		dt_connect_pair(&pair);
		fault_call_fail("rdma_disconnect", EINVAL);
		dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
		dt_expect_disconnected(&pair.a);
		fault_call_fail(NULL, 0);
		dt_ok(dat_ep_reset(pair.a.ep));
		dt_expect_disconnected(&pair.b);
		dt_ok(dat_ep_reset(pair.b.ep));
		dt_assert_empty(pair.a.connect);
	}
	dt_pair_close(&pair);
}

/* ---- requests that arrive ---- */

#define PENDING 70 /* more than are allocated at once */

/*
 * Requests are not answered, so that each needs an object of its own.  While there is no memory for
 * one it is refused, and the service point goes on.
 */
/* origin: out33.D4 */
TEST(arrival__without_memory__is_refused_and_the_next_is_not)
{
	struct dt_side one;
	DAT_CR_HANDLE crs[PENDING];
	DAT_EVENT event;
	int refused = 0;

	open_pair(DAT_SERVICE_TYPE_RC);
	for (int n = 0; n < PENDING;) {
		one = pair.a;
		one.ep = dt_ep(&pair.a, NULL);
		fault_cm_starve_requests(1 + n % 2);
		dt_connect(&one, &pair.b, NULL, 0);
		while (dat_evd_dequeue(pair.b.cr, &event) != DAT_SUCCESS &&
		       dat_evd_dequeue(one.connect, &event) != DAT_SUCCESS)
			dt_nap_ms(1);
		fault_cm_starve_requests(0);
		if (event.event_number == DAT_CONNECTION_REQUEST_EVENT) {
			crs[n++] = event.event_data.cr_arrival_event_data.cr_handle;
			continue;
		}
		ck_assert_int_eq(event.event_number, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
		ck_assert_ptr_eq(event.event_data.connect_event_data.ep_handle, one.ep);
		refused++;
		/* There is no memory for another one to take its place, either. */
		if (n) {
			fault_memory_fail_at(1);
			dt_assert_type(
			    dat_cr_handoff(crs[0], pair.b.qual), DAT_INSUFFICIENT_RESOURCES);
			(void)fault_memory_missed();
		}
		dt_ok(dat_ep_reset(one.ep));
		dt_connect(&one, &pair.b, NULL, 0);
		crs[n++] = dt_request(&pair.b);
	}
	ck_assert_int_ge(refused, 1);
	for (int n = 0; n < PENDING; n++) {
		dt_ok(dat_cr_reject(crs[n], 0, NULL));
		dt_expect(pair.a.connect, DAT_CONNECTION_EVENT_PEER_REJECTED, &event);
	}
	dt_connect_pair(&pair);
	dt_pair_close(&pair);
}

/* Its handle is the last thing that it needs; nothing is left of it when the adapters close. */
TEST(arrival__without_a_handle__is_refused_and_the_next_is_not)
{
	DAT_EVENT event;

	open_pair(DAT_SERVICE_TYPE_RC);
	for (int round = 0; round < 2; round++) {
		fault_handles_refuse(true);
		dt_connect(&pair.a, &pair.b, NULL, 0);
		dt_expect(pair.a.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, &event);
		dt_assert_empty(pair.b.cr);
		fault_handles_refuse(false);
		dt_ok(dat_ep_reset(pair.a.ep));
	}
	dt_connect_pair(&pair);
	dt_pair_close(&pair);
}

/* To a service point that makes endpoints, and to one that does not. */
TEST_LOOP(arrival__from_an_address_that_is_not_of_ip__is_refused, 2)
{
	DAT_EVENT event;

	open_pair(DAT_SERVICE_TYPE_RC);
	if (_i) {
		dt_ok(dat_psp_free(pair.b.psp));
		dt_ok(dat_psp_create_any(
		    pair.b.ia, &pair.b.qual, pair.b.cr, DAT_PSP_PROVIDER_FLAG, &pair.b.psp));
	}
	fault_cm_request_family(AF_IB);
	for (int round = 0; round < 2; round++) {
		dt_connect(&pair.a, &pair.b, NULL, 0);
		dt_expect(pair.a.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, &event);
		dt_assert_empty(pair.b.cr);
		dt_ok(dat_ep_reset(pair.a.ep));
	}
	fault_cm_request_family(0);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_cr_reject(dt_request(&pair.b), 0, NULL));
	dt_expect(pair.a.connect, DAT_CONNECTION_EVENT_PEER_REJECTED, &event);
	dt_pair_close(&pair);
}

/* Another program may send it. */
/* origin: out33.D4 */
TEST(arrival__of_a_datagram_request_without_a_card__is_refused)
{
	DAT_EVENT event;

	open_pair(DAT_IB_SERVICE_TYPE_UD);
	for (int length = 0; length < CARD; length++) {
		fault_cm_request_length(length);
		dt_connect(&pair.a, &pair.b, NULL, 0);
		expect_datagram_event(&pair.a, DAT_IB_UD_CONNECTION_ERROR_EVENT, &event);
	}
	dt_assert_empty(pair.b.cr);
	fault_cm_request_length(CARD);
	(void)meet();
	fault_cm_request_length(-1);
	dt_pair_close(&pair);
}

/* ---- what a datagram endpoint needs ---- */

/* origin: out33.D4 */
TEST(datagram__endpoint_that_is_not_ready__each_call_has_its_code)
{
	const DAT_RETURN not_ready = DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_NOTREADY);
	const DAT_EP_ATTR attr = attributes(DAT_IB_SERVICE_TYPE_UD);
	DAT_EP_PARAM param = { .ep_attr = attr };
	DAT_EP_HANDLE deaf;
	DAT_CR_HANDLE cr;

	open_pair(DAT_IB_SERVICE_TYPE_UD);
	dt_ok(dat_ep_create(
	    pair.b.ia, pair.b.pz, pair.b.recv, pair.b.request, DAT_HANDLE_NULL, &attr, &deaf));
	dt_assert_ret(dat_ep_connect(deaf, dt_address(pair.b.ia), pair.b.qual, DAT_TIMEOUT_INFINITE,
			  0, NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
	    not_ready);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	cr = dt_datagram_request(&pair.b);
	dt_assert_ret(dat_cr_accept(cr, deaf, 0, NULL), not_ready);
	/* The other end would get the number of the queue pair that it has now. */
	dt_assert_ret(dat_ep_modify(pair.a.ep, DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE, &param),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_ACTCONNPENDING));
	dt_ok(dat_cr_accept(cr, pair.b.ep, 0, NULL));
	/* After its end it can neither ask nor answer. */
	dt_ok(dat_ep_disconnect(pair.b.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_assert_ret(
	    dat_ep_connect(pair.b.ep, dt_address(pair.b.ia), pair.b.qual, DAT_TIMEOUT_INFINITE, 0,
		NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_DISCONNECTED));
	dt_pair_close(&pair);
}
