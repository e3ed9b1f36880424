/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unserved -- what the device does not have: each call fails as its interface says, and one line
 * names it
 */
#include "story.h"

#include <fcntl.h>
#include <sys/mman.h>

static struct side a;
static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

static void
setup(void)
{
	side_make(&a, NULL);
	channel = cm_channel();
	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_UDP), 0);
}

static void
teardown(void)
{
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	side_free(&a);
}

/* What a call returns: that it failed, in the way of its type. */
static int
none(const void *object)
{
	ck_assert_ptr_null(object);
	return errno;
}

static int
minus(int r)
{
	ck_assert_int_eq(r, -1);
	return errno;
}

static int
attach_mcast(void)
{
	union ibv_gid gid = { .raw = { 0xff } };

	return ibv_attach_mcast(a.qp, &gid, 1);
}

static int
detach_mcast(void)
{
	union ibv_gid gid = { .raw = { 0xff } };

	return ibv_detach_mcast(a.qp, &gid, 1);
}

static int
reg_dmabuf_mr(void)
{
	return none(ibv_reg_dmabuf_mr(a.pd, 0, 4096, 0, 0, 0));
}

static int
import_device(void)
{
	return none(ibv_import_device(3));
}

static int
set_ece(void)
{
	struct ibv_ece ece = { .vendor_id = 0 };

	return ibv_set_ece(a.qp, &ece);
}

static int
query_ece(void)
{
	struct ibv_ece ece;

	return ibv_query_ece(a.qp, &ece);
}

static int
advise_mr(void)
{
	struct ibv_sge sge = { (uintptr_t)a.bytes, 8, a.mr->lkey };

	return ibv_advise_mr(a.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1);
}

static int
alloc_null_mr(void)
{
	return none(ibv_alloc_null_mr(a.pd));
}

static int
create_counters(void)
{
	struct ibv_counters_init_attr init = { .comp_mask = 0 };

	return none(ibv_create_counters(a.context, &init));
}

static int
alloc_dm(void)
{
	struct ibv_alloc_dm_attr attr = { .length = 64 };

	return none(ibv_alloc_dm(a.context, &attr));
}

static int
create_flow_action_esp(void)
{
	struct ibv_flow_action_esp_attr attr = { .comp_mask = 0 };

	return none(ibv_create_flow_action_esp(a.context, &attr));
}

static int
create_flow(void)
{
	struct ibv_flow_attr attr = { .port = 1 };

	return none(ibv_create_flow(a.qp, &attr));
}

static int
modify_qp_rate_limit(void)
{
	struct ibv_qp_rate_limit_attr attr = { .rate_limit = 1 };

	return ibv_modify_qp_rate_limit(a.qp, &attr);
}

static int
post_srq_ops(void)
{
	struct ibv_ops_wr op = { .wr_id = 1 }, *bad = NULL;
	struct ibv_srq srq = { .context = a.context };
	int r = ibv_post_srq_ops(&srq, &op, &bad);

	ck_assert_ptr_eq(bad, &op);
	return r;
}

static int
get_srq_num(void)
{
	struct ibv_srq srq = { .context = a.context };
	uint32_t number;

	return ibv_get_srq_num(&srq, &number);
}

static int
create_wq(void)
{
	struct ibv_wq_init_attr init = { .wq_type = IBV_WQT_RQ };

	return none(ibv_create_wq(a.context, &init));
}

static int
create_rwq_ind_table(void)
{
	struct ibv_rwq_ind_table_init_attr init = { .comp_mask = 0 };

	return none(ibv_create_rwq_ind_table(a.context, &init));
}

static int
open_qp(void)
{
	struct ibv_qp_open_attr attr = { .qp_num = 1 };

	return none(ibv_open_qp(a.context, &attr));
}

static int
reg_dm_mr(void)
{
	return none(verbs_get_ctx(a.context)->reg_dm_mr(a.pd, NULL, 0, 64, 0));
}

static int
close_xrcd(void)
{
	return verbs_get_ctx(a.context)->close_xrcd(NULL);
}

static int
open_xrcd(void)
{
	struct ibv_xrcd_init_attr init = { .fd = -1 };

	return none(ibv_open_xrcd(a.context, &init));
}

static int
create_srq_ex(void)
{
	struct ibv_srq_init_attr_ex init = { .attr = { .max_wr = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = a.pd };

	return none(ibv_create_srq_ex(a.context, &init));
}

static int
create_cq_ex(void)
{
	struct ibv_cq_init_attr_ex init = { .cqe = 1, .wc_flags = IBV_WC_EX_WITH_FLOW_TAG };

	return none(ibv_create_cq_ex(a.context, &init));
}

static int
create_qp(void)
{
	struct ibv_qp_init_attr init = {
		.send_cq = a.cq, .recv_cq = a.cq, .cap = { 1, 1, 1, 1, 0 }, .qp_type = IBV_QPT_UC
	};

	return none(ibv_create_qp(a.pd, &init));
}

static int
create_qp_ex(void)
{
	struct ibv_qp_init_attr_ex init = { .qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD };

	return none(ibv_create_qp_ex(a.context, &init));
}

static int
reg_mr_on_demand(void)
{
	return none(ibv_reg_mr(a.pd, a.bytes, 8, IBV_ACCESS_ON_DEMAND));
}

static int
join_multicast(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };

	return minus(rdma_join_multicast(id, (struct sockaddr *)&address, NULL));
}

