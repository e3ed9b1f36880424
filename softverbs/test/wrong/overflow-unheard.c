/* SPDX-License-Identifier: BSD-3-Clause */
/* TransferBench #239: the queue has fewer entries than the requests that can be outstanding. */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct ibv_cq *small;
	struct end a, b;

	device_open();
	small = ibv_create_cq(context, 4, NULL, NULL, 0);
	must(small != NULL, "ibv_create_cq");
	cq = queue_create(NULL);
	end_open(&a, small, 0);
	end_open(&b, cq, 0);
	end_connect(&a, &b, 16, 7);
	for (int i = 0; i < 16; i++)
		post_send(&b, IBV_SEND_SIGNALED);
	ends_close(&a, &b);
	return 0;
}
