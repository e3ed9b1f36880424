/* SPDX-License-Identifier: BSD-3-Clause */
/* The events that the provider makes of errors that the device reports. */
#include "fault/fault.h"
#include "device.h"

static const DAT_ASYNCH_ERROR_EVENT_DATA *
expect_async(const struct dt_side *side, DAT_EVENT_NUMBER number, DAT_EVENT *event)
{
	dt_expect(side->async, number, event);
	return &event->event_data.asynch_error_event_data;
}

static void
await_acknowledged(void)
{
	for (int ms = 0; !fault_is_acknowledged(); ms++) {
		ck_assert_int_lt(ms, DT_FOREVER_MS);
		dt_nap_ms(1);
	}
}

DEVICE_CASE("device-async:async");

/* origin: peer.26, out33.R3 */
/* clause: d.0.12, d.3.2 */
TEST(device__fatal__names_the_adapter_by_the_consumers_number)
{
	const DAT_ASYNCH_ERROR_EVENT_DATA *error;
	struct dt_side side;
	DAT_EVENT event;

	for (int i = 0; i < 2; i++) { /* an adapter in the place of one that had the event, too */
		dt_side_open(&side, "faulty", DT_SEPARATE);
		fault_raise(IBV_EVENT_DEVICE_FATAL, NULL);
		error = expect_async(&side, DAT_ASYNC_ERROR_IA_CATASTROPHIC, &event);
		ck_assert_ptr_eq(error->dat_handle, side.ia);
		ck_assert_int_eq(error->reason, DAT_IA_CATASTROPHIC_ERROR);
		dt_assert_stays_empty(side.async);
		dt_side_close(&side);
	}
}

/* The connection manager and the device report it, each for all adapters. */
/* clause: d.3.2 */
TEST_LOOP(device__is_removed__is_reported_once_to_each_adapter, 2)
{
	struct dt_side one, two;
	DAT_EVENT event;

	dt_side_open(&one, "faulty", DT_SEPARATE);
	dt_side_open(&two, "faulty", DT_SEPARATE);
	fault_cm_remove_device(_i);
	ck_assert_ptr_eq(
	    expect_async(&one, DAT_ASYNC_ERROR_IA_CATASTROPHIC, &event)->dat_handle, one.ia);
	ck_assert_ptr_eq(
	    expect_async(&two, DAT_ASYNC_ERROR_IA_CATASTROPHIC, &event)->dat_handle, two.ia);
	fault_cm_remove_device(!_i);
	fault_raise(IBV_EVENT_DEVICE_FATAL, NULL);
	dt_assert_stays_empty(one.async);
	dt_assert_stays_empty(two.async);
	dt_side_close(&one);
	dt_side_close(&two);
}

/* That of its address, and no other. */
/* origin: out37.EE1 */
/* clause: d.3.3 */
TEST(device__port_goes_down__is_another_error)
{
	const DAT_ASYNCH_ERROR_EVENT_DATA *error;
	struct dt_side side;
	DAT_EVENT event;

	dt_side_open(&side, "faulty", DT_SEPARATE);
	fault_raise_at_second_port(IBV_EVENT_PORT_ERR);
	dt_assert_stays_empty(side.async);
	fault_raise(IBV_EVENT_PORT_ERR, NULL);
	error = expect_async(&side, DAT_ASYNC_ERROR_IA_CATASTROPHIC, &event);
	ck_assert_ptr_eq(error->dat_handle, side.ia);
	ck_assert_int_eq(error->reason, DAT_IA_OTHER_ERROR);
	dt_side_close(&side);
}

/* origin: peer.25 */
/* clause: d.3.5 */
TEST(device__port_comes_up_and_notes_of_the_fabric__make_no_event)
{
	static const enum ibv_event_type notes[] = { IBV_EVENT_PORT_ACTIVE, IBV_EVENT_LID_CHANGE,
		IBV_EVENT_PKEY_CHANGE, IBV_EVENT_SM_CHANGE, IBV_EVENT_CLIENT_REREGISTER,
		IBV_EVENT_GID_CHANGE };
	struct dt_side side;

	dt_side_open(&side, "faulty", DT_SEPARATE);
	for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
		fault_raise(notes[i], NULL);
	fault_raise(IBV_EVENT_PATH_MIG, fault_qp_last());
	fault_raise(IBV_EVENT_PATH_MIG_ERR, fault_qp_last());
	fault_raise(IBV_EVENT_COMM_EST, fault_qp_last());
	dt_assert_stays_empty(side.async);
	dt_assert_stays_empty(side.connect);
	dt_side_close(&side);
}

