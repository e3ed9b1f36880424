/* SPDX-License-Identifier: BSD-3-Clause */
/* slot -- the memory of queues, and what statistics say of those that are open */
#include <stdlib.h>

#include "rearm/internal.h"

#define STATS_MS_MIN 10
#define STATS_MS_MAX 60000

static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rearm_queue *slots, *slots_free;
static uint64_t slots_serial;

struct rearm_queue *
rearm_slot_get(void)
{
	struct rearm_queue *queue;

	pthread_mutex_lock(&slots_lock);
	queue = slots_free;
	if (queue) {
		slots_free = queue->next;
	} else {
		queue = os_alloc(1, sizeof *queue);
		if (queue) {
			evd_slot_init(&queue->core);
			os_mutex_init(&queue->in_use);
			queue->next_slot = slots;
			slots = queue;
		}
	}
	if (queue) {
		os_clear_from(queue, next);
		queue->serial = ++slots_serial;
	}
	pthread_mutex_unlock(&slots_lock);
	return queue;
}

void
rearm_slot_put(struct rearm_queue *queue)
{
	pthread_mutex_lock(&slots_lock);
	queue->next = slots_free;
	slots_free = queue;
	pthread_mutex_unlock(&slots_lock);
}

static void
slot_describe(const struct rearm_queue *queue, struct evd_stats_row *row)
{
	const struct ibv_context *context = queue->cq ? queue->cq->context : queue->context;

	row->evd = (uintptr_t)queue;
	row->serial = queue->serial;
	row->ia = (uintptr_t)queue->loop;
	row->rnr_stalls = EVD_STATS_UNKNOWN;
	row->flags = queue->cq ? EVD_STATS_COMPLETIONS :
		     context   ? EVD_STATS_ASYNC :
				 EVD_STATS_CONNECTIONS;
	evd_stats_name(row, context ? context->device->name : "rdma_cm");
}

/* The thread that publishes asks for one after the other. */
static int
slot_sample(uint32_t index, struct evd_stats_row *row)
{
	static struct rearm_queue *at;
	struct evd_ref ref;
	int r = -ENOENT;

	pthread_mutex_lock(&slots_lock);
	at = index ? at->next_slot : slots;
	if (at) {
		ref = rearm_queue_ref(at);
		r = rearm_queue_pin(at, ref);
		if (r) {
			r = evd_stats_fill(ref, row) == 0;
			slot_describe(at, row);
			os_unlock(&at->in_use);
		}
	}
	pthread_mutex_unlock(&slots_lock);
	return r;
}

/* A program goes on without statistics if there can be none; nothing is printed. */
bool
rearm_stats_start(void)
{
	const char *text = secure_getenv("REARM_STATS");
	const int ms = text ? evd_stats_interval(text, STATS_MS_MIN, STATS_MS_MAX) : 0;

	return ms > 0 && evd_stats_start((unsigned int)ms, slot_sample) == 0;
}
