/* SPDX-License-Identifier: BSD-3-Clause */
/* The adapter and its provider serve what their attributes report, and nothing else. */
#include <dat2/dat_ib_extensions.h>

#include "suites.h"
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

/* origin: attack.P12 */
/* clause: e.9.7, a.3.1 */
START_TEST(attributes__of_queues_and_regions_that_are_not_served__are_0)
{
	DAT_SRQ_ATTR attr = { 4, 1, 0 };
	DAT_RMR_HANDLE rmr;
	DAT_SRQ_HANDLE srq;

	ck_assert_int_eq(provider.srq_supported, DAT_FALSE);
	ck_assert_int_eq(ia.max_srqs, 0);
	ck_assert_int_eq(ia.max_ep_per_srq, 0);
	ck_assert_int_eq(ia.max_recv_per_srq, 0);
	ck_assert_int_eq(provider.srq_watermarks_supported, 0);
	ck_assert_int_eq(provider.srq_info_supported, 0);
	ck_assert_int_eq(provider.ep_recv_info_supported, 0);
	dt_assert_type(dat_srq_create(side.ia, side.pz, &attr, &srq), DAT_NOT_IMPLEMENTED);
	ck_assert_int_eq(ia.max_rmrs, 0);
	ck_assert_uint_eq(ia.max_rmr_target_address, 0);
	dt_assert_type(dat_rmr_create(side.pz, &rmr), DAT_NOT_IMPLEMENTED);
}
END_TEST

/* origin: attack.P12 */
/* clause: e.9.7, e.6.9 */
START_TEST(completion_flags__that_are_promised__are_those_that_are_taken)
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
	}
}
END_TEST

/* origin: attack.P12 */
/* clause: e.9.7, f.1.3 */
START_TEST(extension__is_that_of_the_operations_that_are_there)
{
	struct dat_rearm_evd_counters counters;

	/* The registry passes no operation to an adapter without extensions. */
	ck_assert_int_ne(ia.extension_supported, DAT_EXTENSION_NONE);
	ck_assert_str_eq(named("DAT_REARM_UPCALLS"), "TRUE");
	dt_ok(dat_evd_query_upcall_counters(side.recv, &counters));
	/* The InfiniBand extension is not implemented, and not reported. */
	ck_assert_int_ne(ia.extension_supported, DAT_EXTENSION_IB);
	for (int op = DAT_IB_FETCH_AND_ADD_OP; op <= DAT_IB_UD_AH_FREE_OP; op++) {
		dt_assert_type(dat_extension_op(side.ia, (DAT_EXTENDED_OP)op), DAT_NOT_IMPLEMENTED);
		dt_assert_type(dat_extension_op(side.ep, (DAT_EXTENDED_OP)op), DAT_NOT_IMPLEMENTED);
	}
	ck_assert_str_eq(named(DAT_IB_ATTR_FETCH_AND_ADD), "FALSE");
	ck_assert_str_eq(named(DAT_IB_ATTR_CMP_AND_SWAP), "FALSE");
	ck_assert_str_eq(named(DAT_IB_ATTR_IMMED_DATA), "FALSE");
	ck_assert_str_eq(named(DAT_IB_ATTR_COUNTERS), "FALSE");
}
END_TEST

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
START_TEST(limit__of_an_endpoint__can_be_had_and_no_more)
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
END_TEST

/* origin: attack.P12 */
/* clause: e.9.7 */
START_TEST(rdma_reads__guaranteed_to_each_endpoint__are_there_for_all_of_them)
{
	const DAT_UINT64 in = (DAT_UINT64)ia.max_eps * (DAT_UINT64)ia.max_rdma_read_per_ep_in;
	const DAT_UINT64 out = (DAT_UINT64)ia.max_eps * (DAT_UINT64)ia.max_rdma_read_per_ep_out;

	if (ia.max_rdma_read_per_ep_in_guaranteed && in <= INT32_MAX)
		ck_assert_uint_ge((DAT_UINT64)ia.max_rdma_read_in, in);
	if (ia.max_rdma_read_per_ep_out_guaranteed && out <= INT32_MAX)
		ck_assert_uint_ge((DAT_UINT64)ia.max_rdma_read_out, out);
}
END_TEST

/* origin: attack.P12 */
/* clause: e.9.7 */
START_TEST(watermark__of_a_shared_queue__is_not_kept_without_one)
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
END_TEST

Suite *
dapl_attr_suite(void)
{
	Suite *s = suite_create("attributes");
	TCase *tc = dt_tcase(s, "attributes");

	tcase_add_checked_fixture(tc, open_and_query, close_side);
	tcase_add_test(tc, attributes__of_queues_and_regions_that_are_not_served__are_0);
	tcase_add_test(tc, completion_flags__that_are_promised__are_those_that_are_taken);
	tcase_add_test(tc, extension__is_that_of_the_operations_that_are_there);
	tcase_add_loop_test(tc, limit__of_an_endpoint__can_be_had_and_no_more, 0, LIMITS);
	tcase_add_test(tc, rdma_reads__guaranteed_to_each_endpoint__are_there_for_all_of_them);
	tcase_add_test(tc, watermark__of_a_shared_queue__is_not_kept_without_one);
	return s;
}
