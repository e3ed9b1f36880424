/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device -- attributes of the device, memory registration, keys
 */
#include "story.h"

#include <sys/mman.h>
#include <sys/wait.h>

CASE("soft-device:device");

TEST(device_list__one_device_with_name_and_guid)
{
	struct ibv_device **list;
	int n = 0;

	list = ibv_get_device_list(&n);
	ck_assert_int_eq(n, 1);
	ck_assert_str_eq(ibv_get_device_name(list[0]), "soft0");
	ck_assert_uint_ne(ibv_get_device_guid(list[0]), 0);
	ck_assert_ptr_null(list[1]);
	ibv_free_device_list(list);
}

TEST(query__limits_are_those_of_an_adapter)
{
	struct ibv_context *context = story_open();
	struct ibv_device_attr_ex ex;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	union ibv_gid gid;
	__be16 pkey;

	ck_assert_int_eq(ibv_query_device(context, &attr), 0);
	ck_assert_int_ge(attr.max_qp, 16384);
	ck_assert_int_ge(attr.max_cqe, 65536);
	ck_assert_int_ge(attr.max_sge, 30);
	ck_assert_int_eq(ibv_query_device_ex(context, NULL, &ex), 0);
	ck_assert_uint_eq(ex.orig_attr.node_guid, attr.node_guid);
	ck_assert_uint_eq(ex.orig_attr.max_mr_size, attr.max_mr_size);
	ck_assert_int_eq(ex.orig_attr.max_qp, attr.max_qp);
	ck_assert_int_eq(ex.orig_attr.max_qp_wr, attr.max_qp_wr);
	ck_assert_int_eq(ex.orig_attr.max_sge, attr.max_sge);
	ck_assert_int_eq(ex.orig_attr.max_cqe, attr.max_cqe);
	ck_assert_int_eq(ex.orig_attr.max_srq, attr.max_srq);
	ck_assert_int_eq(ex.orig_attr.phys_port_cnt, attr.phys_port_cnt);
	ck_assert_int_eq(ibv_query_port(context, 1, &port), 0);
	ck_assert_int_eq(port.state, IBV_PORT_ACTIVE);
	ck_assert_uint_ge(port.max_msg_sz, 1u << 30);
	ck_assert_uint_ne(port.lid, 0);
	ck_assert_uint_eq(port.max_vl_num, 1);
	ck_assert_uint_eq(port.active_width, 2);
	ck_assert_uint_eq(port.active_speed, 32);
	ck_assert_uint_eq(port.phys_state, 5);
	ck_assert_int_eq(port.link_layer, IBV_LINK_LAYER_INFINIBAND);
	ck_assert_int_eq(ibv_query_port(context, 2, &port), EINVAL);
	for (int i = 0; i < port.gid_tbl_len; i++)
		ck_assert_int_eq(ibv_query_gid(context, 1, i, &gid), 0);
	ck_assert_int_eq(ibv_query_gid(context, 1, port.gid_tbl_len, &gid), -1);
	ck_assert_int_eq(ibv_query_pkey(context, 1, 0, &pkey), 0);
	ck_assert_uint_eq(pkey, 0xffff);
	ck_assert_int_eq(ibv_close_device(context), 0);
}

enum limited { DOMAINS, QUEUES, SHARED_QUEUES, REGIONS, WINDOWS, LIMITED };

/* So many fit beside the domain that the test has. */
static int
limited_most(struct ibv_context *context, enum limited kind)
{
	struct ibv_device_attr attr;

	ck_assert_int_eq(ibv_query_device(context, &attr), 0);
	return kind == DOMAINS	     ? attr.max_pd - 1 :
	       kind == QUEUES	     ? attr.max_cq :
	       kind == SHARED_QUEUES ? attr.max_srq :
	       kind == REGIONS	     ? attr.max_mr :
				       attr.max_mw;
}

