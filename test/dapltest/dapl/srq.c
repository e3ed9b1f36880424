/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues: the object, and receiving. */
#include "shared.h"
#include "lib/runner.h"

/* ---- create, query, free ---- */

DT_CASE("srq:object");

/* clause: e.7.11 */
TEST(create__bad_arguments__each_has_its_code)
{
	DAT_SRQ_ATTR good = { 4, 1, 0 }, attr;
	struct dt_side side;
	DAT_IA_ATTR limits;
	DAT_SRQ_HANDLE srq;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_ia_query(side.ia, NULL, DAT_IA_FIELD_ALL, &limits, 0, NULL));
	ck_assert_int_gt(limits.max_srqs, 0);
	ck_assert_int_gt(limits.max_ep_per_srq, 0);
	dt_assert_ret(dat_srq_create(side.pz, side.pz, &good, &srq), BAD(IA));
	dt_assert_ret(dat_srq_create(side.ia, side.ep, &good, &srq), BAD(PZ));
	dt_assert_ret(dat_srq_create(side.ia, DAT_HANDLE_NULL, &good, &srq), BAD(PZ));
	dt_assert_ret(dat_srq_create(side.ia, side.pz, NULL, &srq), PARAMETER(3));
	dt_assert_ret(dat_srq_create(side.ia, side.pz, &good, NULL), PARAMETER(4));
	attr = (DAT_SRQ_ATTR){ 0, 1, 0 };
	dt_assert_ret(dat_srq_create(side.ia, side.pz, &attr, &srq), PARAMETER(3));
	attr = (DAT_SRQ_ATTR){ limits.max_recv_per_srq + 1, 1, 0 };
	dt_assert_ret(dat_srq_create(side.ia, side.pz, &attr, &srq), PARAMETER(3));
	attr = (DAT_SRQ_ATTR){ 4, -1, 0 };
	dt_assert_ret(dat_srq_create(side.ia, side.pz, &attr, &srq), PARAMETER(3));
	attr = (DAT_SRQ_ATTR){ 4, 10000, 0 };
	dt_assert_ret(dat_srq_create(side.ia, side.pz, &attr, &srq), PARAMETER(3));
	attr = (DAT_SRQ_ATTR){ 4, 1, 5 };
	dt_assert_ret(dat_srq_create(side.ia, side.pz, &attr, &srq), PARAMETER(3));
	attr = (DAT_SRQ_ATTR){ 4, 1, -1 };
	dt_assert_ret(dat_srq_create(side.ia, side.pz, &attr, &srq), PARAMETER(3));
	dt_ok(dat_pz_free((dat_lmr_free(side.lmr), dat_ep_free(side.ep), side.pz)));
	dt_side_close(&side);
}

/* clause: e.7.12, e.8.1, e.8.2 */
TEST(query__returns_the_values_of_the_create)
{
	DAT_SRQ_ATTR attr = { 12, 2, 3 };
	DAT_CONTEXT context = { .as_64 = 77 };
	DAT_HANDLE_TYPE type;
	struct dt_side side;
	DAT_SRQ_PARAM param;
	DAT_SRQ_HANDLE srq;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_srq_create(side.ia, side.pz, &attr, &srq));
	dt_ok(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param));
	ck_assert_ptr_eq(param.ia_handle, side.ia);
	ck_assert_ptr_eq(param.pz_handle, side.pz);
	ck_assert_int_eq(param.srq_state, DAT_SRQ_STATE_OPERATIONAL);
	ck_assert_int_eq(param.max_recv_dtos, 12);
	ck_assert_int_eq(param.max_recv_iov, 2);
	ck_assert_int_eq(param.low_watermark, 3);
	shared_assert_counts(srq, 0, 0);
	dt_assert_ret(dat_srq_query(srq, (DAT_SRQ_PARAM_MASK)0x100, &param), PARAMETER(2));
	dt_assert_ret(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, NULL), PARAMETER(3));
	dt_assert_ret(dat_srq_query(side.ep, DAT_SRQ_FIELD_ALL, &param), BAD(SRQ));
	dt_ok(dat_get_handle_type(srq, &type));
	ck_assert_int_eq(type, DAT_HANDLE_TYPE_SRQ);
	dt_ok(dat_set_consumer_context(srq, context));
	context.as_64 = 0;
	dt_ok(dat_get_consumer_context(srq, &context));
	ck_assert_uint_eq(context.as_64, 77);
	dt_ok(dat_srq_free(srq));
	dt_assert_ret(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param), BAD(SRQ));
	dt_assert_ret(dat_srq_free(srq), BAD(SRQ));
	dt_side_close(&side);
}

