/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue is armed for solicited completions, and the messages are not solicited. */
#include "softverbs/test/pair.h"

static struct end a, b;

static void *
sender(void *unused)
{
	for (int i = 0; i < BURST; i++)
		post_send(&b, 0);
	return unused;
}

int
main(void)
{
	unsigned int received = 0;
	pthread_t thread;
	struct ibv_wc wc;

	pair_open();
	end_open(&a, cq, 0);
	end_open(&b, queue_create(NULL), 0);
	end_connect(&a, &b, BURST, 7);
	for (;;) {
		must(!ibv_req_notify_cq(cq, 1), "ibv_req_notify_cq");
		while (ibv_poll_cq(cq, 1, &wc) == 1)
			received++;
		if (received == BURST)
			break;
		if (!received)
			must(!pthread_create(&thread, NULL, sender, NULL), "pthread_create");
		next_event();
	}
	return 0;
}
