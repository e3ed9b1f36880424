/* SPDX-License-Identifier: BSD-3-Clause */
/* A device with lower limits: the provider reports and keeps the limits of the device. */
#include <stdlib.h>
#include <unistd.h>

#include <dat2/dat_ib_extensions.h>

#include "fault/fault.h"
#include "device.h"

#define LIMIT 1000

static void
open_pair(struct dt_pair *pair)
{
	const struct fault_limits limits = { .message = LIMIT, .segments = 3, .read_segments = 2 };

	fault_limit(&limits);
	dt_side_open(&pair->a, "faulty", DT_SEPARATE);
	dt_side_open(&pair->b, "faulty", DT_SEPARATE);
	dt_side_listen(&pair->b);
	dt_connect_pair(pair);
}

DEVICE_CASE("device-limit:limit");

/* origin: attack.P5 */
TEST(message_longer_than_the_port_takes__length_error_at_the_post)
{
	const DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG;
	DAT_LMR_TRIPLET local[2];
	DAT_RMR_TRIPLET remote;
	struct dt_pair pair;
	DAT_EVENT event;

	open_pair(&pair);
	dt_recv(&pair.b, 0, DT_BUFFER, 1);
	/* In two pieces: the limit is the message's. */
	local[0] = dt_local(&pair.a, 0, LIMIT / 2);
	local[1] = dt_local(&pair.a, LIMIT / 2, LIMIT / 2 + 1);
	remote = dt_remote(&pair.b, 0, LIMIT + 1);
	dt_assert_ret(dat_ep_post_send(pair.a.ep, 2, local, dt_cookie(1), flags),
	    DAT_ERROR(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE));
	dt_assert_ret(dat_ep_post_rdma_write(pair.a.ep, 2, local, dt_cookie(2), &remote, flags),
	    DAT_ERROR(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE));
	dt_assert_ret(dat_ep_post_rdma_read(pair.a.ep, 2, local, dt_cookie(3), &remote, flags),
	    DAT_ERROR(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE));
	local[1].segment_length--;
	remote.segment_length--;
	dt_ok(dat_ep_post_send(pair.a.ep, 2, local, dt_cookie(4), flags));
	dt_expect_dto(pair.b.recv, pair.b.ep, 1, DAT_DTO_SUCCESS, &event);
	dt_expect_dto(pair.a.request, pair.a.ep, 4, DAT_DTO_SUCCESS, &event);
	dt_ok(dat_ep_post_rdma_write(pair.a.ep, 2, local, dt_cookie(5), &remote, flags));
	dt_expect_dto(pair.a.request, pair.a.ep, 5, DAT_DTO_SUCCESS, &event);
	dt_ok(dat_ep_post_rdma_read(pair.a.ep, 2, local, dt_cookie(6), &remote, flags));
	dt_expect_dto(pair.a.request, pair.a.ep, 6, DAT_DTO_SUCCESS, &event);
	dt_pair_close(&pair);
}

static DAT_RETURN
try_ep(const struct dt_side *side, DAT_EP_ATTR *attr)
{
	DAT_EP_HANDLE ep;
	DAT_RETURN ret;

	ret =
	    dat_ep_create(side->ia, side->pz, side->recv, side->request, side->connect, attr, &ep);
	if (ret == DAT_SUCCESS)
		dt_ok(dat_ep_free(ep));
	return ret;
}

/* origin: attack.P5 */
TEST(limits__of_the_adapter_and_of_an_endpoint__are_the_devices)
{
	const DAT_RETURN refused = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
	DAT_EP_ATTR attr;
	DAT_EP_PARAM ep;
	DAT_IA_ATTR ia;
	struct dt_pair pair;

	open_pair(&pair);
	dt_ok(dat_ia_query(pair.a.ia, NULL, DAT_IA_FIELD_ALL, &ia, 0, NULL));
	ck_assert_uint_eq(ia.max_message_size, LIMIT);
	ck_assert_uint_eq(ia.max_rdma_size, LIMIT);
	ck_assert_int_eq(ia.max_iov_segments_per_dto, 3);
	ck_assert_int_eq(ia.max_iov_segments_per_rdma_write, 3);
	ck_assert_int_eq(ia.max_iov_segments_per_rdma_read, 2);
	dt_ok(dat_ep_query(pair.a.ep, DAT_EP_FIELD_ALL, &ep));
	ck_assert_uint_eq(ep.ep_attr.max_message_size, LIMIT);
	ck_assert_uint_eq(ep.ep_attr.max_rdma_size, LIMIT);
	ck_assert_int_eq(ep.ep_attr.max_request_iov, 3);
	ck_assert_int_eq(ep.ep_attr.max_rdma_write_iov, 3);
	ck_assert_int_eq(ep.ep_attr.max_rdma_read_iov, 2);
	dt_assert_ret(try_ep(&pair.a, &ep.ep_attr), DAT_SUCCESS);
#define ONE_MORE(field) \
	attr = ep.ep_attr; \
	attr.field++; \
	dt_assert_ret(try_ep(&pair.a, &attr), refused)
	ONE_MORE(max_message_size);
	ONE_MORE(max_rdma_size);
	ONE_MORE(max_recv_iov);
	ONE_MORE(max_request_iov);
	ONE_MORE(max_rdma_write_iov);
	ONE_MORE(max_rdma_read_iov);
#undef ONE_MORE
	dt_pair_close(&pair);
}

