/* SPDX-License-Identifier: BSD-3-Clause */
/* Posts until the send queue is full, then polls, and goes on. */
#include "softverbs/test/pair.h"

#include <errno.h>

int
main(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED }, *bad;
	struct end a, b;
	struct ibv_wc wc;
	int r;

	device_open();
	cq = queue_create(NULL);
	end_open(&a, cq, 0);
	end_open(&b, queue_create(NULL), 16);
	end_connect(&a, &b, 64, 7);
	for (int i = 0; i < 64; i++)
		while ((r = ibv_post_send(b.qp, &wr, &bad))) {
			must(r == ENOMEM, "ibv_post_send");
			while (ibv_poll_cq(b.cq, 1, &wc) == 1)
				;
		}
	ends_close(&a, &b);
	return 0;
}
