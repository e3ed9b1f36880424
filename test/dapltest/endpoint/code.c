/* SPDX-License-Identifier: BSD-3-Clause */
/* The error codes of every endpoint call for bad handles and arguments, in every state. */
#include "endpoint.h"

#define COUNT(array) (int)(sizeof(array) / sizeof(array)[0])
#define PARAMETER(n) DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG##n)
#define BAD_EP DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP)
#define HANDLE(kind) DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_##kind)

DT_CASE("code:code");

/* clause: e.1.1 */
TEST(create__bad_arguments__each_gets_its_own_code)
{
	DAT_EP_HANDLE ep = (DAT_EP_HANDLE)5;
	DAT_EVD_HANDLE software;
	DAT_EP_PARAM param;
	struct dt_side side;

	dt_side_open(&side, "soft", DT_SEPARATE);
	software = dt_evd(&side, DAT_EVD_SOFTWARE_FLAG, 4);
	dt_ok(dat_ep_query(side.ep, DAT_EP_FIELD_ALL, &param));
#define CREATE(ia, pz, recv, request, connect, attr, out) \
	dat_ep_create((ia), (pz), (recv), (request), (connect), (attr), (out))
	dt_assert_ret(
	    CREATE(side.pz, side.pz, side.recv, side.request, side.connect, NULL, &ep), HANDLE(IA));
	dt_assert_ret(
	    CREATE(side.ia, DAT_HANDLE_NULL, side.recv, side.request, side.connect, NULL, &ep),
	    HANDLE(PZ));
	dt_assert_ret(
	    CREATE(side.ia, side.ep, side.recv, side.request, side.connect, NULL, &ep), HANDLE(PZ));
	dt_assert_ret(CREATE(side.ia, side.pz, side.connect, side.request, side.connect, NULL, &ep),
	    HANDLE(EVD_RECV));
	dt_assert_ret(CREATE(side.ia, side.pz, side.recv, software, side.connect, NULL, &ep),
	    HANDLE(EVD_REQUEST));
	dt_assert_ret(CREATE(side.ia, side.pz, side.recv, side.request, side.recv, NULL, &ep),
	    HANDLE(EVD_CONN));
	param.ep_attr.qos = DAT_QOS_LOW_LATENCY;
	dt_assert_ret(
	    CREATE(side.ia, side.pz, side.recv, side.request, side.connect, &param.ep_attr, &ep),
	    PARAMETER(6));
	dt_assert_ret(CREATE(side.ia, side.pz, side.recv, side.request, side.connect, NULL, NULL),
	    PARAMETER(7));
#undef CREATE
	ck_assert_ptr_eq(ep, (DAT_EP_HANDLE)5); /* a failure does not write the handle */
	dt_ok(dat_evd_free(software));		/* and keeps no reference */
	dt_side_close(&side);
}

/* Every call on an endpoint, with valid arguments except the handle. */
static void
expect_bad(const struct dt_side *side, DAT_EP_HANDLE ep)
{
	DAT_LMR_TRIPLET local = dt_local(side, 0, 8);
	DAT_RMR_TRIPLET remote = dt_remote(side, 0, 8);
	DAT_IA_ADDRESS_PTR address = dt_address(side->ia);
	const DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG;
	DAT_EP_PARAM param;
	DAT_EP_STATE state;

	dt_assert_ret(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param), BAD_EP);
	dt_assert_ret(dat_ep_modify(ep, 0, &param), BAD_EP);
	dt_assert_ret(dat_ep_connect(ep, address, 1, 1000, 0, NULL, DAT_QOS_BEST_EFFORT,
			  DAT_CONNECT_DEFAULT_FLAG),
	    BAD_EP);
	dt_assert_ret(dat_ep_dup_connect(ep, side->ep, 1000, 0, NULL, DAT_QOS_BEST_EFFORT), BAD_EP);
	dt_assert_ret(dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG), BAD_EP);
	dt_assert_ret(dat_ep_post_send(ep, 1, &local, dt_cookie(1), flags), BAD_EP);
	dt_assert_ret(dat_ep_post_recv(ep, 1, &local, dt_cookie(1), flags), BAD_EP);
	dt_assert_ret(dat_ep_post_rdma_read(ep, 1, &local, dt_cookie(1), &remote, flags), BAD_EP);
	dt_assert_ret(dat_ep_post_rdma_write(ep, 1, &local, dt_cookie(1), &remote, flags), BAD_EP);
	dt_assert_ret(dat_ep_get_status(ep, &state, NULL, NULL), BAD_EP);
	dt_assert_ret(dat_ep_reset(ep), BAD_EP);
	dt_assert_ret(dat_ep_free(ep), BAD_EP);
}