/* No value is that of another member. */
static const struct ibv_device_attr numbered = {
	.fw_ver = "12.34.567",
	.max_mr_size = 0x12345678,
	.vendor_id = 0xabc,
	.hw_ver = 21,
	.max_qp = 100,
	.max_qp_wr = 101,
	.device_cap_flags = IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_SRQ_RESIZE,
	.max_sge = 9,
	.max_sge_rd = 7,
	.max_cq = 103,
	.max_cqe = 5000,
	.max_mr = 104,
	.max_pd = 105,
	.max_qp_rd_atom = 11,
	.max_res_rd_atom = 1100,
	.max_qp_init_rd_atom = 13,
	.atomic_cap = IBV_ATOMIC_HCA,
	.max_mw = 106,
	.max_srq = 107,
	.max_srq_wr = 108,
	.max_srq_sge = 8,
};
static const struct ibv_port_attr numbered_port = {
	.state = IBV_PORT_ACTIVE,
	.max_mtu = IBV_MTU_4096,
	.active_mtu = IBV_MTU_512,
	.max_msg_sz = 0x7654321,
};

static const char *
named(const DAT_PROVIDER_ATTR *attr, const char *name)
{
	for (int i = 0; i < attr->num_provider_specific_attr; i++)
		if (strcmp(attr->provider_specific_attr[i].name, name) == 0)
			return attr->provider_specific_attr[i].value;
	return "absent";
}

/*
 * Bit 0: without windows; bit 1: with fewer reads than all endpoints can have; bit 2: without
 * shared queues.
 */
/* clause: e.9.7 */
TEST_LOOP(attributes__of_a_device_where_each_has_a_value_of_its_own__are_those, 8)
{
	const bool windows = !(_i & 1), shared = !(_i & 4);
	struct ibv_device_attr device = numbered;
	const DAT_PROVIDER_ATTR *p;
	DAT_PROVIDER_ATTR provider = { 0 };
	DAT_EVD_HANDLE async;
	DAT_IA_HANDLE handle;
	DAT_IA_ATTR ia;

	device.max_res_rd_atom -= _i & 2 ? 1 : 0;
	fault_device(&device, &numbered_port);
	fault_lack((windows ? 0 : FAULT_WINDOWS_1) | (shared ? 0 : FAULT_SRQ));
	handle = dt_open("faulty", &async);
	dt_ok(dat_ia_query(handle, NULL, DAT_IA_FIELD_ALL, &ia, DAT_PROVIDER_FIELD_ALL, &provider));
	ck_assert_str_eq(ia.vendor_name, "0xabc");
	ck_assert_uint_eq(ia.hardware_version_major, 21);
	ck_assert_uint_eq(ia.firmware_version_major, 12);
	ck_assert_uint_eq(ia.firmware_version_minor, 34);
	ck_assert_int_eq(ia.max_eps, 100);
	ck_assert_int_eq(ia.max_dto_per_ep, 101);
	ck_assert_int_eq(ia.max_rdma_read_per_ep_in, 11);
	ck_assert_int_eq(ia.max_rdma_read_per_ep_out, 13);
	ck_assert_int_eq(ia.max_evds, 103);
	ck_assert_int_eq(ia.max_evd_qlen, 5000);
	ck_assert_int_eq(ia.max_iov_segments_per_dto, 9);
	ck_assert_int_eq(ia.max_lmrs, 104);
	ck_assert_uint_eq(ia.max_lmr_block_size, 0x12345678);
	ck_assert_int_eq(ia.max_pzs, 105);
	ck_assert_uint_eq(ia.max_message_size, 0x7654321);
	ck_assert_uint_eq(ia.max_rdma_size, 0x7654321);
	ck_assert_int_eq(ia.max_rmrs, windows ? 106 : 0);
	ck_assert_int_eq(ia.max_rmr_target_address != 0, windows);
	ck_assert_int_eq(ia.max_srqs, shared ? 107 : 0);
	ck_assert_int_eq(ia.max_ep_per_srq, shared ? 100 : 0);
	ck_assert_int_eq(ia.max_recv_per_srq, shared ? 108 : 0);
	ck_assert_int_eq(ia.max_iov_segments_per_rdma_read, 7);
	ck_assert_int_eq(ia.max_iov_segments_per_rdma_write, 9);
	ck_assert_int_eq(ia.max_rdma_read_in, device.max_res_rd_atom);
	ck_assert_int_eq(ia.max_rdma_read_out, 1300);
	ck_assert_int_eq(ia.max_rdma_read_per_ep_in_guaranteed, !(_i & 2));
	ck_assert_int_eq(ia.max_rdma_read_per_ep_out_guaranteed, DAT_TRUE);
	p = &provider;
	ck_assert_int_eq(p->srq_supported, shared);
	ck_assert_int_eq(p->srq_watermarks_supported, shared);
	ck_assert_str_eq(named(p, "DAT_IB_TRANSPORT_MTU"), "512");
	ck_assert_str_eq(named(p, "DAT_IB_PORT_STATUS"), "PORT_ACTIVE");
	ck_assert_str_eq(named(p, "DAT_IB_PORT_NUMBER"), "1");
	ck_assert_uint_eq(strspn(named(p, "DAT_IB_NODE_GUID"), "0123456789abcdef"), 16);
	/* Two halves of 16 digits. */
	ck_assert_uint_eq(strspn(named(p, "DAT_IB_GID"), "0123456789abcdef"), 16);
	ck_assert_uint_eq(strcspn(named(p, "DAT_IB_GID"), ":"), 16);
	ck_assert_uint_eq(strlen(named(p, "DAT_IB_GID")), 33);
	dt_close(handle);
}

