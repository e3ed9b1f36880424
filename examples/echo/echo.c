/* SPDX-License-Identifier: BSD-3-Clause */
/* An echo server on librearm, for one connection; ask.c is its client. */
#include <err.h>
#include <rdma/rdma_verbs.h>
#include <rearm/rearm.h>

#define SLOTS 16
#define SIZE 256

static struct rdma_cm_id *listener, *id;
static struct ibv_mr *mr;
static char slots[SLOTS][SIZE];

/* The message of a receive goes back; when it was sent its slot gets the next one. */
static void
answer(void *arg, const struct ibv_wc *wc, int n, int more)
{
	(void)arg, (void)more;
	for (int i = 0; i < n && !wc[i].status; i++) { /* else the connection has ended */
		char *slot = (char *)(uintptr_t)wc[i].wr_id;

		if (wc[i].opcode == IBV_WC_RECV ?
			rdma_post_send(id, slot, slot, wc[i].byte_len, mr, IBV_SEND_SIGNALED) :
			rdma_post_recv(id, slot, slot, SIZE, mr))
			err(1, "post");
	}
}

int
main(void)
{
	const struct rearm_queue_attr attr = { .cqe = 2 * SLOTS };
	const struct rearm_upcall upcall = { .function = answer, .batch = SLOTS };
	struct rdma_addrinfo *to, hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP };
	struct ibv_qp_init_attr init = { .cap = { SLOTS, SLOTS, 1, 1, 0 }, .qp_type = IBV_QPT_RC };
	struct rdma_cm_event *event;
	struct rearm_loop *loop;
	struct rearm_queue *queue;

	if (rdma_getaddrinfo(NULL, "7471", &hints, &to) ||
	    rdma_create_ep(&listener, to, NULL, NULL) || rdma_listen(listener, 1) ||
	    rdma_get_request(listener, &id))
		err(1, "no connection");
	if (rearm_loop_create(NULL, &loop) || rearm_queue_create(loop, id->verbs, &attr, &queue))
		errx(1, "no queue");
	init.send_cq = init.recv_cq = rearm_queue_cq(queue);
	if (rdma_create_qp(id, NULL, &init) || !(mr = rdma_reg_msgs(id, slots, sizeof slots)))
		err(1, "no queue pair");
	for (int i = 0; i < SLOTS; i++)
		if (rdma_post_recv(id, slots[i], slots[i], SIZE, mr))
			err(1, "post");
	if (rearm_queue_enable(queue, REARM_SINGLE, &upcall, REARM_ANY) || rdma_accept(id, NULL))
		errx(1, "not accepted");
	if (rdma_get_cm_event(id->channel, &event) || rdma_ack_cm_event(event))
		err(1, "the end of the connection");
	rearm_queue_teardown(queue);
	rdma_destroy_qp(id);
	rdma_dereg_mr(mr);
	return rearm_queue_free(queue) || rearm_loop_free(loop);
}
