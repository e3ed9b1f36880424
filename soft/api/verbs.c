/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An operation that is left out is not supported: the wrappers in <infiniband/verbs.h> test for it.
 * They do not test for the data path, so that is all here.
 */
#include "verbs.h"
#include "soft/cq/cq.h"
#include "soft/device/device.h"
#include "soft/qp/mw.h"
#include "soft/qp/post.h"

#include <string.h>

static int
verbs_query_port(
    struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t length)
{
	(void)context;
	return soft_port_query(port, attr, length);
}

static int
verbs_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
    struct ibv_device_attr_ex *out, size_t size)
{
	struct ibv_device_attr_ex attr = { .phys_port_cnt_ex = 1 };

	(void)context, (void)input;
	soft_device_query(&attr.orig_attr);
	memcpy(out, &attr, size < sizeof attr ? size : sizeof attr);
	return 0;
}

void
soft_verbs_init_context(struct soft_context *ctx)
{
	struct ibv_context *context = &ctx->verbs.context;

	ctx->verbs.sz = sizeof ctx->verbs;
	ctx->verbs.query_port = verbs_query_port;
	ctx->verbs.query_device_ex = verbs_query_device_ex;
	context->abi_compat = __VERBS_ABI_IS_EXTENDED;
	context->cmd_fd = -1;
	context->num_comp_vectors = SOFT_COMP_VECTORS;
	context->ops.poll_cq = soft_cq_poll;
	context->ops.req_notify_cq = soft_cq_request;
	context->ops.post_send = soft_qp_post_send;
	context->ops.post_recv = soft_qp_post_recv;
	context->ops.post_srq_recv = soft_srq_post_recv;
	context->ops.alloc_mw = soft_mw_create;
	context->ops.bind_mw = soft_qp_bind_mw;
	context->ops.dealloc_mw = soft_mw_free;
}
