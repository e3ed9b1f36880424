/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fence -- the arm before the second poll, on the real processor and softverbs' real queue
 *
 * Round by round one thread arms the completion queue and polls it, as the dispatcher does before
 * it sleeps, while another pushes one completion.  The poll finds the completion, or its event
 * comes: both missed is a lost wake-up.  In every second round it trusts the hint of the arm, and
 * does not poll if there is none.  Only rounds in which the two meet can lose one, so those are
 * counted, however long they take.  The threads wait for each other by spinning, each on a
 * processor of its own: where others want the processors, too, both keep them until their turns are
 * over, and turns often overlap.
 *
 * Usage: fence ROUNDS SECONDS
 *   ROUNDS   that the two must have met in
 *   SECONDS  after which it gives up: status 77
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "softverbs/cq/cq.h"
#include "softverbs/soft_arm.h"
#include "test/proof/pin.h"

#define SPINS_BEFORE_YIELD 1000000u

static cpu_set_t processors;
static struct ibv_context *context;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static _Alignas(128) atomic_ulong go;
static _Alignas(128) atomic_ulong begun;
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
	pin(&processors, 1);
	for (unsigned long round = 1; !atomic_load(&stop); round++) {
		until(&go, round);
		nap(round * 7 % 64);
		atomic_store(&begun, round);
		if (!atomic_load(&stop))
			(void)soft_cq_push(soft_cq_of(cq), &wc, false);
		atomic_store(&pushed, round);
	}
	return NULL;
}

/*
 * True unless the completion of this round is there and nothing will ever tell.  *met counts rounds
 * in which neither thread was done before the other began.
 */
static bool
play(unsigned long round, unsigned long *met)
{
	struct ibv_wc wc;
	struct ibv_cq *of;
	bool first;
	void *arg;
	int found;

	atomic_store(&go, round);
	nap(round * 11 % 64);
	first = atomic_load(&pushed) < round;
	found = soft_cq_arm(cq, 0);
	if (found || round % 2)
		found = ibv_poll_cq(cq, 1, &wc);
	*met += first && atomic_load(&begun) == round;
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
	const unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
	const time_t end = time(NULL) + 1 + (argc > 2 ? atol(argv[2]) : 100);
	struct ibv_device **list = ibv_get_device_list(NULL);
	unsigned long round = 0, met = 0, lost = 0;
	pthread_t thread;

	if (sched_getaffinity(0, sizeof processors, &processors) || CPU_COUNT(&processors) < 2) {
		printf("fence: two threads cannot meet on one processor\n");
		return 77;
	}
	context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	channel = context ? ibv_create_comp_channel(context) : NULL;
	cq = channel ? ibv_create_cq(context, 16, NULL, channel, 0) : NULL;
	if (!cq || fcntl(channel->fd, F_SETFL, O_NONBLOCK) ||
	    pthread_create(&thread, NULL, device, NULL)) {
		perror("fence");
		return 2;
	}
	pin(&processors, 0);
	while (!lost && met < rounds && (round % 1024 || time(NULL) < end))
		lost += !play(++round, &met);
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	printf("%s  the threads met in %lu of %lu rounds\n",
	    lost ? "FAIL  fence: a wake-up is lost" : "ok", met, round);
	if (lost)
		return 1;
	return met < rounds ? 77 : 0;
}