static void *
limited_make(struct ibv_pd *pd, enum limited kind)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 1, .max_sge = 1 } };

	switch (kind) {
	case DOMAINS:
		return ibv_alloc_pd(pd->context);
	case QUEUES:
		return ibv_create_cq(pd->context, 1, NULL, NULL, 0);
	case SHARED_QUEUES:
		return ibv_create_srq(pd, &init);
	case REGIONS:
		return ibv_reg_mr(pd, NULL, 0, IBV_ACCESS_LOCAL_WRITE);
	default:
		return ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	}
}

static int
limited_free(void *object, enum limited kind)
{
	switch (kind) {
	case DOMAINS:
		return ibv_dealloc_pd(object);
	case QUEUES:
		return ibv_destroy_cq(object);
	case SHARED_QUEUES:
		return ibv_destroy_srq(object);
	case REGIONS:
		return ibv_dereg_mr(object);
	default:
		return ibv_dealloc_mw(object);
	}
}

/* The usual limits are those of a table, too; with them the test takes seconds. */
/* origin: out33.J7 */
TEST_LOOP(objects__as_many_as_the_device_reports__one_more_is_refused, LIMITED)
{
	struct ibv_context *context;
	void *objects[64], *more;
	struct ibv_pd *pd;
	int most;

	setenv("SOFTVERBS_TOPOLOGY", "soft0 max_pd=20 max_cq=30 max_srq=40 max_mr=50 max_mw=60", 1);
	context = story_open();
	pd = ibv_alloc_pd(context);
	most = limited_most(context, (enum limited)_i);
	ck_assert_int_eq(most, 20 + 10 * _i - (_i == DOMAINS));
	for (int i = 0; i < most; i++) {
		objects[i] = limited_make(pd, (enum limited)_i);
		ck_assert_msg(objects[i] != NULL, "%d of %d", i, most);
	}
	/* One that goes makes room for one, and one that is refused counts for nothing. */
	for (int turn = 0; turn < 2; turn++) {
		ck_assert_ptr_null(limited_make(pd, (enum limited)_i));
		ck_assert_int_eq(errno, ENOMEM);
		ck_assert_int_eq(limited_free(objects[turn], (enum limited)_i), 0);
		more = limited_make(pd, (enum limited)_i);
		ck_assert_ptr_nonnull(more);
		objects[turn] = more;
	}
	for (int i = 0; i < most; i++)
		ck_assert_int_eq(limited_free(objects[i], (enum limited)_i), 0);
	ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
	ck_assert_int_eq(ibv_close_device(context), 0);
}

TEST(open__unknown_personality__refused)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	setenv("SOFTVERBS_PERSONALITY", "lazy", 1);
	ck_assert_ptr_null(ibv_open_device(list[0]));
	ck_assert_int_eq(errno, EINVAL);
	ibv_free_device_list(list);
}

TEST(close__before_its_objects__they_go_on_working)
{
	struct side a, b;

	pair_make(&a, &b, NULL);
	ck_assert_int_eq(ibv_close_device(a.context), 0);
	side_receive(&b, 1, 0, 8);
	side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0, 8);
	cq_expect(a.cq, 2, IBV_WC_SUCCESS);
	ck_assert_int_eq(ibv_destroy_qp(a.qp), 0);
	ck_assert_int_eq(ibv_destroy_cq(a.cq), 0);
	ck_assert_int_eq(ibv_destroy_comp_channel(a.channel), 0);
	ck_assert_int_eq(ibv_dereg_mr(a.mr), 0);
	ck_assert_int_eq(ibv_dealloc_pd(a.pd), 0);
	free(a.bytes);
	side_free(&b);
}

TEST(pd__in_use__busy)
{
	struct side a;

	side_make(&a, NULL);
	ck_assert_int_eq(ibv_dealloc_pd(a.pd), EBUSY);
	side_free(&a);
}

