/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue pair under an endpoint */
#include "dapl/ep/ep.h"

#include "dapl/trace/shortage.h"

static uint32_t
ep_qp_at_least_one(DAT_COUNT n)
{
	return n > 0 ? (uint32_t)n : 1;
}

static uint32_t
ep_qp_request_iov(const DAT_EP_ATTR *attr)
{
	DAT_COUNT n = attr->max_request_iov;

	if (attr->max_rdma_read_iov > n)
		n = attr->max_rdma_read_iov;
	if (attr->max_rdma_write_iov > n)
		n = attr->max_rdma_write_iov;
	return ep_qp_at_least_one(n);
}

/* There is no other endpoint to wait for: the queue pair can send and receive at once. */
static int
ep_qp_initialise_datagrams(const struct dapl_ep *ep, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = dapl_ia_of(&ep->obj)->id->port_num,
		.qkey = RDMA_UDP_QKEY,
	};
	int r;

	r = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	attr.qp_state = IBV_QPS_RTR;
	if (!r)
		r = ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_RTS;
	if (!r)
		r = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
	return dapl_shortage_of_result("ibv_modify_qp", r);
}

/*
 * Receives may be posted from the first moment, which a queue pair allows from INIT on.  The
 * connection manager moves the queue pair to INIT once more later, with the attributes of the
 * connection.
 */
static int
ep_qp_initialise(const struct dapl_ep *ep, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.qp_access_flags =
		    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
		.pkey_index = 0,
		.port_num = dapl_ia_of(&ep->obj)->id->port_num,
	};
	int mask = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS;

	if (qp->qp_type == IBV_QPT_UD)
		return ep_qp_initialise_datagrams(ep, qp);
	if (dapl_ia_of(&ep->obj)->device.atomic_cap != IBV_ATOMIC_NONE)
		attr.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;

	if (qp->context->device->transport_type != IBV_TRANSPORT_IWARP)
		mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	return dapl_shortage_of_result("ibv_modify_qp", ibv_modify_qp(qp, &attr, mask));
}

struct dapl_slab dapl_ep_qp_context_slab = DAPL_SLAB_INITIALIZER(struct dapl_ep_qp_context, NULL);

int
dapl_ep_qp_create(struct dapl_ep *ep, uint32_t generation, const struct dapl_ep_parts *parts,
    const DAT_EP_ATTR *attr, struct ibv_qp **out)
{
	struct dapl_ep_qp_context *context = dapl_slab_alloc(&dapl_ep_qp_context_slab);
	struct dapl_ia *ia = dapl_ia_of(&ep->obj);
	struct ibv_qp_init_attr init = {
		.qp_context = context,
		.send_cq = parts->request ? parts->request->cq : ia->idle_cq,
		.recv_cq = parts->recv ? parts->recv->cq : ia->idle_cq,
		.srq = parts->srq ? parts->srq->ibv : NULL,
		.cap = {
			.max_send_wr = ep_qp_at_least_one(
				attr->max_request_dtos + dapl_ep_parts_spare(parts, attr)),
			.max_recv_wr = parts->srq ? 0 : ep_qp_at_least_one(attr->max_recv_dtos),
			.max_send_sge = ep_qp_request_iov(attr),
			.max_recv_sge = parts->srq ? 0 : ep_qp_at_least_one(attr->max_recv_iov),
		},
		.qp_type = (int)attr->service_type == DAT_IB_SERVICE_TYPE_UD ? IBV_QPT_UD : IBV_QPT_RC,
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
		r = dapl_shortage_of_device("ibv_create_qp");
		dapl_slab_free(&dapl_ep_qp_context_slab, context);
		return r;
	}
	r = ep_qp_initialise(ep, qp);
	if (r) {
		dapl_ep_qp_free(qp);
		return r;
	}
	*out = qp;
	return 0;
}

void
dapl_ep_qp_free(struct ibv_qp *qp)
{
	struct dapl_ep_qp_context *context = qp->qp_context;

	/* If the queue pair was not destroyed it may still have events. */
	if (!ibv_destroy_qp(qp))
		dapl_slab_free(&dapl_ep_qp_context_slab, context);
}

int
dapl_ep_qp_attach_shared(struct dapl_ep *ep, uint32_t generation, const struct dapl_ep_parts *parts,
    const struct ibv_qp *qp)
{
	ep->member.generation = generation;
	return dapl_srq_attach(parts->srq, &ep->member, parts->recv,
	    ep->rings.merged ? &ep->rings.hold : NULL, qp->qp_num);
}

int
dapl_ep_qp_attach(struct dapl_ep *ep, uint32_t generation, const struct dapl_ep_parts *parts,
    const struct ibv_qp *qp)
{
	int r;

	if (!qp || !parts->srq)
		return 0;
	dapl_srq_lock_members(parts->srq);
	r = dapl_ep_qp_attach_shared(ep, generation, parts, qp);
	dapl_srq_unlock_members(parts->srq);
	return r;
}

static void
ep_qp_end(struct dapl_ep *ep, struct ibv_qp *qp) DAPL_NO_LIST_LOCK
{
	if (qp)
		dapl_ep_qp_free(qp);
	dapl_ep_purge_completions(ep);
	(void)loop_unready(&ep->breaker); /* no completion queues it any more */
}

void
dapl_ep_qp_end_shared(struct dapl_ep *ep, struct ibv_qp *qp)
{
	const struct evd_ref recv = dapl_evd_ref(ep->parts.recv);

	if (qp)
		dapl_ep_qp_free(qp);
	/*
	 * A completion that stays in the device queue would later be taken for another queue pair.
	 */
	dapl_evd_drain_or_lose(recv);
	ep_qp_end(ep, NULL);
	dapl_srq_detach(ep->parts.srq, &ep->member);
}

void
dapl_ep_qp_end(struct dapl_ep *ep, struct ibv_qp *qp)
{
	struct dapl_srq *srq = ep->parts.srq;

	if (srq) {
		dapl_srq_lock_members(srq);
		dapl_ep_qp_end_shared(ep, qp);
		dapl_srq_unlock_members(srq);
	} else {
		ep_qp_end(ep, qp);
	}
}

void
dapl_ep_qp_fail(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	(void)ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}
