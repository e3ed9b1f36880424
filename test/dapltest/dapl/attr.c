/* SPDX-License-Identifier: BSD-3-Clause */
/* The adapter and its provider serve what their attributes report, and nothing else. */
#include <dat2/dat_ib_extensions.h>
#include <dat2/kdat.h>

#include "lib/dt.h"

static struct dt_side side;
static DAT_IA_ATTR ia;
static DAT_PROVIDER_ATTR provider;

static void
open_and_query(void)
{
	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(
	    dat_ia_query(side.ia, NULL, DAT_IA_FIELD_ALL, &ia, DAT_PROVIDER_FIELD_ALL, &provider));
}

static void
close_side(void)
{
	dt_side_close(&side);
}

static DAT_EP_ATTR
default_attr(void)
{
	DAT_EP_PARAM param;

	dt_ok(dat_ep_query(side.ep, DAT_EP_FIELD_ALL, &param));
	return param.ep_attr;
}

/* With its own EVDs, which no other endpoint uses. */
static DAT_RETURN
try_ep(const DAT_EP_ATTR *attr)
{
	DAT_EVD_HANDLE recv = dt_evd(&side, DAT_EVD_DTO_FLAG, 4);
	DAT_EVD_HANDLE request = dt_evd(&side, DAT_EVD_DTO_FLAG, 4);
	DAT_EP_HANDLE ep;
	DAT_RETURN ret = dat_ep_create(side.ia, side.pz, recv, request, side.connect, attr, &ep);

	if (ret == DAT_SUCCESS)
		dt_ok(dat_ep_free(ep));
	dt_ok(dat_evd_free(recv));
	dt_ok(dat_evd_free(request));
	return ret;
}

static const char *
named(const char *name)
{
	for (int i = 0; i < provider.num_provider_specific_attr; i++)
		if (strcmp(provider.provider_specific_attr[i].name, name) == 0)
			return provider.provider_specific_attr[i].value;
	return "absent";
}

DT_CASE("attributes:attributes", open_and_query, close_side);

/* origin: attack.P12 */
/* clause: e.9.7 */
TEST(attributes__of_queues_and_regions__are_those_of_the_calls)
{
	const DAT_BOOLEAN shared = ia.max_srqs > 0 ? DAT_TRUE : DAT_FALSE;
	DAT_SRQ_ATTR attr = { 4, 1, 0 };
	DAT_RMR_HANDLE rmr;
	DAT_SRQ_HANDLE srq;

	ck_assert_int_eq(provider.srq_supported, shared);
	/*
	 * A bit for each count of dat_srq_query(); none of dat_ep_recv_query() for such an
	 * endpoint.
	 */
	ck_assert_int_eq(provider.srq_info_supported, shared ? 0x11 : 0);
	ck_assert_int_eq(provider.ep_recv_info_supported, 0);
	ck_assert_int_eq(ia.max_ep_per_srq > 0, shared);
	ck_assert_int_eq(ia.max_recv_per_srq > 0, shared);
	dt_assert_type(dat_srq_create(side.ia, side.pz, &attr, &srq),
	    shared ? DAT_SUCCESS : DAT_MODEL_NOT_SUPPORTED);
	ck_assert_int_eq(ia.max_rmrs > 0, ia.max_rmr_target_address > 0);
	dt_assert_type(
	    dat_rmr_create(side.pz, &rmr), ia.max_rmrs > 0 ? DAT_SUCCESS : DAT_MODEL_NOT_SUPPORTED);
}

