/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.W1 */
/*
 * The main thread ends by pthread_exit(), with the device open; another thread works on for a
 * while, and ends.  Then the process ends, with 0, as with a libibverbs that has no threads, and
 * functions of atexit() run: on a device that works.
 */
#include "softverbs/test/pair.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static atomic_bool worked;

static void *
work(void *unused)
{
	(void)unused;
	nanosleep(&(struct timespec){ .tv_nsec = 400000000 }, NULL);
	post_send(&third, IBV_SEND_SIGNALED);
	worked = true;
	return NULL;
}

static void
at_exit(void)
{
	struct ibv_wc wc;

	must(worked, "the process ended before its last thread");
	while (ibv_poll_cq(fourth.cq, 1, &wc) == 0)
		;
	must(wc.status == IBV_WC_SUCCESS, "the device does not work any more");
	while (ibv_poll_cq(cq, 1, &wc) == 0)
		;
	pair_close();
}

int
main(void)
{
	pthread_t thread;

	alarm(60);
	device_open();
	channel = ibv_create_comp_channel(context);
	must(channel != NULL, "ibv_create_comp_channel");
	cq = queue_create(channel);
	end_open(&third, cq, 0);
	end_open(&fourth, queue_create(NULL), 0);
	end_connect(&third, &fourth, 4, 7);
	must(!atexit(at_exit), "atexit");
	must(!pthread_create(&thread, NULL, work, NULL), "pthread_create");
	pthread_detach(thread);
	pthread_exit(NULL);
}
