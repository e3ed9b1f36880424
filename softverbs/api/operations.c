/* SPDX-License-Identifier: BSD-3-Clause */
#include "operations.h"
#include "softverbs/cq/judge.h"
#include "softverbs/fault/seam.h"
#include "softverbs/qp/srq.h"

#define MEMBER_OF(type, member) __typeof__(((type *)NULL)->member)

/*
 * What stands in the place of the operation that has this name in calls.h.  Those of the device, or
 * of the checker, are the same for all contexts.
 */
#define OPERATION( \
    seam, type, name, structure, member, parameters, arguments, context, failed, after) \
	static MEMBER_OF(structure, member) _Atomic real_##name; \
	seam(static, type, operations_##name, name, real_##name, parameters, arguments, context, \
	    failed, SEAM_NOTHING, after)
#define OF_CONTEXT(type, name, member, parameters, arguments, context, failed) \
	OPERATION(SEAM_NUMBER, type, name, struct verbs_context, member, parameters, arguments, \
	    context, failed, SEAM_NOTHING)
#define ENDS(name, member, parameters, arguments, context, after) \
	OPERATION(SEAM_NUMBER, int, name, struct verbs_context, member, parameters, arguments, \
	    context, SEAM_NOTHING, after)
#define MAKES(type, name, member, parameters, arguments, context, after) \
	OPERATION(SEAM_POINTER, type, name, struct verbs_context, member, parameters, arguments, \
	    context, SEAM_NOTHING, after)

#define REPLACE(object, name, member) \
	do { \
		real_##name = (object)->member; \
		(object)->member = operations_##name; \
	} while (0)

/* clang-format off */

/* ---- the data path ---- */

OF_CONTEXT(int, ibv_poll_cq, context.ops.poll_cq, (struct ibv_cq *cq, int n, struct ibv_wc *wc), (cq, n, wc), cq->context,
    soft_judge_failed(soft_cq_of(cq), false))
OF_CONTEXT(int, ibv_req_notify_cq, context.ops.req_notify_cq, (struct ibv_cq *cq, int solicited_only), (cq, solicited_only),
    cq->context, soft_judge_failed(soft_cq_of(cq), true))
/* None of the list was posted. */
OF_CONTEXT(int, ibv_post_send, context.ops.post_send, (struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad),
    (qp, wr, bad), qp->context, *bad = wr)
OF_CONTEXT(int, ibv_post_recv, context.ops.post_recv, (struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad),
    (qp, wr, bad), qp->context, *bad = wr; soft_qp_of(qp)->refused = true)
OF_CONTEXT(int, ibv_post_srq_recv, context.ops.post_srq_recv, (struct ibv_srq *srq, struct ibv_recv_wr *wr,
    struct ibv_recv_wr **bad), (srq, wr, bad), srq->context,
    *bad = wr; soft_srq_of(srq)->refused = true)
OF_CONTEXT(int, ibv_bind_mw, context.ops.bind_mw, (struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind),
    (qp, mw, bind), qp->context, SEAM_NOTHING)

/* ---- extended polling and posting ---- */

OPERATION(SEAM_NUMBER, int, ibv_start_poll, struct ibv_cq_ex, start_poll, (struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr),
    (cq, attr), cq->context, soft_judge_failed(soft_cq_of(ibv_cq_ex_to_cq(cq)), false), SEAM_NOTHING)
OPERATION(SEAM_NUMBER, int, ibv_next_poll, struct ibv_cq_ex, next_poll, (struct ibv_cq_ex *cq), (cq), cq->context,
    SEAM_NOTHING, SEAM_NOTHING)
OPERATION(SEAM_NUMBER, int, ibv_wr_complete, struct ibv_qp_ex, wr_complete, (struct ibv_qp_ex *qp), (qp), qp->qp_base.context,
    qp->wr_abort(qp), SEAM_NOTHING)

static void
operations_of_cq(struct ibv_cq_ex *cq)
{
	REPLACE(cq, ibv_start_poll, start_poll);
	REPLACE(cq, ibv_next_poll, next_poll);
}