/* clause: e.7.13 */
TEST(free__an_endpoint_uses_it__is_refused)
{
	const DAT_RETURN in_use = DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE);
	struct dt_side side;
	DAT_SRQ_HANDLE srq;
	DAT_EP_PARAM param;
	DAT_EP_HANDLE ep;

	dt_side_open(&side, "soft", DT_SEPARATE);
	srq = shared_srq(&side, 4);
	ep = shared_ep(&side, side.recv, srq);
	dt_ok(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
	ck_assert_ptr_eq(param.srq_handle, srq);
	dt_assert_ret(dat_srq_free(srq), in_use);
	dt_ok(dat_ep_free(ep));
	dt_ok(dat_lmr_free(side.lmr));
	dt_ok(dat_ep_free(side.ep));
	dt_assert_ret(
	    dat_pz_free(side.pz), DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE));
	dt_ok(dat_srq_free(srq));
	dt_ok(dat_pz_free(side.pz));
	dt_side_close(&side);
}

/* clause: e.7.13 */
TEST(close__queues_and_endpoints_are_left__frees_them)
{
	const DAT_RETURN in_use = DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE);
	struct shared s;

	shared_open(&s, DT_SEPARATE);
	(void)shared_connect(&s, s.pair.b.recv);
	(void)shared_srq(&s.pair.b, 3);
	shared_post(&s, 1, 5);
	shared_send(&s, 0, 'x');
	dt_assert_ret(dat_ia_close(s.pair.b.ia, DAT_CLOSE_GRACEFUL_FLAG), in_use);
	shared_close(&s);
}

/* clause: e.7.14 */
TEST(create_endpoint__bad_arguments__each_has_its_code)
{
	DAT_EP_ATTR attr;
	DAT_EP_PARAM param;
	struct dt_pair pair;
	DAT_SRQ_HANDLE srq;
	DAT_EP_HANDLE ep;

	dt_pair_open(&pair, DT_SEPARATE);
	srq = shared_srq(&pair.a, 4);
	dt_ok(dat_ep_query(pair.a.ep, DAT_EP_FIELD_ALL, &param));
	attr = param.ep_attr;
	attr.max_request_dtos = 1 << 30;
	dt_assert_ret(shared_try_ep(&pair.a, pair.a.recv, DAT_HANDLE_NULL, NULL, &ep), BAD(SRQ));
	dt_assert_ret(shared_try_ep(&pair.a, pair.a.recv, pair.a.pz, NULL, &ep), BAD(SRQ));
	dt_assert_ret(shared_try_ep(&pair.b, pair.b.recv, srq, NULL, &ep), BAD(SRQ));
	dt_assert_ret(shared_try_ep(&pair.a, DAT_HANDLE_NULL, srq, NULL, &ep), BAD(EVD_RECV));
	dt_assert_ret(shared_try_ep(&pair.a, pair.a.connect, srq, NULL, &ep), BAD(EVD_RECV));
	dt_assert_ret(shared_try_ep(&pair.a, pair.a.recv, srq, &attr, &ep), PARAMETER(7));
	dt_assert_ret(shared_try_ep(&pair.a, pair.a.recv, srq, NULL, NULL), PARAMETER(8));
	dt_ok(dat_srq_free(srq));
	dt_pair_close(&pair);
}

/* ---- posting and receiving ---- */

DT_CASE("srq:receive");

/* clause: e.7.15 */
TEST(post__bad_arguments__each_has_its_code)
{
	DAT_LMR_TRIPLET iov[3];
	struct shared s;

	shared_open(&s, DT_SEPARATE);
	for (int i = 0; i < 3; i++)
		iov[i] = dt_local(&s.pair.b, 0, 8);
	dt_assert_ret(dat_srq_post_recv(s.pair.b.ep, 1, iov, dt_cookie(1)), BAD(SRQ));
	dt_assert_ret(dat_srq_post_recv(s.srq, -1, iov, dt_cookie(1)), PARAMETER(2));
	dt_assert_ret(dat_srq_post_recv(s.srq, 3, iov, dt_cookie(1)), PARAMETER(2));
	dt_assert_ret(dat_srq_post_recv(s.srq, 1, NULL, dt_cookie(1)), PARAMETER(3));
	shared_assert_counts(s.srq, 0, 0);
	dt_ok(dat_srq_post_recv(s.srq, 0, NULL, dt_cookie(1)));
	shared_assert_counts(s.srq, 1, 1);
	shared_close(&s);
}

