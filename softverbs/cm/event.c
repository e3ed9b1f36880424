/* SPDX-License-Identifier: BSD-3-Clause */
#include "event.h"
#include "softverbs/cq/judge.h"
#include "softverbs/device/cancel.h"
#include "softverbs/device/runtime.h"

#include <stdlib.h>

static pthread_cond_t acknowledged = PTHREAD_COND_INITIALIZER;

static void
event_update(struct soft_event_channel *channel) REQUIRES(soft_locks.cm)
{
	soft_ready_update(&channel->ready, !TAILQ_EMPTY(&channel->events));
}

static void
event_wait_cancelled(struct soft_ready *ready, const struct soft_ready_wait *wait) SOFT_NO_CM_LOCK
{
	struct soft_event_channel *channel =
	    soft_container_of(ready, struct soft_event_channel, ready);

	soft_cm_lock();
	soft_ready_end(&channel->ready, wait);
	event_update(channel);
	soft_cm_unlock();
}

static void
event_enqueue(struct soft_event_channel *channel, struct soft_event *event) REQUIRES(soft_locks.cm)
{
	event->queued = true;
	TAILQ_INSERT_TAIL(&channel->events, event, link);
	event_update(channel);
}

void
soft_events_reset(void)
{
	pthread_cond_init(&acknowledged, NULL);
}

struct rdma_event_channel *
soft_rdma_create_event_channel(void) UNCHECKED
{
	SOFT_UNCANCELLED;
	struct soft_event_channel *channel = calloc(1, sizeof *channel);

	if (!channel)
		return NULL;
	if (soft_ready_open(&channel->ready, event_wait_cancelled)) {
		free(channel);
		return NULL;
	}
	channel->public.fd = channel->ready.fd;
	TAILQ_INIT(&channel->events);
	channel->generation = soft_runtime_mark();
	return &channel->public;
}

void
soft_event_channel_free(struct soft_event_channel *channel) UNCHECKED
{
	soft_ready_close(&channel->ready);
	free(channel);
}

struct soft_event *
soft_event_create(void)
{
	struct soft_event *event = calloc(1, sizeof *event);

	if (event)
		event->allocated = true;
	return event;
}

void
soft_event_post(
    struct soft_id *id, struct soft_event *event, enum rdma_cm_event_type type, int status)
{
	event->id = id;
	event->public.event = type;
	event->public.status = status;
	event->public.id = event->child ? &event->child->public : &id->public;
	event->public.listen_id = event->child ? &id->public : NULL;
	event_enqueue(soft_event_channel_of(id->public.channel), event);
}

void
soft_event_remove(struct soft_event_channel *channel, struct soft_event *event)
{
	event->queued = false;
	TAILQ_REMOVE(&channel->events, event, link);
	event_update(channel);
}

void
soft_event_move(struct soft_id *id, struct rdma_event_channel *public)
{
	struct soft_event_channel *from = soft_event_channel_of(id->public.channel);
	struct soft_event_channel *to = soft_event_channel_of(public);
	struct soft_event *event, *next;

	if (from == to)
		return; /* each event would be moved behind the others, again and again */
	for (event = TAILQ_FIRST(&from->events); event; event = next) {
		next = TAILQ_NEXT(event, link);
		if (event->id != id)
			continue;
		soft_event_remove(from, event);
		event_enqueue(to, event);
	}
	id->public.channel = public;
	/* An id whose request is not read has no other channel: this one may be destroyed now. */
	TAILQ_FOREACH (event, &to->events, link)
		if (event->id == id && event->child)
			soft_event_move(event->child, public);
}

void
soft_event_wait_acknowledged(struct soft_id *id, const char *call)
{
	struct soft_judged_wait wait = { call, "rdma id", 0, id->reported, id->acknowledged, NULL };
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	soft_judge_waiting(&wait);
	while (id->acknowledged != id->reported) {
		soft_cm_sleep(&acknowledged);
		soft_judge_waits(&wait, id->acknowledged);
	}
	soft_judge_waited(&wait);
	pthread_setcancelstate(state, NULL);
}

struct soft_event *
soft_event_take(struct soft_event_channel *channel, struct soft_ready_wait *wait)
{
	struct soft_event *event;

	soft_cm_lock();
	soft_ready_end(&channel->ready, wait);
	event = TAILQ_FIRST(&channel->events);
	if (event) {
		soft_event_remove(channel, event);
		event->id->reported++;
		if (event->child)
			event->id->waiting--;
	}
	*wait = soft_ready_begin(&channel->ready);
	soft_cm_unlock();
	return event;
}

int
soft_event_wait(struct soft_event_channel *channel, struct soft_ready_wait *wait) UNCHECKED
{
	return soft_ready_wait(&channel->ready, wait);
}

int
rdma_ack_cm_event(struct rdma_cm_event *public) SOFT_NO_CM_LOCK
{
	SOFT_UNCANCELLED;
	struct soft_event *event;

	if (!public)
		return soft_cm_result(EINVAL);
	event = soft_container_of(public, struct soft_event, public);
	soft_cm_lock();
	event->id->acknowledged++;
	pthread_cond_broadcast(&acknowledged);
	if (event->allocated)
		free(event);
	soft_cm_unlock();
	return 0;
}
