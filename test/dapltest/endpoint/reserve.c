/* SPDX-License-Identifier: BSD-3-Clause */
/* Reserved service points: one request, for one endpoint. */
#include "endpoint.h"

#define PARAMETER(n) DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG##n)
#define HANDLE(kind) DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_##kind)

DT_CASE("reserve:reserve");

/* clause: e.3.10, e.1.18, e.1.16 */
TEST_LOOP(rsp__its_request__is_accepted_by_its_endpoint_named_or_not, 2)
{
	DAT_CR_PARAM param;
	struct scene s;

	scene_open(&s, SCENE_ASKED);
	dt_ok(dat_cr_query(s.cr, DAT_CR_FIELD_ALL, &param));
	ck_assert_ptr_eq(param.local_ep_handle, s.me->ep);
	dt_ok(dat_cr_accept(s.cr, _i ? s.me->ep : DAT_HANDLE_NULL, 0, NULL));
	dt_expect_established(s.me);
	dt_expect_established(s.peer);
	dt_ok(dat_rsp_free(s.rsp));
	ck_assert_int_eq(dt_state(s.me->ep), DAT_EP_STATE_CONNECTED);
	dt_ok(dat_ep_disconnect(s.peer->ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(s.me);
	dt_assert_stays_empty(s.me->connect);
	/* Another one, in the place of the first, is asked again. */
	dt_expect_disconnected(s.peer);
	dt_ok(dat_ep_reset(s.me->ep));
	dt_ok(dat_ep_reset(s.peer->ep));
	scene_reserve(&s);
	dt_connect(s.peer, s.me, NULL, 0);
	dt_ok(dat_cr_accept(scene_asked(&s), DAT_HANDLE_NULL, 0, NULL));
	dt_expect_established(s.me);
	dt_expect_established(s.peer);
	scene_close(&s);
}

/* clause: e.3.10 */
TEST(rsp__another_endpoint__cannot_accept_its_request)
{
	DAT_EP_HANDLE other;
	struct scene s;

	scene_open(&s, SCENE_ASKED);
	other = dt_ep(s.me, NULL);
	dt_assert_ret(dat_cr_accept(s.cr, other, 0, NULL), HANDLE(EP));
	ck_assert_int_eq(dt_state(other), DAT_EP_STATE_UNCONNECTED);
	dt_ok(dat_cr_accept(s.cr, DAT_HANDLE_NULL, 0, NULL));
	dt_expect_established(s.me);
	scene_close(&s);
}

/* clause: e.3.10, d.0.5 */
TEST(rsp__a_second_request__is_refused_as_without_a_listener)
{
	struct dt_side second;
	struct scene s;

	scene_open(&s, SCENE_ASKED);
	second = *s.peer;
	second.ep = dt_ep(s.peer, NULL);
	dt_connect(&second, s.me, NULL, 0);
	dt_expect_connection(second.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, second.ep);
	dt_assert_stays_empty(s.me->cr);
	dt_ok(dat_cr_accept(s.cr, DAT_HANDLE_NULL, 0, NULL));
	dt_expect_established(s.peer);
	scene_close(&s);
}

/* clause: e.3.12, e.1.18 */
TEST(rsp__freed__lets_its_endpoint_go)
{
	struct scene s;

	scene_open(&s, SCENE_RESERVED);
	dt_ok(dat_rsp_free(s.rsp));
	ck_assert_int_eq(dt_state(s.me->ep), DAT_EP_STATE_UNCONNECTED);
	dt_assert_ret(dat_rsp_free(s.rsp), HANDLE(RSP));
	dt_connect(s.peer, s.me, NULL, 0);
	dt_expect_connection(s.peer->connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, s.peer->ep);
	dt_ok(dat_ep_reset(s.peer->ep));
	s.rsp = NULL;
	dt_connect_pair(&s.pair);
	scene_close(&s);
}

/* clause: e.3.12, e.3.8 */
TEST(rsp__its_request_rejected__lets_the_endpoint_go)
{
	DAT_RSP_HANDLE first;
	DAT_EP_PARAM param;
	struct scene s;

	scene_open(&s, SCENE_ASKED);
	dt_ok(dat_ep_query(s.me->ep, DAT_EP_FIELD_ALL, &param));
	ck_assert_ptr_nonnull(param.remote_ia_address_ptr);
	ck_assert_uint_ne(param.remote_port_qual, 0);
	dt_ok(dat_cr_reject(s.cr, 0, NULL));
	dt_expect_connection(s.peer->connect, DAT_CONNECTION_EVENT_PEER_REJECTED, s.peer->ep);
	ck_assert_int_eq(dt_state(s.me->ep), DAT_EP_STATE_UNCONNECTED);
	dt_ok(dat_ep_query(s.me->ep, DAT_EP_FIELD_ALL, &param));
	ck_assert_ptr_null(param.remote_ia_address_ptr);
	ck_assert_uint_eq(param.remote_port_qual, 0);
	dt_assert_stays_empty(s.me->connect);
	/* When it is reserved again, the end of the first service point has no effect on it. */
	first = s.rsp;
	scene_reserve(&s);
	dt_ok(dat_rsp_free(first));
	ck_assert_int_eq(dt_state(s.me->ep), DAT_EP_STATE_RESERVED);
	dt_ok(dat_ep_reset(s.peer->ep));
	dt_connect(s.peer, s.me, NULL, 0);
	dt_ok(dat_cr_accept(scene_asked(&s), DAT_HANDLE_NULL, 0, NULL));
	dt_expect_established(s.me);
	scene_close(&s);
}

/* clause: e.3.10, d.0.6 */
TEST_LOOP(rsp__the_client_goes__accepting_fails_and_rejecting_lets_go, 2)
{
	struct scene s;

	scene_open(&s, SCENE_ASKED);
	dt_ok(dat_ep_disconnect(s.peer->ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(s.peer);
	dt_nap_ms(20);
	ck_assert_int_eq(dt_state(s.me->ep), DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
	if (_i) {
		dt_ok(dat_cr_reject(s.cr, 0, NULL));
		ck_assert_int_eq(dt_state(s.me->ep), DAT_EP_STATE_UNCONNECTED);
	} else {
		dt_ok(dat_cr_accept(s.cr, DAT_HANDLE_NULL, 0, NULL));
		dt_expect_connection(
		    s.me->connect, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR, s.me->ep);
		dt_ok(dat_ep_reset(s.me->ep));
	}
	dt_assert_stays_empty(s.me->connect);
	scene_close(&s);
}

/* clause: e.3.11, e.3.2 */
TEST(rsp_create__bad_arguments__each_gets_its_own_code_and_leaves_the_endpoint_alone)
{
	DAT_RSP_HANDLE rsp;
	struct dt_side *me;
	struct scene s;

	scene_open(&s, SCENE_FRESH);
	me = s.me;
	dt_side_listen(me);
	dt_assert_ret(dat_rsp_create(me->pz, 5000, me->ep, me->cr, &rsp), HANDLE(IA));
	dt_assert_ret(dat_rsp_create(me->ia, 0, me->ep, me->cr, &rsp), PARAMETER(2));
	dt_assert_ret(dat_rsp_create(me->ia, 5000, me->ep, me->cr, NULL), PARAMETER(5));
	dt_assert_ret(dat_rsp_create(me->ia, 5000, me->recv, me->cr, &rsp), HANDLE(EP));
	dt_assert_ret(dat_rsp_create(me->ia, 5000, DAT_HANDLE_NULL, me->cr, &rsp), HANDLE(EP));
	dt_assert_ret(dat_rsp_create(me->ia, 5000, s.peer->ep, me->cr, &rsp), HANDLE(EP));
	dt_assert_ret(dat_rsp_create(me->ia, 5000, me->ep, me->recv, &rsp), HANDLE(EVD_CR));
	dt_assert_ret(dat_rsp_create(me->ia, me->qual, me->ep, me->cr, &rsp),
	    DAT_ERROR(DAT_CONN_QUAL_IN_USE, DAT_NO_SUBTYPE));
	ck_assert_int_eq(dt_state(me->ep), DAT_EP_STATE_UNCONNECTED);
	dt_ok(dat_psp_free(me->psp));
	dt_ok(dat_evd_free(me->cr)); /* no object uses it */
	scene_close(&s);
}

/* clause: e.3.11, e.8.1, e.8.2 */
TEST(rsp__query_context_and_type__return_what_was_given)
{
	DAT_CONTEXT context = { .as_64 = 12 };
	DAT_HANDLE_TYPE type;
	DAT_RSP_PARAM param;
	struct scene s;

	scene_open(&s, SCENE_RESERVED);
	dt_ok(dat_rsp_query(s.rsp, DAT_RSP_FIELD_ALL, &param));
	ck_assert_ptr_eq(param.ia_handle, s.me->ia);
	ck_assert_uint_eq(param.conn_qual, s.me->qual);
	ck_assert_ptr_eq(param.evd_handle, s.me->cr);
	ck_assert_ptr_eq(param.ep_handle, s.me->ep);
	dt_assert_ret(dat_rsp_query(s.rsp, DAT_RSP_FIELD_ALL, NULL), PARAMETER(3));
	dt_assert_ret(dat_rsp_query(s.rsp, (DAT_RSP_PARAM_MASK)0x10, &param), PARAMETER(2));
	dt_assert_ret(dat_rsp_query(s.me->ep, DAT_RSP_FIELD_ALL, &param), HANDLE(RSP));
	dt_ok(dat_set_consumer_context(s.rsp, context));
	context.as_64 = 0;
	dt_ok(dat_get_consumer_context(s.rsp, &context));
	ck_assert_uint_eq(context.as_64, 12);
	dt_ok(dat_get_handle_type(s.rsp, &type));
	ck_assert_int_eq(type, DAT_HANDLE_TYPE_RSP);
	dt_assert_ret(
	    dat_evd_free(s.me->cr), DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE));
	dt_assert_ret(dat_ia_close(s.me->ia, DAT_CLOSE_GRACEFUL_FLAG),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE));
	scene_close(&s);
}

/* clause: e.3.10, d.5.2 */
TEST(rsp__its_evd_is_full__the_request_is_refused_and_it_waits_for_another)
{
	DAT_EVD_HANDLE evd;
	struct scene s;
	DAT_EVENT event;

	scene_open(&s, SCENE_FRESH);
	scene_reserve(&s);
	dt_ok(dat_rsp_free(s.rsp));
	evd = dt_evd(s.me, DAT_EVD_CR_FLAG | DAT_EVD_SOFTWARE_FLAG, 1);
	dt_ok(dat_rsp_create(s.me->ia, s.me->qual, s.me->ep, evd, &s.rsp));
	dt_post_se(evd, 1);
	dt_connect(s.peer, s.me, NULL, 0);
	dt_expect_connection(s.peer->connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, s.peer->ep);
	dt_await_state(s.me->ep, DAT_EP_STATE_RESERVED);
	dt_expect(s.me->async, DAT_ASYNC_ERROR_EVD_OVERFLOW, &event);
	ck_assert_ptr_eq(event.event_data.asynch_error_event_data.dat_handle, evd);
	dt_ok(dat_rsp_free(s.rsp));
	ck_assert_int_eq(dt_state(s.me->ep), DAT_EP_STATE_UNCONNECTED);
	scene_close(&s);
}

/* clause: e.3.12, e.9.1 */
TEST_LOOP(rsp__adapter_closed__takes_all_with_it, 2)
{
	struct scene s;

	scene_open(&s, _i ? SCENE_ASKED : SCENE_RESERVED);
	dt_side_close(s.me);
	if (_i)
		dt_expect_connection(
		    s.peer->connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, s.peer->ep);
	dt_side_close(s.peer);
}