static int
join_multicast_ex(void)
{
	struct rdma_cm_join_mc_attr_ex attr = { .comp_mask = 0 };

	return minus(rdma_join_multicast_ex(id, &attr, NULL));
}

static int
leave_multicast(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };

	return minus(rdma_leave_multicast(id, (struct sockaddr *)&address));
}

/* Questions whether the device can. */
static int
ask_reg_dmabuf_mr(void)
{
	return none(ibv_reg_dmabuf_mr(a.pd, 0, 4096, 0, -1, 0));
}

#define CALL(prefix, name) \
	{ \
		name, #prefix #name ":" \
	}

static const struct {
	int (*call)(void);
	const char *name;
} calls[] = {
	CALL(ibv_, attach_mcast),
	CALL(ibv_, detach_mcast),
	CALL(ibv_, reg_dmabuf_mr),
	CALL(ibv_, import_device),
	CALL(ibv_, set_ece),
	CALL(ibv_, advise_mr),
	CALL(ibv_, alloc_null_mr),
	CALL(ibv_, create_counters),
	CALL(ibv_, alloc_dm),
	CALL(ibv_, create_flow_action_esp),
	CALL(ibv_, create_flow),
	CALL(ibv_, modify_qp_rate_limit),
	CALL(ibv_, post_srq_ops),
	CALL(ibv_, get_srq_num),
	CALL(ibv_, create_wq),
	CALL(ibv_, create_rwq_ind_table),
	CALL(ibv_, open_qp),
	CALL(ibv_, open_xrcd),
	CALL(ibv_, close_xrcd),
	CALL(ibv_, reg_dm_mr),
	{ create_srq_ex, "ibv_create_srq_ex of another type" },
	{ create_cq_ex, "ibv_create_cq_ex with IBV_WC_EX_WITH_FLOW_TAG:" },
	{ create_qp, "ibv_create_qp of another type" },
	{ create_qp_ex, "ibv_create_qp_ex with IBV_QP_INIT_ATTR_XRCD:" },
	{ reg_mr_on_demand, "ibv_reg_mr with IBV_ACCESS_ON_DEMAND:" },
	CALL(rdma_, join_multicast),
	CALL(rdma_, join_multicast_ex),
	CALL(rdma_, leave_multicast),
	/* these without a word */
	{ ask_reg_dmabuf_mr, NULL },
	{ query_ece, NULL },
};
#define CALLS ((int)(sizeof calls / sizeof calls[0]))

/* Calls it twice, and returns what was printed, in a buffer of this function. */
static const char *
printed_by(int i)
{
	static char text[1024];
	int file = memfd_create("stderr", MFD_CLOEXEC), saved = dup(STDERR_FILENO);
	ssize_t n;

	ck_assert_int_ge(dup2(file, STDERR_FILENO), 0);
	for (int k = 0; k < 2; k++) {
		errno = 0;
		ck_assert_int_eq(calls[i].call(), EOPNOTSUPP);
	}
	ck_assert_int_ge(dup2(saved, STDERR_FILENO), 0);
	n = pread(file, text, sizeof text - 1, 0);
	ck_assert_int_ge(n, 0);
	text[n] = '\0';
	close(saved);
	close(file);
	return text;
}

CASE("soft-unserved:unserved", setup, teardown);

TEST_LOOP(call__fails_and_is_named_once, CALLS)
{
	const char *text = printed_by(_i);
	const char *newline = strchr(text, '\n');

	if (!calls[_i].name) {
		ck_assert_str_eq(text, "");
		return;
	}
	ck_assert_msg(!strncmp(text, "softverbs: ", 11), "%s printed '%s'", calls[_i].name, text);
	ck_assert_msg(!strncmp(text + 11, calls[_i].name, strlen(calls[_i].name)),
	    "%s printed '%s'", calls[_i].name, text);
	ck_assert_msg(newline && !newline[1], "%s printed '%s'", calls[_i].name, text);
}

TEST(srq__basic_by_the_extended_call__is_served)
{
	struct ibv_srq_init_attr_ex init = { .attr = { .max_wr = 4, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_BASIC,
		.pd = a.pd };
	struct ibv_srq *srq = ibv_create_srq_ex(a.context, &init);

	ck_assert_ptr_nonnull(srq);
	ck_assert_int_eq(ibv_destroy_srq(srq), 0);
	init.comp_mask = IBV_SRQ_INIT_ATTR_TYPE;
	errno = 0;
	ck_assert_ptr_null(ibv_create_srq_ex(a.context, &init));
	ck_assert_int_eq(errno, EINVAL);
}
