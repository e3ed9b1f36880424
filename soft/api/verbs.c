/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verbs -- the operations that verbs.h reaches through the context
 *
 * What is left out answers "not supported": the wrappers in the header test for it.  The
 * data path and the two calls on memory windows are not tested for, so they are all here.
 */
#include "soft/device/device.h"
#include "soft/qp/srq.h"

#include <string.h>

static int
query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t length)
{
	(void)context;
	return soft_port_query(port, attr, length);
}

static int
query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
    struct ibv_device_attr_ex *out, size_t size)
{
	struct ibv_device_attr_ex attr = { .phys_port_cnt_ex = 1 };

	(void)context, (void)input;
	soft_device_query(&attr.orig_attr);
	memcpy(out, &attr, size < sizeof attr ? size : sizeof attr);
	return 0;
}

static int
bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	(void)qp, (void)mw, (void)bind;
	return EOPNOTSUPP;
}

static int
dealloc_mw(struct ibv_mw *mw)
{
	(void)mw;
	return EOPNOTSUPP;
}

void
soft_context_fill(struct soft_context *ctx)
{
	struct ibv_context *context = &ctx->verbs.context;

	ctx->verbs.sz = sizeof ctx->verbs;
	ctx->verbs.query_port = query_port;
	ctx->verbs.query_device_ex = query_device_ex;
	context->abi_compat = __VERBS_ABI_IS_EXTENDED;
	context->cmd_fd = -1;
	context->num_comp_vectors = SOFT_COMP_VECTORS;
	context->ops.poll_cq = soft_cq_poll;
	context->ops.req_notify_cq = soft_cq_request;
	context->ops.post_send = soft_qp_post_send;
	context->ops.post_recv = soft_qp_post_recv;
	context->ops.post_srq_recv = soft_srq_post_recv;
	context->ops.bind_mw = bind_mw;
	context->ops.dealloc_mw = dealloc_mw;
}

static int
orphan_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	(void)cq, (void)n, (void)wc;
	return -EIO;
}

static int
orphan_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	(void)cq, (void)solicited_only;
	return EIO;
}

static int
orphan_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void)qp;
	*bad = wr;
	return EIO;
}

static int
orphan_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)qp;
	*bad = wr;
	return EIO;
}

static int
orphan_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)srq;
	*bad = wr;
	return EIO;
}

void
soft_context_disown(struct soft_context *ctx)
{
	struct ibv_context_ops *ops = &ctx->verbs.context.ops;

	ops->poll_cq = orphan_poll_cq;
	ops->req_notify_cq = orphan_req_notify_cq;
	ops->post_send = orphan_post_send;
	ops->post_recv = orphan_post_recv;
	ops->post_srq_recv = orphan_post_srq_recv;
}
