/* SPDX-License-Identifier: BSD-3-Clause */
/* ping_librearm -- the ends of ping_verbs.c with librearm */
#include "ping_verbs.h"

#include "engine_librearm.h"
#include "measure.h"

#include <unistd.h>

static struct rearm_queue *queues[2];

static void
lib_open(void)
{
	struct rearm_loop *loop = engine_librearm_loop();

	ping_verbs_open();
	for (unsigned int i = 0; i < 2; i++)
		queues[i] = engine_librearm_adopt(loop, ping_ends[i].receives);
}

static void
lib_wait(unsigned int end)
{
	struct ibv_wc wc;

	if (rearm_queue_wait(queues[end], 1, -1, 1, &wc) != 1 || wc.status != IBV_WC_SUCCESS)
		abort();
	ping_post(&ping_ends[end]);
}

static void
lib_called(void *arg, const struct ibv_wc *wc, int n, int more)
{
	(void)more;
	ping_count(&ping_ends[1], wc, n, arg);
}

/* The thread of a loop of its own runs where this thread does. */
static void
lib_receive(_Atomic uint64_t *received)
{
	const struct rearm_upcall upcall = { lib_called, (void *)received, PING_BATCH };

	measure_must(!rearm_queue_free(queues[1]), "rearm_queue_free");
	queues[1] = engine_librearm_adopt(engine_librearm_loop(), ping_ends[1].receives);
	measure_must(
	    !rearm_queue_enable(queues[1], REARM_SINGLE, &upcall, REARM_ANY), "rearm_queue_enable");
	for (;;)
		pause();
}

const struct ping ping_librearm = { lib_open, lib_wait, ping_verbs_send, lib_receive };
