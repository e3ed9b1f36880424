/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of ids and their channels; what librdmacm does when one is read */
#include "cm.h"
#include "soft/device/runtime.h"

#include <stdlib.h>

pthread_mutex_t soft_cm_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t acknowledged = PTHREAD_COND_INITIALIZER;

int
soft_cm_result(int r)
{
	if (!r)
		return 0;
	errno = r < 0 ? -r : r;
	return -1;
}

void
soft_cm_reset(void)
{
	pthread_mutex_init(&soft_cm_lock, NULL);
	pthread_cond_init(&acknowledged, NULL);
	soft_cm_device_reset();
	soft_services_reset();
	soft_ids_reset();
}

struct rdma_event_channel *
rdma_create_event_channel(void)
{
	struct soft_event_channel *channel = calloc(1, sizeof *channel);

	if (!channel)
		return NULL;
	channel->public.fd = soft_bell_open();
	if (channel->public.fd < 0) {
		free(channel);
		return NULL;
	}
	TAILQ_INIT(&channel->events);
	channel->generation = soft_runtime_generation();
	return &channel->public;
}

void
rdma_destroy_event_channel(struct rdma_event_channel *public)
{
	soft_close(public->fd);
	free(soft_event_channel_of(public));
}

struct soft_event *
soft_event_new(void)
{
	struct soft_event *event = calloc(1, sizeof *event);

	if (event)
		event->allocated = true;
	return event;
}

static void
enqueue(struct soft_event_channel *channel, struct soft_event *event)
{
	event->queued = true;
	TAILQ_INSERT_TAIL(&channel->events, event, link);
	soft_bell_ring(channel->public.fd);
}

void
soft_event_post(struct soft_id *id, struct soft_event *event, enum rdma_cm_event_type type,
    int status)
{
	event->id = id;
	event->public.event = type;
	event->public.status = status;
	event->public.id = event->child ? &event->child->public : &id->public;
	event->public.listen_id = event->child ? &id->public : NULL;
	enqueue(soft_event_channel_of(id->public.channel), event);
}

static void
take_out(struct soft_event_channel *channel, struct soft_event *event)
{
	event->queued = false;
	TAILQ_REMOVE(&channel->events, event, link);
	if (TAILQ_EMPTY(&channel->events))
		soft_bell_hush(channel->public.fd);
}

void
soft_event_drop(struct soft_id *id)
{
	struct soft_event_channel *channel = soft_event_channel_of(id->public.channel);
	struct soft_event *event = TAILQ_FIRST(&channel->events);

	while (event) {
		struct soft_id *child = event->child;

		if (event->id != id) {
			event = TAILQ_NEXT(event, link);
			continue;
		}
		take_out(channel, event);
		if (event->allocated)
			free(event);
		if (child)
			soft_cm_refuse(child); /* the event may be a part of it, and others */
		event = TAILQ_FIRST(&channel->events);
	}
}

void
soft_event_move(struct soft_id *id, struct rdma_event_channel *public)
{
	struct soft_event_channel *from = soft_event_channel_of(id->public.channel);
	struct soft_event_channel *to = soft_event_channel_of(public);
	struct soft_event *event, *next;

	for (event = TAILQ_FIRST(&from->events); event; event = next) {
		next = TAILQ_NEXT(event, link);
		if (event->id != id)
			continue;
		take_out(from, event);
		enqueue(to, event);
	}
	id->public.channel = public;
}

void
soft_event_wait_acknowledged(struct soft_id *id)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	while (id->acknowledged != id->reported)
		pthread_cond_wait(&acknowledged, &soft_cm_lock);
	pthread_setcancelstate(state, NULL);
}

static struct soft_event *
take(struct soft_event_channel *channel)
{
	struct soft_event *event;

	pthread_mutex_lock(&soft_cm_lock);
	event = TAILQ_FIRST(&channel->events);
	if (event) {
		take_out(channel, event);
		event->id->reported++;
		if (event->child)
			event->id->waiting--;
	}
	pthread_mutex_unlock(&soft_cm_lock);
	return event;
}

