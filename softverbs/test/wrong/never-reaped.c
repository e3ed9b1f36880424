/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One request in eight has a completion, and the queue is never polled: the places in the send
 * queue are not freed.
 */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct end a, b;

	device_open();
	cq = queue_create(NULL);
	end_open(&a, cq, 0);
	end_open(&b, queue_create(NULL), 16);
	end_connect(&a, &b, 64, 7);
	for (int i = 0; i < 64; i++) {
		wr.send_flags = i % 8 == 7 ? IBV_SEND_SIGNALED : 0;
		(void)ibv_post_send(b.qp, &wr, &bad);
	}
	ends_close(&a, &b);
	return 0;
}
