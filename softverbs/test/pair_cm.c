/* SPDX-License-Identifier: BSD-3-Clause */
#include "pair_cm.h"

#include <poll.h>
#include <rdma/rdma_verbs.h>

static struct rdma_cm_id *listener;
static struct ibv_mr *mr;
static char buffer[64];

static struct ibv_qp_init_attr
attributes(void)
{
	return (struct ibv_qp_init_attr){
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { 8, 8, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
}

void
listen_begin(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP },
			     *info;
	struct ibv_qp_init_attr init = { .cap = { 8, 8, 1, 1, 0 } };

	must(!rdma_getaddrinfo("127.0.0.1", "0", &hints, &info), "rdma_getaddrinfo");
	must(!rdma_create_ep(&listener, info, NULL, &init), "rdma_create_ep");
	must(!rdma_listen(listener, 1), "rdma_listen");
	rdma_freeaddrinfo(info);
}

void
listen_end(void)
{
	rdma_destroy_ep(listener);
}

static void *
accept_and_leave(void *unused)
{
	struct rdma_cm_id *id;

	(void)unused;
	must(!rdma_get_request(listener, &id), "rdma_get_request");
	must(!rdma_accept(id, NULL), "rdma_accept");
	must(!rdma_disconnect(id), "rdma_disconnect");
	rdma_destroy_ep(id);
	return NULL;
}

struct rdma_cm_id *
ended_open(bool read)
{
	struct ibv_qp_init_attr init;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	struct pollfd pfd = { .events = POLLIN };
	pthread_t peer;

	must(!rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
	must(
	    !rdma_resolve_addr(id, NULL, rdma_get_local_addr(listener), 5000), "rdma_resolve_addr");
	must(!rdma_resolve_route(id, 5000), "rdma_resolve_route");
	if (!channel) {
		context = id->verbs;
		channel = ibv_create_comp_channel(context);
		must(channel != NULL, "ibv_create_comp_channel");
		cq = queue_create(channel);
		mr = ibv_reg_mr(id->pd, buffer, sizeof buffer, IBV_ACCESS_LOCAL_WRITE);
		must(mr != NULL, "ibv_reg_mr");
	}
	init = attributes();
	must(!rdma_create_qp(id, NULL, &init), "rdma_create_qp");
	must(!rdma_post_recv(id, NULL, buffer, sizeof buffer, mr), "rdma_post_recv");
	must(!pthread_create(&peer, NULL, accept_and_leave, NULL), "pthread_create");
	must(!rdma_connect(id, NULL), "rdma_connect");
	pthread_join(peer, NULL);
	pfd.fd = id->channel->fd;
	must(poll(&pfd, 1, -1) == 1, "poll");
	if (read) {
		must(!rdma_get_cm_event(id->channel, &event), "rdma_get_cm_event");
		must(event->event == RDMA_CM_EVENT_DISCONNECTED, "DISCONNECTED");
		rdma_ack_cm_event(event);
	}
	return id;
}

void
ended_close(struct rdma_cm_id *id)
{
	struct ibv_wc wc;
	int found;

	must(!rdma_disconnect(id), "rdma_disconnect");
	while (!(found = ibv_poll_cq(cq, 1, &wc)))
		;
	must(found == 1 && wc.status == IBV_WC_WR_FLUSH_ERR, "flushed");
	rdma_destroy_qp(id);
	must(!rdma_destroy_id(id), "rdma_destroy_id");
}
