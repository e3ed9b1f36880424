/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.AA2 */
/*
 * Receives are posted before messages are sent, each is polled before the next is sent, and the
 * first that fails ends the work.  Whatever a rule lets happen, the program has made no error.
 */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct end client, server;
	struct ibv_wc wc = { 0 };
	int n = 1;

	device_open();
	end_open(&client, queue_create(NULL), 0);
	end_open(&server, queue_create(NULL), 0);
	end_connect(&client, &server, 8, 1);
	for (int i = 0; i < 5 && n > 0 && wc.status == IBV_WC_SUCCESS; i++) {
		struct ibv_sge sge = { (uintptr_t)client.buffer, 8, client.mr->lkey };
		struct ibv_send_wr wr = { .sg_list = &sge,
			.num_sge = 1,
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED },
				   *bad;

		if (ibv_post_send(client.qp, &wr, &bad))
			break;
		do {
			n = ibv_poll_cq(client.cq, 1, &wc);
		} while (!n);
		while (n > 0 && wc.status == IBV_WC_SUCCESS &&
		       ibv_poll_cq(server.cq, 1, &(struct ibv_wc){ 0 }) > 0)
			;
	}
	ends_close(&client, &server);
	return 0;
}
