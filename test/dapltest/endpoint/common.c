/* SPDX-License-Identifier: BSD-3-Clause */
/* Common service points, and connecting to a socket address. */
#include "endpoint.h"

#include <netinet/in.h>

#define PARAMETER(n) DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG##n)
#define HANDLE(kind) DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_##kind)
#define ADDRESS(why) DAT_ERROR(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_##why)

#define TCP(family) ((DAT_COMM){ (family), SOCK_STREAM, IPPROTO_TCP })

/* The port on which the service point listens. */
static DAT_CONN_QUAL
port_of(DAT_CSP_HANDLE csp)
{
	DAT_CSP_PARAM param;

	dt_ok(dat_csp_query(csp, DAT_CSP_FIELD_ALL, &param));
	return ntohs(((struct sockaddr_in *)(void *)param.address_ptr)->sin_port);
}

static DAT_RETURN
listen_at(const struct dt_side *side, DAT_CONN_QUAL port, DAT_EVD_HANDLE evd, DAT_CSP_HANDLE *csp)
{
	struct sockaddr_storage at;
	DAT_COMM comm;

	scene_address(side, port, &at);
	comm = TCP(at.ss_family);
	return dat_csp_create(side->ia, &comm, (DAT_IA_ADDRESS_PTR)&at, evd, csp);
}

/* Two sides; `me` listens on a port that the provider chose. */
static DAT_CSP_HANDLE
open_common(struct scene *s)
{
	DAT_CSP_HANDLE csp;

	memset(s, 0, sizeof *s);
	s->me = &s->pair.a;
	s->peer = &s->pair.b;
	dt_side_open(s->me, "soft", DT_SEPARATE);
	dt_side_open(s->peer, "soft", DT_SEPARATE);
	s->me->cr = dt_evd(s->me, DAT_EVD_CR_FLAG, 16);
	dt_ok(listen_at(s->me, 0, s->me->cr, &csp));
	s->me->qual = port_of(csp);
	ck_assert_uint_ne(s->me->qual, 0);
	return csp;
}

static DAT_RETURN
common_connect(const struct scene *s, DAT_EP_HANDLE ep, const char *data, DAT_COUNT size)
{
	struct sockaddr_storage to;

	scene_address(s->me, s->me->qual, &to);
	return dat_ep_common_connect(ep, (DAT_IA_ADDRESS_PTR)&to, DAT_TIMEOUT_INFINITE, size,
	    (const DAT_PVOID)(uintptr_t)data);
}

static DAT_CR_HANDLE
request(const struct scene *s, DAT_CSP_HANDLE csp)
{
	const DAT_CR_ARRIVAL_EVENT_DATA *data;
	DAT_EVENT event;

	dt_expect(s->me->cr, DAT_CONNECTION_REQUEST_EVENT, &event);
	data = &event.event_data.cr_arrival_event_data;
	ck_assert_ptr_eq(data->sp_handle.csp_handle, csp);
	ck_assert_uint_eq(data->conn_qual, s->me->qual);
	return data->cr_handle;
}

DT_CASE("common:common");

/* clause: e.3.15, e.3.16 */
TEST_LOOP(csp__asked_in_either_way__its_requests_are_those_of_a_public_one, 2 * dt_personalities())
{
	DAT_EP_PARAM ep;
	DAT_CR_PARAM cr;
	DAT_CSP_HANDLE csp;
	DAT_EP_HANDLE model;
	DAT_EVENT event;
	struct scene s;

	dt_personality(_i / 2);
	csp = open_common(&s);
	if (_i % 2)
		dt_ok(common_connect(&s, s.peer->ep, "hello", 5));
	else
		dt_connect(s.peer, s.me, "hello", 5);
	s.cr = request(&s, csp);
	dt_ok(dat_cr_query(s.cr, DAT_CR_FIELD_ALL, &cr));
	ck_assert_mem_eq(cr.private_data, "hello", 5);
	ck_assert_ptr_null(cr.local_ep_handle);
	dt_recv(s.me, 0, 8, 1);
	dt_ok(dat_cr_accept(s.cr, s.me->ep, 0, NULL));
	dt_expect_established(s.me);
	dt_expect_established(s.peer);
	dt_ok(dat_ep_query(s.peer->ep, DAT_EP_FIELD_ALL, &ep));
	ck_assert_uint_eq(ep.remote_port_qual, s.me->qual);
	dt_send(s.peer, 0, 8, 2);
	dt_expect_dto(s.me->recv, s.me->ep, 1, DAT_DTO_SUCCESS, &event);
	/* Another endpoint duplicates the connection, and is rejected. */
	model = s.peer->ep;
	s.peer->ep = dt_ep(s.peer, NULL);
	dt_ok(dat_ep_dup_connect(
	    s.peer->ep, model, DAT_TIMEOUT_INFINITE, 0, NULL, DAT_QOS_BEST_EFFORT));
	dt_ok(dat_cr_reject(request(&s, csp), 0, NULL));
	dt_expect_connection(s.peer->connect, DAT_CONNECTION_EVENT_PEER_REJECTED, s.peer->ep);
	scene_close(&s);
}

