/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.C3 */
/*
 * A thread waits for a completion.  Another one reads that the peer has disconnected, and does
 * nothing about it.
 */
#include "softverbs/test/pair.h"

#include <arpa/inet.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>

static struct rdma_cm_id *listener;

static struct rdma_addrinfo *
address(const char *port, int flags)
{
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = RDMA_PS_TCP }, *info;

	must(!rdma_getaddrinfo("127.0.0.1", port, &hints, &info), "rdma_getaddrinfo");
	return info;
}

/* Accepts a connection, and ends it. */
static void *
serve_and_leave(void *unused)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	struct rdma_cm_id *id;

	(void)unused;
	must(!rdma_get_request(listener, &id), "rdma_get_request");
	must(!rdma_accept(id, &param), "rdma_accept");
	must(!rdma_disconnect(id), "rdma_disconnect");
	rdma_destroy_ep(id);
	rdma_destroy_ep(listener);
	return NULL;
}

static void *
hear(void *id)
{
	struct rdma_cm_id *own = id;
	struct rdma_cm_event *event;

	while (!rdma_get_cm_event(own->channel, &event))
		rdma_ack_cm_event(event);
	return NULL;
}

int
main(void)
{
	struct ibv_qp_init_attr init = { .cap = { 8, 8, 1, 1, 0 }, .sq_sig_all = 1 };
	struct rdma_cm_id *id;
	pthread_t thread, other_thread;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	char port[16], *buffer = malloc(64);

	must(!rdma_create_ep(&listener, address("0", RAI_PASSIVE), NULL, &init), "rdma_create_ep");
	must(!rdma_listen(listener, 1), "rdma_listen");
	snprintf(port, sizeof port, "%d", ntohs(rdma_get_src_port(listener)));
	must(!pthread_create(&thread, NULL, serve_and_leave, NULL), "pthread_create");
	must(!rdma_create_ep(&id, address(port, 0), NULL, &init), "rdma_create_ep");
	mr = rdma_reg_msgs(id, buffer, 64);
	must(mr && !rdma_post_recv(id, NULL, buffer, 64, mr), "rdma_post_recv");
	must(!rdma_connect(id, NULL), "rdma_connect");
	must(!pthread_create(&other_thread, NULL, hear, id), "pthread_create");
	rdma_get_recv_comp(id, &wc);
	return 0;
}
