/* SPDX-License-Identifier: BSD-3-Clause */
/* Remote memory regions. */
#include <dat2/dat_ib_extensions.h>

#include "bound.h"
#include "lib/runner.h"

#define PARAMETER(n) DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG##n)
#define BAD(kind) DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_##kind)
#define PLAIN(type) DAT_ERROR(DAT_##type, DAT_NO_SUBTYPE)

/* ---- the object ---- */

DT_CASE("rmr:object");

/* clause: e.7.21 */
TEST(create_query_free__arguments_and_values)
{
	DAT_RMR_HANDLE rmr, second;
	struct dt_side side;
	DAT_RMR_PARAM param;
	DAT_HANDLE_TYPE type;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_assert_ret(dat_rmr_create(side.ep, &rmr), BAD(PZ));
	dt_assert_ret(dat_rmr_create(side.pz, NULL), PARAMETER(2));
	dt_assert_ret(dat_rmr_create_for_ep(side.ep, &rmr), BAD(PZ));
	dt_assert_ret(dat_rmr_create_for_ep(side.pz, NULL), PARAMETER(2));
	dt_ok(dat_rmr_create(side.pz, &rmr));
	dt_ok(dat_rmr_create_for_ep(side.pz, &second));
	dt_ok(dat_get_handle_type(rmr, &type));
	ck_assert_int_eq(type, DAT_HANDLE_TYPE_RMR);
	dt_ok(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param));
	ck_assert_ptr_eq(param.ia_handle, side.ia);
	ck_assert_ptr_eq(param.pz_handle, side.pz);
	ck_assert_uint_eq(param.lmr_triplet.segment_length, 0);
	ck_assert_int_eq(param.rmr_scope, DAT_RMR_SCOPE_PZ);
	dt_ok(dat_rmr_query(second, DAT_RMR_FIELD_ALL, &param));
	ck_assert_int_eq(param.rmr_scope, DAT_RMR_SCOPE_EP);
	dt_assert_ret(dat_rmr_query(side.ep, DAT_RMR_FIELD_ALL, &param), BAD(RMR));
	dt_assert_ret(dat_rmr_query(rmr, (DAT_RMR_PARAM_MASK)0x80, &param), PARAMETER(2));
	dt_assert_ret(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, NULL), PARAMETER(3));
	dt_ok(dat_lmr_free(side.lmr));
	dt_ok(dat_ep_free(side.ep));
	dt_assert_ret(
	    dat_pz_free(side.pz), DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE));
	dt_ok(dat_rmr_free(rmr));
	dt_ok(dat_rmr_free(second));
	dt_assert_ret(dat_rmr_free(rmr), BAD(RMR));
	dt_ok(dat_pz_free(side.pz));
	dt_side_close(&side);
}

