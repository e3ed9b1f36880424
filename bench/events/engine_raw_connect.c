/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_raw_connect -- connections over verbs: ids of librdmacm, both ends in one thread */
#include "engine_raw.h"

#include "measure.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <unistd.h>

#define TIMEOUT_MS 2000
#define DEPTH 8

static struct rdma_event_channel *here, *there;
static struct sockaddr_in address;
static struct ibv_cq *completions;
static struct ibv_pd *domain;

/* The id of the next event, which must be this one. */
static struct rdma_cm_id *
connect_await(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	measure_must(!rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
	measure_must(event->event == type, rdma_event_str(event->event));
	id = event->id;
	measure_must(!rdma_ack_cm_event(event), "rdma_ack_cm_event");
	return id;
}

static void
connect_open(void)
{
	struct rdma_cm_id *listener;

	if (here)
		return;
	here = rdma_create_event_channel();
	there = rdma_create_event_channel();
	measure_must(here && there, "rdma_create_event_channel");
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	measure_must(!rdma_create_id(there, &listener, NULL, RDMA_PS_TCP), "rdma_create_id");
	measure_must(!rdma_bind_addr(listener, (struct sockaddr *)&address), "rdma_bind_addr");
	measure_must(!rdma_listen(listener, 8), "rdma_listen");
	address.sin_port = rdma_get_src_port(listener);
}

static void
connect_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {
		.send_cq = completions,
		.recv_cq = completions,
		.cap = { DEPTH, DEPTH, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};

	if (!domain) {
		domain = ibv_alloc_pd(id->verbs);
		init.send_cq = init.recv_cq = completions =
		    ibv_create_cq(id->verbs, 64, NULL, NULL, 0);
		measure_must(domain && completions, "ibv_create_cq");
	}
	measure_must(!rdma_create_qp(id, domain, &init), "rdma_create_qp");
}

void
engine_raw_reconnect(void)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	struct rdma_cm_id *id, *peer;

	connect_open();
	measure_must(!rdma_create_id(here, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
	measure_must(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, TIMEOUT_MS),
	    "rdma_resolve_addr");
	connect_await(here, RDMA_CM_EVENT_ADDR_RESOLVED);
	measure_must(!rdma_resolve_route(id, TIMEOUT_MS), "rdma_resolve_route");
	connect_await(here, RDMA_CM_EVENT_ROUTE_RESOLVED);
	connect_qp(id);
	measure_must(!rdma_connect(id, &param), "rdma_connect");
	peer = connect_await(there, RDMA_CM_EVENT_CONNECT_REQUEST);
	connect_qp(peer);
	measure_must(!rdma_accept(peer, &param), "rdma_accept");
	connect_await(here, RDMA_CM_EVENT_ESTABLISHED);
	connect_await(there, RDMA_CM_EVENT_ESTABLISHED);
	measure_must(!rdma_disconnect(id), "rdma_disconnect");
	connect_await(here, RDMA_CM_EVENT_DISCONNECTED);
	connect_await(there, RDMA_CM_EVENT_DISCONNECTED);
	rdma_destroy_qp(id);
	rdma_destroy_qp(peer);
	measure_must(!rdma_destroy_id(id) && !rdma_destroy_id(peer), "rdma_destroy_id");
}