/* The limits of reads differ by their direction. */
/* clause: e.6.2 */
TEST(endpoint__reads_of_each_direction__are_limited_by_their_own_number)
{
	const DAT_RETURN refused = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
	DAT_EP_ATTR attr = {
		.max_recv_dtos = 1, .max_request_dtos = 1, .max_recv_iov = 1, .max_request_iov = 1
	};
	struct dt_side side;

	fault_device(&numbered, &numbered_port);
	dt_side_open(&side, "faulty", DT_SEPARATE);
	attr.max_rdma_read_in = 11;
	attr.max_rdma_read_out = 13;
	dt_ok(try_ep(&side, &attr));
	attr.max_rdma_read_in = 12;
	dt_assert_ret(try_ep(&side, &attr), refused);
	attr.max_rdma_read_in = 11;
	attr.max_rdma_read_out = 14;
	dt_assert_ret(try_ep(&side, &attr), refused);
	dt_side_close(&side);
}

/* A device with one type of windows has that for both calls. */
/* clause: e.7.24 */
TEST_LOOP(remote_region__of_each_call__has_the_scope_that_the_device_has, 3)
{
	static const unsigned int lacks[] = { 0, FAULT_WINDOWS_1, FAULT_WINDOWS_2 };
	static const DAT_RMR_SCOPE scopes[][3] = {
		{ DAT_RMR_SCOPE_ANY, DAT_RMR_SCOPE_PZ, DAT_RMR_SCOPE_EP },
		{ DAT_RMR_SCOPE_EP, DAT_RMR_SCOPE_EP, DAT_RMR_SCOPE_EP },
		{ DAT_RMR_SCOPE_PZ, DAT_RMR_SCOPE_PZ, DAT_RMR_SCOPE_PZ },
	};
	DAT_PROVIDER_ATTR attr = { 0 };
	DAT_RMR_PARAM param;
	struct dt_side side;
	DAT_RMR_HANDLE rmr;

	fault_lack(lacks[_i]);
	dt_side_open(&side, "faulty", DT_SEPARATE);
	dt_ok(dat_ia_query(side.ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &attr));
	ck_assert_int_eq(attr.rmr_scope_supported, scopes[_i][0]);
	for (int call = 1; call < 3; call++) {
		dt_ok(call == 1 ? dat_rmr_create(side.pz, &rmr) :
				  dat_rmr_create_for_ep(side.pz, &rmr));
		dt_ok(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param));
		ck_assert_int_eq(param.rmr_scope, scopes[_i][call]);
		dt_ok(dat_rmr_free(rmr));
	}
	dt_side_close(&side);
}

