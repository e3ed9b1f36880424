/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading an event does the work of librdmacm. */
#include "get_event.h"
#include "deliver.h"
#include "event.h"
#include "id.h"
#include "id_qp.h"
#include "softverbs/device/cancel.h"
#include "softverbs/device/runtime.h"
#include "softverbs/fault/fault.h"

/* The passive side of librdmacm: a request becomes an id when it is read. */
static bool
event_process_request(struct soft_event *event) SOFT_NO_CM_LOCK
{
	struct soft_id *child = event->child, *listener = event->id;
	struct rdma_event_channel *own = NULL;

	if (listener->sync)
		own = soft_rdma_create_event_channel();
	if ((listener->sync && !own) || soft_id_show_device(child)) {
		if (own)
			soft_rdma_destroy_event_channel(own);
		soft_rdma_destroy_id(&child->public);
		return false;
	}
	soft_cm_lock();
	child->public.context = listener->public.context;
	if (own)
		soft_event_move(child, own);
	child->sync = own != NULL;
	soft_cm_unlock();
	return true;
}

static void
event_process_response(struct soft_event *event) SOFT_NO_CM_LOCK
{
	struct soft_id *id = event->id;
	int r;

	if (!id->public.qp)
		return; /* the consumer's queue pair: it calls rdma_establish() */
	r = soft_cm_qp_ready(id);
	if (!r)
		r = soft_fault_now(SOFT_INCIDENT_CONNECT_ERROR, id->public.verbs);
	soft_cm_lock();
	if (r) {
		event->public.event = RDMA_CM_EVENT_CONNECT_ERROR;
		/* As a call of librdmacm returns; the error is in errno. */
		event->public.status = -1;
		soft_cm_disconnect(id);
	} else {
		event->public.event = RDMA_CM_EVENT_ESTABLISHED;
		soft_cm_established(id);
	}
	soft_cm_unlock();
	if (r)
		errno = r;
}

/*
 * The work of librdmacm between the event of the kernel and that of the consumer.  False if the
 * event is dropped.
 */
static bool
event_process(struct soft_event *event)
{
	struct soft_id *id = event->id;

	switch (event->public.event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		event->public.status = soft_id_show_device(id);
		if (event->public.status)
			event->public.event = RDMA_CM_EVENT_ADDR_ERROR;
		return true;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return event_process_request(event);
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		event_process_response(event);
		return true;
	case RDMA_CM_EVENT_REJECTED:
		soft_cm_qp_error(id);
		return true;
	default:
		return true;
	}
}

int
soft_rdma_get_cm_event(struct rdma_event_channel *public, struct rdma_cm_event **out)
{
	SOFT_CANCEL_POINT;
	struct soft_event_channel *channel = soft_event_channel_of(public);
	struct soft_ready_wait wait = { 0 };
	struct soft_event *event;
	int state;

	if (!out)
		return soft_cm_result(EINVAL);
	if (soft_event_channel_refuses(public))
		return -1;
	for (;;) {
		event = soft_event_take(channel, &wait);
		if (!event) {
			if (soft_event_wait(channel, &wait))
				return -1;
			continue;
		}
		/* A thread that is cancelled from here on would lose the event. */
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
		if (event_process(event)) {
			pthread_setcancelstate(state, NULL);
			*out = &event->public;
			return 0;
		}
		rdma_ack_cm_event(&event->public);
		pthread_setcancelstate(state, NULL);
	}
}

/*
 * Nothing is lost if the thread is cancelled in the wait: the event comes to the id as it would
 * have come.
 */
static int
event_await(struct soft_id *id)
{
	SOFT_CANCEL_POINT;
	struct rdma_cm_event *event;

	if (id->public.event) {
		rdma_ack_cm_event(id->public.event);
		id->public.event = NULL;
	}
	if (soft_rdma_get_cm_event(id->public.channel, &event))
		return -1;
	id->public.event = event;
	if (!event->status)
		return 0;
	if (event->event == RDMA_CM_EVENT_REJECTED)
		return soft_cm_result(ECONNREFUSED);
	return soft_cm_result(event->status);
}

int
soft_event_complete(struct soft_id *id, const struct soft_cancel *was)
{
	if (!id->sync)
		return 0;
	soft_cancel_restore(was);
	return event_await(id);
}
