/* SPDX-License-Identifier: BSD-3-Clause */
#include "ping.h"

#include "connect.h"
#include "device.h"
#include "measure.h"
#include "workload.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define WARM_UP 2000u
#define ROUNDS 20000u
#define POSTED 16u
#define WINDOW (PING_POSTED / 2) /* messages of a stream that are on their way */
#define STREAM_WARM_UP 20000u
#define STREAM 400000u

static const struct ping *ping;
static uint64_t took[ROUNDS];
static int bells[2];
static struct queue ends[2];

/* The first or the second processor that the process may use. */
static void
ping_pin(unsigned int which)
{
	cpu_set_t all, one;
	int cpu = 0;

	measure_must(!sched_getaffinity(0, sizeof all, &all), "sched_getaffinity");
	measure_must(CPU_COUNT(&all) >= 2, "two processors are needed");
	for (which++; which; cpu++)
		which -= !!CPU_ISSET(cpu, &all);
	CPU_ZERO(&one);
	CPU_SET(cpu - 1, &one);
	measure_must(
	    !pthread_setaffinity_np(pthread_self(), sizeof one, &one), "pthread_setaffinity_np");
}

static void *
ping_serve(void *arg)
{
	ping_pin(1);
	for (;;) {
		ping->wait(1);
		ping->send(1);
	}
	return arg;
}

static int
ping_compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void
ping_run(const struct ping *how)
{
	uint64_t began = 0, last, now;
	pthread_t server;

	ping = how;
	device_pass_through();
	ping->open();
	measure_must(!pthread_create(&server, NULL, ping_serve, NULL), "pthread_create");
	ping_pin(0);
	last = measure_now();
	for (unsigned int i = 0; i < WARM_UP + ROUNDS; i++) {
		if (i == WARM_UP)
			began = measure_now();
		ping->send(0);
		ping->wait(0);
		now = measure_now();
		if (i >= WARM_UP)
			took[i - WARM_UP] = now - last;
		last = now;
	}
	measure_figure("rate", 2e9 * ROUNDS / (double)(last - began));
	qsort(took, ROUNDS, sizeof *took, ping_compare);
	measure_figure("p50", (double)took[ROUNDS / 2]);
	measure_figure("p90", (double)took[ROUNDS / 10 * 9]);
	measure_figure("p99", (double)took[ROUNDS / 100 * 99]);
	measure_figure("p99.9", (double)took[ROUNDS / 1000 * 999]);
	measure_events(2 * ROUNDS);
}

static void
dat_ping_open(void)
{
	engine_dat.open();
	connect_pair(ends);
	for (unsigned int i = 0; i < POSTED; i++) {
		engine_dat.receive(&ends[0], 0);
		engine_dat.receive(&ends[1], 0);
	}
}

static void
dat_ping_wait(unsigned int end)
{
	engine_dat.wait(&ends[end]);
	engine_dat.receive(&ends[end], 0);
}

/* The completion of the send comes to an EVD of its own, and is taken when it is there. */
static void
dat_ping_send(unsigned int end)
{
	DAT_EVENT event;

	engine_dat.send(&ends[end], 0);
	dat_evd_dequeue(ends[end].sends, &event);
}

static const struct ping ping_dat = {
	.open = dat_ping_open, .wait = dat_ping_wait, .send = dat_ping_send
};

static void
bell_open(void)
{
	for (unsigned int i = 0; i < 2; i++)
		bells[i] = eventfd(0, EFD_CLOEXEC);
	measure_must(bells[0] >= 0 && bells[1] >= 0, "eventfd");
}

static void
bell_wait(unsigned int end)
{
	uint64_t n;

	if (read(bells[end], &n, sizeof n) != sizeof n)
		abort();
}

static void
bell_send(unsigned int end)
{
	const uint64_t n = 1;

	if (write(bells[!end], &n, sizeof n) != sizeof n)
		abort();
}

static const struct ping ping_bell = { .open = bell_open, .wait = bell_wait, .send = bell_send };

void
ping_pong(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	(void)kind;
	(void)n;
	if (engine == &engine_librearm)
		ping_run(&ping_librearm);
	else
		ping_run(engine == &engine_dat ? &ping_dat : &ping_raw);
}

void
ping_pong_spin(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	(void)engine;
	(void)kind;
	(void)n;
	ping_run(&ping_spin);
}

void
ping_pong_eventfd(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	(void)engine;
	(void)kind;
	(void)n;
	ping_run(&ping_bell);
}

static void *
ping_receive(void *arg)
{
	ping_pin(1);
	ping->receive(arg);
	return arg;
}

/*
 * Messages from one end to the other as fast as they are received: as many are on their way as
 * there are receives, at most, so that none comes too early.
 */
void
ping_stream(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	static _Atomic uint64_t received;
	uint64_t began = 0;
	pthread_t receiver;

	(void)kind;
	(void)n;
	ping = engine == &engine_librearm ? &ping_librearm : &ping_raw;
	device_pass_through();
	ping->open();
	measure_must(
	    !pthread_create(&receiver, NULL, ping_receive, (void *)&received), "pthread_create");
	ping_pin(0);
	for (unsigned int i = 0; i < STREAM_WARM_UP + STREAM; i++) {
		if (i == STREAM_WARM_UP)
			began = measure_now();
		while (i - atomic_load_explicit(&received, memory_order_acquire) >= WINDOW)
			;
		ping->send(0);
	}
	while (atomic_load(&received) < STREAM_WARM_UP + STREAM)
		;
	measure_figure("rate", 1e9 * STREAM / (double)(measure_now() - began));
	measure_events(STREAM);
}
