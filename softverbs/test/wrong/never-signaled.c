/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A known one of many programs: no request has a completion, so an adapter's send queue is full
 * some day.
 */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct end a, b;

	device_open();
	cq = queue_create(NULL);
	end_open(&a, cq, 0);
	end_open(&b, cq, 16);
	end_connect(&a, &b, 32, 7);
	for (int i = 0; i < 32; i++)
		post_send(&b, 0);
	ends_close(&a, &b);
	return 0;
}
