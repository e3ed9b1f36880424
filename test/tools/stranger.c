/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stranger PORT TEXT -- greets a server of dat_perf as a client does, and sends this text as its
 * first message
 *
 * It ends when the server has ended the connection, or has answered.
 */
#include <arpa/inet.h>
#include <err.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_cma.h>

#include "tools/perf/engine.h"

enum { ROOM = 512 << 10, PATIENCE_MS = 20000 };

static struct rdma_event_channel *channel;

static enum rdma_cm_event_type
next_event(void)
{
	struct pollfd ready = { .fd = channel->fd, .events = POLLIN };
	enum rdma_cm_event_type type;
	struct rdma_cm_event *event;

	if (poll(&ready, 1, PATIENCE_MS) != 1 || rdma_get_cm_event(channel, &event))
		errx(1, "no event");
	type = event->event;
	rdma_ack_cm_event(event);
	return type;
}

static void
expect(enum rdma_cm_event_type wanted)
{
	const enum rdma_cm_event_type type = next_event();

	if (type != wanted)
		errx(1, "%s and not %s", rdma_event_str(type), rdma_event_str(wanted));
}

int
main(int argc, char **argv)
{
	static char memory[2 * ROOM];
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct ibv_qp_init_attr attr = { .cap = { 4, 4, 1, 1, 0 }, .qp_type = IBV_QPT_RC };
	struct greeting greeting = { .magic = "datperf", .run = 7 };
	struct rdma_conn_param param = { .private_data = &greeting,
		.private_data_len = sizeof greeting,
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7 };
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	struct ibv_sge sge;
	struct ibv_recv_wr receive = { .sg_list = &sge, .num_sge = 1 }, *bad_receive;
	struct ibv_send_wr send = { .sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED },
			   *bad_send;

	if (argc != 3 || strlen(argv[2]) >= ROOM)
		errx(2, "usage: stranger PORT TEXT");
	to.sin_port = htons((uint16_t)atoi(argv[1]));
	channel = rdma_create_event_channel();
	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, PATIENCE_MS))
		err(1, "id");
	expect(RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, PATIENCE_MS))
		err(1, "route");
	expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (rdma_create_qp(id, NULL, &attr))
		err(1, "queue pair");
	mr = ibv_reg_mr(id->pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		err(1, "memory");
	sge = (struct ibv_sge){ (uintptr_t)memory + ROOM, ROOM, mr->lkey };
	if (ibv_post_recv(id->qp, &receive, &bad_receive) || rdma_connect(id, &param))
		err(1, "connect");
	expect(RDMA_CM_EVENT_ESTABLISHED);
	strcpy(memory, argv[2]);
	sge = (struct ibv_sge){ (uintptr_t)memory, (uint32_t)strlen(memory), mr->lkey };
	if (ibv_post_send(id->qp, &send, &bad_send))
		err(1, "send");
	expect(RDMA_CM_EVENT_DISCONNECTED);
	return 0;
}