/* The passive side of librdmacm: a request becomes an id when it is read. */
static bool
process_request(struct soft_event *event)
{
	struct soft_id *child = event->child, *listener = event->id;
	struct rdma_event_channel *own = NULL;
	struct ibv_qp_init_attr init;
	int r = 0;

	if (listener->sync) {
		own = rdma_create_event_channel();
		r = own ? 0 : -1;
	}
	pthread_mutex_lock(&soft_cm_lock);
	child->public.context = listener->public.context;
	soft_event_move(child, own ? own : listener->public.channel);
	child->sync = own != NULL;
	pthread_mutex_unlock(&soft_cm_lock);
	if (!r && listener->endpoint) {
		init = *listener->endpoint;
		r = rdma_create_qp(&child->public, listener->endpoint_pd, &init);
	}
	if (r)
		rdma_destroy_id(&child->public);
	return !r;
}

static void
process_response(struct soft_event *event)
{
	struct soft_id *id = event->id;
	int r;

	if (!id->public.qp)
		return; /* the consumer's queue pair: it calls rdma_establish() */
	r = soft_cm_qp_ready(id);
	pthread_mutex_lock(&soft_cm_lock);
	if (r) {
		event->public.event = RDMA_CM_EVENT_CONNECT_ERROR;
		event->public.status = -r;
		soft_cm_abandon(id);
	} else {
		event->public.event = RDMA_CM_EVENT_ESTABLISHED;
		soft_cm_established(id);
	}
	pthread_mutex_unlock(&soft_cm_lock);
}

/* What librdmacm does between the kernel's event and the consumer's. */
static bool
process(struct soft_event *event)
{
	struct soft_id *id = event->id;

	switch (event->public.event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		event->public.status = soft_id_attach(id);
		if (event->public.status)
			event->public.event = RDMA_CM_EVENT_ADDR_ERROR;
		return true;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return process_request(event);
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		process_response(event);
		return true;
	case RDMA_CM_EVENT_REJECTED:
		soft_cm_qp_error(id);
		return true;
	default:
		return true;
	}
}

int
rdma_get_cm_event(struct rdma_event_channel *public, struct rdma_cm_event **out)
{
	struct soft_event_channel *channel = soft_event_channel_of(public);
	struct soft_event *event;
	int state;

	if (channel->generation != soft_runtime_generation())
		return soft_cm_result(EIO); /* the parent's */
	for (;;) {
		event = take(channel);
		if (!event) {
			if (soft_bell_wait(public->fd))
				return -1;
			continue;
		}
		/* A thread cancelled from here on would take the event with it. */
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
		if (process(event)) {
			pthread_setcancelstate(state, NULL);
			*out = &event->public;
			return 0;
		}
		rdma_ack_cm_event(&event->public);
		pthread_setcancelstate(state, NULL);
	}
}

int
rdma_ack_cm_event(struct rdma_cm_event *public)
{
	struct soft_event *event;

	if (!public)
		return soft_cm_result(EINVAL);
	event = soft_container_of(public, struct soft_event, public);
	pthread_mutex_lock(&soft_cm_lock);
	event->id->acknowledged++;
	pthread_cond_broadcast(&acknowledged);
	if (event->allocated)
		free(event);
	pthread_mutex_unlock(&soft_cm_lock);
	return 0;
}

int
soft_event_complete(struct soft_id *id)
{
	struct rdma_cm_event *event;

	if (!id->sync)
		return 0;
	if (id->public.event) {
		rdma_ack_cm_event(id->public.event);
		id->public.event = NULL;
	}
	if (rdma_get_cm_event(id->public.channel, &event))
		return -1;
	id->public.event = event;
	if (!event->status)
		return 0;
	if (event->event == RDMA_CM_EVENT_REJECTED)
		return soft_cm_result(ECONNREFUSED);
	return soft_cm_result(event->status);
}
