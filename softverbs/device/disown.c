/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of contexts that a forked child inherits from its parent: they return errors. */
#include "context.h"

static int
disown_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	(void)cq, (void)n, (void)wc;
	return -EIO;
}

static int
disown_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	(void)cq, (void)solicited_only;
	return EIO;
}

static int
disown_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void)qp;
	*bad = wr;
	return EIO;
}

static int
disown_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)qp;
	*bad = wr;
	return EIO;
}

static int
disown_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)srq;
	*bad = wr;
	return EIO;
}

static int
disown_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	(void)qp, (void)mw, (void)bind;
	return EIO;
}

void
soft_context_disown(struct soft_context *ctx)
{
	struct ibv_context_ops *ops = &ctx->verbs.context.ops;

	ops->poll_cq = disown_poll_cq;
	ops->req_notify_cq = disown_req_notify_cq;
	ops->post_send = disown_post_send;
	ops->post_recv = disown_post_recv;
	ops->bind_mw = disown_bind_mw;
	ops->post_srq_recv = disown_post_srq_recv;
}
