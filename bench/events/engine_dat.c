/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_dat -- the DAT provider and the registry that the environment chooses */
#include "engine.h"

#include "connect.h"
#include "device.h"
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

DAT_IA_HANDLE engine_ia;

void
dat_must(const char *call, DAT_RETURN ret)
{
	const char *type = "", *detail = "";

	if (ret == DAT_SUCCESS)
		return;
	dat_strerror(ret, &type, &detail);
	fprintf(stderr, "bench: %s: %s %s\n", call, type, detail);
	_exit(1);
}

static void
dat_open(void)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;

	dat_must("dat_ia_open", dat_ia_open((char *)"bench", 8, &async, &engine_ia));
}

DAT_EVD_FLAGS
engine_dat_flags(enum queue_kind kind)
{
	static const int flags[] = {
		[QUEUE_PLAIN] = DAT_EVD_DTO_FLAG,
		[QUEUE_MERGED] = DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG | DAT_EVD_CONNECTION_FLAG,
		[QUEUE_SOFTWARE] = DAT_EVD_SOFTWARE_FLAG,
	};

	return (DAT_EVD_FLAGS)flags[kind];
}

/*
 * Debian's dapl refuses an EVD of completions and connection events; there a merged queue is one
 * without these.
 */
static void
dat_create(struct queue *queue, unsigned int depth, enum queue_kind kind)
{
	DAT_EVD_FLAGS flags = engine_dat_flags(kind);
	DAT_RETURN ret;

	queue->kind = kind;
	queue->cq = device_cqs();
	ret = dat_evd_create(engine_ia, (DAT_COUNT)depth, queue->cno, flags, &queue->evd);
	if (DAT_GET_TYPE(ret) == DAT_INVALID_PARAMETER && kind == QUEUE_MERGED) {
		queue->kind = QUEUE_PLAIN;
		flags = (DAT_EVD_FLAGS)(flags & ~DAT_EVD_CONNECTION_FLAG);
		ret = dat_evd_create(engine_ia, (DAT_COUNT)depth, queue->cno, flags, &queue->evd);
	}
	dat_must("dat_evd_create", ret);
	measure_must(kind == QUEUE_SOFTWARE || device_cqs() == queue->cq + 1,
	    "no completion queue with its EVD");
}

static void
dat_receive(struct queue *queue, unsigned int endpoint)
{
	const DAT_DTO_COOKIE cookie = { .as_64 = endpoint };

	if (dat_ep_post_recv(queue->ep[endpoint], 1, &connect_segment, cookie,
		DAT_COMPLETION_DEFAULT_FLAG) != DAT_SUCCESS)
		abort();
}

static void
dat_send(struct queue *queue, unsigned int endpoint)
{
	const DAT_DTO_COOKIE cookie = { .as_64 = endpoint };

	if (dat_ep_post_send(queue->ep[endpoint], 1, &connect_segment, cookie,
		DAT_COMPLETION_DEFAULT_FLAG) != DAT_SUCCESS)
		abort();
}

static void
dat_take(struct queue *queue, unsigned int n)
{
	DAT_EVENT event;

	while (n--) {
		if (dat_evd_dequeue(queue->evd, &event) != DAT_SUCCESS)
			abort();
		engine_dat_consume(&event);
	}
}

static unsigned int
dat_drain(struct queue *queue)
{
	unsigned int n = 0;
	DAT_EVENT event;

	while (dat_evd_dequeue(queue->evd, &event) == DAT_SUCCESS) {
		engine_dat_consume(&event);
		n++;
	}
	return n;
}

static unsigned int
dat_wait(struct queue *queue)
{
	DAT_EVENT event;
	DAT_COUNT nmore;

	if (dat_evd_wait(queue->evd, DAT_TIMEOUT_INFINITE, 1, &event, &nmore) != DAT_SUCCESS)
		abort();
	engine_dat_consume(&event);
	return 1;
}

static void
dat_software(struct queue *queue)
{
	const DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };

	if (dat_evd_post_se(queue->evd, &event) != DAT_SUCCESS)
		abort();
}

const struct engine engine_dat = {
	.name = "dat",
	.open = dat_open,
	.create = dat_create,
	.feed = connect_feed,
	.receive = dat_receive,
	.send = dat_send,
	.take = dat_take,
	.drain = dat_drain,
	.wait = dat_wait,
	.software = dat_software,
	.reconnect = connect_and_disconnect,
};