/* clause: e.7.22 */
TEST_LOOP(bind__bad_arguments__each_has_its_code, 2)
{
	DAT_COMPLETION_FLAGS flags = (DAT_COMPLETION_FLAGS)0x4000;
	DAT_REGION_DESCRIPTION region;
	DAT_LMR_HANDLE read_only, elsewhere;
	DAT_LMR_CONTEXT lmr_context;
	DAT_LMR_TRIPLET range, other;
	DAT_RMR_CONTEXT context;
	struct dt_side *b;
	struct bound s;
	DAT_PZ_HANDLE pz;
	DAT_EP_HANDLE ep;

	bound_open(&s, _i);
	b = &s.pair.b;
	range = dt_local(b, 0, 64);
#define BIND(rmr, lmr, range, privileges, va, ep, flags, context) \
	dat_rmr_bind(rmr, lmr, range, privileges, va, ep, dt_cookie(1), flags, context)
	dt_assert_ret(
	    BIND(b->ep, b->lmr, &range, READS, DAT_VA_TYPE_VA, b->ep, DEFAULT, &context), BAD(RMR));
	dt_assert_ret(
	    BIND(s.rmr, b->ep, &range, READS, DAT_VA_TYPE_VA, b->ep, DEFAULT, &context), BAD(LMR));
	dt_assert_ret(
	    BIND(s.rmr, b->lmr, &range, READS, DAT_VA_TYPE_VA, b->pz, DEFAULT, &context), BAD(EP));
	dt_assert_ret(BIND(s.rmr, b->lmr, NULL, READS, DAT_VA_TYPE_VA, b->ep, DEFAULT, &context),
	    PARAMETER(3));
	other = range;
	other.segment_length = DT_BUFFER + 1;
	dt_assert_ret(BIND(s.rmr, b->lmr, &other, READS, DAT_VA_TYPE_VA, b->ep, DEFAULT, &context),
	    PARAMETER(3));
	other = range;
	other.virtual_address--;
	dt_assert_ret(BIND(s.rmr, b->lmr, &other, READS, DAT_VA_TYPE_VA, b->ep, DEFAULT, &context),
	    PARAMETER(3));
	other = range;
	other.lmr_context++;
	dt_assert_ret(BIND(s.rmr, b->lmr, &other, READS, DAT_VA_TYPE_VA, b->ep, DEFAULT, &context),
	    PARAMETER(3));
	dt_assert_ret(BIND(s.rmr, b->lmr, &range, (DAT_MEM_PRIV_FLAGS)0x1000, DAT_VA_TYPE_VA, b->ep,
			  DEFAULT, &context),
	    PARAMETER(4));
	dt_assert_ret(BIND(s.rmr, b->lmr, &range, READS, (DAT_VA_TYPE)7, b->ep, DEFAULT, &context),
	    PARAMETER(5));
	dt_assert_ret(BIND(s.rmr, b->lmr, &range, READS, DAT_VA_TYPE_VA, b->ep, flags, &context),
	    PARAMETER(8));
	dt_assert_ret(
	    BIND(s.rmr, b->lmr, &range, READS, DAT_VA_TYPE_VA, b->ep, DEFAULT, NULL), PARAMETER(9));

	/* A region without the privilege, and one of another zone. */
	region.for_va = b->buffer;
	dt_ok(dat_lmr_create(b->ia, DAT_MEM_TYPE_VIRTUAL, region, 64, b->pz,
	    DAT_MEM_PRIV_LOCAL_READ_FLAG, DAT_VA_TYPE_VA, &read_only, &lmr_context, NULL, NULL,
	    NULL));
	other = range;
	other.lmr_context = lmr_context;
	dt_assert_ret(
	    BIND(s.rmr, read_only, &other, WRITES, DAT_VA_TYPE_VA, b->ep, DEFAULT, &context),
	    DAT_ERROR(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE));
	dt_ok(dat_pz_create(b->ia, &pz));
	dt_ok(dat_lmr_create(b->ia, DAT_MEM_TYPE_VIRTUAL, region, 64, pz, DAT_MEM_PRIV_ALL_FLAG,
	    DAT_VA_TYPE_VA, &elsewhere, &lmr_context, NULL, NULL, NULL));
	other.lmr_context = lmr_context;
	dt_assert_ret(
	    BIND(s.rmr, elsewhere, &other, READS, DAT_VA_TYPE_VA, b->ep, DEFAULT, &context),
	    PLAIN(PROTECTION_VIOLATION));
	ep = dt_ep(b, NULL); /* not connected */
	dt_assert_ret(BIND(s.rmr, b->lmr, &range, READS, DAT_VA_TYPE_VA, ep, DEFAULT, &context),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED));
#undef BIND
	dt_assert_empty(b->request);
	dt_ok(dat_lmr_free(b->lmr)); /* none of these bound it */
	dt_pair_close(&s.pair);
}

/* clause: e.7.22 */
TEST(bind__the_request_evd_has_no_bind_stream__is_refused)
{
	struct bound s;

	memset(&s, 0, sizeof s);
	dt_pair_open(&s.pair, DT_SEPARATE);
	dt_ok(dat_rmr_create(s.pair.b.pz, &s.rmr));
	dt_connect_pair(&s.pair);
	dt_assert_ret(bound_try(&s, 0, 64, BOTH, DEFAULT, 1),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_EVD_REQUEST));
	dt_pair_close(&s.pair);
}

/* ---- access ---- */

/*
 * The region is bound to that range of `b`; without a length to none, and then it has nothing of
 * the last one.
 */
