/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.C5 */
/*
 * Calls that fail, and change nothing: lists of posts of which none or only the first are posted, arms of a queue, destroys of
 * what is in use, modifications.  What was refused is not counted.
 */
#include "test/softverbs/pair.h"

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

int
main(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	struct ibv_recv_wr receive = { .num_sge = 1000 }, *bad;

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
	must(ibv_post_recv(third.qp, &receive, &bad) != 0, "a receive that should fail");
	must(ibv_destroy_cq(cq) == EBUSY, "a queue that is in use");
	must(ibv_dealloc_pd(domain) == EBUSY, "a domain that is in use");
	must(ibv_modify_qp(third.qp, &attr, IBV_QP_STATE) != 0, "a state that cannot follow");
	arm(cq);
	must(ibv_destroy_cq(cq) == EBUSY, "a queue that is in use, and armed");
	/* All works as before: its event comes. */
	post_send(&fourth, IBV_SEND_SIGNALED);
	must(next_event() == cq, "the event");
	wait_for(cq, 1);
	wait_for(fourth.cq, 1);
	pair_close();
	return 0;
}
