/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that polls is to stop, and the queue is destroyed before it has done so. */
#include "softverbs/test/pair.h"

#include <unistd.h>

static atomic_bool stop;

static void *
poller(void *unused)
{
	struct ibv_wc wc;

	(void)unused;
	while (!stop)
		if (ibv_poll_cq(cq, 1, &wc) < 0)
			break;
	return NULL;
}

int
main(void)
{
	pthread_t thread;

	pair_open();
	must(!pthread_create(&thread, NULL, poller, NULL), "pthread_create");
	usleep(10000);
	stop = true;
	must(!ibv_destroy_cq(cq), "ibv_destroy_cq");
	pthread_join(thread, NULL);
	cq = NULL;
	pair_close();
	return 0;
}
