/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue pair under an endpoint */
#include "dapl/ep/ep.h"

static uint32_t
at_least_one(DAT_COUNT n)
{
	return n > 0 ? (uint32_t)n : 1;
}

static uint32_t
request_iov(const DAT_EP_ATTR *attr)
{
	DAT_COUNT n = attr->max_request_iov;

	if (attr->max_rdma_read_iov > n)
		n = attr->max_rdma_read_iov;
	if (attr->max_rdma_write_iov > n)
		n = attr->max_rdma_write_iov;
	return at_least_one(n);
}

/*
 * Receives may be posted from the first moment, which a queue pair allows from INIT on.  The
 * connection manager sets the attributes of a connection later, when it goes through INIT once
 * more.
 */
static int
initialise(const struct ep *ep, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.qp_access_flags =
		    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
		.pkey_index = 0,
		.port_num = ia_of(&ep->obj)->id->port_num,
	};
	int mask = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS;

	if (qp->context->device->transport_type != IBV_TRANSPORT_IWARP)
		mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	return -ibv_modify_qp(qp, &attr, mask);
}

struct slab ep_qp_context_slab = SLAB_INITIALIZER(struct ep_qp_context, NULL);

int
ep_qp_create(struct ep *ep, uint32_t generation, const struct ep_parts *parts,
    const DAT_EP_ATTR *attr, struct ibv_qp **out)
{
	struct ep_qp_context *context = slab_alloc(&ep_qp_context_slab);
	struct ia *ia = ia_of(&ep->obj);
	struct ibv_qp_init_attr init = {
		.qp_context = context,
		.send_cq = parts->request ? parts->request->cq : ia->idle_cq,
		.recv_cq = parts->recv ? parts->recv->cq : ia->idle_cq,
		.cap = {
			.max_send_wr = at_least_one(attr->max_request_dtos),
			.max_recv_wr = at_least_one(attr->max_recv_dtos),
			.max_send_sge = request_iov(attr),
			.max_recv_sge = at_least_one(attr->max_recv_iov),
		},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 0,
	};
	struct ibv_qp *qp;
	int r;

	if (!context)
		return -ENOMEM;
	context->ep = ep;
	context->generation = generation;
	errno = 0;
	qp = ibv_create_qp(parts->pz->pd, &init);
	if (!qp) {
		r = errno ? -errno : -ENOMEM;
		slab_free(&ep_qp_context_slab, context);
		return r;
	}
	r = initialise(ep, qp);
	if (r) {
		ep_qp_destroy(qp);
		return r;
	}
	*out = qp;
	return 0;
}

void
ep_qp_destroy(struct ibv_qp *qp)
{
	struct ep_qp_context *context = qp->qp_context;

	/* A queue pair that stays may have events. */
	if (!ibv_destroy_qp(qp))
		slab_free(&ep_qp_context_slab, context);
}

void
ep_qp_fail(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	(void)ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}
