/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that is linked with one of these functions, or that reaches one through its context,
 * goes on.  The call fails as it does on a device without it, and the first one prints a line that
 * names it.
 *
 * An operation on an object that cannot be had, such as a flow, is left out of the table.  Those of
 * <infiniband/verbs.h> test for that; but not ibv_close_xrcd().
 */
#include "unsupported.h"
#include "softverbs/cm/cm.h"
#include "softverbs/device/unserved.h"

/* ---- functions of libibverbs ---- */

int
ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	(void)qp, (void)gid, (void)lid;
	SOFT_UNSERVED("ibv_attach_mcast");
	return EOPNOTSUPP;
}

int
ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	(void)qp, (void)gid, (void)lid;
	SOFT_UNSERVED("ibv_detach_mcast");
	return EOPNOTSUPP;
}

struct ibv_mr *
ibv_reg_dmabuf_mr(
    struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
	(void)pd, (void)offset, (void)length, (void)iova, (void)access;
	/* So a program asks whether the device can. */
	if (fd < 0) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	SOFT_UNSERVED("ibv_reg_dmabuf_mr");
	return NULL;
}

struct ibv_context *
ibv_import_device(int cmd_fd)
{
	(void)cmd_fd;
	SOFT_UNSERVED("ibv_import_device");
	return NULL;
}

int
ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	(void)qp, (void)ece;
	SOFT_UNSERVED("ibv_set_ece");
	return EOPNOTSUPP;
}

/* Without a line: a program asks this of each device. */
int
ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	(void)qp, (void)ece;
	return EOPNOTSUPP;
}

/* ---- operations of a context ---- */

static int
unsupported_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
    struct ibv_sge *sge, uint32_t n)
{
	(void)pd, (void)advice, (void)flags, (void)sge, (void)n;
	SOFT_UNSERVED("ibv_advise_mr");
	return EOPNOTSUPP;
}

static struct ibv_mr *
unsupported_alloc_null_mr(struct ibv_pd *pd)
{
	(void)pd;
	SOFT_UNSERVED("ibv_alloc_null_mr");
	return NULL;
}

static struct ibv_counters *
unsupported_create_counters(struct ibv_context *context, struct ibv_counters_init_attr *init)
{
	(void)context, (void)init;
	SOFT_UNSERVED("ibv_create_counters");
	return NULL;
}

static struct ibv_dm *
unsupported_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
	(void)context, (void)attr;
	SOFT_UNSERVED("ibv_alloc_dm");
	return NULL;
}

static struct ibv_mr *
unsupported_reg_dm_mr(
    struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length, unsigned int access)
{
	(void)pd, (void)dm, (void)offset, (void)length, (void)access;
	SOFT_UNSERVED("ibv_reg_dm_mr");
	return NULL;
}

static struct ibv_flow_action *
unsupported_create_flow_action_esp(
    struct ibv_context *context, struct ibv_flow_action_esp_attr *attr)
{
	(void)context, (void)attr;
	SOFT_UNSERVED("ibv_create_flow_action_esp");
	return NULL;
}

static struct ibv_flow *
unsupported_create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	(void)qp, (void)attr;
	SOFT_UNSERVED("ibv_create_flow");
	return NULL;
}

static int
unsupported_modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
	(void)qp, (void)attr;
	SOFT_UNSERVED("ibv_modify_qp_rate_limit");
	return EOPNOTSUPP;
}

static int
unsupported_post_srq_ops(struct ibv_srq *srq, struct ibv_ops_wr *op, struct ibv_ops_wr **bad)
{
	(void)srq;
	SOFT_UNSERVED("ibv_post_srq_ops");
	*bad = op;
	return EOPNOTSUPP;
}

static struct ibv_wq *
unsupported_create_wq(struct ibv_context *context, struct ibv_wq_init_attr *init)
{
	(void)context, (void)init;
	SOFT_UNSERVED("ibv_create_wq");
	return NULL;
}

static struct ibv_rwq_ind_table *
unsupported_create_rwq_ind_table(
    struct ibv_context *context, struct ibv_rwq_ind_table_init_attr *init)
{
	(void)context, (void)init;
	SOFT_UNSERVED("ibv_create_rwq_ind_table");
	return NULL;
}

static struct ibv_qp *
unsupported_open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
	(void)context, (void)attr;
	SOFT_UNSERVED("ibv_open_qp");
	return NULL;
}

static struct ibv_xrcd *
unsupported_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *init)
{
	(void)context, (void)init;
	SOFT_UNSERVED("ibv_open_xrcd");
	return NULL;
}

static int
unsupported_close_xrcd(struct ibv_xrcd *xrcd)
{
	(void)xrcd;
	SOFT_UNSERVED("ibv_close_xrcd");
	return EOPNOTSUPP;
}

/* The number is for the peers of extended connections. */
static int
unsupported_get_srq_num(struct ibv_srq *srq, uint32_t *number)
{
	(void)srq, (void)number;
	SOFT_UNSERVED("ibv_get_srq_num");
	return EOPNOTSUPP;
}

/* The wrapper creates a basic one itself, if it has a protection domain. */
static struct ibv_srq *
unsupported_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *init)
{
	(void)context;
	if (!(init->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) || init->srq_type == IBV_SRQT_BASIC) {
		errno = EINVAL;
		return NULL;
	}
	SOFT_UNSERVED("ibv_create_srq_ex of another type than IBV_SRQT_BASIC");
	return NULL;
}

void
soft_unsupported_init(struct verbs_context *context)
{
	context->advise_mr = unsupported_advise_mr;
	context->alloc_null_mr = unsupported_alloc_null_mr;
	context->create_counters = unsupported_create_counters;
	context->alloc_dm = unsupported_alloc_dm;
	context->reg_dm_mr = unsupported_reg_dm_mr;
	context->create_flow_action_esp = unsupported_create_flow_action_esp;
	context->ibv_create_flow = unsupported_create_flow;
	context->modify_qp_rate_limit = unsupported_modify_qp_rate_limit;
	context->post_srq_ops = unsupported_post_srq_ops;
	context->create_wq = unsupported_create_wq;
	context->create_rwq_ind_table = unsupported_create_rwq_ind_table;
	context->open_qp = unsupported_open_qp;
	context->open_xrcd = unsupported_open_xrcd;
	context->close_xrcd = unsupported_close_xrcd;
	context->get_srq_num = unsupported_get_srq_num;
	context->create_srq_ex = unsupported_create_srq_ex;
}

/* ---- functions of librdmacm ---- */

int
rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr, void *context)
{
	(void)id, (void)addr, (void)context;
	SOFT_UNSERVED("rdma_join_multicast");
	return -1;
}

int
rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *attr, void *context)
{
	(void)id, (void)attr, (void)context;
	SOFT_UNSERVED("rdma_join_multicast_ex");
	return -1;
}

int
rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr)
{
	(void)id, (void)addr;
	SOFT_UNSERVED("rdma_leave_multicast");
	return -1;
}
