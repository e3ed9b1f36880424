/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * async -- the reader of a device's asynchronous events
 *
 * The descriptor belongs to the device. Every IA of the device reads it and may get events of
 * other IAs. The context of the object in the event leads to the endpoint or EVD.
 */
#include "dapl/ep/ep.h"
#include "dapl/ia/channel.h"
#include "dapl/ia/ia.h"

/* A copy of an event. The event is acknowledged before the provider acts on it. */
struct note {
	enum ibv_event_type type;
	struct dapl_ep *ep;  /* of a queue pair, or NULL */
	uint32_t generation; /* of the queue pair of the event */
	struct evd_ref evd;  /* of a completion queue, or of none */
};

static void
async_copy(const struct ibv_async_event *event, struct note *note)
{
	const struct dapl_ep_qp_context *context;

	*note = (struct note){ .type = event->event_type };
	switch (event->event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		/*
		 * Until the event is acknowledged the queue pair stays, and with it its context.
		 * The device may also carry queue pairs of other users of this process.
		 */
		context = event->element.qp->qp_context;
		if (!dapl_slab_owns(&dapl_ep_qp_context_slab, context))
			break;
		note->ep = context->ep;
		note->generation = context->generation;
		break;
	case IBV_EVENT_CQ_ERR:
		if (dapl_slab_owns(&dapl_cq_context_slab, event->element.cq->cq_context))
			note->evd = ((struct dapl_cq_context *)event->element.cq->cq_context)->ref;
		break;
	default:
		break;
	}
}

/* Notifies the CM of the first message on a connection whose confirmation was lost. */
static void
async_notify_cm(struct dapl_ep *ep, uint32_t generation) DAPL_NO_LOCK
{
	struct dapl_conn *conn = NULL;

	dapl_object_lock(&ep->obj);
	if (dapl_object_is_alive(&ep->obj) && dapl_ep_generation(ep) == generation && ep->conn) {
		conn = ep->conn;
		dapl_ep_get_pin(ep);
	}
	dapl_object_unlock(&ep->obj);
	if (!conn)
		return;
	(void)rdma_notify(conn->id, IBV_EVENT_COMM_EST);
	dapl_ep_put_pin(ep);
}

static void
async_queue_pair_failed(struct dapl_ep *ep, uint32_t generation) DAPL_NO_LOCK
{
	DAT_HANDLE handle = DAT_HANDLE_NULL;
	struct dapl_ia *ia = NULL;

	dapl_object_lock(&ep->obj);
	if (dapl_object_is_alive(&ep->obj) && dapl_ep_generation(ep) == generation) {
		handle = ep->self;
		ia = dapl_ia_of(&ep->obj);
		dapl_ep_get_pin(ep);
	}
	dapl_object_unlock(&ep->obj);
	if (!handle)
		return;
	dapl_ia_report(ia, DAT_ASYNC_ERROR_EP_BROKEN, handle, DAT_EP_TRANSFER_TO_ERROR);
	dapl_ep_put_pin(ep); /* after the report: no event may name a freed endpoint */
	dapl_ep_broken(ep, generation);
}

static void
async_device_failed(struct dapl_ia *ia, void *arg) REQUIRES(dapl_locks.adapters)
{
	(void)arg;
	dapl_ia_report_self(ia, DAT_ASYNC_ERROR_IA_CATASTROPHIC, DAT_IA_CATASTROPHIC_ERROR);
}

static void
async_port_failed(struct dapl_ia *ia, void *arg) REQUIRES(dapl_locks.adapters)
{
	(void)arg;
	dapl_ia_report_self(ia, DAT_ASYNC_ERROR_IA_CATASTROPHIC, DAT_IA_OTHER_ERROR);
}

static void
async_dispatch(struct ibv_context *verbs, const struct note *note) DAPL_NO_LOCK
{
	switch (note->type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		if (note->ep)
			async_queue_pair_failed(note->ep, note->generation);
		break;
	case IBV_EVENT_COMM_EST:
		if (note->ep)
			async_notify_cm(note->ep, note->generation);
		break;
	case IBV_EVENT_CQ_ERR:
		if (note->evd.evd)
			dapl_evd_overflowed(note->evd);
		break;
	case IBV_EVENT_DEVICE_FATAL:
		dapl_ia_for_each_on(verbs, async_device_failed, NULL);
		break;
	case IBV_EVENT_PORT_ERR:
		dapl_ia_for_each_on(verbs, async_port_failed, NULL);
		break;
	default:
		break; /* path migration, port and subnet changes need no action */
	}
}

void
dapl_async_read(void *arg, uint64_t serial)
{
	struct dapl_ia *ia = arg;
	struct ibv_async_event event;
	struct note note;

	(void)serial;
	while (ibv_get_async_event(ia->verbs, &event) == 0) {
		async_copy(&event, &note);
		ibv_ack_async_event(&event);
		async_dispatch(ia->verbs, &note);
	}
	dapl_channel_check(ia->loops[0].loop, &ia->async_ticket);
}