static void
assert_region(const struct bound *s, size_t offset, size_t length, DAT_MEM_PRIV_FLAGS privileges)
{
	const DAT_LMR_TRIPLET range = dt_local(&s->pair.b, offset, length);
	DAT_RMR_PARAM param;

	dt_ok(dat_rmr_query(s->rmr, DAT_RMR_FIELD_ALL, &param));
	ck_assert_ptr_eq(param.pz_handle, s->pair.b.pz);
	ck_assert_int_eq(param.va_type, DAT_VA_TYPE_VA);
	ck_assert_int_eq(param.mem_priv, privileges);
	ck_assert_uint_eq(param.lmr_triplet.segment_length, length);
	ck_assert_uint_eq(param.lmr_triplet.virtual_address, length ? range.virtual_address : 0);
	ck_assert_uint_eq(param.lmr_triplet.lmr_context, length ? range.lmr_context : 0);
	if (length)
		ck_assert_uint_eq(param.rmr_context, s->context);
}

DT_CASE("rmr:access");

/* clause: e.7.23, d.0.17 */
TEST_LOOP(bind__gives_access_to_the_range_until_it_is_bound_again, 2 * dt_personalities())
{
	DAT_LMR_TRIPLET local, none = { 0 };
	DAT_RMR_TRIPLET remote;
	DAT_RMR_CONTEXT first;
	struct bound s;
	DAT_EVENT event;

	dt_personality(_i / 2);
	bound_open(&s, _i % 2);
	bound_bind(&s, 256, 128, BOTH);
	bound_write(&s, s.context, 256, DAT_DTO_SUCCESS);
	bound_write(&s, s.context, 256 + 120, DAT_DTO_SUCCESS);
	local = dt_local(&s.pair.a, 512, 8);
	remote = bound_through(&s, s.context, 256, 8);
	dt_ok(dat_ep_post_rdma_read(s.pair.a.ep, 1, &local, dt_cookie(9), &remote, DEFAULT));
	dt_expect_dto(s.pair.a.request, s.pair.a.ep, 9, DAT_DTO_SUCCESS, &event);
	ck_assert_mem_eq(s.pair.a.buffer + 512, "written!", 8);
	assert_region(&s, 256, 128, BOTH);
	dt_assert_ret(
	    dat_lmr_free(s.pair.b.lmr), DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_LMR_IN_USE));

	first = s.context;
	bound_bind(&s, 1024, 64, DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
	ck_assert_uint_ne(s.context, first);
	assert_region(&s, 1024, 64, DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
	bound_write(&s, s.context, 1024, DAT_DTO_SUCCESS);
	dt_ok(dat_rmr_bind(s.rmr, DAT_HANDLE_NULL, &none, DAT_MEM_PRIV_NONE_FLAG, DAT_VA_TYPE_VA,
	    s.pair.b.ep, dt_cookie(11), DEFAULT, NULL));
	bound_expect(&s, 11, DAT_DTO_SUCCESS);
	assert_region(&s, 0, 0, DAT_MEM_PRIV_NONE_FLAG);
	dt_ok(dat_lmr_free(s.pair.b.lmr));
	bound_write(&s, first, 256, DAT_DTO_ERR_REMOTE_ACCESS);
	dt_expect_connection(s.pair.a.connect, DAT_CONNECTION_EVENT_BROKEN, s.pair.a.ep);
	dt_pair_close(&s.pair);
}

/* clause: e.7.39, e.7.23 */
TEST_LOOP(
    bind__and_at_once_a_send_with_the_context__the_receiver_has_access, 2 * dt_personalities())
{
	DAT_RMR_CONTEXT context;
	struct bound s;
	DAT_EVENT event;

	dt_personality(_i / 2);
	bound_open(&s, _i % 2);
	for (int round = 0; round < 20; round++) {
		const size_t offset = 256 + (size_t)round * 64;

		dt_recv(&s.pair.a, 1024, sizeof context, 21);
		/* The key goes to the other end before the bind has completed here. */
		dt_ok(bound_try(&s, offset, 64, BOTH, DEFAULT, 5));
		memcpy(s.pair.b.buffer, &s.context, sizeof context);
		dt_send(&s.pair.b, 0, sizeof context, 6);
		dt_expect_dto(s.pair.a.recv, s.pair.a.ep, 21, DAT_DTO_SUCCESS, &event);
		memcpy(&context, s.pair.a.buffer + 1024, sizeof context);
		bound_write(&s, context, offset + 8, DAT_DTO_SUCCESS);
		bound_expect(&s, 5, DAT_DTO_SUCCESS);
		dt_expect_dto(s.pair.b.request, s.pair.b.ep, 6, DAT_DTO_SUCCESS, &event);
	}
	dt_pair_close(&s.pair);
}

/* Accesses that a bound region does not allow. */
/* clause: e.7.23 */
TEST_LOOP(access__outside_the_range_or_privileges__fails, 4)
{
	struct bound s;

	/* soft-RoCE of Linux 6.1 compares the range of the memory region instead. */
	if (_i / 2 == 0 && !dt_on_soft("soft-RoCE checks the range of the memory region only"))
		return;
	bound_open(&s, _i % 2);
	bound_bind(&s, 256, 128, _i / 2 ? READS : BOTH);
	bound_write(&s, s.context, _i / 2 ? 256 : 256 + 124, DAT_DTO_ERR_REMOTE_ACCESS);
	dt_expect_connection(s.pair.a.connect, DAT_CONNECTION_EVENT_BROKEN, s.pair.a.ep);
	dt_pair_close(&s.pair);
}

static void
fetch_and_add(struct bound *s, DAT_DTO_COMPLETION_STATUS status)
{
	DAT_RMR_TRIPLET remote = bound_through(s, s->context, 256, 8);
	DAT_LMR_TRIPLET local = dt_local(&s->pair.a, 512, 8);
	DAT_EVENT event;

	dt_ok(dat_ib_post_fetch_and_add(s->pair.a.ep, 1, &local, dt_cookie(7), &remote, DEFAULT));
	dt_expect(s->pair.a.request, (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT, &event);
	ck_assert_int_eq(event.event_data.dto_completion_event_data.status, status);
}

/* clause: e.7.23 */
TEST_LOOP(access__read_or_atomic__needs_its_own_privilege, 4)
{
	DAT_RMR_TRIPLET remote;
	DAT_LMR_TRIPLET local;
	struct bound s;
	DAT_EVENT event;

	bound_open(&s, _i % 2);
	if (_i / 2) {
		if (dt_on_soft("atomics through a remote region")) {
			bound_bind(&s, 256, 64, (DAT_MEM_PRIV_FLAGS)0x40);
			fetch_and_add(&s, DAT_DTO_SUCCESS);
			bound_bind(&s, 256, 64, BOTH);
			fetch_and_add(&s, DAT_DTO_ERR_REMOTE_ACCESS);
		}
	} else {
		bound_bind(&s, 256, 64, WRITES);
		remote = bound_through(&s, s.context, 256, 8);
		local = dt_local(&s.pair.a, 512, 8);
		dt_ok(
		    dat_ep_post_rdma_read(s.pair.a.ep, 1, &local, dt_cookie(9), &remote, DEFAULT));
		dt_expect_dto(s.pair.a.request, s.pair.a.ep, 9, DAT_DTO_ERR_REMOTE_ACCESS, &event);
	}
	dt_pair_close(&s.pair);
}

/* clause: e.7.23 */
TEST_LOOP(access__after_the_free__fails, 2)
{
	struct bound s;

	bound_open(&s, _i);
	bound_bind(&s, 0, 64, BOTH);
	dt_ok(dat_rmr_free(s.rmr));
	dt_ok(dat_lmr_free(s.pair.b.lmr));
	bound_write(&s, s.context, 0, DAT_DTO_ERR_REMOTE_ACCESS);
	dt_pair_close(&s.pair);
}

/* clause: e.7.24 */
TEST_LOOP(scope__of_a_zone_and_of_an_endpoint__another_endpoint_has_access_or_not, 2)
{
	struct bound s;

	bound_open(&s, _i);
	bound_bind(&s, 0, 64, BOTH);
	/* A second connection of the same zone. */
	s.pair.a.ep = dt_ep(&s.pair.a, NULL);
	s.pair.b.ep = dt_ep(&s.pair.b, NULL);
	dt_connect_pair(&s.pair);
	bound_write(&s, s.context, 0, _i ? DAT_DTO_ERR_REMOTE_ACCESS : DAT_DTO_SUCCESS);
	dt_pair_close(&s.pair);
}

/* ---- completions ---- */

DT_CASE("rmr:completion");

/* clause: e.7.25 */
TEST_LOOP(bind__suppressed_or_flushed__has_no_event_or_one, 2)
{
	struct bound s;

	bound_open(&s, _i);
	dt_ok(bound_try(&s, 0, 64, BOTH, DAT_COMPLETION_SUPPRESS_FLAG, 1));
	dt_ok(bound_try(&s, 64, 64, BOTH, DEFAULT, 2));
	bound_expect(&s, 2, DAT_DTO_SUCCESS);
	bound_write(&s, s.context, 64, DAT_DTO_SUCCESS);
	dt_ok(dat_ep_disconnect(s.pair.b.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(&s.pair.b);
	dt_ok(bound_try(&s, 0, 64, BOTH, DAT_COMPLETION_SUPPRESS_FLAG, 3));
	bound_expect(&s, 3, DAT_DTO_ERR_FLUSHED);
	dt_ok(dat_rmr_free(s.rmr));
	dt_pair_close(&s.pair);
}

/* clause: e.7.26 */
TEST(send_with_invalidate__ends_access_and_the_receive_names_the_region)
{
	DAT_UINT64 counters[DCNT_EP_ALL_COUNTERS];
	const DAT_DTO_COMPLETION_EVENT_DATA *dto;
	DAT_LMR_TRIPLET local;
	struct bound s;
	DAT_EVENT event;

	bound_open(&s, true);
	bound_bind(&s, 0, 64, BOTH);
	dt_recv(&s.pair.b, 1024, 64, 21);
	dt_recv(&s.pair.b, 1088, 64, 22);
	local = dt_local(&s.pair.a, 0, 4);
	dt_ok(dat_ep_post_send_with_invalidate(
	    s.pair.a.ep, 1, &local, dt_cookie(1), DEFAULT, DAT_FALSE, s.context));
	dt_expect_dto(s.pair.b.recv, s.pair.b.ep, 21, DAT_DTO_SUCCESS, &event);
	ck_assert_int_eq(event.event_data.dto_completion_event_data.operation, DAT_DTO_RECEIVE);
	dt_expect_dto(s.pair.a.request, s.pair.a.ep, 1, DAT_DTO_SUCCESS, &event);
	bound_write(&s, s.context, 0, DAT_DTO_SUCCESS);

	dt_ok(dat_ep_post_send_with_invalidate(
	    s.pair.a.ep, 1, &local, dt_cookie(2), DEFAULT, DAT_TRUE, s.context));
	dt_expect_dto(s.pair.b.recv, s.pair.b.ep, 22, DAT_DTO_SUCCESS, &event);
	dto = &event.event_data.dto_completion_event_data;
	ck_assert_int_eq(dto->operation, DAT_DTO_RECEIVE_WITH_INVALIDATE);
	ck_assert_uint_eq(dto->rmr_context, s.context);
	dt_expect_dto(s.pair.a.request, s.pair.a.ep, 2, DAT_DTO_SUCCESS, &event);
	/* Both are messages. */
	dt_ok(dat_ib_query_counters(s.pair.b.ep, DCNT_EP_ALL_COUNTERS, counters, 0));
	ck_assert_uint_eq(counters[DCNT_EP_RECV], 2);
	ck_assert_uint_eq(counters[DCNT_EP_RECV_DATA], 8);
	dt_ok(dat_ib_query_counters(s.pair.a.ep, DCNT_EP_ALL_COUNTERS, counters, 0));
	ck_assert_uint_eq(counters[DCNT_EP_POST_SEND], 2);
	ck_assert_uint_eq(counters[DCNT_EP_POST_SEND_DATA], 8);
	/* It is not bound any more, and can be bound again. */
	dt_ok(dat_lmr_free((bound_bind(&s, 0, 64, BOTH), dat_rmr_free(s.rmr), s.pair.b.lmr)));
	bound_write(&s, s.context, 0, DAT_DTO_ERR_REMOTE_ACCESS);
	dt_pair_close(&s.pair);
}

/* clause: e.7.27 */
TEST_LOOP(read_to_rmr__fills_the_memory_under_the_region, 2)
{
	DAT_RMR_TRIPLET local, remote;
	struct bound s;
	DAT_EVENT event;

	bound_open(&s, _i);
	bound_bind(&s, 256, 64, BOTH);
	memcpy(s.pair.a.buffer + 100, "remote", 6);
	local = bound_through(&s, s.context, 260, 6);
	remote = dt_remote(&s.pair.a, 100, 6);
	dt_ok(dat_ep_post_rdma_read_to_rmr(s.pair.b.ep, &local, dt_cookie(4), &remote, DEFAULT));
	dt_expect_dto(s.pair.b.request, s.pair.b.ep, 4, DAT_DTO_SUCCESS, &event);
	ck_assert_mem_eq(s.pair.b.buffer + 260, "remote", 6);
	dt_assert_ret(
	    dat_ep_post_rdma_read_to_rmr(s.pair.b.pz, &local, dt_cookie(4), &remote, DEFAULT),
	    BAD(EP));
	dt_assert_ret(
	    dat_ep_post_rdma_read_to_rmr(s.pair.b.ep, NULL, dt_cookie(4), &remote, DEFAULT),
	    PARAMETER(2));
	dt_assert_ret(
	    dat_ep_post_rdma_read_to_rmr(s.pair.b.ep, &local, dt_cookie(4), NULL, DEFAULT),
	    PARAMETER(4));
	local.segment_length = 61; /* beyond the range */
	dt_assert_ret(
	    dat_ep_post_rdma_read_to_rmr(s.pair.b.ep, &local, dt_cookie(4), &remote, DEFAULT),
	    PLAIN(PROTECTION_VIOLATION));
	local = bound_through(&s, s.context + 1, 260, 6);
	dt_assert_ret(
	    dat_ep_post_rdma_read_to_rmr(s.pair.b.ep, &local, dt_cookie(4), &remote, DEFAULT),
	    PLAIN(PROTECTION_VIOLATION));
	dt_pair_close(&s.pair);
}

static DAT_RETURN
read_to(struct bound *s, DAT_EP_HANDLE ep, DAT_RMR_CONTEXT context, size_t offset)
{
	DAT_RMR_TRIPLET local = bound_through(s, context, offset, 6),
			remote = dt_remote(&s->pair.a, 100, 6);

	return dat_ep_post_rdma_read_to_rmr(ep, &local, dt_cookie(4), &remote, DEFAULT);
}

static void
read_to_succeeds(struct bound *s, DAT_RMR_CONTEXT context, size_t offset)
{
	DAT_EVENT event;

	memcpy(s->pair.a.buffer + 100, "remote", 6);
	memset(s->pair.b.buffer + offset, 0, 6);
	dt_ok(read_to(s, s->pair.b.ep, context, offset));
	dt_expect_dto(s->pair.b.request, s->pair.b.ep, 4, DAT_DTO_SUCCESS, &event);
	ck_assert_mem_eq(s->pair.b.buffer + offset, "remote", 6);
}

/* clause: e.7.27 */
/* origin: outside.74 */
TEST_LOOP(read_to_rmr__without_the_right_to_write_or_through_another_endpoint__is_refused, 2)
{
	const DAT_RETURN no_access = PLAIN(PROTECTION_VIOLATION);
	DAT_EP_HANDLE first, second;
	DAT_RMR_CONTEXT before;
	DAT_PZ_HANDLE zone, own;
	struct dt_pair one;
	struct bound s;

	bound_open(&s, _i);
	first = s.pair.b.ep;
	one = s.pair;
	bound_bind(&s, 256, 64, READS);
	dt_assert_ret(read_to(&s, first, s.context, 260),
	    DAT_ERROR(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE));
	dt_assert_ret(read_to(&s, first, s.context, 256 + 59), no_access);
	bound_bind(&s, 256, 64, WRITES);
	read_to_succeeds(&s, s.context, 256);
	read_to_succeeds(&s, s.context, 256 + 58);
	dt_assert_ret(read_to(&s, first, s.context, 255), no_access);
	bound_connect_second(&s);
	second = s.pair.b.ep;
	if (_i) {
		dt_assert_ret(read_to(&s, second, s.context, 256), no_access);
	} else {
		read_to_succeeds(&s, s.context, 256);
	}
	/* An endpoint of another zone. */
	own = s.pair.b.pz;
	dt_ok(dat_pz_create(s.pair.b.ia, &zone));
	s.pair.b.pz = zone;
	bound_connect_second(&s);
	s.pair.b.pz = own;
	dt_assert_ret(read_to(&s, s.pair.b.ep, s.context, 256), no_access);
	dt_assert_ret(read_to(&s, s.pair.b.ep, s.pair.b.rmr_context, 256), no_access);
	/* What was bound is not bound any more. */
	before = s.context;
	s.pair = one;
	bound_bind(&s, 0, 16, BOTH);
	dt_assert_ret(read_to(&s, first, before, 256), no_access);
	read_to_succeeds(&s, s.context, 0);
	dt_pair_close(&s.pair);
}

/* A local region has a remote context, too, if the other end may use it. */
/* clause: e.7.27 */
/* origin: outside.75 */
TEST(read_to_rmr__the_remote_context_of_a_local_region__fills_it)
{
	DAT_REGION_DESCRIPTION region;
	DAT_RMR_CONTEXT context;
	DAT_LMR_HANDLE lmr;
	struct bound s;

	bound_open(&s, false);
	region.for_va = s.pair.b.buffer;
	read_to_succeeds(&s, s.pair.b.rmr_context, 0);
	read_to_succeeds(&s, s.pair.b.rmr_context, DT_BUFFER - 6);
	dt_assert_ret(read_to(&s, s.pair.b.ep, s.pair.b.rmr_context, DT_BUFFER - 5),
	    PLAIN(PROTECTION_VIOLATION));
	dt_ok(dat_lmr_create(s.pair.b.ia, DAT_MEM_TYPE_VIRTUAL, region, 64, s.pair.b.pz,
	    DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG |
		DAT_MEM_PRIV_REMOTE_READ_FLAG,
	    DAT_VA_TYPE_VA, &lmr, NULL, &context, NULL, NULL));
	dt_assert_ret(read_to(&s, s.pair.b.ep, context, 0),
	    DAT_ERROR(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE));
	dt_ok(dat_lmr_free(lmr));
	dt_assert_ret(read_to(&s, s.pair.b.ep, context, 0), PLAIN(PROTECTION_VIOLATION));
	dt_pair_close(&s.pair);
}

/* What a region under a window must be allowed, for each that the window is to allow. */
/* clause: e.7.22 */
/* origin: outside.76 */
TEST_LOOP(bind__each_privilege__needs_its_own_of_the_local_region, 5)
{
#define ATOMICS (DAT_MEM_PRIV_FLAGS)0x40
#define READ_ERROR DAT_ERROR(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_READ)
#define WRITE_ERROR DAT_ERROR(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE)
	static const struct {
		DAT_MEM_PRIV_FLAGS local;
		DAT_RETURN read, write, atomic;
	} cases[] = {
		{ DAT_MEM_PRIV_LOCAL_READ_FLAG, DAT_SUCCESS, WRITE_ERROR, WRITE_ERROR },
		{ READS, DAT_SUCCESS, WRITE_ERROR, WRITE_ERROR },
		{ DAT_MEM_PRIV_LOCAL_WRITE_FLAG, READ_ERROR, DAT_SUCCESS, DAT_SUCCESS },
		{ WRITES, READ_ERROR, DAT_SUCCESS, DAT_SUCCESS },
		{ ATOMICS, READ_ERROR, WRITE_ERROR, DAT_SUCCESS },
	};
	static const DAT_MEM_PRIV_FLAGS asked[] = { READS, WRITES, ATOMICS };
	const DAT_RETURN expected[] = { cases[_i].read, cases[_i].write, cases[_i].atomic };
	DAT_REGION_DESCRIPTION region;
	DAT_LMR_TRIPLET range;
	DAT_LMR_HANDLE lmr;
	struct bound s;

	bound_open(&s, _i % 2);
	region.for_va = s.pair.b.buffer;
	range = dt_local(&s.pair.b, 0, 64);
	dt_ok(dat_lmr_create(s.pair.b.ia, DAT_MEM_TYPE_VIRTUAL, region, 64, s.pair.b.pz,
	    cases[_i].local, DAT_VA_TYPE_VA, &lmr, &range.lmr_context, NULL, NULL, NULL));
	for (int i = 0; i < 3; i++) {
		dt_assert_ret(dat_rmr_bind(s.rmr, lmr, &range, asked[i], DAT_VA_TYPE_VA,
				  s.pair.b.ep, dt_cookie(2), DEFAULT, &s.context),
		    expected[i]);
		if (expected[i] == DAT_SUCCESS) {
			bound_expect(&s, 2, DAT_DTO_SUCCESS);
			ck_assert_uint_eq(bound_length(&s), 64);
		}
	}
	dt_assert_empty(s.pair.b.request);
	dt_pair_close(&s.pair);
}

/* Of a bind, an unbind and a flushed bind; of the connection too, where the streams are merged. */
struct calls {
	_Atomic(int) binds, sends, others;
	DAT_RMR_COOKIE cookies[4];
	DAT_DTO_COMPLETION_STATUS statuses[4];
};

static void
count_bind(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	const DAT_RMR_BIND_COMPLETION_EVENT_DATA *data =
	    &event->event_data.rmr_completion_event_data;
	struct calls *calls = instance;

	(void)more;
	if (event->event_number == DAT_DTO_COMPLETION_EVENT) {
		calls->sends++;
	} else if (event->event_number != DAT_RMR_BIND_COMPLETION_EVENT || calls->binds == 4) {
		calls->others++;
	} else {
		calls->cookies[calls->binds] = data->user_cookie;
		calls->statuses[calls->binds] = data->status;
		calls->binds++;
	}
}

/* clause: c.14.36 */
TEST_LOOP(upcall__each_bind_makes_one_in_their_order, 2)
{
	static const DAT_UINT64 cookies[] = { 1, 3, 4, 5 };
	static struct calls calls;
	DAT_UPCALL_OBJECT object = { &calls, count_bind };
	struct bound s;

	memset(&calls, 0, sizeof calls);
	memset(&s, 0, sizeof s);
	dt_pair_open(&s.pair, DT_SEPARATE);
	dt_ok(dat_evd_kcreate(s.pair.b.ia, 16, _i ? DAT_UPCALL_MANY : DAT_UPCALL_SINGLE_INSTANCE,
	    &object, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG, &s.pair.b.request));
	dt_ok(dat_ep_free(s.pair.b.ep));
	s.pair.b.ep = dt_ep(&s.pair.b, NULL);
	dt_ok(dat_rmr_create_for_ep(s.pair.b.pz, &s.rmr));
	dt_connect_pair(&s.pair);
	dt_ok(bound_try(&s, 0, 64, BOTH, DEFAULT, 1));
	dt_await_count(&calls.binds, 1);
	dt_ok(bound_try(&s, 0, 64, BOTH, DAT_COMPLETION_SUPPRESS_FLAG, 2));
	dt_ok(bound_try(&s, 0, 32, BOTH, DEFAULT, 3));
	dt_await_count(&calls.binds, 2);
	dt_recv(&s.pair.a, 0, 8, 1);
	dt_send(&s.pair.b, 0, 8, 2);
	dt_await_count(&calls.sends, 1);
	dt_ok(bound_try(&s, 0, 0, BOTH, DEFAULT, 4));
	dt_await_count(&calls.binds, 3);
	dt_ok(dat_ep_disconnect(s.pair.b.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(&s.pair.b);
	dt_ok(bound_try(&s, 0, 32, BOTH, DEFAULT, 5));
	dt_await_count(&calls.binds, 4);
	dt_ok(dat_evd_modify_upcall(
	    s.pair.b.request, DAT_UPCALL_TEARDOWN, &object, DAT_UPCALL_INVOC_ANY));
	ck_assert_int_eq(calls.binds, 4);
	ck_assert_int_eq(calls.sends, 1);
	ck_assert_int_eq(calls.others, 0);
	for (int i = 0; i < 4; i++) {
		ck_assert_uint_eq(calls.cookies[i].as_64, cookies[i]);
		ck_assert_int_eq(calls.statuses[i], i == 3 ? DAT_DTO_ERR_FLUSHED : DAT_DTO_SUCCESS);
	}
	dt_pair_close(&s.pair);
}

/* No event is asked for, so only the call itself polls. */
/* clause: e.7.25 */
TEST_LOOP(bind__suppressed_and_the_queue_of_requests_is_full__polls_and_goes_on, 2)
{
	struct bound s;

	bound_open(&s, _i);
	for (int i = 0; i < 200; i++)
		bound_patiently(&s, 0, 64, BOTH, DAT_COMPLETION_SUPPRESS_FLAG, 1);
	bound_patiently(&s, 0, 32, WRITES, DEFAULT, 5);
	bound_expect(&s, 5, DAT_DTO_SUCCESS);
	bound_write(&s, s.context, 0, DAT_DTO_SUCCESS);
	dt_assert_empty(s.pair.b.request);
	dt_pair_close(&s.pair);
}
