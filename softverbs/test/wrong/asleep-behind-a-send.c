/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.C11 */
/*
 * A request waits for its peer, which has no receive yet; the thread sleeps, and its queue was
 * never armed.  Other queue pairs of the queue, an older and a younger one, have no request;
 * another thread sleeps now and then.
 */
#include <unistd.h>
#include "softverbs/test/pair.h"

static void *
sleep_often(void *unused)
{
	(void)unused;
	while (!sleep(1))
		;
	return NULL;
}

int
main(void)
{
	struct end a, b, idle[4];
	pthread_t thread;

	pair_open();
	must(!pthread_create(&thread, NULL, sleep_often, NULL), "pthread_create");
	end_open(&idle[0], cq, 0);
	end_open(&a, cq, 0);
	end_open(&idle[1], cq, 0);
	end_open(&b, queue_create(NULL), 0);
	end_open(&idle[2], b.cq, 0);
	end_open(&idle[3], b.cq, 0);
	end_connect(&idle[0], &idle[2], 1, 7);
	end_connect(&a, &b, 0, 7);
	end_connect(&idle[1], &idle[3], 1, 7);
	post_send(&a, IBV_SEND_SIGNALED);
	next_event();
	return 0;
}
