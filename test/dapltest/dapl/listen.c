/* SPDX-License-Identifier: BSD-3-Clause */
/* The passive side: public service points, and endpoints for their requests */
#include "lib/dt.h"

DT_CASE("listen:passive");

/* clause: e.3.7 */
TEST(accept__on_a_bad_endpoint__keeps_the_request)
{
	char data[57] = { 0 }; /* one more than fits */
	struct dt_pair pair;
	DAT_CR_HANDLE cr;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	cr = dt_request(&pair.b);
	dt_assert_ret(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
	dt_assert_ret(dat_cr_accept(cr, pair.a.ep, 0, NULL), /* another adapter's */
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
	dt_assert_ret(dat_cr_accept(cr, pair.b.ep, sizeof data, data),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_assert_ret(dat_cr_accept(cr, pair.b.ep, 5, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
	dt_ok(dat_cr_accept(cr, pair.b.ep, 0, NULL));
	dt_assert_ret(dat_cr_accept(cr, pair.b.ep, 0, NULL),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR));
	dt_expect_established(&pair.a);
	dt_expect_established(&pair.b);
	dt_pair_close(&pair);
}

/* clause: e.3.7 */
TEST(accept__on_a_used_endpoint__names_its_state)
{
	struct dt_pair pair;
	DAT_EP_HANDLE used;
	DAT_CR_HANDLE cr;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	used = pair.b.ep;
	pair.a.ep = dt_ep(&pair.a, NULL);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	cr = dt_request(&pair.b);
	dt_assert_ret(dat_cr_accept(cr, used, 0, NULL),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_CONNECTED));
	dt_ok(dat_cr_reject(cr, 0, NULL));
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_PEER_REJECTED, pair.a.ep);
	dt_pair_close(&pair);
}

/* clause: e.3.1, e.3.2, e.3.5 */
TEST(psp__arguments_and_queries__follow_the_rules)
{
	struct dt_side side;
	DAT_PSP_PARAM param;
	DAT_PSP_HANDLE psp;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_side_listen(&side);
	dt_assert_ret(dat_psp_create(side.ia, 45248, side.recv, DAT_PSP_CONSUMER_FLAG, &psp),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CR));
	dt_assert_ret(dat_psp_create(side.ia, 45248, side.cr, (DAT_PSP_FLAGS)4, &psp),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
	dt_assert_ret(dat_psp_create(side.ia, 45248, side.cr, DAT_PSP_CONSUMER_FLAG, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
	dt_assert_ret(dat_psp_create(side.ia, 0, side.cr, DAT_PSP_CONSUMER_FLAG, &psp),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_ret(dat_psp_create_any(side.ia, NULL, side.cr, DAT_PSP_CONSUMER_FLAG, &psp),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_ret(
	    dat_psp_create_any(side.ia, &param.conn_qual, side.cr, DAT_PSP_CONSUMER_FLAG, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
	dt_assert_ret(dat_psp_create(side.ia, side.qual, side.cr, DAT_PSP_CONSUMER_FLAG, &psp),
	    DAT_ERROR(DAT_CONN_QUAL_IN_USE, DAT_NO_SUBTYPE));
	dt_ok(dat_psp_query(side.psp, DAT_PSP_FIELD_ALL, &param));
	ck_assert_ptr_eq(param.ia_handle, side.ia);
	ck_assert_uint_eq(param.conn_qual, side.qual);
	ck_assert_ptr_eq(param.evd_handle, side.cr);
	ck_assert_int_eq(param.psp_flags, DAT_PSP_CONSUMER_FLAG);
	dt_ok(dat_psp_free(side.psp));
	dt_ok(dat_psp_create(side.ia, side.qual, side.cr, DAT_PSP_PROVIDER_FLAG, &psp));
	dt_ok(dat_psp_free(psp));
	dt_side_close(&side);
}

/* clause: e.3.4 */
TEST(psp__freed_with_a_request_delivered__leaves_the_request_valid)
{
	struct dt_pair pair;
	DAT_CR_HANDLE cr;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	cr = dt_request(&pair.b);
	dt_ok(dat_psp_free(pair.b.psp));
	dt_ok(dat_cr_accept(cr, pair.b.ep, 0, NULL));
	dt_expect_established(&pair.a);
	dt_expect_established(&pair.b);
	dt_pair_close(&pair);
}

/* clause: e.5.1 */
TEST(qualifiers__beyond_the_range_of_ports__meet)
{
	struct dt_pair pair;
	DAT_CONN_QUAL qual = 0x123456789abcULL;
	DAT_RSP_PARAM param;
	DAT_PSP_HANDLE psp;
	DAT_RSP_HANDLE rsp;
	DAT_EVENT event;
	DAT_RETURN ret;

	dt_pair_open(&pair, DT_SEPARATE);
	/* Another process may use its port. */
	do
		ret = dat_psp_create(pair.b.ia, ++qual, pair.b.cr, DAT_PSP_CONSUMER_FLAG, &psp);
	while (DAT_GET_TYPE(ret) == DAT_CONN_QUAL_IN_USE);
	dt_ok(ret);
	pair.b.psp = psp;
	pair.b.qual = qual;
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_cr_accept(dt_request_event(&pair.b, &event), pair.b.ep, 0, NULL));
	dt_expect_established(&pair.a);
	/* The same of a reserved service point, which reports the qualifier and not the port. */
	pair.a.ep = dt_ep(&pair.a, NULL);
	pair.b.ep = dt_ep(&pair.b, NULL);
	do
		ret = dat_rsp_create(pair.b.ia, ++qual, pair.b.ep, pair.b.cr, &rsp);
	while (DAT_GET_TYPE(ret) == DAT_CONN_QUAL_IN_USE);
	dt_ok(ret);
	dt_ok(dat_rsp_query(rsp, DAT_RSP_FIELD_ALL, &param));
	ck_assert_uint_eq(param.conn_qual, qual);
	pair.b.qual = qual;
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_expect(pair.b.cr, DAT_CONNECTION_REQUEST_EVENT, &event);
	ck_assert_uint_eq(event.event_data.cr_arrival_event_data.conn_qual, qual);
	dt_pair_close(&pair);
}

/* A second service point of the side, with an EVD of its own. */
static DAT_CONN_QUAL
listen_too(struct dt_side *side, DAT_PSP_FLAGS flags, DAT_COUNT qlen, DAT_EVD_HANDLE *evd)
{
	DAT_CONN_QUAL qual;
	DAT_PSP_HANDLE psp;

	*evd = dt_evd(side, DAT_EVD_CR_FLAG, qlen);
	dt_ok(dat_psp_create_any(side->ia, &qual, *evd, flags, &psp));
	return qual;
}

/* clause: e.3.17 */
/* origin: out33.P2 */
TEST(handoff__another_service_point_gets_the_request)
{
	DAT_EVD_HANDLE other;
	DAT_CONN_QUAL qual;
	struct sockaddr_in from;
	struct dt_pair pair;
	DAT_CR_PARAM param;
	DAT_PORT_QUAL port;
	DAT_CR_HANDLE cr;
	DAT_EVENT event;
	char hello[56];

	dt_pair_open(&pair, DT_SEPARATE);
	qual = listen_too(&pair.b, DAT_PSP_CONSUMER_FLAG, 8, &other);
	for (size_t i = 0; i < sizeof hello; i++)
		hello[i] = (char)(i + 1);
	dt_connect(&pair.a, &pair.b, hello, sizeof hello);
	cr = dt_request(&pair.b);
	dt_assert_ret(
	    dat_cr_handoff(pair.b.ep, qual), DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR));
	dt_assert_ret(dat_cr_handoff(cr, qual + 100000),
	    DAT_ERROR(DAT_CONN_QUAL_UNAVAILABLE, DAT_NO_SUBTYPE));
	dt_ok(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param)); /* it is still the same */
	memcpy(&from, param.remote_ia_address_ptr, sizeof from);
	port = param.remote_port_qual;
	dt_ok(dat_cr_handoff(cr, qual));
	dt_assert_ret(
	    dat_cr_reject(cr, 0, NULL), DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR));
	dt_assert_empty(pair.b.cr);
	dt_expect(other, DAT_CONNECTION_REQUEST_EVENT, &event);
	ck_assert_uint_eq(event.event_data.cr_arrival_event_data.conn_qual, qual);
	cr = event.event_data.cr_arrival_event_data.cr_handle;
	dt_ok(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
	ck_assert_int_ge(param.private_data_size, (int)sizeof hello);
	ck_assert_mem_eq(param.private_data, hello, sizeof hello);
	ck_assert_mem_eq(param.remote_ia_address_ptr, &from, sizeof from);
	ck_assert_int_eq(from.sin_family, AF_INET);
	ck_assert_uint_eq(param.remote_port_qual, port);
	dt_ok(dat_cr_accept(cr, pair.b.ep, 0, NULL));
	dt_expect_established(&pair.a);
	dt_expect_established(&pair.b);
	dt_pair_close(&pair);
}

/* clause: e.3.17 */
TEST(handoff__to_and_from_a_service_point_with_endpoints__each_has_its_own)
{
	DAT_EVD_HANDLE other, back;
	DAT_CONN_QUAL qual, plain;
	struct dt_pair pair;
	DAT_CR_PARAM param;
	DAT_EP_HANDLE own;
	DAT_EP_STATE state;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	qual = listen_too(&pair.b, DAT_PSP_PROVIDER_FLAG, 8, &other);
	plain = listen_too(&pair.b, DAT_PSP_CONSUMER_FLAG, 8, &back);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_cr_handoff(dt_request(&pair.b), qual));
	dt_expect(other, DAT_CONNECTION_REQUEST_EVENT, &event);
	dt_ok(dat_cr_query(
	    event.event_data.cr_arrival_event_data.cr_handle, DAT_CR_FIELD_ALL, &param));
	own = param.local_ep_handle;
	ck_assert_ptr_nonnull(own);
	dt_ok(dat_ep_get_status(own, &state, NULL, NULL));
	dt_ok(dat_cr_handoff(event.event_data.cr_arrival_event_data.cr_handle, plain));
	dt_assert_ret(dat_ep_get_status(own, &state, NULL, NULL),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
	dt_expect(back, DAT_CONNECTION_REQUEST_EVENT, &event);
	dt_ok(dat_cr_query(
	    event.event_data.cr_arrival_event_data.cr_handle, DAT_CR_FIELD_ALL, &param));
	ck_assert_ptr_eq(param.local_ep_handle, DAT_HANDLE_NULL);
	dt_ok(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, pair.b.ep, 0, NULL));
	dt_expect_established(&pair.a);
	dt_expect_established(&pair.b);
	dt_pair_close(&pair);
}

/* clause: e.3.17 */
TEST(handoff__the_evd_there_is_full__the_request_is_refused)
{
	DAT_EVD_HANDLE other;
	DAT_CONN_QUAL qual;
	struct dt_pair pair;
	DAT_EVD_PARAM param;

	dt_pair_open(&pair, DT_SEPARATE);
	qual = listen_too(&pair.b, DAT_PSP_CONSUMER_FLAG, 1, &other);
	dt_ok(dat_evd_query(other, DAT_EVD_FIELD_ALL, &param));
	for (DAT_COUNT i = 0; i <= param.evd_qlen; i++) {
		pair.a.ep = dt_ep(&pair.a, NULL);
		dt_connect(&pair.a, &pair.b, NULL, 0);
		dt_ok(dat_cr_handoff(dt_request(&pair.b), qual));
	}
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, pair.a.ep);
	dt_pair_close(&pair);
}