void
soft_operations_of_qp(struct ibv_qp *qp)
{
	struct ibv_qp_ex *extended = ibv_qp_to_qp_ex(qp);

	if (extended && extended->wr_complete != operations_ibv_wr_complete)
		REPLACE(extended, ibv_wr_complete, wr_complete);
}

/* ---- the others ---- */

OF_CONTEXT(int, ibv_query_port, query_port, (struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
    size_t size), (context, port, attr, size), context, SEAM_NOTHING)
OF_CONTEXT(int, ibv_query_device_ex, query_device_ex, (struct ibv_context *context,
    const struct ibv_query_device_ex_input *input, struct ibv_device_attr_ex *attr, size_t size),
    (context, input, attr, size), context, SEAM_NOTHING)
OF_CONTEXT(int, ibv_query_rt_values_ex, query_rt_values, (struct ibv_context *context, struct ibv_values_ex *values),
    (context, values), context, SEAM_NOTHING)
OF_CONTEXT(int, ibv_modify_cq, modify_cq, (struct ibv_cq *cq, struct ibv_modify_cq_attr *attr), (cq, attr), cq->context,
    SEAM_NOTHING)
MAKES(struct ibv_mw *, ibv_alloc_mw, context.ops.alloc_mw, (struct ibv_pd *pd, enum ibv_mw_type type), (pd, type), pd->context,
    SEAM_MADE(MW))
ENDS(ibv_dealloc_mw, context.ops.dealloc_mw, (struct ibv_mw *mw), (mw), mw->context, SEAM_ENDED(MW))
MAKES(struct ibv_td *, ibv_alloc_td, alloc_td, (struct ibv_context *context, struct ibv_td_init_attr *init), (context, init),
    context, SEAM_MADE(TD))
ENDS(ibv_dealloc_td, dealloc_td, (struct ibv_td *td), (td), td->context, SEAM_ENDED(TD))
MAKES(struct ibv_pd *, ibv_alloc_parent_domain, alloc_parent_domain, (struct ibv_context *context,
    struct ibv_parent_domain_init_attr *attr), (context, attr), context, SEAM_MADE(PD))
MAKES(struct ibv_cq_ex *, ibv_create_cq_ex, create_cq_ex, (struct ibv_context *context, struct ibv_cq_init_attr_ex *init),
    (context, init), context, SEAM_MADE(CQ); operations_of_cq(result_))
MAKES(struct ibv_qp *, ibv_create_qp_ex, create_qp_ex, (struct ibv_context *context, struct ibv_qp_init_attr_ex *init),
    (context, init), context, SEAM_MADE(QP); soft_operations_of_qp(result_))

/* clang-format on */

void
soft_operations_of_context(struct soft_context *ctx)
{
	struct verbs_context *context = &ctx->verbs;

	if (!soft_faults)
		return;
	REPLACE(context, ibv_poll_cq, context.ops.poll_cq);
	REPLACE(context, ibv_req_notify_cq, context.ops.req_notify_cq);
	REPLACE(context, ibv_post_send, context.ops.post_send);
	REPLACE(context, ibv_post_recv, context.ops.post_recv);
	REPLACE(context, ibv_post_srq_recv, context.ops.post_srq_recv);
	REPLACE(context, ibv_bind_mw, context.ops.bind_mw);
	REPLACE(context, ibv_alloc_mw, context.ops.alloc_mw);
	REPLACE(context, ibv_dealloc_mw, context.ops.dealloc_mw);
	REPLACE(context, ibv_query_port, query_port);
	REPLACE(context, ibv_query_device_ex, query_device_ex);
	REPLACE(context, ibv_query_rt_values_ex, query_rt_values);
	REPLACE(context, ibv_modify_cq, modify_cq);
	REPLACE(context, ibv_alloc_td, alloc_td);
	REPLACE(context, ibv_dealloc_td, dealloc_td);
	REPLACE(context, ibv_alloc_parent_domain, alloc_parent_domain);
	REPLACE(context, ibv_create_cq_ex, create_cq_ex);
	REPLACE(context, ibv_create_qp_ex, create_qp_ex);
}