/* clause: e.3.16 */
TEST(common_connect__to_a_public_service_point__reaches_it)
{
	struct sockaddr_storage to;
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	scene_address(&pair.b, pair.b.qual, &to);
	dt_ok(dat_ep_common_connect(
	    pair.a.ep, (DAT_IA_ADDRESS_PTR)&to, DAT_TIMEOUT_INFINITE, 0, NULL));
	dt_ok(dat_cr_accept(dt_request(&pair.b), pair.b.ep, 0, NULL));
	dt_expect_established(&pair.a);
	dt_expect_established(&pair.b);
	dt_pair_close(&pair);
}

/* clause: e.3.16, d.0.5 */
TEST(common_connect__no_listener__is_a_non_peer_rejection)
{
	struct scene s;

	dt_ok(dat_csp_free(open_common(&s)));
	dt_ok(common_connect(&s, s.peer->ep, NULL, 0));
	dt_expect_connection(s.peer->connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, s.peer->ep);
	scene_close(&s);
}

/* clause: e.3.16 */
TEST_LOOP(common_connect__bad_arguments__each_gets_its_own_code, SCENE_PLACES)
{
	struct sockaddr unknown = { .sa_family = AF_UNIX };
	struct sockaddr_storage at, portless;
	DAT_IA_ADDRESS_PTR to = (DAT_IA_ADDRESS_PTR)&at;
	char data[57] = "";
	struct scene s;

	scene_open(&s, (enum scene_place)_i);
	scene_address(s.peer, 7, &at);
	scene_address(s.peer, 0, &portless);
	dt_assert_ret(dat_ep_common_connect(s.me->pz, to, 1000, 0, NULL), HANDLE(EP));
	dt_assert_ret(dat_ep_common_connect(s.me->ep, NULL, 1000, 0, NULL), PARAMETER(2));
	dt_assert_ret(
	    dat_ep_common_connect(s.me->ep, &unknown, 1000, 0, NULL), ADDRESS(UNSUPPORTED));
	dt_assert_ret(dat_ep_common_connect(s.me->ep, (DAT_IA_ADDRESS_PTR)&portless, 1000, 0, NULL),
	    ADDRESS(MALFORMED));
	dt_assert_ret(dat_ep_common_connect(s.me->ep, to, 0, 0, NULL), PARAMETER(3));
	dt_assert_ret(dat_ep_common_connect(s.me->ep, to, 1000, -1, data), PARAMETER(4));
	dt_assert_ret(dat_ep_common_connect(s.me->ep, to, 1000, 57, data), PARAMETER(4));
	dt_assert_ret(dat_ep_common_connect(s.me->ep, to, 1000, 1, NULL), PARAMETER(5));
	ck_assert_int_eq(dt_state(s.me->ep), s.state);
	scene_close(&s);
}