/* clause: b.4.3, b.4.4 */
TEST(handle__that_is_no_endpoint__is_refused_by_every_call)
{
	DAT_EP_HANDLE freed;
	struct dt_side side;

	dt_side_open(&side, "soft", DT_SEPARATE);
	freed = dt_ep(&side, NULL);
	dt_ok(dat_ep_free(freed));
	expect_bad(&side, freed);
	expect_bad(&side, DAT_HANDLE_NULL);
	expect_bad(&side, side.pz);
	expect_bad(&side, side.recv);
	expect_bad(&side, side.ia);
	dt_assert_ret(
	    dat_ep_dup_connect(side.ep, freed, 1000, 0, NULL, DAT_QOS_BEST_EFFORT), BAD_EP);
	dt_side_close(&side);
}

/* clause: e.1.4, e.4.1 */
TEST_LOOP(connect__bad_arguments__are_reported_before_the_state, SCENE_PLACES)
{
	const DAT_QOS best = DAT_QOS_BEST_EFFORT;
	struct sockaddr unknown = { .sa_family = AF_UNIX };
	char data[57] = "";
	struct scene s;
	DAT_IA_ADDRESS_PTR to;

	scene_open(&s, (enum scene_place)_i);
	to = dt_address(s.peer->ia);
#define CONNECT(address, timeout, size, data, qos, flags) \
	dat_ep_connect( \
	    s.me->ep, (address), 7, (timeout), (size), (data), (qos), (DAT_CONNECT_FLAGS)(flags))
	dt_assert_ret(CONNECT(NULL, 1000, 0, NULL, best, 0), PARAMETER(2));
	dt_assert_ret(CONNECT(&unknown, 1000, 0, NULL, best, 0),
	    DAT_ERROR(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED));
	dt_assert_ret(CONNECT(to, 0, 0, NULL, best, 0), PARAMETER(4));
	dt_assert_ret(CONNECT(to, 1000, -1, data, best, 0), PARAMETER(5));
	dt_assert_ret(CONNECT(to, 1000, 57, data, best, 0), PARAMETER(5));
	dt_assert_ret(CONNECT(to, 1000, 1, NULL, best, 0), PARAMETER(6));
	for (int bit = 0; bit < 4; bit++) /* from DAT_QOS_HIGH_THROUGHPUT to DAT_QOS_PREMIUM */
		dt_assert_ret(CONNECT(to, 1000, 0, NULL, (DAT_QOS)(1 << bit), 0),
		    DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE));
	dt_assert_ret(CONNECT(to, 1000, 0, NULL, best, 8), PARAMETER(8));
	dt_assert_ret(CONNECT(to, 1000, 0, NULL, best, DAT_CONNECT_MULTIPATH_REQUIRED_FLAG),
	    DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE));
#undef CONNECT
	ck_assert_int_eq(dt_state(s.me->ep), s.state);
	dt_assert_empty(s.me->connect);
	scene_close(&s);
}

/* clause: e.1.5 */
TEST(dup_connect__bad_arguments__each_gets_its_own_code)
{
	const DAT_QOS best = DAT_QOS_BEST_EFFORT;
	char data[57] = "";
	struct scene s;
	DAT_EP_HANDLE ep;

	scene_open(&s, SCENE_CONNECTED_ACTIVE);
	ep = dt_ep(s.me, NULL);
#define DUP(timeout, size, data, qos) \
	dat_ep_dup_connect(ep, s.me->ep, (timeout), (size), (data), (qos))
	dt_assert_ret(DUP(0, 0, NULL, best), PARAMETER(3));
	dt_assert_ret(DUP(1000, -1, NULL, best), PARAMETER(4));
	dt_assert_ret(DUP(1000, 57, data, best), PARAMETER(4));
	dt_assert_ret(DUP(1000, 1, NULL, best), PARAMETER(5));
	dt_assert_ret(DUP(1000, 0, NULL, DAT_QOS_PREMIUM),
	    DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE));
	dt_assert_ret(DUP(1000, 0, NULL, best | DAT_QOS_PREMIUM),
	    DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE));
#undef DUP
	dt_assert_ret(dat_ep_dup_connect(s.me->ep, s.me->ep, 1000, 0, NULL, best),
	    scene_refusal(DAT_EP_STATE_CONNECTED));
	ck_assert_int_eq(dt_state(ep), DAT_EP_STATE_UNCONNECTED);
	scene_close(&s);
}

