/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.C3 */
/*
 * ofiwg/librdmacm #1, rdma-core #486: a thread waits for a completion, and nothing waits for events
 * of the connection.  The peer disconnects: the receive is not flushed.
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

int
main(void)
{
	struct ibv_qp_init_attr init = { .cap = { 8, 8, 1, 1, 0 }, .sq_sig_all = 1 };
	struct rdma_cm_id *id;
	pthread_t thread;
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
	rdma_get_recv_comp(id, &wc);
	return 0;
}
