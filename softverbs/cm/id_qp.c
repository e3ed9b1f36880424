/* SPDX-License-Identifier: BSD-3-Clause */
#include "id_qp.h"
#include "lookup.h"
#include "path.h"
#include "softverbs/device/cancel.h"
#include "softverbs/device/changes.h"
#include "softverbs/qp/qp_ex.h"

#include <string.h>

/*
 * The members of the plain structure with which the extended one begins; what pads one is a member
 * of the other.
 */
#define PLAIN_SIZE offsetof(struct ibv_qp_init_attr_ex, comp_mask)

static void
id_qp_init_attr(const struct soft_id *id, struct ibv_qp_attr *attr, int *mask)
{
	attr->pkey_index = 0;
	attr->port_num = id->port->port;
	attr->qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	if (id->responder_resources)
		attr->qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	*mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
}

static void
id_qp_rtr_attr(const struct soft_id *id, struct ibv_qp_attr *attr, int *mask)
{
	attr->ah_attr = soft_path_address(id);
	attr->path_mtu = soft_path_mtu(id);
	attr->dest_qp_num = id->peer_qpn;
	attr->rq_psn = id->peer_psn;
	attr->max_dest_rd_atomic = id->responder_resources;
	attr->min_rnr_timer = 0;
	*mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
}

static void
id_qp_rts_attr(const struct soft_id *id, struct ibv_qp_attr *attr, int *mask)
{
	attr->timeout = id->ack_timeout;
	attr->retry_cnt = id->retry_count;
	attr->rnr_retry = id->rnr_retry_count;
	attr->sq_psn = id->psn;
	attr->max_rd_atomic = id->initiator_depth;
	*mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
}

/* A queue pair for datagrams has a key instead of a peer. */
static int
id_qp_datagram_attr(const struct soft_id *id, struct ibv_qp_attr *attr, int *mask)
{
	*mask = IBV_QP_STATE;
	switch (attr->qp_state) {
	case IBV_QPS_INIT:
		attr->pkey_index = 0;
		attr->port_num = id->port->port;
		attr->qkey = RDMA_UDP_QKEY;
		*mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
		return 0;
	case IBV_QPS_RTR:
		return 0;
	case IBV_QPS_RTS:
		attr->sq_psn = id->psn;
		*mask |= IBV_QP_SQ_PSN;
		return 0;
	default:
		return EINVAL;
	}
}

static int
id_qp_modify(struct soft_id *id, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	if (soft_rdma_init_qp_attr(&id->public, &attr, &mask))
		return errno;
	return soft_ibv_modify_qp(id->public.qp, &attr, mask);
}

static void
id_qp_destroy_cqs(struct rdma_cm_id *public)
{
	if (public->send_cq)
		soft_ibv_destroy_cq(public->send_cq);
	if (public->send_cq_channel)
		soft_ibv_destroy_comp_channel(public->send_cq_channel);
	if (public->recv_cq)
		soft_ibv_destroy_cq(public->recv_cq);
	if (public->recv_cq_channel)
		soft_ibv_destroy_comp_channel(public->recv_cq_channel);
	public->send_cq = public->recv_cq = NULL;
	public->send_cq_channel = public->recv_cq_channel = NULL;
}

static int
id_qp_create_cq(struct rdma_cm_id *public, uint32_t entries, struct ibv_comp_channel **channel,
    struct ibv_cq **cq)
{
	*channel = soft_ibv_create_comp_channel(public->verbs);
	if (!*channel)
		return -1;
	*cq = soft_ibv_create_cq(public->verbs, entries ? (int)entries : 1, public, *channel, 0);
	return *cq ? 0 : -1;
}

/* How many receives may complete: those of the queue pair, or of its shared queue. */
static uint32_t
id_qp_receives(const struct ibv_qp_init_attr *init)
{
	struct ibv_srq_attr attr = { .max_wr = 0 };

	if (init->srq && !init->cap.max_recv_wr)
		(void)soft_ibv_query_srq(init->srq, &attr);
	return attr.max_wr ? attr.max_wr : init->cap.max_recv_wr;
}

/* rdma_get_send_comp() and its like expect each queue on a channel of its own. */
static int
id_qp_create_cqs(struct rdma_cm_id *public, struct ibv_qp_init_attr *init)
{
	if (!init->send_cq) {
		if (id_qp_create_cq(
			public, init->cap.max_send_wr, &public->send_cq_channel, &public->send_cq))
			goto destroy;
		init->send_cq = public->send_cq;
	}
	if (!init->recv_cq) {
		if (id_qp_create_cq(
			public, id_qp_receives(init), &public->recv_cq_channel, &public->recv_cq))
			goto destroy;
		init->recv_cq = public->recv_cq;
	}
	return 0;

destroy:
	id_qp_destroy_cqs(public);
	return -1;
}