/* clause: d.0.18, e.9.7 */
TEST(device__path_migrates__one_path_makes_no_event)
{
	DAT_PROVIDER_ATTR attr = { 0 };
	struct dt_pair pair;

	device_pair_open(&pair);
	dt_ok(dat_ia_query(pair.a.ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &attr));
	ck_assert_int_eq(attr.supports_multipath, DAT_FALSE);
	ck_assert_int_eq(attr.ha_supported, DAT_FALSE);
	ck_assert_int_eq(attr.ha_loadbalancing, DAT_HA_LB_NONE);
	for (int wish = 0; wish < 2; wish++)
		dt_assert_ret(dat_ep_connect(pair.a.ep, dt_address(pair.b.ia), pair.b.qual,
				  DAT_TIMEOUT_INFINITE, 0, NULL, DAT_QOS_BEST_EFFORT,
				  (DAT_CONNECT_FLAGS)(DAT_CONNECT_MULTIPATH_REQUIRED_FLAG |
						      (wish ? DAT_CONNECT_MULTIPATH_FLAG : 0))),
		    DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE));
	ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_UNCONNECTED);
	/* A wish for several is one that may be left open. */
	dt_ok(dat_ep_connect(pair.a.ep, dt_address(pair.b.ia), pair.b.qual, DAT_TIMEOUT_INFINITE, 0,
	    NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_MULTIPATH_FLAG));
	dt_ok(dat_cr_accept(dt_request(&pair.b), pair.b.ep, 0, NULL));
	dt_expect_established(&pair.a);
	dt_expect_established(&pair.b);
	ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_CONNECTED);
	fault_raise(IBV_EVENT_PATH_MIG, fault_qp_last());
	fault_raise(IBV_EVENT_PATH_MIG_ERR, fault_qp_last());
	await_acknowledged();
	dt_assert_stays_empty(pair.a.async);
	dt_assert_stays_empty(pair.b.async);
	dt_assert_empty(pair.a.connect);
	dt_assert_empty(pair.b.connect);
	ck_assert_int_eq(dt_state(pair.b.ep), DAT_EP_STATE_CONNECTED);
	dt_pair_close(&pair);
}

/* origin: peer.28 */
/* clause: d.3.1, d.0.11, d.5.1 */
TEST(device__completion_queue_overrun__is_reported_once_and_the_evd_overflows)
{
	const DAT_ASYNCH_ERROR_EVENT_DATA *error;
	struct dt_side side;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;
	DAT_COUNT more;

	dt_side_open(&side, "faulty", DT_SEPARATE);
	evd = dt_evd(&side, DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG, 8);
	dt_post_se(evd, 1);
	fault_raise(IBV_EVENT_CQ_ERR, fault_cq_last());
	await_acknowledged();
	fault_raise(IBV_EVENT_CQ_ERR, fault_cq_last());
	error = expect_async(&side, DAT_ASYNC_ERROR_EVD_OVERFLOW, &event);
	ck_assert_ptr_eq(error->dat_handle, evd);
	ck_assert_int_eq(error->reason, DAT_EVD_OVERFLOW_ERROR);
	dt_assert_stays_empty(side.async);
	dt_ok(dat_evd_dequeue(evd, &event)); /* what was queued before */
	dt_assert_type(dat_evd_dequeue(evd, &event), DAT_INVALID_STATE);
	dt_assert_type(dat_evd_wait(evd, 0, 1, &event, &more), DAT_INVALID_STATE);
	dt_ok(dat_evd_free(evd));
	dt_side_close(&side);
}