/* clause: f.2.3 */
TEST_LOOP(extended_operation__the_device_has_it_not__is_not_supported, 3)
{
	static const unsigned int lacks[] = { FAULT_ATOMICS, FAULT_INFINIBAND, FAULT_INVALIDATE };
	const DAT_RETURN model = DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	const DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG;
	DAT_PROVIDER_ATTR attr = { 0 };
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;
	struct dt_pair pair;

	fault_lack(lacks[_i]);
	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	dt_side_open(&pair.b, "faulty", DT_SEPARATE);
	dt_side_listen(&pair.b);
	dt_connect_pair(&pair);
	dt_ok(dat_ia_query(pair.a.ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &attr));
	ck_assert_str_eq(named(&attr, DAT_IB_ATTR_FETCH_AND_ADD), _i == 0 ? "FALSE" : "TRUE");
	ck_assert_str_eq(named(&attr, DAT_IB_ATTR_CMP_AND_SWAP), _i == 0 ? "FALSE" : "TRUE");
	ck_assert_str_eq(named(&attr, DAT_IB_ATTR_IMMED_DATA), _i == 1 ? "FALSE" : "TRUE");
	local = dt_local(&pair.a, 0, 8);
	remote = dt_remote(&pair.b, 0, 8);
	dt_assert_ret(dat_ib_post_fetch_and_add(pair.a.ep, 1, &local, dt_cookie(1), &remote, flags),
	    _i == 0 ? model : DAT_SUCCESS);
	dt_assert_ret(
	    dat_ib_post_cmp_and_swap(pair.a.ep, 1, 2, &local, dt_cookie(1), &remote, flags),
	    _i == 0 ? model : DAT_SUCCESS);
	dt_assert_ret(
	    dat_ib_post_rdma_write_immed(pair.a.ep, 1, &local, dt_cookie(1), &remote, 1, flags),
	    _i == 1 ? model : DAT_SUCCESS);
	dt_assert_ret(dat_ep_post_send_with_invalidate(
			  pair.a.ep, 1, &local, dt_cookie(1), flags, DAT_TRUE, 1),
	    _i == 2 ? model : DAT_SUCCESS);
	dt_ok(dat_ep_post_send_with_invalidate(
	    pair.a.ep, 1, &local, dt_cookie(1), flags, DAT_FALSE, 1));
	dt_pair_close(&pair);
}

static DAT_RETURN
try_zero_based(const struct dt_side *side, char *at, DAT_LMR_HANDLE *lmr)
{
	const DAT_REGION_DESCRIPTION region = { .for_va = at };

	return dat_lmr_create(side->ia, DAT_MEM_TYPE_VIRTUAL, region, 64, side->pz,
	    DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_ZB, lmr, NULL, NULL, NULL, NULL);
}

/* A device that makes no zero-based region, or none that begins inside of a page. */
/* clause: e.7.40 */
TEST_LOOP(zero_based_region__the_device_cannot__is_refused_and_reported, 2)
{
	static const enum fault_ability lacks[] = { FAULT_ZERO_BASED, FAULT_ZERO_BASED_INSIDE };
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const DAT_RETURN model = DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	const bool some = lacks[_i] != FAULT_ZERO_BASED;
	DAT_LMR_HANDLE lmr;
	struct dt_side side;
	DAT_IA_ATTR attr;
	void *at;

	ck_assert_int_eq(posix_memalign(&at, page, 2 * page), 0);
	fault_lack(lacks[_i]);
	dt_side_open(&side, "faulty", DT_SEPARATE);
	dt_ok(dat_ia_query(side.ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
	ck_assert_int_eq(attr.zb_supported, some ? DAT_TRUE : DAT_FALSE);
	dt_assert_ret(try_zero_based(&side, (char *)at + 8, &lmr), model);
	dt_assert_ret(try_zero_based(&side, at, &lmr), some ? DAT_SUCCESS : model);
	if (some)
		dt_ok(dat_lmr_free(lmr));
	dt_side_close(&side);
	fault_lack(0);
	free(at);
}

/* clause: e.7.18, e.9.7 */
TEST(shared_queue__the_device_cannot_lengthen_it__is_shortened_only)
{
	DAT_SRQ_ATTR attr = { 8, 1, DAT_SRQ_LW_DEFAULT };
	DAT_SRQ_PARAM param;
	struct dt_side side;
	DAT_SRQ_HANDLE srq;

	fault_lack(FAULT_SRQ_RESIZE);
	dt_side_open(&side, "faulty", DT_SEPARATE);
	dt_ok(dat_srq_create(side.ia, side.pz, &attr, &srq));
	dt_ok(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param));
	dt_assert_ret(dat_srq_resize(srq, param.max_recv_dtos + 1),
	    DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE));
	dt_ok(dat_srq_resize(srq, param.max_recv_dtos));
	dt_ok(dat_srq_resize(srq, 4));
	dt_ok(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param));
	ck_assert_int_eq(param.max_recv_dtos, 4);
	for (DAT_UINT64 i = 0; i < 4; i++)
		dt_ok(dat_srq_post_recv(srq, 0, NULL, dt_cookie(i)));
	dt_assert_type(dat_srq_post_recv(srq, 0, NULL, dt_cookie(4)), DAT_INSUFFICIENT_RESOURCES);
	dt_side_close(&side);
}
