/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints and data transfer. */
#include "api.h"

#define DEFAULT DAT_COMPLETION_DEFAULT_FLAG

static DAT_RETURN
ep_create(struct dt_pair *p)
{
	DAT_EP_HANDLE ep;

	return dat_ep_create(p->a.ia, p->a.pz, p->a.recv, p->a.request, p->a.connect, NULL, &ep);
}

static DAT_RETURN
ep_query(struct dt_pair *p)
{
	DAT_EP_PARAM param;

	API_NEED(dat_ep_query(p->a.ep, DAT_EP_FIELD_ALL, &param));
	ck_assert_int_eq(param.ep_state, DAT_EP_STATE_CONNECTED);
	return DAT_SUCCESS;
}

static DAT_RETURN
ep_modify(struct dt_pair *p)
{
	DAT_EP_HANDLE ep = api_ep(&p->a);
	DAT_EP_PARAM param;

	API_NEED(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
	param.ep_attr.max_recv_dtos = 20;
	return dat_ep_modify(ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &param);
}

/* The request arrived at the other side, which refuses it. */
static DAT_RETURN
arrived(struct dt_pair *p)
{
	DAT_EVENT event;

	dt_expect(p->b.cr, DAT_CONNECTION_REQUEST_EVENT, &event);
	return dat_cr_reject(event.event_data.cr_arrival_event_data.cr_handle, 0, NULL);
}

static DAT_RETURN
connect_with(struct dt_pair *p, DAT_QOS qos)
{
	return dat_ep_connect(api_ep(&p->a), dt_address(p->b.ia), p->b.qual, DAT_TIMEOUT_INFINITE,
	    0, NULL, qos, DAT_CONNECT_DEFAULT_FLAG);
}

static DAT_RETURN
ep_connect(struct dt_pair *p)
{
	API_NEED(connect_with(p, DAT_QOS_BEST_EFFORT));
	return arrived(p);
}

static DAT_RETURN
ep_connect_premium(struct dt_pair *p)
{
	return connect_with(p, DAT_QOS_PREMIUM);
}

static DAT_RETURN
ep_dup_connect(struct dt_pair *p)
{
	API_NEED(dat_ep_dup_connect(
	    api_ep(&p->a), p->a.ep, DAT_TIMEOUT_INFINITE, 0, NULL, DAT_QOS_BEST_EFFORT));
	return arrived(p);
}

static DAT_RETURN
ep_common_connect(struct dt_pair *p)
{
	struct sockaddr_storage address;
	DAT_IA_ADDRESS_PTR of_b = dt_address(p->b.ia);

	/* The port is at the same place in an IPv4 and an IPv6 address. */
	memcpy(&address, of_b,
	    of_b->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
	((struct sockaddr_in *)&address)->sin_port = htons((uint16_t)p->b.qual);
	API_NEED(dat_ep_common_connect(
	    api_ep(&p->a), (DAT_IA_ADDRESS_PTR)&address, DAT_TIMEOUT_INFINITE, 0, NULL));
	return arrived(p);
}

static DAT_RETURN
ep_disconnect(struct dt_pair *p)
{
	API_NEED(dat_ep_disconnect(p->a.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(&p->a);
	dt_expect_disconnected(&p->b);
	return DAT_SUCCESS;
}

static DAT_RETURN
ep_reset(struct dt_pair *p)
{
	API_NEED(ep_disconnect(p));
	API_NEED(dat_ep_reset(p->a.ep));
	ck_assert_int_eq(dt_state(p->a.ep), DAT_EP_STATE_UNCONNECTED);
	return DAT_SUCCESS;
}

static DAT_RETURN
ep_free(struct dt_pair *p)
{
	return dat_ep_free(p->a.ep);
}

static DAT_RETURN
ep_get_status(struct dt_pair *p)
{
	DAT_EP_STATE state;

	return dat_ep_get_status(p->a.ep, &state, NULL, NULL);
}

static DAT_RETURN
ep_recv_query(struct dt_pair *p)
{
	DAT_COUNT allocated, span;

	return dat_ep_recv_query(p->a.ep, &allocated, &span);
}

static DAT_RETURN
ep_recv_query_shared(struct dt_pair *p)
{
	DAT_SRQ_ATTR attr = { 4, 1, 0 };
	DAT_COUNT allocated, span;
	DAT_SRQ_HANDLE srq;
	DAT_EP_HANDLE ep;

	API_NEED(dat_srq_create(p->a.ia, p->a.pz, &attr, &srq));
	API_NEED(dat_ep_create_with_srq(
	    p->a.ia, p->a.pz, p->a.recv, p->a.request, p->a.connect, srq, NULL, &ep));
	return dat_ep_recv_query(ep, &allocated, &span);
}

static DAT_RETURN
ep_set_watermark(struct dt_pair *p)
{
	return dat_ep_set_watermark(p->a.ep, DAT_WATERMARK_INFINITE, DAT_WATERMARK_INFINITE);
}

static DAT_RETURN
ep_set_watermark_limit(struct dt_pair *p)
{
	return dat_ep_set_watermark(p->a.ep, 4, DAT_WATERMARK_INFINITE);
}

/* ---- data ---- */

static DAT_RETURN
received(struct dt_pair *p)
{
	DAT_EVENT event;

	dt_expect_dto(p->a.request, p->a.ep, 1, DAT_DTO_SUCCESS, &event);
	dt_expect_dto(p->b.recv, p->b.ep, 2, DAT_DTO_SUCCESS, &event);
	ck_assert_str_eq(p->b.buffer + 64, "sent");
	return DAT_SUCCESS;
}

static DAT_RETURN
ep_post_recv(struct dt_pair *p)
{
	return dt_try_recv(&p->b, 64, 64, 2);
}

static DAT_RETURN
ep_post_send(struct dt_pair *p)
{
	strcpy(p->a.buffer, "sent");
	API_NEED(ep_post_recv(p));
	API_NEED(dt_try_send(&p->a, 0, 5, 1, DEFAULT));
	return received(p);
}

static DAT_RETURN
ep_post_rdma_write(struct dt_pair *p)
{
	DAT_LMR_TRIPLET local = dt_local(&p->a, 0, 8);
	DAT_RMR_TRIPLET remote = dt_remote(&p->b, 0, 8);
	DAT_EVENT event;

	strcpy(p->a.buffer, "written");
	API_NEED(dat_ep_post_rdma_write(p->a.ep, 1, &local, dt_cookie(1), &remote, DEFAULT));
	dt_expect_dto(p->a.request, p->a.ep, 1, DAT_DTO_SUCCESS, &event);
	ck_assert_str_eq(p->b.buffer, "written");
	return DAT_SUCCESS;
}

static DAT_RETURN
ep_post_rdma_read(struct dt_pair *p)
{
	DAT_LMR_TRIPLET local = dt_local(&p->a, 0, 8);
	DAT_RMR_TRIPLET remote = dt_remote(&p->b, 0, 8);
	DAT_EVENT event;

	strcpy(p->b.buffer, "readout");
	API_NEED(dat_ep_post_rdma_read(p->a.ep, 1, &local, dt_cookie(1), &remote, DEFAULT));
	dt_expect_dto(p->a.request, p->a.ep, 1, DAT_DTO_SUCCESS, &event);
	ck_assert_str_eq(p->a.buffer, "readout");
	return DAT_SUCCESS;
}

/* A region of a side, for its endpoint, bound to the first 64 bytes of its buffer. */
static DAT_RETURN
bind_region(struct dt_side *side, DAT_RMR_CONTEXT *context)
{
	DAT_LMR_TRIPLET range = dt_local(side, 0, 64);
	DAT_RMR_HANDLE rmr;
	DAT_EVENT event;

	API_NEED(dat_rmr_create_for_ep(side->pz, &rmr));
	API_NEED(dat_rmr_bind(rmr, side->lmr, &range,
	    (DAT_MEM_PRIV_FLAGS)(DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG),
	    DAT_VA_TYPE_VA, side->ep, dt_cookie(3), DEFAULT, context));
	dt_expect(side->request, DAT_RMR_BIND_COMPLETION_EVENT, &event);
	ck_assert_int_eq(event.event_data.rmr_completion_event_data.status, DAT_DTO_SUCCESS);
	return DAT_SUCCESS;
}

static DAT_RETURN
ep_post_send_with_invalidate(struct dt_pair *p)
{
	DAT_LMR_TRIPLET local = dt_local(&p->a, 0, 5);
	DAT_RMR_CONTEXT context;

	strcpy(p->a.buffer, "sent");
	API_NEED(bind_region(&p->b, &context));
	API_NEED(ep_post_recv(p));
	API_NEED(dat_ep_post_send_with_invalidate(
	    p->a.ep, 1, &local, dt_cookie(1), DEFAULT, DAT_TRUE, context));
	return received(p);
}

static DAT_RETURN
ep_post_rdma_read_to_rmr(struct dt_pair *p)
{
	DAT_RMR_TRIPLET local = dt_remote(&p->a, 0, 8), remote = dt_remote(&p->b, 0, 8);
	DAT_EVENT event;

	strcpy(p->b.buffer, "readout");
	API_NEED(bind_region(&p->a, &local.rmr_context));
	API_NEED(dat_ep_post_rdma_read_to_rmr(p->a.ep, &local, dt_cookie(1), &remote, DEFAULT));
	dt_expect_dto(p->a.request, p->a.ep, 1, DAT_DTO_SUCCESS, &event);
	ck_assert_str_eq(p->a.buffer, "readout");
	return DAT_SUCCESS;
}

const struct api_call api_ep_calls[] = {
	{ "ep_create", ep_create },
	{ "ep_query", ep_query },
	{ "ep_modify", ep_modify },
	{ "ep_connect", ep_connect },
	{ "ep_connect:another quality of service", ep_connect_premium },
	{ "ep_dup_connect", ep_dup_connect },
	{ "ep_common_connect", ep_common_connect },
	{ "ep_disconnect", ep_disconnect },
	{ "ep_reset", ep_reset },
	{ "ep_free", ep_free },
	{ "ep_get_status", ep_get_status },
	{ "ep_recv_query", ep_recv_query },
	{ "ep_recv_query:of an endpoint with a shared queue", ep_recv_query_shared },
	{ "ep_set_watermark", ep_set_watermark },
	{ "ep_set_watermark:with a limit", ep_set_watermark_limit },
	{ "ep_post_recv", ep_post_recv },
	{ "ep_post_send", ep_post_send },
	{ "ep_post_rdma_write", ep_post_rdma_write },
	{ "ep_post_rdma_read", ep_post_rdma_read },
	{ "ep_post_send_with_invalidate", ep_post_send_with_invalidate },
	{ "ep_post_rdma_read_to_rmr", ep_post_rdma_read_to_rmr },
	{ NULL, NULL },
};
