/* SPDX-License-Identifier: BSD-3-Clause */
/* A request waits for its peer, which has no receive yet; the thread sleeps, and its queue was never armed. */
#include "test/softverbs/pair.h"

int
main(void)
{
	struct end a, b;

	pair_open();
	end_open(&a, cq, 0);
	end_open(&b, queue_create(NULL), 0);
	end_connect(&a, &b, 0, 7);
	post_send(&a, IBV_SEND_SIGNALED);
	next_event();
	return 0;
}
