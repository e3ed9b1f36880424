/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine_librearm.h"

#include "engine_raw.h"
#include "measure.h"

#include <stdatomic.h>

#define BATCH 16

static struct rearm_loop *own;

struct rearm_loop *
engine_librearm_loop(void)
{
	struct rearm_loop *loop;

	measure_must(!rearm_loop_create(NULL, &loop), "rearm_loop_create");
	return loop;
}

struct rearm_queue *
engine_librearm_adopt(struct rearm_loop *loop, struct ibv_cq *cq)
{
	const char *spin = getenv("BENCH_SPIN");
	const struct rearm_queue_attr attr = { .spin = spin ? (unsigned int)atoi(spin) : 0 };
	struct rearm_queue *queue;

	measure_must(!rearm_queue_adopt(loop, cq, &attr, &queue), "rearm_queue_adopt");
	return queue;
}

static void
lib_open(void)
{
	engine_raw_open();
	own = engine_librearm_loop();
}

static void
lib_create(struct queue *queue, unsigned int depth, enum queue_kind kind)
{
	(void)kind;
	engine_raw_create_cq(queue, depth);
	queue->rearm = engine_librearm_adopt(own, queue->verbs);
}

static void
lib_consume(const struct ibv_wc *wc, int n)
{
	if (n < 0)
		abort();
	for (int i = 0; i < n; i++)
		engine_raw_consume(&wc[i]);
}

static unsigned int
lib_take_some(struct queue *queue, unsigned int most)
{
	struct ibv_wc wc[BATCH];
	const int n = rearm_queue_take(queue->rearm, (int)most, wc);

	lib_consume(wc, n);
	return (unsigned int)n;
}

static void
lib_take(struct queue *queue, unsigned int n)
{
	while (n)
		n -= lib_take_some(queue, n < BATCH ? n : BATCH);
}

static unsigned int
lib_drain(struct queue *queue)
{
	unsigned int sum = 0, n;

	do {
		n = lib_take_some(queue, BATCH);
		sum += n;
	} while (n);
	return sum;
}

static unsigned int
lib_wait(struct queue *queue)
{
	struct ibv_wc wc[BATCH];
	const int n = rearm_queue_wait(queue->rearm, 1, -1, BATCH, wc);

	lib_consume(wc, n);
	return (unsigned int)n;
}

static void
lib_called(void *arg, const struct ibv_wc *wc, int n, int more)
{
	(void)more;
	lib_consume(wc, n);
	atomic_fetch_add_explicit((_Atomic uint64_t *)arg, (uint64_t)n, memory_order_release);
}

static void
lib_enable(struct queue *queue, unsigned int n, _Atomic uint64_t *handled)
{
	const struct rearm_upcall upcall = { lib_called, (void *)handled, (int)n };

	if (rearm_queue_enable(queue->rearm, REARM_SINGLE, &upcall, REARM_ANY))
		abort();
}

static void
lib_disable(struct queue *queue)
{
	if (rearm_queue_disable(queue->rearm))
		abort();
}

const struct engine engine_librearm = {
	.name = "librearm",
	.open = lib_open,
	.create = lib_create,
	.feed = engine_raw_feed,
	.receive = engine_raw_receive,
	.send = engine_raw_send,
	.take = lib_take,
	.drain = lib_drain,
	.wait = lib_wait,
	.enable = lib_enable,
	.disable = lib_disable,
};
