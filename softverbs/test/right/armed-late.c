/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread sleeps on the channel from the start, with receives posted.  The queue is armed by
 * another thread, when the peer is about to begin.
 */
#include "softverbs/test/pair.h"

#include <unistd.h>

static struct end a, b;

static void *
listener(void *unused)
{
	(void)unused;
	while (a.received < messages) {
		next_event();
		arm(cq);
		while (poll_and_serve(&a, 8) > 0)
			;
	}
	return NULL;
}

int
main(void)
{
	unsigned int answered = 0;
	struct ibv_wc wc;
	pthread_t thread;

	pair_open();
	end_open(&a, cq, 0);
	end_open(&b, queue_create(NULL), 0);
	end_connect(&a, &b, 2 * BURST, 7);
	must(!pthread_create(&thread, NULL, listener, NULL), "pthread_create");
	usleep(2500000);
	arm(cq);
	for (unsigned int i = 0; i < messages; i++) {
		post_send(&b, IBV_SEND_SIGNALED);
		while (answered == i)
			if (ibv_poll_cq(b.cq, 1, &wc) == 1 && wc.opcode & IBV_WC_RECV) {
				answered++;
				post_receive(&b);
			}
	}
	pthread_join(thread, NULL);
	/* The completions of the last answers were not all polled. */
	return 0;
}
