/* SPDX-License-Identifier: BSD-3-Clause */
#include "verbs.h"
#include "operations.h"
#include "unsupported.h"
#include "softverbs/cq/cq_ex.h"
#include "softverbs/cq/judge.h"
#include "softverbs/device/device.h"
#include "softverbs/qp/mw.h"
#include "softverbs/qp/post.h"
#include "softverbs/qp/qp_ex.h"

#include <string.h>

static int
verbs_query_port(
    struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t length)
{
	return soft_port_query(context, port, attr, length);
}

static int
verbs_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
    struct ibv_device_attr_ex *out, size_t size)
{
	struct ibv_device_attr_ex attr;

	if (input && input->comp_mask)
		return EINVAL;
	soft_device_query_ex(context, &attr);
	memcpy(out, &attr, size < sizeof attr ? size : sizeof attr);
	return 0;
}

/* The clock of the time stamps; they are nanoseconds without seconds. */
static int
verbs_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	(void)context;
	if (values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK)
		values->raw_clock = (struct timespec){ .tv_nsec = (long)soft_now() };
	values->comp_mask &= IBV_VALUES_MASK_RAW_CLOCK;
	return 0;
}

void
soft_verbs_init_context(struct soft_context *ctx)
{
	struct ibv_context *context = &ctx->verbs.context;

	ctx->verbs.sz = sizeof ctx->verbs;
	ctx->verbs.query_port = verbs_query_port;
	ctx->verbs.query_device_ex = verbs_query_device_ex;
	ctx->verbs.query_rt_values = verbs_query_rt_values;
	ctx->verbs.alloc_td = soft_td_create;
	ctx->verbs.dealloc_td = soft_td_free;
	ctx->verbs.alloc_parent_domain = soft_pd_create_parent;
	ctx->verbs.create_cq_ex = soft_cq_ex_create;
	ctx->verbs.modify_cq = soft_cq_modify;
	ctx->verbs.create_qp_ex = soft_qp_ex_create;
	soft_unsupported_init(&ctx->verbs);
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
	if (soft_judge)
		soft_judge->context(ctx);
	soft_operations_of_context(ctx);
}
