/* SPDX-License-Identifier: BSD-3-Clause */
/* libvma #828: a thread still polls the queue when another one destroys it. */
#include "softverbs/test/pair.h"

static void *
poller(void *unused)
{
	struct ibv_wc wc;

	(void)unused;
	while (ibv_poll_cq(cq, 1, &wc) >= 0)
		;
	return NULL;
}

int
main(void)
{
	pthread_t thread;

	pair_open();
	must(!pthread_create(&thread, NULL, poller, NULL), "pthread_create");
	must(!ibv_destroy_cq(cq), "ibv_destroy_cq");
	pthread_join(thread, NULL);
	cq = NULL;
	pair_close();
	return 0;
}
