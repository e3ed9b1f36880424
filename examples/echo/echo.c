/* SPDX-License-Identifier: BSD-3-Clause */
/* An echo server on librearm: "echo" serves one connection, "echo HOST TEXT..." sends to it. */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <rearm/rearm.h>

#define PORT "7471"
#define SLOTS 16
#define SIZE 256

static struct rdma_cm_id *id;
static struct rearm_queue *queue;
static struct ibv_mr *mr;
static char slots[SLOTS][SIZE];

/* The message of a receive goes back; when it was sent its slot gets the next one. */
static void
answer(void *arg, const struct ibv_wc *wc, int n, int more)
{
	(void)arg, (void)more;
	for (int i = 0; i < n; i++) {
		char *slot = (char *)(uintptr_t)wc[i].wr_id;

		if (wc[i].status) /* the connection has ended */
			continue;
		if (wc[i].opcode == IBV_WC_RECV)
			rdma_post_send(id, slot, slot, wc[i].byte_len, mr, IBV_SEND_SIGNALED);
		else
			rdma_post_recv(id, slot, slot, SIZE, mr);
	}
}

/* The queue pair of the connection completes into the queue. */
static void
prepare(struct rearm_loop *loop)
{
	const struct rearm_queue_attr attr = { .cqe = 2 * SLOTS };
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .cap = { SLOTS, SLOTS, 1, 1, 0 } };

	if (rearm_queue_create(loop, id->verbs, &attr, &queue))
		errx(1, "no queue");
	init.send_cq = init.recv_cq = rearm_queue_cq(queue);
	if (rdma_create_qp(id, NULL, &init) || !(mr = rdma_reg_msgs(id, slots, sizeof slots)))
		err(1, "no queue pair");
	for (int i = 0; i < SLOTS / 2; i++)
		rdma_post_recv(id, slots[i], slots[i], SIZE, mr);
}

static void
serve(struct rearm_loop *loop, struct rdma_cm_id *listener)
{
	const struct rearm_upcall upcall = { .function = answer, .batch = SLOTS };
	struct rdma_cm_event *event;

	if (rdma_listen(listener, 1) || rdma_get_request(listener, &id))
		err(1, "listen");
	prepare(loop);
	if (rearm_queue_enable(queue, REARM_SINGLE, &upcall, REARM_ANY) || rdma_accept(id, NULL))
		errx(1, "accept");
	if (!rdma_get_cm_event(id->channel, &event)) /* it has ended */
		rdma_ack_cm_event(event);
	rearm_queue_teardown(queue);
}

static void
ask(struct rearm_loop *loop, int n, char **texts)
{
	char *slot = slots[SLOTS - 1];
	struct ibv_wc wc[2];

	prepare(loop);
	if (rdma_connect(id, NULL))
		err(1, "connect");
	for (int i = 0; i < n; i++) {
		snprintf(slot, SIZE, "%s", texts[i]);
		rdma_post_send(id, slot, slot, strlen(slot) + 1, mr, IBV_SEND_SIGNALED);
		if (rearm_queue_wait(queue, 2, 5000000, 2, wc) != 2) /* sent, and answered */
			errx(1, "no answer");
		puts((char *)(uintptr_t)wc[wc[0].opcode != IBV_WC_RECV].wr_id);
	}
	rdma_disconnect(id);
}

int
main(int argc, char **argv)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *info;
	struct rdma_cm_id *end;
	struct rearm_loop *loop;

	hints.ai_flags = argc > 1 ? 0 : RAI_PASSIVE;
	if (rearm_loop_create(NULL, &loop) ||
	    rdma_getaddrinfo(argc > 1 ? argv[1] : NULL, PORT, &hints, &info) ||
	    rdma_create_ep(&end, info, NULL, NULL))
		err(1, "no adapter");
	id = end;
	if (argc > 1)
		ask(loop, argc - 2, argv + 2);
	else
		serve(loop, end);
	rdma_destroy_qp(id);
	rearm_queue_free(queue);
	rearm_loop_free(loop);
	rdma_dereg_mr(mr);
	rdma_destroy_ep(id);
	if (id != end)
		rdma_destroy_ep(end);
	rdma_freeaddrinfo(info);
	return 0;
}
