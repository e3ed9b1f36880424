/* SPDX-License-Identifier: BSD-3-Clause */
/* Ids that work synchronously and come with their queue pair */
#include "softverbs/device/cancel.h"
#include "softverbs/cm/get_event.h"
#include "softverbs/device/unserved.h"

#include <rdma/rdma_verbs.h>
#include <stdlib.h>
#include <string.h>

#define RESOLVE_MS 2000 /* the time that rdma_create_ep() gives each resolution */

/* ---- making one: each step is false with errno if it fails ---- */

/* What a request of the listener gets: see rdma_get_request(). */
static bool
endpoint_listen_at(struct rdma_cm_id *public, const struct rdma_addrinfo *res, struct ibv_pd *pd,
    const struct ibv_qp_init_attr *init)
{
	struct soft_id *id = soft_id_of(public);

	if (soft_rdma_bind_addr(public, res->ai_src_addr))
		return false;
	if (pd)
	public->pd = pd;
	if (!init)
		return true;
	id->endpoint = malloc(sizeof *init);
	if (!id->endpoint)
		return !soft_cm_result(ENOMEM);
	*id->endpoint = *init;
	id->endpoint->qp_type = (enum ibv_qp_type)res->ai_qp_type;
	return true;
}

static bool
endpoint_resolve_route(struct rdma_cm_id *public, const struct rdma_addrinfo *res)
{
	SOFT_UNCANCELLED;

	if (!res->ai_route_len)
		return !soft_rdma_resolve_route(public, RESOLVE_MS);
	return !soft_rdma_set_option(public, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, res->ai_route,
		   (size_t)res->ai_route_len) &&
	       !soft_event_complete(soft_id_of(public), &uncancelled_);
}

/* The data are those of rdma_connect(), before what its caller gives. */
static bool
endpoint_keep_data(struct soft_id *id, const struct rdma_addrinfo *res)
{
	if (!res->ai_connect_len)
		return true;
	id->connect = malloc(res->ai_connect_len);
	if (!id->connect)
		return !soft_cm_result(ENOMEM);
	memcpy(id->connect, res->ai_connect, res->ai_connect_len);
	id->connect_length = res->ai_connect_len;
	return true;
}

static bool
endpoint_set_up(struct rdma_cm_id *public, const struct rdma_addrinfo *res, struct ibv_pd *pd,
    struct ibv_qp_init_attr *init)
{
	if (res->ai_flags & RAI_PASSIVE)
		return endpoint_listen_at(public, res, pd, init);
	if (soft_rdma_resolve_addr(public, res->ai_src_addr, res->ai_dst_addr, RESOLVE_MS) ||
	    !endpoint_resolve_route(public, res) || !endpoint_keep_data(soft_id_of(public), res))
		return false;
	if (!init)
		return true;
	init->qp_type = (enum ibv_qp_type)res->ai_qp_type; /* callers leave it open */
	return !soft_rdma_create_qp(public, pd, init);
}

/* The port space and the type have to fit: only RDMA_PS_IB has others than one. */
static bool
endpoint_check_type(const struct rdma_addrinfo *res)
{
	const int type = res->ai_port_space == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;

	if (res->ai_qp_type == type)
		return true;
	if (res->ai_port_space != RDMA_PS_IB)
		return !soft_cm_result(EINVAL);
	SOFT_UNSERVED("rdma_create_ep of another type");
	return false;
}

int
soft_rdma_create_ep(struct rdma_cm_id **out, struct rdma_addrinfo *res, struct ibv_pd *pd,
    struct ibv_qp_init_attr *init)
{
	SOFT_UNCANCELLED;
	struct rdma_cm_id *id;
	int saved;

	if (!endpoint_check_type(res) ||
	    soft_rdma_create_id(NULL, &id, NULL, (enum rdma_port_space)res->ai_port_space))
		return -1;
	if (endpoint_set_up(id, res, pd, init)) {
		*out = id;
		return 0;
	}
	saved = errno;
	soft_rdma_destroy_ep(id);
	return soft_cm_result(saved);
}

void
soft_rdma_destroy_ep(struct rdma_cm_id *id)
{
	SOFT_UNCANCELLED;

	soft_rdma_destroy_qp(id);
	soft_rdma_destroy_srq(id);
	soft_rdma_destroy_id(id);
}

int
soft_rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **out)
{
	SOFT_CANCEL_POINT;
	const struct ibv_qp_init_attr *endpoint = soft_id_of(listen)->endpoint;
	struct rdma_cm_event *event;
	struct ibv_qp_init_attr init;
	int r = 0;

	if (soft_id_refuses(soft_id_of(listen)))
		return -1;
	if (!soft_id_of(listen)->sync)
		return soft_cm_result(EINVAL);
	if (listen->event) {
		rdma_ack_cm_event(listen->event);
		listen->event = NULL;
	}
	if (soft_rdma_get_cm_event(listen->channel, &event))
		return -1;
	if (event->status || event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		r = event->status ? event->status : EINVAL;
	if (r) {
		rdma_ack_cm_event(event);
		return soft_cm_result(r);
	}
	/* The new id keeps the event, which has the private data. */
	event->id->event = event;
	if (endpoint) {
		init = *endpoint;
		r = soft_rdma_create_qp(event->id, listen->pd, &init);
	}
	if (r) {
		r = errno;
		soft_rdma_destroy_id(event->id);
		return soft_cm_result(r);
	}
	*out = event->id;
	return 0;
}

int
soft_rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	SOFT_UNCANCELLED;

	if (soft_id_refuses(soft_id_of(id)))
		return -1;
	if (!id->verbs || id->srq)
		return soft_cm_result(EINVAL);
	id->srq = soft_ibv_create_srq(pd ? pd : id->pd, init);
	if (!id->srq)
		return -1;
	id->pd = id->srq->pd;
	return 0;
}

int
soft_rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *init)
{
	SOFT_UNCANCELLED;

	if (init->comp_mask & ~(uint32_t)(IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE) ||
	    (init->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && init->srq_type != IBV_SRQT_BASIC))
		return soft_cm_result(EOPNOTSUPP);
	/* The extended structure begins with the members of the plain one. */
	return soft_rdma_create_srq(id, init->comp_mask & IBV_SRQ_INIT_ATTR_PD ? init->pd : NULL,
	    (struct ibv_srq_init_attr *)init);
}

void
soft_rdma_destroy_srq(struct rdma_cm_id *id)
{
	SOFT_UNCANCELLED;

	if (!id->srq)
		return;
	soft_ibv_destroy_srq(id->srq);
	id->srq = NULL;
}
