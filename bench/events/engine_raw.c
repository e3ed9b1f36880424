/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_raw -- loops over verbs, as they are written by hand: one completion a poll, or sixteen */
#include "engine_raw.h"

#include "device.h"
#include "measure.h"
#include "tools/perf/verbs_event.h"

#include <rdma/rdma_cma.h>
#include <stdlib.h>

#define BATCH 16

static struct ibv_context *context;
static struct ibv_pd *domain;
static struct ibv_mr *region;
static char memory[4096];

void
engine_raw_open(void)
{
	struct ibv_context **devices = rdma_get_devices(NULL);

	measure_must(devices && devices[0], "rdma_get_devices");
	context = devices[0];
	domain = ibv_alloc_pd(context);
	measure_must(domain != NULL, "ibv_alloc_pd");
	region = ibv_reg_mr(domain, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
	measure_must(region != NULL, "ibv_reg_mr");
}

void
engine_raw_create_cq(struct queue *queue, unsigned int depth)
{
	if (!queue->channel)
		queue->channel = ibv_create_comp_channel(context);
	measure_must(queue->channel != NULL, "ibv_create_comp_channel");
	queue->cq = device_cqs();
	queue->verbs = ibv_create_cq(context, (int)depth, queue, queue->channel, 0);
	measure_must(queue->verbs != NULL, "ibv_create_cq");
}

static void
raw_create(struct queue *queue, unsigned int depth, enum queue_kind kind)
{
	(void)kind;
	engine_raw_create_cq(queue, depth);
	if (ibv_req_notify_cq(queue->verbs, 0))
		abort();
	queue->drained = true;
}

/* The device does not look at the state of a queue pair, so these need no connection. */
void
engine_raw_feed(struct queue *queue, unsigned int n)
{
	struct ibv_qp_init_attr init = {
		.send_cq = queue->verbs,
		.recv_cq = queue->verbs,
		.cap = { ENGINE_DEPTH, ENGINE_DEPTH, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};

	for (; queue->endpoints < n; queue->endpoints++) {
		queue->qp[queue->endpoints] = ibv_create_qp(domain, &init);
		measure_must(queue->qp[queue->endpoints] != NULL, "ibv_create_qp");
	}
}

void
engine_raw_receive(struct queue *queue, unsigned int endpoint)
{
	struct ibv_sge sge = { (uintptr_t)memory, 8, region->lkey };
	struct ibv_recv_wr wr = { .wr_id = endpoint, .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(queue->qp[endpoint], &wr, &bad))
		abort();
}

void
engine_raw_send(struct queue *queue, unsigned int endpoint)
{
	struct ibv_sge sge = { (uintptr_t)memory, 8, region->lkey };
	struct ibv_send_wr wr = { .wr_id = endpoint,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED },
			   *bad;

	if (ibv_post_send(queue->qp[endpoint], &wr, &bad))
		abort();
}

static inline int
raw_poll(struct ibv_cq *cq, int batch, struct ibv_wc *wc)
{
	int n = ibv_poll_cq(cq, batch, wc);

	if (n < 0)
		abort();
	for (int i = 0; i < n; i++)
		engine_raw_consume(&wc[i]);
	return n;
}

static inline void
raw_take(struct queue *queue, unsigned int n, int batch)
{
	struct ibv_wc wc[BATCH];

	while (n)
		n -= (unsigned int)raw_poll(
		    queue->verbs, (unsigned int)batch < n ? batch : (int)n, wc);
}

/* A poll that returns less than was asked for has emptied the queue. */
static inline unsigned int
raw_drain(struct queue *queue, int batch)
{
	struct ibv_wc wc[BATCH];
	unsigned int sum = 0;
	int n;

	do {
		n = raw_poll(queue->verbs, batch, wc);
		sum += (unsigned int)n;
	} while (n == batch);
	return sum;
}

/*
 * A queue that was armed and then found empty is not polled again before its event has come; a poll
 * that returns less than was asked for has found it empty.
 */
static inline unsigned int
raw_wait(struct queue *queue, int batch)
{
	struct ibv_wc wc[BATCH];
	struct ibv_cq *ready;
	void *own;
	int n;

	if (!queue->drained) {
		n = raw_poll(queue->verbs, batch, wc);
		if (n)
			return (unsigned int)n;
		if (ibv_req_notify_cq(queue->verbs, 0))
			abort();
		n = raw_poll(queue->verbs, batch, wc);
		queue->drained = n < batch;
		if (n)
			return (unsigned int)n;
	}
	do {
		if (ibv_get_cq_event(queue->channel, &ready, &own))
			abort();
		verbs_event_ack(ready, &queue->unacked);
		if (ibv_req_notify_cq(queue->verbs, 0))
			abort();
		n = raw_poll(queue->verbs, batch, wc);
		queue->drained = n < batch;
	} while (!n);
	return (unsigned int)n;
}

/* The queues are armed when they are created, and then after each event. */
static inline unsigned int
raw_wait_any(struct ibv_comp_channel *channel, int batch)
{
	struct queue *queue;
	struct ibv_cq *ready;
	void *own;

	if (ibv_get_cq_event(channel, &ready, &own))
		abort();
	queue = own;
	verbs_event_ack(ready, &queue->unacked);
	if (ibv_req_notify_cq(ready, 0))
		abort();
	return raw_drain(queue, batch);
}

#define RAW_ENGINE(batch) \
	static void raw##batch##_take(struct queue *queue, unsigned int n) \
	{ \
		raw_take(queue, n, batch); \
	} \
	static unsigned int raw##batch##_drain(struct queue *queue) \
	{ \
		return raw_drain(queue, batch); \
	} \
	static unsigned int raw##batch##_wait(struct queue *queue) \
	{ \
		return raw_wait(queue, batch); \
	} \
	static unsigned int raw##batch##_wait_any(struct ibv_comp_channel *channel) \
	{ \
		return raw_wait_any(channel, batch); \
	} \
	const struct engine engine_raw##batch = { \
		.name = "raw" #batch, \
		.open = engine_raw_open, \
		.create = raw_create, \
		.feed = engine_raw_feed, \
		.receive = engine_raw_receive, \
		.send = engine_raw_send, \
		.take = raw##batch##_take, \
		.drain = raw##batch##_drain, \
		.wait = raw##batch##_wait, \
		.wait_any = raw##batch##_wait_any, \
		.reconnect = engine_raw_reconnect, \
	}

RAW_ENGINE(1);
RAW_ENGINE(16);
