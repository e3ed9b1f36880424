/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue.h"
#include "settings.h"
#include "softverbs/cq/made.h"
#include "softverbs/device/runtime.h"

#include <stdlib.h>

atomic_uint soft_check_progress;

static pthread_mutex_t listing = PTHREAD_MUTEX_INITIALIZER; /* of those that change the lists */
static _Atomic(struct soft_check_queue *) queues;
static struct soft_check_queue *destroyed;
static atomic_uint last_number;

int
soft_check_queue_create(struct soft_cq *cq)
{
	struct soft_check_queue *queue = calloc(1, sizeof *queue);

	if (!queue)
		return -ENOMEM;
	queue->number = ++last_number;
	queue->generation = soft_runtime_generation();
	queue->cq = cq;
	queue->context = cq->ibv.cq_context;
	queue->creator = soft_site_thread();
	pthread_mutex_init(&queue->lock, NULL);
	soft_schedule_init(&queue->adversary.schedule, soft_check_settings.seed, queue->number,
	    &soft_check_settings.moves);
	cq->judged = queue;
	pthread_mutex_lock(&listing);
	queue->next = queues;
	if (queue->next)
		queue->next->before = queue;
	queues = queue;
	pthread_mutex_unlock(&listing);
	return 0;
}

void
soft_check_queue_remove(struct soft_check_queue *queue)
{
	struct soft_check_queue *next;

	pthread_mutex_lock(&listing);
	next = queue->next;
	if (queue->before)
		queue->before->next = next;
	else
		queues = next;
	if (next)
		next->before = queue->before;
	queue->destroyed_before = destroyed;
	destroyed = queue;
	pthread_mutex_unlock(&listing);
}

struct soft_check_queue *
soft_check_queues(void)
{
	return queues;
}

/* Numbers start again: a replay of the child counts as the child did. */
void
soft_check_queues_reset(void)
{
	pthread_mutex_init(&listing, NULL);
	soft_runtime_leak(queues);
	soft_runtime_leak(destroyed);
	queues = NULL;
	destroyed = NULL;
	last_number = 0;
}

static void
queue_look_at_entries(struct soft_cq *cq, struct soft_check_state *state) REQUIRES(soft_locks.cq)
{
	const uint32_t head = soft_counter_load(&cq->head), end = head + state->visible;
	const struct ibv_wc *wc;

	state->flushed = state->visible != 0;
	for (uint32_t i = head; i != end; i++) {
		wc = &cq->ring[i & cq->mask];
		if (wc->status != IBV_WC_WR_FLUSH_ERR)
			state->flushed = false;
		if (wc->status == IBV_WC_SUCCESS && wc->opcode & IBV_WC_RECV)
			state->received = true;
		if (soft_check_is_not_ready(wc) && !soft_completion_is_made(wc))
			state->not_ready = wc->qp_num;
	}
}

struct soft_check_state
soft_check_queue_look(struct soft_check_queue *queue)
{
	struct soft_check_state state = { 0 };
	struct soft_cq *cq = queue->cq;
	uint32_t head;

	soft_cq_lock(cq);
	head = soft_counter_load(&cq->head);
	state.visible = soft_counter_load(&cq->shown) - head;
	state.held = cq->tail - soft_counter_load(&cq->shown);
	state.due = cq->due;
	state.armed = cq->armed;
	state.overrun = cq->overrun;
	state.made = soft_cq_is_made(cq);
	state.moves = queue->adversary.made | queue->adversary.made_before;
	state.solicited = state.visible && (int32_t)(cq->solicited - head) > 0;
	queue_look_at_entries(cq, &state);
	if (cq->channel)
		state.unread = soft_cq_unread(cq);
	soft_cq_unlock(cq);
	return state;
}