/* clause: e.7.15 */
TEST(post__beyond_the_depth__is_refused_until_an_event_is_dequeued)
{
	struct shared s;

	shared_open(&s, DT_SEPARATE);
	(void)shared_connect(&s, s.pair.b.recv);
	shared_post(&s, 0, SHARED_DEPTH - 1);
	dt_assert_ret(shared_try_post(&s, 100), FULL);
	shared_assert_counts(s.srq, SHARED_DEPTH, SHARED_DEPTH);
	shared_send(&s, 0, 'a');
	dt_assert_ret(shared_try_post(&s, 100), FULL);
	(void)shared_expect(&s, s.pair.b.recv, 0, 'a');
	shared_assert_counts(s.srq, SHARED_DEPTH - 1, SHARED_DEPTH - 1);
	dt_ok(shared_try_post(&s, 100));
	dt_assert_ret(shared_try_post(&s, 101), FULL);
	shared_close(&s);
}

/* clause: e.7.16, d.1.3 */
TEST_LOOP(
    receives__of_endpoints_on_two_evds__each_event_has_its_endpoint_and_cookie, dt_personalities())
{
	const DAT_RETURN in_use = DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE);
	bool seen[SHARED_DEPTH] = { false };
	DAT_EVD_HANDLE evds[2];
	struct shared s;
	DAT_UINT64 cookie;

	dt_personality(_i);
	shared_open(&s, DT_SEPARATE);
	evds[0] = s.pair.b.recv;
	evds[1] = s.other;
	for (int i = 0; i < 4; i++)
		(void)shared_connect(&s, evds[i % 2]);
	shared_post(&s, 0, SHARED_DEPTH - 1);
	dt_assert_ret(dt_try_recv(&s.pair.b, 0, 8, 1), in_use);
	for (int i = 0; i < SHARED_DEPTH; i++)
		shared_send(&s, (i * 3 + i / 5) % 4, (char)('a' + i));
	/* Taken one EVD after the other: not in the order in which the buffers were posted. */
	for (int evd = 0; evd < 2; evd++) {
		for (int i = 0; i < SHARED_DEPTH; i++) {
			if ((i * 3 + i / 5) % 2 != evd)
				continue;
			cookie = shared_expect(&s, evds[evd], (i * 3 + i / 5) % 4, (char)('a' + i));
			ck_assert_uint_lt(cookie, SHARED_DEPTH);
			ck_assert(!seen[cookie]);
			seen[cookie] = true;
		}
	}
	shared_assert_counts(s.srq, 0, 0);
	for (int i = 0; i < 4; i++) /* the entries are used again, in another order */
		shared_post(&s, (DAT_UINT64)i, (DAT_UINT64)i);
	shared_send(&s, 2, 'z');
	(void)shared_expect(&s, evds[0], 2, 'z');
	shared_close(&s);
}

/* clause: e.7.16 */
TEST(receives__forty_endpoints_on_one_evd__none_is_lost)
{
	struct shared s;

	shared_open(&s, DT_SEPARATE);
	for (int i = 0; i < SHARED_ENDS_MAX; i++)
		(void)shared_connect(&s, s.pair.b.recv);
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < SHARED_ENDS_MAX; i++) {
			shared_post(&s, (DAT_UINT64)i, (DAT_UINT64)i);
			shared_send(&s, i, (char)(round + i));
			(void)shared_expect(&s, s.pair.b.recv, i, (char)(round + i));
		}
	}
	shared_assert_counts(s.srq, 0, 0);
	shared_close(&s);
}

/* clause: d.4.3 */
TEST_LOOP(receives__on_the_connection_evd__come_after_established, dt_personalities())
{
	struct shared s;
	DAT_EVENT event;

	dt_personality(_i);
	shared_open(&s, DT_MERGED);
	shared_post(&s, 0, 3);
	s.ends = 1;
	s.pair.a.ep = s.from[0] = dt_ep(&s.pair.a, NULL);
	s.pair.b.ep = s.to[0] = shared_ep(&s.pair.b, s.pair.b.recv, s.srq);
	dt_connect(&s.pair.a, &s.pair.b, NULL, 0);
	dt_ok(dat_cr_accept(dt_request(&s.pair.b), s.to[0], 0, NULL));
	dt_expect_established(&s.pair.a);
	for (int i = 0; i < 4; i++) {
		s.pair.a.buffer[i] = (char)('p' + i);
		dt_send(&s.pair.a, (size_t)i, 1, 1);
	}
	dt_expect(s.pair.b.connect, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
	for (int i = 0; i < 4; i++)
		(void)shared_expect(&s, s.pair.b.recv, 0, (char)('p' + i));
	shared_close(&s);
}
