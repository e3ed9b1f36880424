/* SPDX-License-Identifier: BSD-3-Clause */
/* rate -- how many a second: connections, and upcalls of many EVDs */
#include "workload.h"

#include "connect.h"
#include "device.h"
#include "measure.h"

#include <dat2/dat_upcall.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define CONNECTIONS 400u
#define QUEUES 16u
#define ENDPOINTS 8u
#define WINDOW (ENDPOINTS * ENGINE_DEPTH) /* events of a queue in a round */
#define ROUNDS 32u
#define NAP_US 50

static struct queue queues[QUEUES];
static _Atomic uint64_t handled;

/* Opens the adapter: whether it has the options that the environment gives it. */
void
rate_open(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	const uint64_t began = measure_now();

	(void)kind;
	(void)n;
	engine->open();
	measure_figure("rate", 1e9 / (double)(measure_now() - began));
	measure_events(1);
}

static int
rate_compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/*
 * Connections over softverbs, one after the other, both ends in one thread; the median of their
 * times counts.
 */
void
rate_connections(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	static uint64_t took[CONNECTIONS];
	uint64_t began;

	(void)kind;
	(void)n;
	device_pass_through();
	engine->open();
	engine->reconnect();
	measure_begin();
	for (unsigned int i = 0; i < CONNECTIONS; i++) {
		began = measure_now();
		engine->reconnect();
		took[i] = measure_now() - began;
	}
	measure_end();
	qsort(took, CONNECTIONS, sizeof *took, rate_compare);
	measure_figure("rate", 1e9 / (double)took[CONNECTIONS / 2]);
	measure_events(CONNECTIONS);
}

static void
rate_count(DAT_PVOID data, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	(void)data;
	(void)more;
	engine_dat_consume(event);
	atomic_fetch_add_explicit(&handled, 1, memory_order_release);
}

/* Upcalls of many EVDs with a backlog. */
void
rate_upcalls(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	const DAT_UPCALL_OBJECT object = { NULL, rate_count };
	uint64_t took = 0, until = 0, began;

	(void)n;
	engine->open();
	for (unsigned int i = 0; i < QUEUES; i++) {
		queues[i].cq = device_cqs();
		dat_must(
		    "dat_evd_kcreate", dat_evd_kcreate(engine_ia, 2 * WINDOW, DAT_UPCALL_DISABLE,
					   &object, engine_dat_flags(kind), &queues[i].evd));
		engine->feed(&queues[i], ENDPOINTS);
	}
	for (unsigned int r = 0; r <= ROUNDS; r++) {
		for (unsigned int i = 0; i < QUEUES; i++) {
			for (unsigned int k = 0; k < WINDOW; k++)
				engine->receive(&queues[i], k % ENDPOINTS);
			device_complete_receives(queues[i].cq, WINDOW);
		}
		began = measure_now();
		for (unsigned int i = 0; i < QUEUES; i++)
			dat_must("dat_evd_modify_upcall",
			    dat_evd_modify_upcall(queues[i].evd, DAT_UPCALL_SINGLE_INSTANCE,
				DAT_UPCALL_SAME, DAT_UPCALL_INVOC_ANY));
		/* Asleep, so that both processors are free for the upcalls. */
		for (until += QUEUES * WINDOW; atomic_load(&handled) < until;)
			usleep(NAP_US);
		if (r)
			took += measure_now() - began;
		for (unsigned int i = 0; i < QUEUES; i++)
			dat_must("dat_evd_modify_upcall",
			    dat_evd_modify_upcall(queues[i].evd, DAT_UPCALL_TEARDOWN,
				DAT_UPCALL_SAME, DAT_UPCALL_INVOC_ANY));
	}
	measure_figure("rate", (double)ROUNDS * QUEUES * WINDOW * 1e9 / (double)took);
	measure_events((uint64_t)ROUNDS * QUEUES * WINDOW);
}