/* clause: d.3.4, d.0.13, d.0.8 */
TEST_LOOP(device__queue_pair_fails__endpoint_and_connection_are_broken, 3)
{
	static const enum ibv_event_type fatal[] = { IBV_EVENT_QP_FATAL, IBV_EVENT_QP_REQ_ERR,
		IBV_EVENT_QP_ACCESS_ERR };
	const DAT_ASYNCH_ERROR_EVENT_DATA *error;
	struct dt_pair pair;
	struct ibv_qp *qp;
	DAT_EVENT event;

	device_pair_open(&pair);
	dt_ok(dat_ep_free(pair.a.ep));
	pair.a.ep = dt_ep(&pair.a, NULL);
	qp = fault_qp_last();
	dt_connect_pair(&pair);
	fault_raise(fatal[_i], qp);
	error = expect_async(&pair.a, DAT_ASYNC_ERROR_EP_BROKEN, &event);
	ck_assert_ptr_eq(error->dat_handle, pair.a.ep);
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN, pair.a.ep);
	ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_DISCONNECTED);
	dt_assert_stays_empty(pair.a.connect);
	dt_pair_close(&pair);
}

/* No event of the device names a queue pair.  By the device, or by the connection manager. */
/* origin: out33.EE3 */
/* clause: d.0.8 */
TEST_LOOP(device__fails__each_connection_is_broken_once, 2)
{
	struct dt_pair pair;
	struct dt_side *const sides[] = { &pair.a, &pair.b };
	DAT_EVENT event;

	device_pair_open(&pair);
	dt_connect_pair(&pair);
	if (_i)
		fault_cm_remove_device(0);
	else
		fault_raise(IBV_EVENT_DEVICE_FATAL, NULL);
	for (int i = 0; i < 2; i++) {
		(void)expect_async(sides[i], DAT_ASYNC_ERROR_IA_CATASTROPHIC, &event);
		dt_expect_connection(sides[i]->connect, DAT_CONNECTION_EVENT_BROKEN, sides[i]->ep);
		ck_assert_int_eq(dt_state(sides[i]->ep), DAT_EP_STATE_DISCONNECTED);
	}
	for (int i = 0; i < 2; i++)
		dt_assert_stays_empty(sides[i]->connect);
	dt_pair_close(&pair);
}

/* There is no connection to break yet; the one that the attempt leads to is broken at once. */
/* origin: chance.3 */
TEST(device__queue_pair_fails_while_connecting__established_and_broken)
{
	struct dt_pair pair;
	DAT_EVENT event;

	device_pair_open(&pair);
	dt_ok(dat_ep_free(pair.a.ep));
	pair.a.ep = dt_ep(&pair.a, NULL);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	fault_raise(IBV_EVENT_QP_FATAL, fault_qp_last());
	(void)expect_async(&pair.a, DAT_ASYNC_ERROR_EP_BROKEN, &event);
	dt_assert_stays_empty(pair.a.connect);
	dt_ok(dat_cr_accept(dt_request(&pair.b), pair.b.ep, 0, NULL));
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED, pair.a.ep);
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN, pair.a.ep);
	ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_DISCONNECTED);
	dt_assert_stays_empty(pair.a.connect);
	dt_pair_close(&pair);
}

static void
break_first(struct ibv_qp *qp)
{
	fault_qp_on_destroy(NULL);
	fault_raise(IBV_EVENT_QP_FATAL, qp);
	await_acknowledged();
}

/* The event is read when the endpoint has given up its queue pair, which is not destroyed yet. */
/* origin: chance.4 */
/* clause: e.1.9 */
TEST(device__queue_pair_fails_while_it_is_reset__the_next_connection_stands)
{
	struct dt_pair pair;

	device_pair_open(&pair);
	dt_connect_pair(&pair);
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(&pair.a);
	dt_expect_disconnected(&pair.b);
	fault_qp_on_destroy(break_first);
	dt_ok(dat_ep_reset(pair.a.ep));
	dt_ok(dat_ep_reset(pair.b.ep));
	dt_connect_pair(&pair);
	dt_assert_stays_empty(pair.a.connect);
	dt_assert_stays_empty(pair.a.async);
	ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_CONNECTED);
	dt_pair_close(&pair);
}

