/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that is woken late polls a queue that is destroyed by then. */
#include "softverbs/test/pair.h"

static pthread_barrier_t barrier;

static void *
late_poller(void *unused)
{
	struct ibv_wc wc;

	(void)unused;
	pthread_barrier_wait(&barrier);
	(void)ibv_poll_cq(cq, 1, &wc);
	return NULL;
}

int
main(void)
{
	pthread_t thread;

	pair_open();
	must(!pthread_barrier_init(&barrier, NULL, 2), "pthread_barrier_init");
	must(!pthread_create(&thread, NULL, late_poller, NULL), "pthread_create");
	must(!ibv_destroy_cq(cq), "ibv_destroy_cq");
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	cq = NULL;
	pair_close();
	return 0;
}
