/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fence -- the arm before the second poll, on the real processor and softverbs' real queue
 *
 * Round by round one thread arms the completion queue and polls it, as the dispatcher does before it
 * sleeps, while another pushes one completion.  The poll finds the completion, or its event comes: both
 * missed is a lost wake-up.  Where the two threads never run at the same time nothing can be lost.
 *
 * Usage: fence [SECONDS]
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "soft/cq.h"

#define SPINS_BEFORE_YIELD 2000u

static struct ibv_context *context;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static _Alignas(128) atomic_ulong go;
static _Alignas(128) atomic_ulong pushed;
static _Alignas(128) atomic_bool stop;

static void
until(atomic_ulong *at, unsigned long round)
{
	unsigned int spins = 0;

	while (atomic_load(at) < round && !atomic_load(&stop))
		if (++spins % SPINS_BEFORE_YIELD == 0)
			sched_yield();
}

static void
nap(unsigned long n)
{
	for (volatile unsigned long i = 0; i < n; i++)
		;
}

static void *
device(void *arg)
{
	const struct ibv_wc wc = { .status = IBV_WC_SUCCESS };

	(void)arg;
	for (unsigned long round = 1; !atomic_load(&stop); round++) {
		until(&go, round);
		nap(round * 7 % 64);
		if (!atomic_load(&stop))
			(void)soft_cq_push(soft_cq_of(cq), &wc, false);
		atomic_store(&pushed, round);
	}
	return NULL;
}

/* True unless the completion of this round is there and nothing will ever tell. */
static bool
play(unsigned long round)
{
	struct ibv_wc wc;
	struct ibv_cq *of;
	void *arg;
	int found;

	atomic_store(&go, round);
	nap(round * 11 % 64);
	(void)soft_cq_arm(cq, 0);
	found = ibv_poll_cq(cq, 1, &wc);
	until(&pushed, round);
	if (ibv_get_cq_event(channel, &of, &arg) == 0) {
		ibv_ack_cq_events(cq, 1);
	} else if (!found) {
		return false;
	} else {
		/* Taken without an event: the queue is armed still.  One more, to unarm it. */
		const struct ibv_wc extra = { .status = IBV_WC_SUCCESS };

		(void)soft_cq_push(soft_cq_of(cq), &extra, false);
		if (ibv_get_cq_event(channel, &of, &arg) == 0)
			ibv_ack_cq_events(cq, 1);
	}
	while (ibv_poll_cq(cq, 1, &wc) > 0)
		;
	return true;
}

int
main(int argc, char **argv)
{
	const double seconds = argc > 1 ? atof(argv[1]) : 1;
	const time_t end = time(NULL) + 1 + (time_t)seconds;
	struct ibv_device **list = ibv_get_device_list(NULL);
	unsigned long round = 0, lost = 0;
	pthread_t thread;

	context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	channel = context ? ibv_create_comp_channel(context) : NULL;
	cq = channel ? ibv_create_cq(context, 16, NULL, channel, 0) : NULL;
	if (!cq || fcntl(channel->fd, F_SETFL, O_NONBLOCK) ||
	    pthread_create(&thread, NULL, device, NULL)) {
		perror("fence");
		return 2;
	}
	while (!lost && (round % 1024 || time(NULL) < end))
		lost += !play(++round);
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	printf("%s  after %lu rounds\n", lost ? "FAIL  fence: a wake-up is lost" : "ok", round);
	return lost != 0;
}