TEST(keys__of_many_regions__differ_and_are_not_small_numbers)
{
	struct ibv_context *context = story_open();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_mr *mrs[500];
	int small = 0;
	char byte;

	for (int i = 0; i < 500; i++) {
		mrs[i] = ibv_reg_mr(pd, &byte, 1, 0);
		ck_assert_ptr_nonnull(mrs[i]);
		small += mrs[i]->lkey < 1u << 20;
		for (int k = 0; k < i; k++)
			ck_assert_uint_ne(mrs[i]->lkey, mrs[k]->lkey);
	}
	ck_assert_int_lt(small, 5); /* 0.12 are to be expected */
	for (int i = 0; i < 500; i++)
		ck_assert_int_eq(ibv_dereg_mr(mrs[i]), 0);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
}

TEST(register__bad_requests__refused)
{
	struct ibv_context *context = story_open();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	volatile int access = IBV_ACCESS_REMOTE_WRITE;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *hole, byte;

	errno = 0;
	ck_assert_ptr_null(ibv_reg_mr(pd, &byte, 1, IBV_ACCESS_REMOTE_WRITE));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_ptr_null(ibv_reg_mr(pd, &byte, 1, access));
	ck_assert_ptr_null(ibv_reg_mr(pd, &byte, 1, 1 << 15));
	ck_assert_ptr_null(ibv_reg_mr(pd, &byte, SIZE_MAX, 0));
	hole = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(hole + 2 * page, page);
	ck_assert_ptr_null(ibv_reg_mr(pd, hole, 4 * page, 0));
	ck_assert_int_eq(errno, EFAULT);
	munmap(hole, 4 * page);
	ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
	ibv_close_device(context);
}

TEST(iova__remote_side_uses_the_address_it_was_given)
{
	struct side a, b;
	struct ibv_mr *mr;

	pair_make(&a, &b, NULL);
	mr = ibv_reg_mr_iova(b.pd, b.bytes + 4096, 4096, 0x1000000, SIDE_ACCESS);
	ck_assert_ptr_nonnull(mr);
	strcpy(a.bytes, "far");
	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 1, 0, 0x1000010, mr->rkey, 4), 0);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
	ck_assert_str_eq(b.bytes + 4096 + 16, "far");
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	pair_free(&a, &b);
}

TEST(queue_pairs__thousands__numbers_are_unique)
{
	struct ibv_context *context = story_open();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .cap = { 1, 1, 1, 1, 0 }, .qp_type = IBV_QPT_RC
	};
	struct ibv_qp **qps = calloc(16384, sizeof *qps);
	char *seen = calloc(1, 1 << 24);

	for (int i = 0; i < 16384; i++) {
		qps[i] = ibv_create_qp(pd, &init);
		ck_assert_ptr_nonnull(qps[i]);
		ck_assert_uint_gt(qps[i]->qp_num, 1);
		ck_assert_uint_lt(qps[i]->qp_num, 0xffffff);
		ck_assert_int_eq(seen[qps[i]->qp_num]++, 0);
	}
	ck_assert_ptr_null(ibv_create_qp(pd, &init));
	ck_assert_int_eq(errno, ENOMEM);
	/* One that goes makes room for one. */
	ck_assert_int_eq(ibv_destroy_qp(qps[7]), 0);
	qps[7] = ibv_create_qp(pd, &init);
	ck_assert_ptr_nonnull(qps[7]);
	ck_assert_ptr_null(ibv_create_qp(pd, &init));
	for (int i = 0; i < 16384; i++)
		ck_assert_int_eq(ibv_destroy_qp(qps[i]), 0);
	free(qps);
	free(seen);
	ck_assert_int_eq(ibv_destroy_cq(cq), 0);
	ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
	ibv_close_device(context);
}

