/* SPDX-License-Identifier: BSD-3-Clause */
#include "async.h"
#include "cancel.h"
#include "changes.h"
#include "context.h"

static void
async_lock(struct soft_async_queue *queue) ACQUIRE(soft_locks.async) SOFT_NO_PEERS_LOCK UNCHECKED
{
	pthread_mutex_lock(&queue->lock);
}

static void
async_unlock(struct soft_async_queue *queue) RELEASE(soft_locks.async) UNCHECKED
{
	pthread_mutex_unlock(&queue->lock);
}

/* Of a device that was removed it stays readable: a call fails with EIO when it has no event. */
static void
async_update(struct soft_async_queue *queue) REQUIRES(soft_locks.async)
{
	const struct soft_context *ctx = soft_container_of(queue, struct soft_context, async);

	soft_ready_update(
	    &queue->ready, !TAILQ_EMPTY(&queue->sources) || soft_context_is_removed(ctx));
}

static void
async_wait_cancelled(
    struct soft_ready *ready, const struct soft_ready_wait *wait) SOFT_NO_EVENT_LOCK
{
	struct soft_async_queue *queue = soft_container_of(ready, struct soft_async_queue, ready);

	async_lock(queue);
	soft_ready_end(&queue->ready, wait);
	async_update(queue);
	async_unlock(queue);
}

static enum ibv_event_type
async_take(struct soft_async_source *source, unsigned int i) REQUIRES(soft_locks.async)
{
	const enum ibv_event_type type = (enum ibv_event_type)source->types[i];

	for (source->pending--; i < source->pending; i++)
		source->types[i] = source->types[i + 1];
	return type;
}

/*
 * After a wait: dequeues the oldest object's oldest event; the object moves to the end if it
 * has more.  False if there is none: then the caller may wait.
 */
static bool
async_next(struct soft_async_queue *queue, struct soft_ready_wait *wait,
    struct ibv_async_event *event) SOFT_NO_EVENT_LOCK
{
	struct soft_async_source *source;

	async_lock(queue);
	soft_ready_end(&queue->ready, wait);
	source = TAILQ_FIRST(&queue->sources);
	if (source) {
		event->event_type = async_take(source, 0);
		if (source->element)
			event->element.cq = source->element;
		else
			event->element.port_num = (int)source->port;
		source->delivered++;
		TAILQ_REMOVE(&queue->sources, source, link);
		if (source->pending)
			TAILQ_INSERT_TAIL(&queue->sources, source, link);
	}
	async_update(queue);
	*wait = soft_ready_begin(&queue->ready);
	async_unlock(queue);
	return source != NULL;
}

/* In the child of a fork a thread of the parent may have the lock, for ever. */
static void
async_acknowledge(struct ibv_context *context, pthread_mutex_t *mutex, pthread_cond_t *cond,
    uint32_t *completed) SOFT_NO_LEAF_LOCK
{
	if (soft_context_is_stale(soft_context_of(context)))
		return;
	soft_completed_lock(mutex);
	++*completed;
	pthread_cond_broadcast(cond);
	soft_completed_unlock(mutex);
}

/* No other thread knows the queue. */
int
soft_async_open(struct soft_async_queue *queue) UNCHECKED
{
	const int r = soft_ready_open(&queue->ready, async_wait_cancelled);

	if (r)
		return r;
	pthread_mutex_init(&queue->lock, NULL);
	TAILQ_INIT(&queue->sources);
	return queue->ready.fd;
}

void
soft_async_source_init(struct soft_async_source *source, void *element)
{
	*source = (struct soft_async_source){ .element = element };
}

void
soft_async_raise(
    struct soft_context *ctx, struct soft_async_source *source, enum ibv_event_type type)
{
	struct soft_async_queue *queue = &ctx->async;

	async_lock(queue);
	if (!source->dead) {
		if (!source->pending)
			TAILQ_INSERT_TAIL(&queue->sources, source, link);
		for (unsigned int i = 0; i < source->pending; i++)
			if (source->types[i] == type)
				(void)async_take(source, i);
		source->types[source->pending++] = (uint8_t)type;
		async_update(queue);
	}
	async_unlock(queue);
}

uint32_t
soft_async_source_fini(struct soft_context *ctx, struct soft_async_source *source)
{
	struct soft_async_queue *queue = &ctx->async;
	uint32_t delivered;

	async_lock(queue);
	source->dead = true;
	if (source->pending) {
		TAILQ_REMOVE(&queue->sources, source, link);
		async_update(queue);
	}
	delivered = source->delivered;
	async_unlock(queue);
	return delivered;
}

static int
async_wait(struct soft_async_queue *queue, struct soft_ready_wait *wait) UNCHECKED
{
	return soft_ready_wait(&queue->ready, wait);
}

int
soft_ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	SOFT_CANCEL_POINT;
	struct soft_context *ctx = soft_context_of(context);
	struct soft_ready_wait wait = { 0 };

	if (soft_context_is_stale(ctx)) {
		errno = EIO;
		return -1;
	}
	while (!async_next(&ctx->async, &wait, event)) {
		/* Reading from a device that was removed: DEVICE_FATAL was the last event. */
		if (soft_context_is_removed(ctx)) {
			errno = EIO;
			return -1;
		}
		if (async_wait(&ctx->async, &wait))
			return -1;
	}
	return 0;
}

void
ibv_ack_async_event(struct ibv_async_event *event)
{
	SOFT_UNCANCELLED;
	struct ibv_cq *cq = event->element.cq;
	struct ibv_qp *qp = event->element.qp;
	struct ibv_srq *srq = event->element.srq;

	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		async_acknowledge(cq->context, &cq->mutex, &cq->cond, &cq->async_events_completed);
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		async_acknowledge(qp->context, &qp->mutex, &qp->cond, &qp->events_completed);
		break;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		async_acknowledge(srq->context, &srq->mutex, &srq->cond, &srq->events_completed);
		break;
	default:
		break; /* events of the port and the device belong to no object */
	}
}

void
soft_async_close(struct soft_async_queue *queue) UNCHECKED
{
	pthread_mutex_destroy(&queue->lock);
	soft_ready_close(&queue->ready);
}