/* clause: e.3.15 */
TEST(csp_create__bad_arguments__each_gets_its_own_code)
{
	struct sockaddr unknown = { .sa_family = AF_UNIX };
	struct sockaddr_storage at, elsewhere;
	DAT_IA_ADDRESS_PTR address = (DAT_IA_ADDRESS_PTR)&at;
	DAT_COMM good, bad[3];
	struct dt_side side;
	DAT_CSP_HANDLE csp;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_side_listen(&side);
	scene_address(&side, 0, &at);
	scene_address(&side, 0, &elsewhere);
	((struct sockaddr_in *)(void *)&elsewhere)->sin_addr.s_addr ^= htonl(0x01020300);
	good = TCP(at.ss_family);
	bad[0] = TCP(at.ss_family == AF_INET ? AF_INET6 : AF_INET);
	bad[1] = (DAT_COMM){ at.ss_family, SOCK_DGRAM, 0 };
	bad[2] = (DAT_COMM){ at.ss_family, SOCK_STREAM, IPPROTO_UDP };
#define CREATE(ia, comm, address, evd) dat_csp_create(ia, comm, address, evd, &csp)
	dt_assert_ret(CREATE(side.pz, &good, address, side.cr), HANDLE(IA));
	dt_assert_ret(CREATE(side.ia, NULL, address, side.cr), PARAMETER(2));
	dt_assert_ret(CREATE(side.ia, &good, NULL, side.cr), PARAMETER(3));
	dt_assert_ret(dat_csp_create(side.ia, &good, address, side.cr, NULL), PARAMETER(5));
	dt_assert_ret(CREATE(side.ia, &good, address, side.recv), HANDLE(EVD_CR));
	dt_assert_ret(CREATE(side.ia, &good, address, DAT_HANDLE_NULL), HANDLE(EVD_CR));
	dt_assert_ret(CREATE(side.ia, &good, &unknown, side.cr), ADDRESS(UNSUPPORTED));
	dt_assert_ret(
	    CREATE(side.ia, &good, (DAT_IA_ADDRESS_PTR)&elsewhere, side.cr), ADDRESS(UNREACHABLE));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		dt_assert_ret(CREATE(side.ia, &bad[i], address, side.cr),
		    DAT_ERROR(DAT_COMM_NOT_SUPPORTED, DAT_NO_SUBTYPE));
#undef CREATE
	dt_ok(dat_psp_free(side.psp));
	dt_ok(dat_evd_free(side.cr)); /* no object uses it */
	dt_side_close(&side);
}

/* clause: e.3.15, e.3.2 */
TEST(csp__its_port__is_one_with_the_qualifiers)
{
	const DAT_RETURN in_use = DAT_ERROR(DAT_PORT_IN_USE, DAT_NO_SUBTYPE);
	DAT_CSP_HANDLE csp, other;
	DAT_PSP_HANDLE psp;
	struct dt_side *me;
	struct scene s;

	csp = open_common(&s);
	me = s.me;
	dt_assert_ret(listen_at(me, me->qual, me->cr, &other), in_use);
	dt_assert_ret(dat_psp_create(me->ia, me->qual, me->cr, DAT_PSP_CONSUMER_FLAG, &psp),
	    DAT_ERROR(DAT_CONN_QUAL_IN_USE, DAT_NO_SUBTYPE));
	dt_ok(dat_csp_free(csp));
	dt_ok(dat_psp_create(me->ia, me->qual, me->cr, DAT_PSP_CONSUMER_FLAG, &psp));
	dt_assert_ret(listen_at(me, me->qual, me->cr, &csp), in_use);
	dt_ok(dat_psp_free(psp));
	dt_ok(listen_at(me, me->qual, me->cr, &csp));
	ck_assert_uint_eq(port_of(csp), me->qual);
	scene_close(&s);
}