int
soft_rdma_init_qp_attr(struct rdma_cm_id *public, struct ibv_qp_attr *attr, int *mask)
{
	SOFT_UNCANCELLED;
	const struct soft_id *id = soft_id_of(public);

	if (soft_id_refuses(id))
		return -1;
	if (!id->attached)
		return soft_cm_result(EINVAL);
	if (soft_id_is_datagram(id))
		return soft_cm_result(id_qp_datagram_attr(id, attr, mask));
	switch (attr->qp_state) {
	case IBV_QPS_INIT:
		id_qp_init_attr(id, attr, mask);
		return 0;
	case IBV_QPS_RTR:
		if (!id->peer_qpn)
			return soft_cm_result(EINVAL);
		id_qp_rtr_attr(id, attr, mask);
		return 0;
	case IBV_QPS_RTS:
		id_qp_rts_attr(id, attr, mask);
		return 0;
	default:
		return soft_cm_result(EINVAL);
	}
}

int
soft_cm_qp_ready(struct soft_id *id)
{
	int r;

	/* once more, because the access flags are known only now */
	r = id_qp_modify(id, IBV_QPS_INIT);
	if (!r)
		r = id_qp_modify(id, IBV_QPS_RTR);
	if (!r)
		r = id_qp_modify(id, IBV_QPS_RTS);
	return r;
}

void
soft_cm_qp_error(struct soft_id *id)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (id->public.qp)
		(void)soft_ibv_modify_qp(id->public.qp, &attr, IBV_QP_STATE);
}

static void
id_qp_show(struct soft_id *id, uint32_t qpn) SOFT_NO_CM_LOCK
{
	soft_cm_lock();
	id->qpn = qpn;
	soft_cm_unlock();
}

/* The id's own domain, queues and shared queue stand for those that the caller leaves out. */
int
soft_rdma_create_qp_ex(struct rdma_cm_id *public, struct ibv_qp_init_attr_ex *given)
{
	SOFT_UNCANCELLED;
	struct soft_id *id = soft_id_of(public);
	struct ibv_qp_init_attr_ex init = *given;
	int saved;

	if (soft_id_refuses(id))
		return -1;
	if (!public->verbs || public->qp)
		return soft_cm_result(EINVAL);
	if (!(init.comp_mask & IBV_QP_INIT_ATTR_PD) || !init.pd)
		init.pd = public->pd;
	init.comp_mask |= IBV_QP_INIT_ATTR_PD;
	if (init.pd->context != public->verbs ||
	    (public->qp_type == IBV_QPT_UD) != (init.qp_type == IBV_QPT_UD))
		return soft_cm_result(EINVAL);
	if (!init.srq)
		init.srq = public->srq;
	if (!init.send_cq)
		init.send_cq = public->send_cq;
	if (!init.recv_cq)
		init.recv_cq = public->recv_cq;
	/* The extended structure begins with the members of the plain one. */
	if (id_qp_create_cqs(public, (struct ibv_qp_init_attr *)&init))
		return -1;
	public->qp = soft_qp_ex_create(public->verbs, &init);
	if (!public->qp)
		goto destroy;
	/* There is no peer that a queue pair for datagrams could wait for. */
	saved = soft_id_is_datagram(id) ? soft_cm_qp_ready(id) : id_qp_modify(id, IBV_QPS_INIT);
	if (saved) {
		soft_ibv_destroy_qp(public->qp);
		public->qp = NULL;
		errno = saved;
		goto destroy;
	}
	public->pd = init.pd;
	id_qp_show(id, public->qp->qp_num);
	*given = init;
	return 0;

destroy:
	saved = errno;
	id_qp_destroy_cqs(public);
	return soft_cm_result(saved);
}

int
soft_rdma_create_qp(struct rdma_cm_id *public, struct ibv_pd *pd, struct ibv_qp_init_attr *given)
{
	SOFT_UNCANCELLED;
	struct ibv_qp_init_attr_ex init = { .comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd };
	int r;

	memcpy(&init, given, PLAIN_SIZE);
	r = soft_rdma_create_qp_ex(public, &init);
	if (!r)
		memcpy(given, &init, PLAIN_SIZE);
	return r;
}

void
soft_rdma_destroy_qp(struct rdma_cm_id *public)
{
	SOFT_UNCANCELLED;

	if (!public->qp)
		return;
	id_qp_show(soft_id_of(public), 0);
	soft_ibv_destroy_qp(public->qp);
	public->qp = NULL;
	id_qp_destroy_cqs(public);
}
