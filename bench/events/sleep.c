/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sleep -- a consumer that sleeps until an event comes: in a wait for one queue, or for a CNO of
 * many
 */
#include "workload.h"

#include "connect.h"
#include "device.h"
#include "measure.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define EVENTS 480u
#define WARM_UP 16u /* not counted */
#define QUEUES_MAX 256u

static const struct engine *sleep_engine;
static struct queue queues[QUEUES_MAX];
static unsigned int queue_count;
static DAT_CNO_HANDLE cno;
static _Atomic uint64_t handled;

/* One event at a time, when the consumer and all threads of the engine sleep. */
static void
sleep_run(const struct engine *engine, void *(*consumer)(void *))
{
	unsigned int at = 0;
	pthread_t thread;

	sleep_engine = engine;
	measure_must(!pthread_create(&thread, NULL, consumer, NULL), "pthread_create");
	for (unsigned int i = 0; i < queue_count; i++)
		for (unsigned int k = 0; k < (WARM_UP + EVENTS) / queue_count + 1; k++)
			engine->receive(&queues[i], k % queues[i].endpoints);
	for (unsigned int i = 0; i < WARM_UP + EVENTS; i++) {
		at = (at + 7) % queue_count;
		device_await_quiet();
		if (i == WARM_UP)
			measure_begin();
		device_complete_receives(queues[at].cq, 1);
		device_await(&handled, i + 1);
	}
	device_await_quiet();
	measure_end();
	measure_events(EVENTS);
}

static void *
sleep_wait_consumer(void *arg)
{
	for (;;)
		atomic_fetch_add_explicit(
		    &handled, sleep_engine->wait(&queues[0]), memory_order_release);
	return arg;
}

void
sleep_wait(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	(void)n;
	queue_count = 1;
	engine->open();
	engine->create(&queues[0], 64, kind);
	engine->feed(&queues[0], 8);
	sleep_run(engine, sleep_wait_consumer);
}

/*
 * The CNO says which EVD was first; another may have events, too, but here events come one at a
 * time.
 */
static void *
sleep_cno_consumer(void *arg)
{
	struct queue from = { 0 };

	for (;;) {
		if (dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &from.evd) != DAT_SUCCESS)
			abort();
		atomic_fetch_add_explicit(&handled, engine_dat.drain(&from), memory_order_release);
	}
	return arg;
}

static void *
sleep_channel_consumer(void *arg)
{
	for (;;)
		atomic_fetch_add_explicit(
		    &handled, sleep_engine->wait_any(queues[0].channel), memory_order_release);
	return arg;
}

/* n queues with one endpoint each. */
void
sleep_cno(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	queue_count = n;
	engine->open();
	if (!engine->wait_any)
		dat_must("dat_cno_create",
		    dat_cno_create(engine_ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
	for (unsigned int i = 0; i < n; i++) {
		queues[i].channel = queues[0].channel;
		queues[i].cno = cno;
		engine->create(&queues[i], 64, kind);
		engine->feed(&queues[i], 1);
	}
	sleep_run(engine, engine->wait_any ? sleep_channel_consumer : sleep_cno_consumer);
}