/* origin: attack.P12, out33.Q19 */
/* clause: e.9.7, e.6.9 */
TEST(completion_flags__that_are_promised__are_those_that_are_taken)
{
	const DAT_EP_ATTR defaults = default_attr();
	const unsigned int flags = provider.completion_flags_supported;

	ck_assert_uint_eq(defaults.recv_completion_flags & ~flags, 0);
	ck_assert_uint_eq(defaults.request_completion_flags & ~flags, 0);
	for (unsigned int bit = 1; bit < 0x400; bit *= 2) {
		DAT_EP_ATTR attr = defaults;

		attr.request_completion_flags = (DAT_COMPLETION_FLAGS)bit;
		dt_assert_ret(try_ep(&attr),
		    flags & bit ? DAT_SUCCESS : DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
		/* Only requests can be suppressed. */
		attr = defaults;
		attr.recv_completion_flags = (DAT_COMPLETION_FLAGS)bit;
		dt_assert_ret(
		    try_ep(&attr), flags & bit & ~DAT_COMPLETION_SUPPRESS_FLAG ?
				       DAT_SUCCESS :
				       DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
	}
}

/* origin: attack.P12 */
/* clause: e.9.7, f.2.4 */
TEST(extension__is_that_of_the_operations_that_are_there)
{
	DAT_UINT64 values[DCNT_EVD_ALL_COUNTERS];
	struct dat_rearm_evd_counters counters;

	/* The registry passes no operation to an adapter without extensions. */
	ck_assert_int_ne(ia.extension_supported, DAT_EXTENSION_NONE);
	ck_assert_str_eq(named("DAT_REARM_UPCALLS"), "TRUE");
	dt_ok(dat_evd_query_upcall_counters(side.recv, &counters));
	ck_assert_int_eq(ia.extension_supported, DAT_EXTENSION_IB);
	ck_assert_int_eq(ia.extension_version, DAT_IB_EXTENSION_VERSION);
	ck_assert_str_eq(named(DAT_IB_ATTR_FETCH_AND_ADD), "TRUE");
	ck_assert_str_eq(named(DAT_IB_ATTR_CMP_AND_SWAP), "TRUE");
	ck_assert_str_eq(named(DAT_IB_ATTR_IMMED_DATA), "TRUE");
	ck_assert_str_eq(named(DAT_IB_ATTR_COUNTERS), "TRUE");
	dt_ok(dat_ib_query_counters(side.recv, DCNT_EVD_ALL_COUNTERS, values, 0));
	/* No device does these in hardware that the provider could use. */
	for (int op = DAT_IB_COLLECTIVE_CREATE_MEMBER_OP; op <= DAT_IB_COLLECTIVE_BARRIER_OP; op++)
		dt_assert_type(
		    dat_extension_op(side.ia, (DAT_EXTENDED_OP)op), DAT_MODEL_NOT_SUPPORTED);
}

/* clause: f.2.4 */
TEST(collective__each_macro__is_refused_and_reads_no_argument)
{
	const DAT_IB_COLLECTIVE_HANDLE coll = side.ep;
	const DAT_CONTEXT context = { .as_64 = 1 };
	const DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG;
	DAT_IB_COLLECTIVE_MEMBER member = NULL;
	DAT_UINT64 clock = 0;
	DAT_UINT32 size = 0;
	const DAT_RETURN all[] = {
		dat_ib_collective_create_member(side.ia, NULL, &member, &size),
		dat_ib_collective_free_member(side.ia, member),
		dat_ib_collective_create_group(&member, 1, 0, 1, NULL, side.recv, side.pz, context),
		dat_ib_collective_free_group(coll),
		dat_ib_collective_set_clock(coll, 1, context),
		dat_ib_collective_read_clock(coll, &clock),
		dat_ib_collective_scatter(coll, NULL, 0, NULL, 0, 0, context, flags),
		dat_ib_collective_scatterv(coll, NULL, NULL, NULL, NULL, 0, 0, context, flags),
		dat_ib_collective_gather(coll, NULL, 0, NULL, 0, 0, context, flags),
		dat_ib_collective_gatherv(coll, NULL, 0, NULL, NULL, NULL, 0, context, flags),
		dat_ib_collective_allgather(coll, NULL, 0, NULL, 0, context, flags),
		dat_ib_collective_allgatherv(coll, NULL, 0, NULL, NULL, NULL, context, flags),
		dat_ib_collective_alltoall(coll, NULL, 0, NULL, 0, context, flags),
		dat_ib_collective_alltoallv(
		    coll, NULL, NULL, NULL, NULL, NULL, NULL, context, flags),
		dat_ib_collective_reduce(coll, NULL, 0, NULL, 0, 0, 0, 0, context, flags),
		dat_ib_collective_allreduce(coll, NULL, 0, NULL, 0, 0, 0, context, flags),
		dat_ib_collective_reduce_scatter(coll, NULL, 0, NULL, NULL, 0, 0, context, flags),
		dat_ib_collective_scan(coll, NULL, 0, NULL, 0, 0, 0, context, flags),
		dat_ib_collective_broadcast(coll, NULL, 0, 0, context, flags),
		dat_ib_collective_barrier(coll, context, flags),
	};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		dt_assert_ret(all[i], DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE));
	ck_assert_ptr_null(member);
	ck_assert_uint_eq(clock, 0);
	dt_assert_empty(side.recv);
}

static DAT_RETURN
hint(DAT_HANDLE handle, DAT_MEM_TYPE type, int optimize, DAT_VLEN *length, DAT_VADDR *alignment)
{
	return dat_ia_memtype_hint(
	    handle, type, 100, (DAT_MEM_OPTIMIZE_FLAGS)optimize, length, alignment);
}

/* clause: a.4.1 */
TEST(memtype_hint__returns_the_length_and_the_attribute)
{
	const DAT_RETURN no_ia = DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	DAT_VADDR alignment = 0;
	DAT_VLEN length = 0;

#define BAD(n) DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG##n)
	dt_assert_ret(hint(NULL, DAT_MEM_TYPE_VIRTUAL, 0, &length, &alignment), no_ia);
	dt_assert_ret(hint(side.pz, DAT_MEM_TYPE_VIRTUAL, 0, &length, &alignment), no_ia);
	dt_assert_ret(hint(side.ia, DAT_MEM_TYPE_PHYSICAL, 0, &length, &alignment), BAD(2));
	dt_assert_ret(hint(side.ia, DAT_MEM_TYPE_VIRTUAL, 8, &length, &alignment), BAD(4));
	dt_assert_ret(hint(side.ia, DAT_MEM_TYPE_VIRTUAL, 0, NULL, &alignment), BAD(5));
	dt_assert_ret(hint(side.ia, DAT_MEM_TYPE_VIRTUAL, 0, &length, NULL), BAD(6));
#undef BAD
	ck_assert_uint_eq(length, 0);
	dt_ok(hint(side.ia, DAT_MEM_TYPE_LMR, DAT_MEM_OPTIMIZE_IA, &length, &alignment));
	ck_assert_uint_eq(length, 100);
	ck_assert_uint_eq(alignment, provider.optimal_buffer_alignment);
}

/* Limits of an adapter that are also attributes of an endpoint. */
static const struct {
	size_t limit, member;
} limits[] = {
#define LIMIT(name, member_name) \
	{ \
		offsetof(DAT_IA_ATTR, name), offsetof(DAT_EP_ATTR, member_name) \
	}
	LIMIT(max_dto_per_ep, max_recv_dtos),
	LIMIT(max_dto_per_ep, max_request_dtos),
	LIMIT(max_iov_segments_per_dto, max_recv_iov),
	LIMIT(max_iov_segments_per_dto, max_request_iov),
	LIMIT(max_iov_segments_per_rdma_read, max_rdma_read_iov),
	LIMIT(max_iov_segments_per_rdma_write, max_rdma_write_iov),
	LIMIT(max_rdma_read_per_ep_in, max_rdma_read_in),
	LIMIT(max_rdma_read_per_ep_out, max_rdma_read_out),
#undef LIMIT
};
#define LIMITS ((int)(sizeof limits / sizeof limits[0]))

/* clause: e.9.7, e.6.2 */
TEST_LOOP(limit__of_an_endpoint__can_be_had_and_no_more, LIMITS)
{
	DAT_EP_ATTR attr = default_attr();
	DAT_COUNT *member = (DAT_COUNT *)((char *)&attr + limits[_i].member);
	const DAT_COUNT limit = *(const DAT_COUNT *)((const char *)&ia + limits[_i].limit);

	ck_assert_int_gt(limit, 0);
	ck_assert_int_le(*member, limit);
	*member = limit;
	/* A large one may exceed the available memory, but it is not a bad argument. */
	if (DAT_GET_TYPE(try_ep(&attr)) != DAT_INSUFFICIENT_RESOURCES)
		dt_ok(try_ep(&attr));
	*member = limit + 1;
	dt_assert_ret(try_ep(&attr), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
}

/*
 * Consumers of DAT 1.x do not set the segments of reads and writes: each is that of requests, if it
 * is not set.
 */
TEST_LOOP(segments__of_reads_and_writes_not_set__are_those_of_requests, 4)
{
	static const DAT_COUNT given[][4] = { { 0, 0, 3, 3 }, { 1, 0, 1, 3 }, { 0, 2, 3, 2 },
		{ 2, 1, 2, 1 } };
	DAT_EP_ATTR attr = default_attr();
	DAT_EP_PARAM param;

	attr.max_request_iov = 3;
	attr.max_rdma_read_iov = given[_i][0];
	attr.max_rdma_write_iov = given[_i][1];
	dt_ok(dat_ep_query(dt_ep(&side, &attr), DAT_EP_FIELD_ALL, &param));
	ck_assert_int_eq(param.ep_attr.max_rdma_read_iov, given[_i][2]);
	ck_assert_int_eq(param.ep_attr.max_rdma_write_iov, given[_i][3]);
}

/* origin: attack.P12 */
/* clause: e.9.7 */
TEST(rdma_reads__guaranteed_to_each_endpoint__are_there_for_all_of_them)
{
	const DAT_UINT64 in = (DAT_UINT64)ia.max_eps * (DAT_UINT64)ia.max_rdma_read_per_ep_in;
	const DAT_UINT64 out = (DAT_UINT64)ia.max_eps * (DAT_UINT64)ia.max_rdma_read_per_ep_out;

	if (ia.max_rdma_read_per_ep_in_guaranteed && in <= INT32_MAX)
		ck_assert_uint_ge((DAT_UINT64)ia.max_rdma_read_in, in);
	if (ia.max_rdma_read_per_ep_out_guaranteed && out <= INT32_MAX)
		ck_assert_uint_ge((DAT_UINT64)ia.max_rdma_read_out, out);
}

/* origin: attack.P12 */
/* clause: e.9.7 */
TEST(watermark__of_a_shared_queue__is_not_kept_without_one)
{
	DAT_EP_ATTR attr = default_attr();
	DAT_EP_PARAM param;
	DAT_EP_HANDLE ep;

	attr.srq_soft_hw = 8;
	ep = dt_ep(&side, &attr);
	dt_ok(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
	ck_assert_int_eq(param.ep_attr.srq_soft_hw, 0);
	ck_assert_ptr_null(param.srq_handle);
}
