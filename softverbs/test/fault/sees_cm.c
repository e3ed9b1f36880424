/* SPDX-License-Identifier: BSD-3-Clause */
/* Ids: one that listens, and those that connect to it, in one process. */
#include "sees.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

static struct rdma_event_channel *channel;

/* Waits for an event, and returns its id. */
static struct rdma_cm_id *
cm_await(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	MUST(!rdma_get_cm_event(channel, &event));
	id = event->id;
	if (event->event != type)
		errno = -event->status;
	MUST(event->event == type);
	MUST(!rdma_ack_cm_event(event));
	return id;
}

static struct rdma_cm_id *
cm_id(void)
{
	struct rdma_cm_id *id;

	MUST(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	return id;
}

static struct ibv_qp_init_attr
cm_init(void)
{
	return (struct ibv_qp_init_attr){ .qp_type = IBV_QPT_RC,
		.cap = {
		    .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 } };
}

/* An id that can connect to the listener. */
static struct rdma_cm_id *
cm_client(struct rdma_cm_id *listener, bool with_qp)
{
	struct ibv_qp_init_attr init = cm_init();
	struct rdma_cm_id *id = cm_id();

	MUST(!rdma_resolve_addr(id, NULL, rdma_get_local_addr(listener), 1000));
	cm_await(RDMA_CM_EVENT_ADDR_RESOLVED);
	MUST(!rdma_resolve_route(id, 1000));
	cm_await(RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (with_qp)
		MUST(!rdma_create_qp(id, NULL, &init));
	return id;
}

static void
cm_end(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	MUST(!rdma_destroy_id(id));
}

static struct rdma_cm_id *
cm_listener(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct rdma_cm_id *id;

	any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CALL(rdma_create_id, rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	CALL(rdma_bind_addr, rdma_bind_addr(id, (struct sockaddr *)&any));
	CALL(rdma_listen, rdma_listen(id, 8));
	return id;
}

static void
cm_connection(struct rdma_cm_id *listener)
{
	/* The first one gets the completion queues that rdma_create_qp() makes. */
	struct ibv_qp_init_attr init = cm_init(), servers = cm_init();
	struct rdma_conn_param param = { .responder_resources = 1 };
	struct ibv_ece ece = { .vendor_id = 1 };
	struct rdma_cm_id *client = cm_id(), *server;
	uint8_t type = 0;

	CALL(rdma_set_option,
	    rdma_set_option(client, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &type, sizeof type));
	CALL(rdma_resolve_addr,
	    rdma_resolve_addr(client, NULL, rdma_get_local_addr(listener), 1000));
	cm_await(RDMA_CM_EVENT_ADDR_RESOLVED);
	CALL(rdma_resolve_route, rdma_resolve_route(client, 1000));
	cm_await(RDMA_CM_EVENT_ROUTE_RESOLVED);
	CALL(rdma_set_local_ece, rdma_set_local_ece(client, &ece));
	CALL(rdma_create_qp, rdma_create_qp(client, NULL, &init));
	CALL(rdma_connect, rdma_connect(client, &param));
	server = cm_await(RDMA_CM_EVENT_CONNECT_REQUEST);
	CALL(rdma_get_remote_ece, rdma_get_remote_ece(server, &ece));
	MUST(!rdma_create_qp(server, NULL, &servers));
	CALL(rdma_accept, rdma_accept(server, &param));
	cm_await(RDMA_CM_EVENT_ESTABLISHED);
	cm_await(RDMA_CM_EVENT_ESTABLISHED);
	CALL_UNTIL(rdma_notify, rdma_notify(server, IBV_EVENT_COMM_EST), errno == EISCONN);
	CALL(rdma_disconnect, rdma_disconnect(client));
	cm_await(RDMA_CM_EVENT_DISCONNECTED);
	cm_await(RDMA_CM_EVENT_DISCONNECTED);
	rdma_destroy_qp(client);
	CALL(rdma_destroy_id, rdma_destroy_id(client));
	cm_end(server);
}

static void
cm_rejections(struct rdma_cm_id *listener)
{
	struct rdma_conn_param param = { .responder_resources = 1 };
	struct rdma_cm_id *client = cm_client(listener, true), *server;

	MUST(!rdma_connect(client, &param));
	server = cm_await(RDMA_CM_EVENT_CONNECT_REQUEST);
	CALL(rdma_reject, rdma_reject(server, NULL, 0));
	cm_await(RDMA_CM_EVENT_REJECTED);
	cm_end(server);
	cm_end(client);
	client = cm_client(listener, true);
	MUST(!rdma_connect(client, &param));
	server = cm_await(RDMA_CM_EVENT_CONNECT_REQUEST);
	CALL(rdma_reject_ece, rdma_reject_ece(server, NULL, 0));
	cm_await(RDMA_CM_EVENT_REJECTED);
	cm_end(server);
	cm_end(client);
}

/* The client has a queue pair of its own, and so establishes the connection itself. */
static void
cm_own_queue_pair(struct rdma_cm_id *listener)
{
	struct ibv_qp_init_attr init = cm_init();
	struct rdma_conn_param param = { .qp_num = 1, .responder_resources = 1 };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	struct rdma_cm_id *client = cm_client(listener, false), *server;
	int mask;

	CALL(rdma_init_qp_attr, rdma_init_qp_attr(client, &attr, &mask));
	MUST(!rdma_connect(client, &param));
	server = cm_await(RDMA_CM_EVENT_CONNECT_REQUEST);
	MUST(!rdma_create_qp(server, NULL, &init));
	MUST(!rdma_accept(server, &param));
	cm_await(RDMA_CM_EVENT_CONNECT_RESPONSE);
	CALL(rdma_establish, rdma_establish(client));
	cm_await(RDMA_CM_EVENT_ESTABLISHED);
	MUST(!rdma_disconnect(client));
	cm_await(RDMA_CM_EVENT_DISCONNECTED);
	cm_await(RDMA_CM_EVENT_DISCONNECTED);
	cm_end(server);
	cm_end(client);
}

/* An endpoint that listens, and rdma_get_request(). */
static void
cm_endpoint(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP };
	struct rdma_conn_param param = { .responder_resources = 1 };
	struct ibv_qp_init_attr init = cm_init();
	struct rdma_cm_id *listener, *client, *request;
	struct rdma_addrinfo *info;

	CALL(rdma_getaddrinfo, rdma_getaddrinfo("127.0.0.1", "0", &hints, &info));
	CALL(rdma_create_ep, rdma_create_ep(&listener, info, NULL, &init));
	rdma_freeaddrinfo(info);
	MUST(!rdma_listen(listener, 1));
	client = cm_client(listener, true);
	MUST(!rdma_connect(client, &param));
	CALL(rdma_get_request, rdma_get_request(listener, &request));
	MUST(!rdma_reject(request, NULL, 0));
	cm_await(RDMA_CM_EVENT_REJECTED);
	rdma_destroy_ep(request);
	cm_end(client);
	rdma_destroy_ep(listener);
}

static void
cm_objects(struct rdma_cm_id *listener)
{
	struct ibv_qp_init_attr_ex init = { .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 } };
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 1, .max_sge = 1 } };
	struct ibv_srq_init_attr_ex srq_ex = { .attr = { .max_wr = 1, .max_sge = 1 } };
	struct rdma_event_channel *other = rdma_create_event_channel();
	struct rdma_cm_id *id = cm_client(listener, false);
	struct ibv_context **devices;
	struct ibv_pd *pd;

	MAKE(rdma_get_devices, devices, rdma_get_devices(NULL));
	rdma_free_devices(devices);
	pd = ibv_alloc_pd(id->verbs);
	MUST(pd);
	init.pd = srq_ex.pd = pd;
	init.comp_mask = IBV_QP_INIT_ATTR_PD;
	srq_ex.comp_mask = IBV_SRQ_INIT_ATTR_PD;
	CALL(rdma_create_srq, rdma_create_srq(id, pd, &srq));
	rdma_destroy_srq(id);
	CALL(rdma_create_srq_ex, rdma_create_srq_ex(id, &srq_ex));
	rdma_destroy_srq(id);
	CALL(rdma_create_qp_ex, rdma_create_qp_ex(id, &init));
	MUST(other);
	CALL(rdma_migrate_id, rdma_migrate_id(id, other));
	cm_end(id);
	MUST(!ibv_dealloc_pd(pd));
	rdma_destroy_event_channel(other);
}

void
sees_cm(void)
{
	struct rdma_event_channel *first;
	struct rdma_cm_event *event;
	struct rdma_cm_id *listener;

	MAKE(rdma_create_event_channel, channel, rdma_create_event_channel());
	first = channel;
	/* The call fails before it waits. */
	errno = 0;
	sees_number("rdma_get_cm_event", rdma_get_cm_event(channel, &event));
	listener = cm_listener();
	cm_connection(listener);
	cm_rejections(listener);
	cm_own_queue_pair(listener);
	cm_endpoint();
	cm_objects(listener);
	cm_end(listener);
	rdma_destroy_event_channel(first);
}
