/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives are posted when the first message is expected, which is too late for a peer that does
 * not wait.
 */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct end a, b;
	struct ibv_wc wc;
	int found;

	device_open();
	cq = queue_create(NULL);
	end_open(&a, cq, 0);
	end_open(&b, cq, 0);
	end_connect(&a, &b, 0, 1);
	post_send(&b, IBV_SEND_SIGNALED);
	while (!(found = ibv_poll_cq(cq, 1, &wc)))
		;
	must(found > 0, "ibv_poll_cq");
	ends_close(&a, &b);
	return 0;
}