TEST(create__beyond_the_limits__refused)
{
	struct ibv_context *context = story_open();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, 65536, NULL, NULL, 0);
	struct ibv_qp_init_attr init = { .send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 1u << 20 },
		.qp_type = IBV_QPT_RC };
	struct ibv_srq_init_attr srq_init = { .attr = { .max_wr = 1 } };
	struct ibv_srq *srq;
	struct ibv_qp *qp;

	ck_assert_ptr_nonnull(cq);
	ck_assert_ptr_null(ibv_create_cq(context, 0, NULL, NULL, 0));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_ptr_null(ibv_create_cq(context, 1 << 30, NULL, NULL, 0));
	ck_assert_ptr_null(ibv_create_cq(context, 1, NULL, NULL, context->num_comp_vectors));
	ck_assert_ptr_null(ibv_create_qp(pd, &init));
	ck_assert_int_eq(errno, EINVAL);
	/* Of nothing it has room for one. */
	init.cap = (struct ibv_qp_cap){ 0 };
	qp = ibv_create_qp(pd, &init);
	ck_assert_ptr_nonnull(qp);
	ck_assert_uint_eq(init.cap.max_send_wr, 1);
	ck_assert_uint_eq(init.cap.max_send_sge, 1);
	ck_assert_uint_eq(init.cap.max_recv_wr, 0);
	ck_assert_uint_eq(init.cap.max_recv_sge, 1);
	ck_assert_int_eq(ibv_destroy_qp(qp), 0);
	srq = ibv_create_srq(pd, &srq_init);
	ck_assert_ptr_nonnull(srq);
	ck_assert_uint_eq(srq_init.attr.max_sge, 1);
	ck_assert_int_eq(ibv_destroy_srq(srq), 0);
	init.cap = (struct ibv_qp_cap){ 1, 1, 1, 1, 0 };
	init.qp_type = IBV_QPT_UC;
	ck_assert_ptr_null(ibv_create_qp(pd, &init));
	ck_assert_int_eq(errno, EOPNOTSUPP);
	ck_assert_int_eq(ibv_destroy_cq(cq), 0);
	ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
	ibv_close_device(context);
}

TEST(names__of_every_status_and_event__are_there)
{
	for (int i = 0; i <= IBV_WC_TM_RNDV_INCOMPLETE; i++)
		ck_assert_str_ne(ibv_wc_status_str((enum ibv_wc_status)i), "unknown");
	for (int i = 0; i <= IBV_EVENT_WQ_FATAL; i++)
		ck_assert_str_ne(ibv_event_type_str((enum ibv_event_type)i), "unknown");
	for (int i = 0; i <= RDMA_CM_EVENT_TIMEWAIT_EXIT; i++)
		ck_assert_str_ne(rdma_event_str((enum rdma_cm_event_type)i), "unknown");
	ck_assert_str_eq(ibv_wc_status_str((enum ibv_wc_status)99), "unknown");
}

