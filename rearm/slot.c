/* SPDX-License-Identifier: BSD-3-Clause */
/* slot -- the memory of queues, and what statistics say of those that are open */
#include "rearm/internal.h"

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

void
rearm_slot_set_open(struct rearm_queue *queue, bool open)
{
	pthread_mutex_lock(&slots_lock);
	queue->open = open;
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
int
rearm_slot_sample(uint32_t index, struct evd_stats_row *row)
{
	static const struct rearm_queue *at;
	int r = -ENOENT;

	pthread_mutex_lock(&slots_lock);
	at = index ? at->next_slot : slots;
	if (at) {
		r = at->open && evd_stats_fill(rearm_queue_ref((struct rearm_queue *)at), row) == 0;
		if (r)
			slot_describe(at, row);
	}
	pthread_mutex_unlock(&slots_lock);
	return r;
}
