/* SPDX-License-Identifier: BSD-3-Clause */
/* libvma #828: a thread still polls the queue when another one destroys it. */
#include "test/softverbs/pair.h"

static struct ibv_cq *cq;

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
	struct ibv_comp_channel *channel;
	pthread_t thread;

	device_open();
	channel = channel_create();
	cq = queue_create(channel);
	must(!pthread_create(&thread, NULL, poller, NULL), "pthread_create");
	must(!ibv_destroy_cq(cq), "ibv_destroy_cq");
	pthread_join(thread, NULL);
	must(!ibv_destroy_comp_channel(channel), "ibv_destroy_comp_channel");
	device_close();
	return 0;
}
