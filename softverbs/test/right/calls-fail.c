/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.C5 */
/* origin: out33.C8 */
/*
 * Calls that fail, and change nothing: lists of posts of which none or only the first are posted,
 * each call that posts to a queue that is full, arms of a queue, destroys of what is in use,
 * modifications.  What was refused is not counted.
 */
#include "softverbs/test/pair.h"

#include <errno.h>

#define SIZE 16 /* of the send queue */

static unsigned int
posted(struct end *end, unsigned int count, bool good_first, unsigned int flags)
{
	struct ibv_sge sge = { (uintptr_t)end->buffer, 8, end->mr->lkey };
	struct ibv_send_wr list[2 * SIZE], *bad = NULL;
	int r;

	for (unsigned int i = 0; i < count; i++)
		list[i] = (struct ibv_send_wr){
			.next = i + 1 < count ? &list[i + 1] : NULL,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = good_first && !i ? IBV_WR_SEND : (enum ibv_wr_opcode)99,
			.send_flags = flags,
		};
	r = ibv_post_send(end->qp, list, &bad);
	must(r && bad, "a post that should fail");
	return (unsigned int)(bad - list);
}

static void
wait_for(struct ibv_cq *queue, unsigned int count)
{
	struct ibv_wc wc;
	int n;

	while (count) {
		n = ibv_poll_cq(queue, 1, &wc);
		must(n >= 0 && (!n || wc.status == IBV_WC_SUCCESS), "ibv_poll_cq");
		count -= (unsigned int)n;
	}
}

/* A queue pair for requests that are built, in the place of the one that the end has. */
static void
end_rebuild(struct end *end)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.cap = { SIZE, ENTRIES, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = domain,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};

	must(!ibv_destroy_qp(end->qp), "ibv_destroy_qp");
	end->qp = ibv_create_qp_ex(context, &init);
	must(end->qp != NULL, "ibv_create_qp_ex");
}

static int
build(struct end *end, unsigned int count)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(end->qp);

	ibv_wr_start(qp);
	for (unsigned int i = 0; i < count; i++) {
		ibv_wr_send(qp);
		ibv_wr_set_sge(qp, end->mr->lkey, (uintptr_t)end->buffer, 8);
	}
	return ibv_wr_complete(qp);
}

/*
 * Each call that posts, so often that the queue would be full if it counted: but it is full, of
 * others.
 */
static void
refused_when_full(struct end *end, struct end *peer)
{
	struct ibv_mw *window = ibv_alloc_mw(domain, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = { .wr_id = 1 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;

	must(window != NULL, "ibv_alloc_mw");
	end_rebuild(end);
	end_connect(end, peer, 0, 7);
	for (unsigned int i = 0; i < SIZE; i++)
		post_send(end, IBV_SEND_SIGNALED);
	for (unsigned int i = 0; i < 2 * SIZE; i++)
		must(ibv_bind_mw(end->qp, window, &bind) != 0, "a bind that should fail");
	for (unsigned int i = 0; i < 2 * SIZE; i++)
		must(build(end, 2) != 0, "a batch that should fail");
	for (unsigned int i = 0; i < 2 * SIZE; i++)
		must(ibv_post_send(end->qp, &wr, &bad) != 0, "a post that should fail");
	for (unsigned int i = 0; i < SIZE; i++)
		post_receive(peer);
	wait_for(end->cq, SIZE);
	wait_for(peer->cq, SIZE);
	/* There is room again. */
	post_receive(peer);
	must(!build(end, 1), "ibv_wr_complete");
	wait_for(peer->cq, 1);
	must(!ibv_dealloc_mw(window), "ibv_dealloc_mw");
}

static void
refused_receives(struct end *end)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *shared = ibv_create_srq(domain, &init);
	struct ibv_recv_wr receive = { .num_sge = 1000 }, *bad;

	must(shared != NULL, "ibv_create_srq");
	for (unsigned int i = 0; i < 2 * ENTRIES; i++) {
		must(ibv_post_recv(end->qp, &receive, &bad) != 0, "a receive that should fail");
		must(ibv_post_srq_recv(shared, &receive, &bad) != 0, "a receive that should fail");
	}
	must(!ibv_destroy_srq(shared), "ibv_destroy_srq");
}

static void
close_two(struct end *a, struct end *b)
{
	must(!ibv_destroy_qp(a->qp) && !ibv_destroy_qp(b->qp), "ibv_destroy_qp");
	must(!ibv_dereg_mr(a->mr) && !ibv_dereg_mr(b->mr), "ibv_dereg_mr");
	must(!ibv_destroy_cq(a->cq) && !ibv_destroy_cq(b->cq), "ibv_destroy_cq");
}

int
main(void)
{
	struct end fifth, sixth;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	struct ibv_wc wc;

	device_open();
	channel = ibv_create_comp_channel(context);
	must(channel != NULL, "ibv_create_comp_channel");
	cq = queue_create(channel);
	end_open(&third, cq, SIZE);
	end_open(&fourth, queue_create(NULL), 0);
	end_connect(&third, &fourth, ENTRIES / 4, 7);
	/* More than the queue holds, without a completion, and all refused. */
	for (unsigned int i = 0; i < 8; i++)
		must(!posted(&third, 2 * SIZE, false, 0), "none is posted");
	/* With one that is not polled yet there is room for others, whatever is refused. */
	post_send(&third, IBV_SEND_SIGNALED);
	for (unsigned int i = 0; i < 8; i++)
		must(!posted(&third, SIZE / 2, false, IBV_SEND_SIGNALED), "none is posted");
	must(posted(&third, 3 * SIZE / 4, true, IBV_SEND_SIGNALED) == 1, "one is posted");
	post_send(&third, IBV_SEND_SIGNALED);
	wait_for(cq, 3);
	wait_for(fourth.cq, 3);
	end_open(&fifth, queue_create(NULL), SIZE);
	end_open(&sixth, queue_create(NULL), 0);
	refused_when_full(&fifth, &sixth);
	close_two(&fifth, &sixth);
	refused_receives(&third);
	must(ibv_destroy_cq(cq) == EBUSY, "a queue that is in use");
	must(ibv_dealloc_pd(domain) == EBUSY, "a domain that is in use");
	must(ibv_modify_qp(third.qp, &attr, IBV_QP_STATE) != 0, "a state that cannot follow");
	arm(cq);
	must(ibv_destroy_cq(cq) == EBUSY, "a queue that is in use, and armed");
	must(!ibv_poll_cq(cq, 1, &wc), "nothing was there before");
	/* All works as before: its event comes. */
	post_send(&fourth, IBV_SEND_SIGNALED);
	must(next_event() == cq, "the event");
	wait_for(cq, 1);
	wait_for(fourth.cq, 1);
	pair_close();
	return 0;
}