/* clause: e.3.15, e.8.1, e.8.2, e.9.2 */
TEST(csp__query_context_and_type__return_what_was_given)
{
	DAT_CONTEXT context = { .as_64 = 12 };
	struct sockaddr_storage any, at;
	DAT_CSP_HANDLE csp;
	DAT_HANDLE_TYPE type;
	DAT_CSP_PARAM param;
	struct scene s;
	DAT_COMM comm;

	dt_ok(dat_csp_free(open_common(&s)));
	scene_address(s.me, s.me->qual, &at);
	any = at;
	if (at.ss_family == AF_INET)
		((struct sockaddr_in *)(void *)&any)->sin_addr.s_addr = htonl(INADDR_ANY);
	comm = (DAT_COMM){ at.ss_family, SOCK_STREAM, 0 };
	dt_ok(dat_csp_create(s.me->ia, &comm, (DAT_IA_ADDRESS_PTR)&any, s.me->cr, &csp));
	dt_ok(dat_csp_query(csp, DAT_CSP_FIELD_ALL, &param));
	ck_assert_ptr_eq(param.ia_handle, s.me->ia);
	ck_assert_ptr_eq(param.evd_handle, s.me->cr);
	ck_assert_mem_eq(param.comm, &comm, sizeof comm);
	ck_assert_mem_eq(param.address_ptr, &at, sizeof(struct sockaddr_in));
	dt_assert_ret(dat_csp_query(csp, DAT_CSP_FIELD_ALL, NULL), PARAMETER(3));
	dt_assert_ret(dat_csp_query(csp, (DAT_CSP_PARAM_MASK)0x10, &param), PARAMETER(2));
	dt_assert_ret(dat_csp_query(s.me->ep, DAT_CSP_FIELD_ALL, &param), HANDLE(CSP));
	dt_ok(dat_set_consumer_context(csp, context));
	context.as_64 = 0;
	dt_ok(dat_get_consumer_context(csp, &context));
	ck_assert_uint_eq(context.as_64, 12);
	dt_ok(dat_get_handle_type(csp, &type));
	ck_assert_int_eq(type, DAT_HANDLE_TYPE_CSP);
	dt_assert_ret(
	    dat_evd_free(s.me->cr), DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE));
	dt_assert_ret(dat_ia_close(s.me->ia, DAT_CLOSE_GRACEFUL_FLAG),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE));
	dt_ok(dat_csp_free(csp));
	dt_assert_ret(dat_csp_free(csp), HANDLE(CSP));
	dt_assert_ret(dat_csp_query(csp, DAT_CSP_FIELD_ALL, &param), HANDLE(CSP));
	dt_ok(dat_ep_free(s.me->ep));
	scene_close_empty(&s);
}

/* clause: e.3.16, e.3.4, e.9.1 */
TEST_LOOP(csp__it_goes__requests_that_were_delivered_stay, 2)
{
	DAT_CSP_HANDLE csp;
	struct dt_side late;
	struct scene s;

	csp = open_common(&s);
	dt_ok(common_connect(&s, s.peer->ep, NULL, 0));
	s.cr = request(&s, csp);
	if (_i) { /* with its adapter */
		dt_side_close(s.me);
		dt_expect_connection(
		    s.peer->connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, s.peer->ep);
		dt_side_close(s.peer);
		return;
	}
	dt_ok(dat_csp_free(csp));
	late = *s.peer;
	late.ep = dt_ep(s.peer, NULL);
	dt_ok(common_connect(&s, late.ep, NULL, 0));
	dt_expect_connection(late.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, late.ep);
	dt_ok(dat_cr_accept(s.cr, s.me->ep, 0, NULL));
	dt_expect_established(s.me);
	dt_expect_established(s.peer);
	scene_close(&s);
}

/* clause: e.3.16, d.5.2 */
TEST_LOOP(csp__its_evd_is_full__the_request_is_refused, dt_personalities())
{
	DAT_CSP_HANDLE csp;
	DAT_EVD_HANDLE evd;
	struct scene s;
	DAT_EVENT event;

	dt_personality(_i);
	dt_ok(dat_csp_free(open_common(&s)));
	evd = dt_evd(s.me, DAT_EVD_CR_FLAG | DAT_EVD_SOFTWARE_FLAG, 1);
	dt_ok(listen_at(s.me, s.me->qual, evd, &csp));
	dt_post_se(evd, 1);
	dt_ok(common_connect(&s, s.peer->ep, NULL, 0));
	dt_expect_connection(s.peer->connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, s.peer->ep);
	dt_expect(s.me->async, DAT_ASYNC_ERROR_EVD_OVERFLOW, &event);
	ck_assert_ptr_eq(event.event_data.asynch_error_event_data.dat_handle, evd);
	scene_close(&s);
}
