/* SPDX-License-Identifier: BSD-3-Clause */
/* many -- many queues of which few are busy, and what an idle one holds */
#include "workload.h"

#include "connect.h"
#include "device.h"
#include "measure.h"

#include <dat2/dat_upcall.h>
#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define QUEUES_MAX 10000u
#define BUSY_EACH 100 /* one of so many queues is busy */
#define DEPTH 64
#define BURST 8u
#define ROUNDS_ALL 6400u /* bursts of all rounds, about */

static struct queue *queues;
static _Atomic uint64_t handled;
static const struct engine *many_engine;

static void
many_count(DAT_PVOID data, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	(void)data;
	(void)more;
	engine_dat_consume(event);
	atomic_fetch_add_explicit(&handled, 1, memory_order_release);
}

static void *
many_read(void *arg)
{
	for (;;)
		atomic_fetch_add_explicit(
		    &handled, many_engine->wait_any(queues[0].channel), memory_order_release);
	return arg;
}

static void
many_create(const struct engine *engine, struct queue *queue, DAT_UPCALL_POLICY policy)
{
	const DAT_UPCALL_OBJECT object = { NULL, many_count };

	if (engine->wait_any || policy == DAT_UPCALL_DISABLE) {
		queue->channel = queues[0].channel;
		engine->create(queue, DEPTH, QUEUE_PLAIN);
		return;
	}
	queue->cq = device_cqs();
	dat_must("dat_evd_kcreate",
	    dat_evd_kcreate(engine_ia, DEPTH, policy, &object, DAT_EVD_DTO_FLAG, &queue->evd));
}

static unsigned int
many_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned int n = 0;

	measure_must(folder != NULL, "/proc/self/fd");
	while (readdir(folder))
		n++;
	closedir(folder);
	return n - device_descriptors();
}

static uint64_t
many_resident(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	measure_must(file && fscanf(file, "%*u %lu", &pages) == 1, "/proc/self/statm");
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t
many_allocated(void)
{
	const struct mallinfo2 heap = mallinfo2();

	return heap.uordblks + heap.hblkhd;
}

/*
 * n queues, and what one of them holds: with the queue of the device, which engine_raw holds, too.
 */
static void
many_open(const struct engine *engine, unsigned int n, DAT_UPCALL_POLICY policy)
{
	struct queue first = { 0 };
	uint64_t allocated, resident;
	unsigned int descriptors;

	measure_must(n <= QUEUES_MAX, "too many queues");
	queues = calloc(n, sizeof *queues);
	measure_must(queues != NULL, "no memory");
	engine->open();
	many_create(engine, &first, policy); /* with it comes what all share */
	queues[0].channel = first.channel;
	allocated = many_allocated();
	resident = many_resident();
	descriptors = many_descriptors();
	for (unsigned int i = 0; i < n; i++)
		many_create(engine, &queues[i], policy);
	measure_figure("allocated", (double)(many_allocated() - allocated) / n);
	measure_figure("resident", (double)(many_resident() - resident) / n);
	measure_figure("descriptors", many_descriptors() - descriptors);
	measure_figure("objects", n);
}

/* One of a hundred queues gets a burst; the next round begins when all threads sleep. */
void
many_busy(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	const unsigned int busy = n < BUSY_EACH ? 1 : n / BUSY_EACH;
	const unsigned int rounds = ROUNDS_ALL / busy < 64 ? ROUNDS_ALL / busy : 64;
	uint64_t until = 0;
	pthread_t thread;

	(void)kind;
	many_engine = engine;
	many_open(engine, n, DAT_UPCALL_SINGLE_INSTANCE);
	for (unsigned int i = 0; i < busy; i++)
		engine->feed(&queues[i * (n / busy)], 1);
	if (engine->wait_any)
		measure_must(!pthread_create(&thread, NULL, many_read, NULL), "pthread_create");
	for (unsigned int w = 0; w < 2; w++) {
		for (unsigned int i = 0; i < busy; i++)
			for (unsigned int k = 0; k < rounds * BURST && k < ENGINE_DEPTH; k++)
				engine->receive(&queues[i * (n / busy)], 0);
		device_await_quiet();
		if (w)
			measure_begin();
		for (unsigned int r = 0; r < rounds; r++) {
			for (unsigned int i = 0; i < busy; i++)
				device_complete_receives(queues[i * (n / busy)].cq, BURST);
			device_await(&handled, until += (uint64_t)busy * BURST);
			device_await_quiet();
		}
		if (!w)
			continue;
		measure_end();
		measure_events((uint64_t)rounds * busy * BURST);
	}
}

/* Queues for waits: nothing happens on them. */
void
many_idle(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	(void)kind;
	many_open(engine, n, DAT_UPCALL_DISABLE);
}

/* Queues with an upcall. */
void
many_idle_upcalls(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	(void)kind;
	many_open(engine, n, DAT_UPCALL_SINGLE_INSTANCE);
}