/* It waits for the posted requests, of which nothing can be known any more. */
/* origin: chance.5 */
/* clause: e.2.4, d.0.8 */
TEST(disconnect__gracefully_and_the_completion_queue_is_lost__is_broken)
{
	struct dt_pair pair;

	device_pair_open(&pair);
	dt_connect_pair(&pair);
	dt_send(&pair.a, 0, 8, 1); /* waits for a receive */
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_GRACEFUL_FLAG));
	ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_DISCONNECT_PENDING);
	fault_cq_refuse_poll(true);
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN, pair.a.ep);
	fault_cq_refuse_poll(false);
	dt_assert_stays_empty(pair.a.async);
	dt_pair_close(&pair);
}

#define FAILS DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE)

/* clause: d.5.1 */
/* origin: out33.Q12 */
TEST(poll__fails_for_a_while__the_callers_get_it_and_nothing_is_lost)
{
	DAT_UPCALL_OBJECT object = { NULL, dt_count_call };
	struct dt_pair pair;
	DAT_EVENT event;
	DAT_COUNT n;

	device_pair_open(&pair);
	dt_recv(&pair.b, 0, 64, 1);
	dt_connect_pair(&pair);
	dt_send(&pair.a, 0, 8, 2);
	dt_nap_ms(20);
	fault_cq_refuse_poll(true);
	for (int i = 0; i < 2; i++) {
		dt_assert_ret(dat_evd_dequeue(pair.b.recv, &event), FAILS);
		dt_assert_ret(dat_evd_dequeue_n(pair.b.recv, 1, &event, &n), FAILS);
		dt_assert_ret(
		    dat_evd_wait(pair.b.recv, DAT_TIMEOUT_INFINITE, 1, &event, &n), FAILS);
		dt_assert_ret(dat_evd_modify_upcall(pair.b.recv, DAT_UPCALL_SINGLE_INSTANCE,
				  &object, DAT_UPCALL_INVOC_ANY),
		    FAILS);
	}
	fault_cq_refuse_poll(false);
	dt_expect_dto(pair.b.recv, pair.b.ep, 1, DAT_DTO_SUCCESS, &event);
	dt_assert_stays_empty(pair.b.recv);
	dt_assert_stays_empty(pair.b.async);
	/* The end of a connection does not wait for what cannot be polled. */
	dt_recv(&pair.b, 0, 64, 3);
	fault_cq_refuse_poll(true);
	dt_ok(dat_ep_disconnect(pair.b.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(&pair.b);
	fault_cq_refuse_poll(false);
	dt_expect_dto(pair.b.recv, pair.b.ep, 3, DAT_DTO_ERR_FLUSHED, &event);
	dt_pair_close(&pair);
}

/* clause: d.0.8 */
/* origin: out33.Q12 */
TEST(poll__fails_for_ever__the_end_of_a_connection_comes_on_the_same_evd)
{
	DAT_EVENT event = { .event_number = 0 };
	struct dt_pair pair;

	dt_side_open(&pair.a, "faulty", DT_MERGED);
	dt_side_open(&pair.b, "faulty", DT_MERGED);
	dt_side_listen(&pair.b);
	dt_connect_pair(&pair);
	dt_recv(&pair.b, 0, 64, 1);
	fault_cq_refuse_poll(true);
	dt_ok(dat_ep_disconnect(pair.b.ep, DAT_CLOSE_ABRUPT_FLAG));
	for (int i = 0; i < DT_FOREVER_MS && dat_evd_dequeue(pair.b.connect, &event) != DAT_SUCCESS;
	     i++)
		dt_nap_ms(1);
	ck_assert_int_eq(event.event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
	fault_cq_refuse_poll(false);
	dt_expect_dto(pair.b.recv, pair.b.ep, 1, DAT_DTO_ERR_FLUSHED, &event);
	dt_pair_close(&pair);
}

static DAT_EP_HANDLE changing;

/* The endpoint has no queue pair, and its parts are about to change. */
static void
get_status(struct ibv_qp *qp)
{
	DAT_BOOLEAN idle;
	const unsigned int polls = fault_cq_calls().polls;

	(void)qp;
	fault_qp_on_destroy(NULL);
	dt_ok(dat_ep_get_status(changing, NULL, &idle, NULL));
	ck_assert_uint_eq(fault_cq_calls().polls, polls);
	ck_assert_int_eq(idle, DAT_TRUE);
	changing = DAT_HANDLE_NULL;
}

/* origin: hostile.5 */
/* clause: e.1.15 */
TEST(status__while_the_parts_change__polls_none_of_them)
{
	DAT_EP_PARAM param;
	struct dt_side side;

	dt_side_open(&side, "faulty", DT_SEPARATE);
	param.recv_evd_handle = dt_evd(&side, DAT_EVD_DTO_FLAG, 8);
	changing = side.ep;
	fault_qp_on_destroy(get_status);
	dt_ok(dat_ep_modify(side.ep, DAT_EP_FIELD_RECV_EVD_HANDLE, &param));
	ck_assert_ptr_null(changing);
	dt_side_close(&side);
}

/*
 * Another user of the device in this process may have one; its memory is no queue pair's, though
 * what stands where a queue pair's context would looks like one.
 */
/* origin: peer.37 */
TEST(device__shared_receive_queue_fails__is_not_read_as_a_queue_pair)
{
	struct ibv_srq *other;
	struct dt_side side;

	dt_side_open(&side, "faulty", DT_SEPARATE);
	other = fault_srq_create(fault_qp_last());
	fault_raise(IBV_EVENT_SRQ_ERR, other);
	fault_raise(IBV_EVENT_SRQ_LIMIT_REACHED, other);
	dt_assert_stays_empty(side.async);
	dt_assert_stays_empty(side.connect);
	ck_assert_int_eq(dt_state(side.ep), DAT_EP_STATE_UNCONNECTED);
	fault_srq_free(other);
	dt_side_close(&side);
}

/* clause: d.0.14 */
TEST(device__refuses_to_arm__is_reported_and_the_event_comes_when_it_works)
{
	const DAT_ASYNCH_ERROR_EVENT_DATA *error;
	_Atomic(int) calls = 0;
	DAT_UPCALL_OBJECT object = { &calls, dt_count_call };
	struct dt_pair pair;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;

	device_pair_open(&pair);
	dt_ok(dat_evd_kcreate(
	    pair.b.ia, 8, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_EVD_DTO_FLAG, &evd));
	dt_ok(dat_ep_free(pair.b.ep));
	dt_ok(dat_ep_create(
	    pair.b.ia, pair.b.pz, evd, pair.b.request, pair.b.connect, NULL, &pair.b.ep));
	dt_recv(&pair.b, 0, 64, 1);
	dt_recv(&pair.b, 0, 64, 2);
	dt_connect_pair(&pair);
	fault_cq_refuse_arms(FAULT_ALWAYS);
	dt_assert_type(dat_evd_modify_upcall(pair.b.request, DAT_UPCALL_SINGLE_INSTANCE, &object,
			   DAT_UPCALL_INVOC_ANY),
	    DAT_INTERNAL_ERROR);
	dt_send(&pair.a, 0, 64, 1);
	error = expect_async(&pair.b, DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR, &event);
	ck_assert_ptr_eq(error->dat_handle, evd);
	ck_assert_int_eq(calls, 1);
	dt_assert_stays_empty(pair.b.async);
	fault_cq_refuse_arms(0);
	dt_send(&pair.a, 0, 64, 2);
	dt_await_count(&calls, 2);
	dt_pair_close(&pair);
}

/* origin: outside.44 */
TEST(kcreate__cannot_enable__leaves_no_evd)
{
	_Atomic(int) calls = 0;
	DAT_UPCALL_OBJECT object = { &calls, dt_count_call };
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL, evd = &calls;
	DAT_IA_HANDLE ia;

	dt_ok(dat_ia_open((DAT_NAME_PTR) "faulty", 8, &async, &ia));
	fault_cq_refuse_arms(FAULT_ALWAYS);
	dt_assert_type(
	    dat_evd_kcreate(ia, 8, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_EVD_DTO_FLAG, &evd),
	    DAT_INTERNAL_ERROR);
	fault_cq_refuse_arms(0);
	ck_assert_ptr_eq(evd, &calls);
	ck_assert_int_eq(calls, 0);
	dt_ok(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
}