/* What is not named here of a device and of its port is 0. */
/* origin: out33.U16 */
TEST(query__each_field__is_what_is_documented)
{
	struct ibv_context *context = story_open();
	struct ibv_device_attr_ex ex;
	struct ibv_port_attr port, want_port;
	struct ibv_device_attr attr, want;
	__be64 guid;

	memset(&attr, 0x5a, sizeof attr);
	ck_assert_int_eq(ibv_query_device(context, &attr), 0);
	guid = attr.node_guid;
	ck_assert_uint_ne(guid, 0);
	memset(&want, 0, sizeof want);
	strcpy(want.fw_ver, "1.0.0");
	want.node_guid = want.sys_image_guid = guid;
	want.max_mr_size = 1ull << 46;
	want.page_size_cap = ~(uint64_t)4095;
	want.vendor_id = (uint32_t)(be64toh(guid) >> 40);
	want.vendor_part_id = want.hw_ver = 1;
	want.max_qp = 16384;
	want.max_qp_wr = want.max_srq_wr = 32768;
	want.device_cap_flags = IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_SYS_IMAGE_GUID |
				IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_SRQ_RESIZE |
				IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B |
				IBV_DEVICE_MEM_MGT_EXTENSIONS;
	want.max_sge = want.max_sge_rd = want.max_srq_sge = 32;
	want.max_cq = 65536;
	want.max_cqe = want.max_mr = want.max_mw = want.max_ah = 1048576;
	want.max_pd = 32768;
	want.max_qp_rd_atom = want.max_qp_init_rd_atom = 128;
	want.max_res_rd_atom = 128 * 16384;
	want.atomic_cap = IBV_ATOMIC_GLOB;
	want.max_srq = 8192;
	want.max_pkeys = want.phys_port_cnt = 1;
	want.local_ca_ack_delay = 15;
	ck_assert_mem_eq(&attr, &want, offsetof(struct ibv_device_attr, phys_port_cnt) + 1);

	memset(&ex, 0x5a, sizeof ex);
	ck_assert_int_eq(ibv_query_device_ex(context, NULL, &ex), 0);
	ck_assert_int_eq(
	    ibv_query_device_ex(context, &(struct ibv_query_device_ex_input){ 0 }, &ex), 0);
	ck_assert_mem_eq(&ex.orig_attr, &want, offsetof(struct ibv_device_attr, phys_port_cnt) + 1);
	ck_assert_uint_eq(ex.completion_timestamp_mask, UINT64_MAX);
	ck_assert_uint_eq(ex.hca_core_clock, 1000000);
	ck_assert_uint_eq(ex.cq_mod_caps.max_cq_count, 65535);
	ck_assert_uint_eq(ex.cq_mod_caps.max_cq_period, 65535);
	ck_assert_uint_eq(ex.phys_port_cnt_ex, 1);
	ck_assert_uint_eq(ex.device_cap_flags_ex, want.device_cap_flags);
	ck_assert_uint_eq(ex.comp_mask, 0);
	ck_assert_uint_eq(ex.odp_caps.general_caps, 0);
	ck_assert_uint_eq(ex.tm_caps.max_num_tags, 0);
	ck_assert_uint_eq(ex.max_dm_size, 0);

	memset(&port, 0x5a, sizeof port);
	ck_assert_int_eq(ibv_query_port(context, 1, &port), 0);
	memset(&want_port, 0, sizeof want_port);
	want_port.state = IBV_PORT_ACTIVE;
	want_port.max_mtu = want_port.active_mtu = IBV_MTU_4096;
	want_port.gid_tbl_len = 2;
	want_port.port_cap_flags = IBV_PORT_CM_SUP;
	want_port.max_msg_sz = 1u << 30;
	want_port.pkey_tbl_len = 1;
	want_port.lid = want_port.sm_lid = 1;
	want_port.max_vl_num = 1;
	want_port.subnet_timeout = 18;
	want_port.active_width = 2;
	want_port.active_speed = 32;
	want_port.phys_state = 5;
	want_port.link_layer = IBV_LINK_LAYER_INFINIBAND;
	ck_assert_mem_eq(&port, &want_port, offsetof(struct ibv_port_attr, port_cap_flags2) + 2);
	ck_assert_int_eq(ibv_close_device(context), 0);
}

/*
 * Programs of older headers call the function itself, with a structure that ends before
 * port_cap_flags2.
 */
TEST(query__with_the_older_structure__writes_no_more_than_it_has)
{
	struct ibv_context *context = story_open();
	struct ibv_port_attr port, whole;

	ck_assert_int_eq(ibv_query_port(context, 1, &whole), 0);
	memset(&port, 0x5a, sizeof port);
	ck_assert_int_eq((ibv_query_port)(context, 1, (struct _compat_ibv_port_attr *)&port), 0);
	ck_assert_int_eq(memcmp(&port, &whole, offsetof(struct ibv_port_attr, port_cap_flags2)), 0);
	ck_assert_uint_eq(port.port_cap_flags2, 0x5a5a);
	ck_assert_int_eq(
	    (ibv_query_port)(context, 2, (struct _compat_ibv_port_attr *)&port), EINVAL);
	ck_assert_int_eq(ibv_close_device(context), 0);
}

