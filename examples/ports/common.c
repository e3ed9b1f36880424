/* SPDX-License-Identifier: BSD-3-Clause */
#include "common.h"

#include <arpa/inet.h>
#include <err.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <rdma/rdma_verbs.h>

static struct rdma_cm_id *listener;
static int lines; /* that are open */

void
must(int ok, const char *what)
{
	if (!ok)
		err(1, "%s", what);
}

/* ---- messages: they have no data, only a number ---- */

static void
send_message(struct rdma_cm_id *id, enum line_event event)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl(event),
	};
	struct ibv_send_wr *bad;

	must(!ibv_post_send(id->qp, &wr, &bad), "ibv_post_send");
}

static void
receive_message(struct rdma_cm_id *id)
{
	struct ibv_recv_wr wr = { 0 }, *bad;

	must(!ibv_post_recv(id->qp, &wr, &bad), "ibv_post_recv");
}

void
line_request(struct line *line)
{
	send_message(line->id, LINE_SENT);
}

enum line_event
line_event(struct line *line, const struct ibv_wc *wc)
{
	if (wc->status)
		errx(1, "a connection failed: %s", ibv_wc_status_str(wc->status));
	if (wc->opcode != IBV_WC_RECV)
		return LINE_SENT;
	receive_message(line->id);
	return ntohl(wc->imm_data);
}

/* ---- the server ---- */

static void
make_queue_pair(struct rdma_cm_id *id, struct ibv_cq *send_cq, struct ibv_cq *recv_cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = send_cq,
		.recv_cq = recv_cq,
		.cap = { 2 * OUTSTANDING, 2 * OUTSTANDING, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};

	must(!rdma_create_qp(id, NULL, &init), "rdma_create_qp");
	for (int i = 0; i < OUTSTANDING; i++)
		receive_message(id);
}

/* It answers, and says from time to time that it can take more. */
static void
serve(struct rdma_cm_id *id, const struct line *line)
{
	int received = 0, outstanding = 0;
	struct ibv_wc wc;

	while (received < line->requests || outstanding > 0) {
		while (ibv_poll_cq(id->send_cq, 1, &wc) == 1)
			outstanding--;
		if (outstanding > OUTSTANDING || ibv_poll_cq(id->recv_cq, 1, &wc) != 1) {
			sched_yield();
			continue;
		}
		if (wc.status) /* the program has all answers, and has left */
			return;
		receive_message(id);
		received++;
		if (line->window && received % line->window == 0) {
			send_message(id, LINE_WINDOW);
			outstanding++;
		}
		send_message(id, LINE_ANSWER);
		outstanding++;
	}
}

static void *
server_run(void *arg)
{
	struct line *line = arg;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	must(!rdma_get_request(listener, &id), "rdma_get_request");
	make_queue_pair(id, NULL, NULL);
	must(!rdma_accept(id, NULL), "rdma_accept");
	serve(id, line);
	must(!rdma_get_cm_event(id->channel, &event), "rdma_get_cm_event"); /* the end */
	rdma_ack_cm_event(event);
	rdma_destroy_ep(id);
	return NULL;
}

/* ---- connections ---- */

static void
listen_once(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET };

	if (lines++)
		return;
	any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must(!rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP), "rdma_create_id");
	must(!rdma_bind_addr(listener, (struct sockaddr *)&any), "rdma_bind_addr");
	must(!rdma_listen(listener, OUTSTANDING), "rdma_listen");
}

void
line_resolve(struct line *line, int requests, int window)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *info;
	char port[8];

	listen_once();
	line->requests = requests;
	line->window = window;
	snprintf(port, sizeof port, "%u", (unsigned int)ntohs(rdma_get_src_port(listener)));
	must(!rdma_getaddrinfo("127.0.0.1", port, &hints, &info), "rdma_getaddrinfo");
	must(!rdma_create_ep(&line->id, info, NULL, NULL), "rdma_create_ep");
	rdma_freeaddrinfo(info);
}

void
line_connect(struct line *line, struct ibv_cq *send_cq, struct ibv_cq *recv_cq)
{
	make_queue_pair(line->id, send_cq, recv_cq);
	must(!pthread_create(&line->thread, NULL, server_run, line), "pthread_create");
	must(!rdma_connect(line->id, NULL), "rdma_connect");
}

void
line_close(struct line *line)
{
	must(!rdma_disconnect(line->id), "rdma_disconnect"); /* for which the server waits */
	pthread_join(line->thread, NULL);
	rdma_destroy_ep(line->id);
	if (--lines == 0)
		rdma_destroy_id(listener);
}