/* clause: e.1.17, e.6.9 */
TEST_LOOP(post__bad_arguments__each_gets_its_own_code_in_every_call, 2)
{
	const DAT_COMPLETION_FLAGS none = DAT_COMPLETION_DEFAULT_FLAG;
	const DAT_COMPLETION_FLAGS unknown = (DAT_COMPLETION_FLAGS)0x400;
	const DAT_DTO_COOKIE cookie = dt_cookie(1);
	DAT_RMR_TRIPLET remote, tiny;
	DAT_LMR_TRIPLET iov[5];
	DAT_EP_HANDLE ep;
	struct scene s;

	scene_open(&s, _i ? SCENE_ENDED_BY_ME : SCENE_CONNECTED_ACTIVE);
	ep = s.me->ep;
	for (int i = 0; i < COUNT(iov); i++)
		iov[i] = dt_local(s.me, 0, 8);
	remote = dt_remote(s.peer, 0, 64);
	tiny = dt_remote(s.peer, 0, 4);
#define ALL_BUT_RECV(n, iov, flags, ret, rdma_ret) \
	dt_assert_ret(dat_ep_post_send(ep, n, iov, cookie, flags), ret); \
	dt_assert_ret(dat_ep_post_rdma_write(ep, n, iov, cookie, &remote, flags), rdma_ret); \
	dt_assert_ret(dat_ep_post_rdma_read(ep, n, iov, cookie, &remote, flags), rdma_ret)
	ALL_BUT_RECV(-1, iov, none, PARAMETER(2), PARAMETER(2));
	ALL_BUT_RECV(5, iov, none, PARAMETER(2), PARAMETER(2));
	ALL_BUT_RECV(1, NULL, none, PARAMETER(3), PARAMETER(3));
	ALL_BUT_RECV(1, iov, unknown, PARAMETER(5), PARAMETER(6));
#undef ALL_BUT_RECV
	dt_assert_ret(dat_ep_post_recv(ep, -1, iov, cookie, none), PARAMETER(2));
	dt_assert_ret(dat_ep_post_recv(ep, 5, iov, cookie, none), PARAMETER(2));
	dt_assert_ret(dat_ep_post_recv(ep, 1, NULL, cookie, none), PARAMETER(3));
	dt_assert_ret(dat_ep_post_recv(ep, 1, iov, cookie, unknown), PARAMETER(5));
	dt_assert_ret(dat_ep_post_rdma_write(ep, 1, iov, cookie, NULL, none), PARAMETER(5));
	dt_assert_ret(dat_ep_post_rdma_read(ep, 1, iov, cookie, NULL, none), PARAMETER(5));
	dt_assert_ret(dat_ep_post_rdma_write(ep, 1, iov, cookie, &tiny, none),
	    DAT_ERROR(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE));
	dt_assert_ret(dat_ep_post_rdma_read(ep, 1, iov, cookie, &remote, none),
	    DAT_ERROR(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE));
	dt_assert_stays_empty(s.me->request);
	dt_assert_stays_empty(s.me->recv);
	scene_close(&s);
}

/* clause: e.3.7, e.3.8, e.4.1 */
TEST(answer__bad_arguments__each_gets_its_own_code_and_keeps_the_request)
{
	char data[57] = "";
	struct scene s;

	scene_open(&s, SCENE_CONNECTING);
	dt_assert_ret(dat_cr_accept(s.cr, s.peer->ep, -1, data), PARAMETER(3));
	dt_assert_ret(dat_cr_accept(s.cr, s.peer->ep, 57, data), PARAMETER(3));
	dt_assert_ret(dat_cr_accept(s.cr, s.peer->ep, 1, NULL), PARAMETER(4));
	dt_assert_ret(dat_cr_accept(s.cr, DAT_HANDLE_NULL, 0, NULL), HANDLE(EP));
	dt_assert_ret(dat_cr_accept(s.cr, s.peer->recv, 0, NULL), HANDLE(EP));
	dt_assert_ret(dat_cr_accept(s.cr, s.me->ep, 0, NULL), HANDLE(EP));
	dt_assert_ret(dat_cr_accept(s.me->ep, s.peer->ep, 0, NULL), HANDLE(CR));
	dt_assert_ret(dat_cr_reject(s.cr, -1, data), PARAMETER(2));
	dt_assert_ret(dat_cr_reject(s.cr, 57, data), PARAMETER(2));
	dt_assert_ret(dat_cr_reject(s.cr, 1, NULL), PARAMETER(3));
	dt_assert_ret(dat_cr_reject(DAT_HANDLE_NULL, 0, NULL), HANDLE(CR));
	dt_ok(dat_cr_accept(s.cr, s.peer->ep, 56, data));
	dt_expect_established(s.me);
	dt_expect_established(s.peer);
	dt_assert_ret(dat_cr_reject(s.cr, 0, NULL), HANDLE(CR));
	scene_close(&s);
}