TEST(gids_and_keys_of_the_port__by_index_and_as_a_table)
{
	static const uint8_t loopback[16] = { [10] = 0xff, [11] = 0xff, 127, 0, 0, 1 };
	struct ibv_context *context = story_open();
	struct ibv_gid_entry entry, table[3];
	union ibv_gid gid;
	__be16 pkey;

	memset(table, 0x5a, sizeof table);
	ck_assert_int_eq(ibv_query_gid_table(context, table, 3, 0), 2);
	ck_assert_uint_eq(table[2].port_num, 0x5a5a5a5a);
	ck_assert_int_eq(ibv_query_gid_table(context, table, 2, 0), 2);
	ck_assert_int_eq(ibv_query_gid_table(context, table, 1, 0), -EINVAL);
	ck_assert_int_eq(ibv_query_gid_table(context, table, 3, 1), -EOPNOTSUPP);
	for (uint32_t i = 0; i < 2; i++) {
		ck_assert_int_eq(ibv_query_gid(context, 1, (int)i, &gid), 0);
		ck_assert_int_eq(ibv_query_gid_ex(context, 1, i, &entry, 0), 0);
		ck_assert_int_eq(memcmp(&entry, &table[i], sizeof entry), 0);
		ck_assert_int_eq(memcmp(&entry.gid, &gid, sizeof gid), 0);
		ck_assert_uint_eq(entry.gid_index, i);
		ck_assert_uint_eq(entry.port_num, 1);
		ck_assert_uint_eq(entry.gid_type, IBV_GID_TYPE_IB);
		ck_assert_uint_eq(entry.ndev_ifindex, 0);
	}
	ck_assert_int_eq(memcmp(table[1].gid.raw, loopback, 16), 0);
	ck_assert_uint_eq(table[0].gid.global.interface_id, ibv_get_device_guid(context->device));
	ck_assert_uint_eq(table[0].gid.raw[0] << 8 | table[0].gid.raw[1], 0xfe80);
	ck_assert_int_eq(ibv_query_gid_ex(context, 1, 2, &entry, 0), EINVAL);
	ck_assert_int_eq(ibv_query_gid_ex(context, 2, 0, &entry, 0), EINVAL);
	ck_assert_int_eq(ibv_query_gid_ex(context, 1, 0, &entry, 1), EOPNOTSUPP);
	ck_assert_int_eq(ibv_query_gid(context, 2, 0, &gid), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(ibv_query_gid(context, 1, -1, &gid), -1);
	ck_assert_int_eq(ibv_query_pkey(context, 1, 0, &pkey), 0);
	ck_assert_int_eq(ibv_get_pkey_index(context, 1, pkey), 0);
	ck_assert_int_eq(ibv_get_pkey_index(context, 1, (__be16)(pkey ^ 1)), -1);
	ck_assert_int_eq(ibv_get_pkey_index(context, 2, pkey), -1);
	ck_assert_int_eq(ibv_query_pkey(context, 1, 1, &pkey), -1);
	ck_assert_int_eq(ibv_query_pkey(context, 2, 0, &pkey), -1);
	ck_assert_int_eq(ibv_close_device(context), 0);
}

TEST(device__is_none_of_the_kernel__and_fork_needs_nothing)
{
	struct ibv_context *context = story_open();

	ck_assert_int_eq(ibv_get_device_index(context->device), -1);
	ck_assert_int_eq(context->device->node_type, IBV_NODE_CA);
	ck_assert_int_eq(context->device->transport_type, IBV_TRANSPORT_IB);
	ck_assert_int_eq(ibv_fork_init(), 0);
	ck_assert_int_eq(ibv_is_fork_initialized(), IBV_FORK_UNNEEDED);
	ck_assert_int_eq(context->num_comp_vectors > 0, 1);
	ck_assert_int_eq(ibv_close_device(context), 0);
}

/* Each value has a name of its own; what has none is "unknown". */
static void
expect_names(const char *(*name)(int value), int first, int last)
{
	ck_assert_str_eq(name(first - 1), "unknown");
	ck_assert_str_eq(name(last + 1), "unknown");
	ck_assert_str_eq(name(INT32_MAX), "unknown");
	for (int i = first; i <= last; i++)
		for (int k = first; k < i; k++)
			ck_assert_str_ne(name(i), name(k));
}

static const char *
node_name(int value)
{
	/* Its numbers begin with -1. */
	return value < 0 ? "unknown" : ibv_node_type_str((enum ibv_node_type)value);
}

static const char *
port_state_name(int value)
{
	return ibv_port_state_str((enum ibv_port_state)value);
}

static const char *
event_name(int value)
{
	return ibv_event_type_str((enum ibv_event_type)value);
}

static const char *
status_name(int value)
{
	return ibv_wc_status_str((enum ibv_wc_status)value);
}

static const char *
cm_event_name(int value)
{
	return rdma_event_str((enum rdma_cm_event_type)value);
}

TEST(names_of_values__differ_and_end_with_unknown)
{
	expect_names(node_name, IBV_NODE_CA, IBV_NODE_UNSPECIFIED);
	expect_names(port_state_name, IBV_PORT_NOP, IBV_PORT_ACTIVE_DEFER);
	expect_names(event_name, IBV_EVENT_CQ_ERR, IBV_EVENT_WQ_FATAL);
	expect_names(status_name, IBV_WC_SUCCESS, IBV_WC_TM_RNDV_INCOMPLETE);
	expect_names(cm_event_name, RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	ck_assert_str_eq(ibv_port_state_str(IBV_PORT_ACTIVE), "active");
	ck_assert_str_eq(ibv_node_type_str(IBV_NODE_CA), "channel adapter");
	ck_assert_str_eq(rdma_event_str(RDMA_CM_EVENT_REJECTED), "RDMA_CM_EVENT_REJECTED");
}

/* origin: outside.158 */
TEST(number_of_a_queue_pair__is_none_of_another__and_comes_back_late)
{
	static int made_at[16384];
	struct side a, kept[3];
	unsigned int index;

	side_make(&a, NULL);
	for (int i = 0; i < 3; i++) {
		kept[i] = a;
		kept[i].qp = NULL;
		side_new_qp(&kept[i]);
	}
	for (int i = 1; i < 16384 + 100; i++) {
		ck_assert_int_eq(ibv_destroy_qp(a.qp), 0);
		side_new_qp(&a);
		for (int k = 0; k < 3; k++)
			ck_assert_uint_ne(a.qp->qp_num, kept[k].qp->qp_num);
		index = a.qp->qp_num & 16383;
		ck_assert_uint_eq(a.qp->qp_num >> 14, kept[0].qp->qp_num >> 14);
		ck_assert(!made_at[index] || i - made_at[index] > 16000);
		made_at[index] = i;
	}
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(ibv_destroy_qp(kept[i].qp), 0);
	side_free(&a);
}

/* A program of another release has a shorter structure, or a longer one. */
TEST(query_extended__into_a_structure_of_any_size__writes_as_much)
{
	struct ibv_context *context = story_open();
	const struct verbs_context *verbs = verbs_get_ctx(context);
	const struct ibv_query_device_ex_input unknown = { .comp_mask = 1 };
	struct ibv_device_attr_ex all;
	char some[sizeof all + 16];

	ck_assert_int_eq(verbs->query_device_ex(context, &unknown, &all, sizeof all), EINVAL);
	ck_assert_int_eq(ibv_query_device_ex(context, NULL, &all), 0);
	for (size_t size = 0; size <= sizeof all + 8; size += 8) {
		const size_t written = size < sizeof all ? size : sizeof all;

		memset(some, 0x5a, sizeof some);
		ck_assert_int_eq(verbs->query_device_ex(context, NULL,
				     (struct ibv_device_attr_ex *)(void *)some, size),
		    0);
		ck_assert_int_eq(memcmp(some, &all, written), 0);
		for (size_t i = written; i < sizeof some; i++)
			ck_assert_int_eq(some[i], 0x5a);
	}
	ck_assert_int_eq(ibv_close_device(context), 0);
}
