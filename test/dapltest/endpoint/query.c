/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_ep_query() and dat_ep_get_status(): what they return, in every state. */
#include "endpoint.h"

#include <netinet/in.h>

static in_port_t
port_of(DAT_IA_ADDRESS_PTR address)
{
	return ntohs(((struct sockaddr_in *)(void *)address)->sin_port);
}

DT_CASE("query:query");

/* clause: e.1.14 */
TEST_LOOP(query__in_each_state__returns_what_was_given_and_the_remote_address, SCENE_PLACES)
{
	DAT_EP_PARAM param;
	struct scene s;

	scene_open(&s, (enum scene_place)_i);
	dt_ok(dat_ep_query(s.me->ep, DAT_EP_FIELD_ALL, &param));
	ck_assert_ptr_eq(param.ia_handle, s.me->ia);
	ck_assert_int_eq(param.ep_state, s.state);
	if (s.state == DAT_EP_STATE_UNCONFIGURED_TENTATIVE) {
		ck_assert_ptr_null(param.pz_handle);
		ck_assert_ptr_null(param.recv_evd_handle);
		ck_assert_ptr_null(param.request_evd_handle);
		ck_assert_ptr_null(param.connect_evd_handle);
	} else {
		ck_assert_ptr_eq(param.pz_handle, s.me->pz);
		ck_assert_ptr_eq(param.recv_evd_handle, s.me->recv);
		ck_assert_ptr_eq(param.request_evd_handle, s.me->request);
		ck_assert_ptr_eq(param.connect_evd_handle, s.me->connect);
	}
	ck_assert_ptr_null(param.srq_handle);
	ck_assert_int_eq(param.local_ia_address_ptr->sa_family, AF_INET);
	if (s.state == DAT_EP_STATE_UNCONNECTED || s.state == DAT_EP_STATE_RESERVED) {
		ck_assert_ptr_null(param.remote_ia_address_ptr);
		ck_assert_uint_eq(param.remote_port_qual, 0);
	} else {
		ck_assert_int_eq(param.remote_ia_address_ptr->sa_family, AF_INET);
		ck_assert_uint_eq(port_of(param.remote_ia_address_ptr), param.remote_port_qual);
	}
	if (s.me == &s.pair.a && !s.rsp && _i != SCENE_MADE && _i != SCENE_MADE_COMPLETE &&
	    s.state != DAT_EP_STATE_UNCONNECTED)
		ck_assert_uint_eq(param.remote_port_qual, s.peer->qual);
	if (s.state == DAT_EP_STATE_CONNECTED && s.me == &s.pair.b)
		ck_assert_uint_eq(param.local_port_qual, s.me->qual);
	/* A connection has a port until it ends. */
	ck_assert_int_eq(param.local_port_qual != 0,
	    s.state == DAT_EP_STATE_CONNECTED || s.state == DAT_EP_STATE_DISCONNECT_PENDING);
	scene_close(&s);
}

/* clause: e.1.14 */
TEST(query__bad_arguments__each_gets_its_own_code)
{
	DAT_EP_PARAM param;
	struct scene s;

	scene_open(&s, SCENE_FRESH);
	dt_assert_ret(dat_ep_query(s.me->ep, DAT_EP_FIELD_ALL, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_assert_ret(dat_ep_query(s.me->ep, DAT_EP_FIELD_ALL + 1, &param),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_ret(dat_ep_query(s.me->connect, DAT_EP_FIELD_ALL, &param),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
	scene_close(&s);
}

static void
expect_idle(DAT_EP_HANDLE ep, DAT_BOOLEAN recv, DAT_BOOLEAN request)
{
	DAT_BOOLEAN r = (DAT_BOOLEAN)9, q = (DAT_BOOLEAN)9;

	dt_ok(dat_ep_get_status(ep, NULL, &r, &q));
	ck_assert_int_eq(r, recv);
	ck_assert_int_eq(q, request);
}

DT_CASE("query:status");

/* clause: e.1.13 */
/* origin: peer.31 */
TEST(get_status__idle__is_a_truth_value_of_what_is_outstanding)
{
	DAT_EVENT event;
	struct scene s;

	scene_open(&s, SCENE_CONNECTED_ACTIVE);
	expect_idle(s.me->ep, DAT_TRUE, DAT_TRUE);
	dt_recv(s.me, 0, 8, 1);
	dt_recv(s.me, 0, 8, 2);
	expect_idle(s.me->ep, DAT_FALSE, DAT_TRUE);
	/* The peer has no receive: the sends wait. */
	dt_send(s.me, 0, 8, 3);
	dt_send(s.me, 0, 8, 4);
	expect_idle(s.me->ep, DAT_FALSE, DAT_FALSE);
	dt_recv(s.peer, 0, 8, 5);
	dt_recv(s.peer, 0, 8, 6);
	dt_expect_dto(s.me->request, s.me->ep, 3, DAT_DTO_SUCCESS, &event);
	dt_expect_dto(s.me->request, s.me->ep, 4, DAT_DTO_SUCCESS, &event);
	expect_idle(s.me->ep, DAT_FALSE, DAT_TRUE);
	dt_ok(dat_ep_disconnect(s.me->ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(s.me);
	expect_idle(s.me->ep, DAT_TRUE, DAT_TRUE);
	dt_recv(s.me, 0, 8, 7); /* flushed at once */
	expect_idle(s.me->ep, DAT_TRUE, DAT_TRUE);
	scene_close(&s);
}

/* clause: e.1.13, e.6.4 */
TEST(get_status__what_is_done_but_not_dequeued__is_not_outstanding)
{
	DAT_BOOLEAN sent = DAT_FALSE, received = DAT_FALSE;
	struct scene s;

	scene_open(&s, SCENE_CONNECTED_ACTIVE);
	for (DAT_UINT64 i = 0; i < 4; i++)
		dt_recv(s.peer, 0, 8, i);
	dt_send(s.me, 0, 8, 1);
	for (DAT_UINT64 i = 2; i < 5; i++)
		dt_ok(dt_try_send(s.me, 0, 8, i, DAT_COMPLETION_SUPPRESS_FLAG));
	/* Each end's device shows its completions in its own time. */
	for (int i = 0; i < DT_FOREVER_MS && !(sent && received); i++) {
		dt_nap_ms(1);
		dt_ok(dat_ep_get_status(s.me->ep, NULL, NULL, &sent));
		dt_ok(dat_ep_get_status(s.peer->ep, NULL, &received, NULL));
	}
	expect_idle(s.me->ep, DAT_TRUE, DAT_TRUE);
	expect_idle(s.peer->ep, DAT_TRUE, DAT_TRUE);
	scene_close(&s);
}

/* clause: e.1.13 */
TEST_LOOP(get_status__in_each_state__returns_it_and_every_argument_may_be_null, SCENE_PLACES)
{
	DAT_EP_STATE state;
	struct scene s;

	scene_open(&s, (enum scene_place)_i);
	dt_ok(dat_ep_get_status(s.me->ep, &state, NULL, NULL));
	ck_assert_int_eq(state, s.state);
	dt_ok(dat_ep_get_status(s.me->ep, NULL, NULL, NULL));
	expect_idle(s.me->ep, DAT_TRUE, _i == SCENE_DISCONNECTING ? DAT_FALSE : DAT_TRUE);
	scene_close(&s);
}
