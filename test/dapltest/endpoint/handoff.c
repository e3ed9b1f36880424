/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_cr_handoff() between service points of each kind. */
#include "endpoint.h"

#include <netinet/in.h>

#define BAD_CR DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR)
#define UNAVAILABLE DAT_ERROR(DAT_CONN_QUAL_UNAVAILABLE, DAT_NO_SUBTYPE)

/* A public service point of the side, beside that of the scene; its requests come to side->cr. */
static DAT_CONN_QUAL
listen_too(struct dt_side *side)
{
	DAT_CONN_QUAL qual;
	DAT_PSP_HANDLE psp;

	dt_ok(dat_psp_create_any(side->ia, &qual, side->cr, DAT_PSP_CONSUMER_FLAG, &psp));
	return qual;
}

/* The next request of the side, which arrived at `qual`, with the private data of the first. */
static DAT_CR_HANDLE
arrived_at(struct dt_side *side, DAT_CONN_QUAL qual, DAT_EP_HANDLE own)
{
	DAT_CR_PARAM param;
	DAT_CR_HANDLE cr;
	DAT_EVENT event;

	dt_expect(side->cr, DAT_CONNECTION_REQUEST_EVENT, &event);
	ck_assert_uint_eq(event.event_data.cr_arrival_event_data.conn_qual, qual);
	cr = event.event_data.cr_arrival_event_data.cr_handle;
	dt_ok(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
	ck_assert_ptr_eq(param.local_ep_handle, own);
	return cr;
}

DT_CASE("handoff:handoff");

/* clause: e.3.17, e.3.10 */
TEST(handoff__to_a_reserved_service_point__its_endpoint_gets_the_request_once)
{
	DAT_CONN_QUAL qual, reserved;
	DAT_CR_HANDLE first, second;
	DAT_EP_HANDLE spare;
	struct scene s;

	scene_open(&s, SCENE_RESERVED);
	reserved = s.me->qual;
	qual = s.me->qual = listen_too(s.me);
	dt_connect(s.peer, s.me, NULL, 0);
	first = arrived_at(s.me, qual, DAT_HANDLE_NULL);
	spare = s.peer->ep;
	s.peer->ep = dt_ep(s.peer, NULL);
	dt_connect(s.peer, s.me, NULL, 0);
	second = arrived_at(s.me, qual, DAT_HANDLE_NULL);
	dt_ok(dat_cr_handoff(first, reserved));
	dt_assert_ret(dat_cr_handoff(first, reserved), BAD_CR);
	ck_assert_int_eq(dt_state(s.me->ep), DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
	/* It has no endpoint for another one, which stays where it is. */
	dt_assert_ret(dat_cr_handoff(second, reserved), UNAVAILABLE);
	dt_ok(dat_cr_reject(second, 0, NULL));
	dt_expect_connection(s.peer->connect, DAT_CONNECTION_EVENT_PEER_REJECTED, s.peer->ep);
	dt_ok(dat_cr_accept(arrived_at(s.me, reserved, s.me->ep), DAT_HANDLE_NULL, 0, NULL));
	dt_expect_established(s.me);
	s.peer->ep = spare;
	dt_expect_established(s.peer);
	scene_close(&s);
}

/* clause: e.3.17, e.3.12 */
TEST(handoff__from_a_reserved_service_point__ends_the_reservation)
{
	DAT_CONN_QUAL qual;
	struct scene s;

	scene_open(&s, SCENE_ASKED);
	ck_assert_int_eq(dt_state(s.me->ep), DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
	qual = listen_too(s.me);
	dt_ok(dat_cr_handoff(s.cr, qual));
	ck_assert_int_eq(dt_state(s.me->ep), DAT_EP_STATE_UNCONNECTED);
	dt_ok(dat_cr_accept(arrived_at(s.me, qual, DAT_HANDLE_NULL), s.me->ep, 0, NULL));
	dt_expect_established(s.me);
	dt_expect_established(s.peer);
	dt_assert_stays_empty(s.me->connect);
	scene_close(&s);
}

/* clause: e.3.17, e.3.16 */
TEST(handoff__to_a_common_service_point_and_to_its_own__arrives_anew)
{
	struct sockaddr_storage at;
	DAT_CSP_HANDLE csp;
	DAT_CSP_PARAM param;
	DAT_CONN_QUAL qual, common;
	DAT_COMM comm;
	struct scene s;

	scene_open(&s, SCENE_ASKED);
	qual = listen_too(s.me);
	scene_address(s.me, 0, &at);
	comm = (DAT_COMM){ at.ss_family, SOCK_STREAM, IPPROTO_TCP };
	dt_ok(dat_csp_create(s.me->ia, &comm, (DAT_IA_ADDRESS_PTR)&at, s.me->cr, &csp));
	dt_ok(dat_csp_query(csp, DAT_CSP_FIELD_ALL, &param));
	dt_ok(dat_cr_handoff(s.cr, qual));
	dt_ok(dat_cr_handoff(arrived_at(s.me, qual, DAT_HANDLE_NULL), qual));
	common = ntohs(((struct sockaddr_in *)(void *)param.address_ptr)->sin_port);
	dt_ok(dat_cr_handoff(arrived_at(s.me, qual, DAT_HANDLE_NULL), common));
	dt_ok(dat_cr_accept(arrived_at(s.me, common, DAT_HANDLE_NULL), s.me->ep, 0, NULL));
	dt_expect_established(s.me);
	dt_expect_established(s.peer);
	scene_close(&s);
}

/* clause: e.3.17, d.0.6 */
TEST_LOOP(handoff__the_client_goes_before_or_after__accepting_fails, 2)
{
	DAT_CONN_QUAL qual;
	struct scene s;

	scene_open(&s, SCENE_ASKED);
	qual = listen_too(s.me);
	if (_i)
		dt_ok(dat_cr_handoff(s.cr, qual));
	dt_ok(dat_ep_disconnect(s.peer->ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(s.peer);
	dt_nap_ms(20);
	if (!_i)
		dt_ok(dat_cr_handoff(s.cr, qual));
	dt_ok(dat_cr_accept(arrived_at(s.me, qual, DAT_HANDLE_NULL), s.me->ep, 0, NULL));
	dt_expect_connection(s.me->connect, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR, s.me->ep);
	dt_assert_stays_empty(s.me->connect);
	scene_close(&s);
}

/* clause: e.3.17, e.9.1 */
TEST_LOOP(handoff__its_service_point_or_the_adapter_goes__the_request_is_answered, 2)
{
	DAT_CONN_QUAL qual;
	struct scene s;

	scene_open(&s, SCENE_ASKED);
	qual = listen_too(s.me);
	dt_ok(dat_cr_handoff(s.cr, qual));
	if (_i) {
		dt_ok(dat_rsp_free(s.rsp));
		dt_ok(dat_cr_reject(arrived_at(s.me, qual, DAT_HANDLE_NULL), 0, NULL));
		dt_expect_connection(
		    s.peer->connect, DAT_CONNECTION_EVENT_PEER_REJECTED, s.peer->ep);
		scene_close(&s);
		return;
	}
	dt_side_close(s.me);
	dt_expect_connection(s.peer->connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, s.peer->ep);
	dt_side_close(s.peer);
}
