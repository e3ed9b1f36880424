/* SPDX-License-Identifier: BSD-3-Clause */
/* The client of echo.c, which waits: "ask HOST TEXT..." prints the echo of each text. */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include <rdma/rdma_verbs.h>
#include <rearm/rearm.h>

#define SIZE 256

static struct rdma_cm_id *id;
static struct rearm_queue *queue;
static struct ibv_mr *mr;
static char texts[2][SIZE]; /* one to send, and its echo */

static void
connect_to(const char *host, struct rearm_loop *loop)
{
	const struct rearm_queue_attr attr = { .cqe = 4 };
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *info;
	struct ibv_qp_init_attr init = { .cap = { 1, 1, 1, 1, 0 }, .qp_type = IBV_QPT_RC };

	if (rdma_getaddrinfo(host, "7471", &hints, &info) || rdma_create_ep(&id, info, NULL, NULL))
		err(1, "%s", host);
	rdma_freeaddrinfo(info);
	if (rearm_queue_create(loop, id->verbs, &attr, &queue))
		errx(1, "no queue");
	init.send_cq = init.recv_cq = rearm_queue_cq(queue);
	if (rdma_create_qp(id, NULL, &init) || !(mr = rdma_reg_msgs(id, texts, sizeof texts)))
		err(1, "no queue pair");
	if (rdma_connect(id, NULL))
		err(1, "connect");
}

static void
ask(const char *text)
{
	struct ibv_wc wc[2];

	snprintf(texts[0], SIZE, "%s", text);
	if (rdma_post_recv(id, NULL, texts[1], SIZE, mr) ||
	    rdma_post_send(id, NULL, texts[0], strlen(texts[0]) + 1, mr, IBV_SEND_SIGNALED))
		err(1, "post");
	/* Sent, and answered, within 5 s. */
	if (rearm_queue_wait(queue, 2, 5000000, 2, wc) != 2 || wc[0].status || wc[1].status)
		errx(1, "no answer");
	puts(texts[1]);
}

int
main(int argc, char **argv)
{
	struct rearm_loop *loop;

	if (argc < 2)
		errx(2, "usage: ask HOST TEXT...");
	if (rearm_loop_create(NULL, &loop))
		errx(1, "no loop");
	connect_to(argv[1], loop);
	for (int i = 2; i < argc; i++)
		ask(argv[i]);
	rdma_disconnect(id);
	rdma_destroy_qp(id);
	rdma_dereg_mr(mr);
	return rearm_queue_free(queue) || rearm_loop_free(loop);
}
