/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * async -- the reader of a device's asynchronous events
 *
 * The descriptor belongs to the device. Every IA of the device reads it and may get events of
 * other IAs. The context of the object in the event leads to the endpoint or EVD.
 */
#include "dapl/ep/ep.h"
#include "dapl/ia/channel.h"
#include "dapl/ia/ia_count.h"

/* A copy of an event. The event is acknowledged before the provider acts on it. */
struct note {
	enum ibv_event_type type;
	struct dapl_ep *ep;   /* of a queue pair, or NULL */
	uint32_t generation;  /* of the queue pair of the event */
	struct evd_ref evd;   /* of a completion queue, or of none */
	struct dapl_srq *srq; /* or NULL */
	uint64_t serial;      /* of the shared receive queue */
	int port;	      /* whose link is lost */
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
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		/* The slot has this queue until the event is acknowledged. */
		if (!dapl_srq_owns(event->element.srq->srq_context))
			break;
		note->srq = event->element.srq->srq_context;
		note->serial = note->srq->obj.serial;
		break;
	case IBV_EVENT_PORT_ERR:
		note->port = event->element.port_num;
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

static bool
async_is_report_of(const void *posted, const void *handle)
{
	const DAT_EVENT *event = posted;

	return event->event_number == DAT_ASYNC_ERROR_EP_BROKEN &&
	       event->event_data.asynch_error_event_data.dat_handle == handle;
}

/*
 * Reports EP_BROKEN, or with `once` only if that was not done for this queue pair.  A report that
 * was not read yet is replaced: the EVD has room for one of each endpoint with a shared receive
 * queue, and a peer that connects again and again must not fill it.
 */
static void
async_report_ep(struct dapl_ep *ep, uint32_t generation, bool once) DAPL_NO_LOCK
{
	DAT_HANDLE handle = DAT_HANDLE_NULL;
	struct dapl_ia *ia = NULL;

	dapl_object_lock(&ep->obj);
	if (dapl_object_is_alive(&ep->obj) && dapl_ep_generation(ep) == generation &&
	    !(once && ep->reported == generation + 1)) {
		handle = ep->self;
		ia = dapl_ia_of(&ep->obj);
		ep->reported = generation + 1;
		dapl_ep_get_pin(ep);
	}
	dapl_object_unlock(&ep->obj);
	if (!handle)
		return;
	dapl_ia_purge_reports(ia, async_is_report_of, handle);
	dapl_ia_report(ia, DAT_ASYNC_ERROR_EP_BROKEN, handle, DAT_EP_TRANSFER_TO_ERROR);
	dapl_ep_put_pin(ep); /* after the report: no event may name a freed endpoint */
}

/*
 * Programs wait for this event before they free the endpoint.  Not every device raises one when a
 * queue pair has taken its last buffer: the end of the connection is reported, or the device's
 * event while it is still established, whichever comes first.
 */
void
dapl_ep_report_last(struct dapl_ep *ep, uint32_t generation)
{
	async_report_ep(ep, generation, true);
}

/*
 * The queue pair is in the error state already, and all completions of its receives can be polled.
 * An attempt to connect that failed is no connection: there is nothing to report.
 */
static void
async_last_buffer(struct dapl_ep *ep, uint32_t generation) DAPL_NO_LOCK
{
	bool established = false;

	dapl_object_lock(&ep->obj);
	if (dapl_object_is_alive(&ep->obj) && dapl_ep_generation(ep) == generation) {
		established = ep->state == DAT_EP_STATE_CONNECTED ||
			      ep->state == DAT_EP_STATE_DISCONNECT_PENDING;
		ep->drained = generation + 1;
		if (ep->owed.event) /* it waits for this */
			loop_hasten(&ep->timer);
	}
	dapl_object_unlock(&ep->obj);
	if (established)
		dapl_ep_report_last(ep, generation);
}

static void
async_queue_pair_failed(struct dapl_ep *ep, uint32_t generation) DAPL_NO_LOCK
{
	bool shared;

	dapl_object_lock(&ep->obj);
	if (dapl_object_is_alive(&ep->obj) && dapl_ep_generation(ep) == generation)
		dapl_ia_count(dapl_ia_of(&ep->obj), DCNT_IA_ASYNC_QP_ERROR);
	shared = ep->parts.srq != NULL;
	dapl_object_unlock(&ep->obj);
	async_report_ep(ep, generation, shared);
	dapl_ep_broken(ep, generation);
}

static void
async_device_failed(struct dapl_ia *ia, void *arg) REQUIRES(dapl_locks.adapters)
{
	(void)arg;
	dapl_ia_report_catastrophe(ia);
}

/* An adapter has one port, that of its address: the others of the device are none of its own. */
static void
async_port_failed(struct dapl_ia *ia, void *arg) REQUIRES(dapl_locks.adapters)
{
	const struct note *note = arg;

	if (ia->id->port_num == 0 || ia->id->port_num == note->port)
		dapl_ia_report_self(ia, DAT_ASYNC_ERROR_IA_CATASTROPHIC, DAT_IA_OTHER_ERROR);
}

static void
async_queue_failed(struct evd_ref ref) DAPL_NO_LOCK
{
	struct dapl_evd *evd = dapl_evd_of(ref.evd);

	dapl_object_lock(&evd->obj);
	if (dapl_object_is(&evd->obj, ref.serial))
		dapl_ia_count(dapl_ia_of(&evd->obj), DCNT_IA_ASYNC_CQ_ERROR);
	dapl_object_unlock(&evd->obj);
	dapl_evd_overflowed(ref);
}

static void
async_dispatch(struct ibv_context *verbs, struct note *note) DAPL_NO_LOCK
{
	switch (note->type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
		if (note->ep)
			async_queue_pair_failed(note->ep, note->generation);
		break;
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		if (note->ep)
			async_last_buffer(note->ep, note->generation);
		break;
	case IBV_EVENT_COMM_EST:
		if (note->ep)
			async_notify_cm(note->ep, note->generation);
		break;
	case IBV_EVENT_CQ_ERR:
		if (note->evd.evd)
			async_queue_failed(note->evd);
		break;
	case IBV_EVENT_SRQ_ERR:
		if (note->srq)
			dapl_srq_failed(note->srq, note->serial);
		break;
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		if (note->srq)
			dapl_srq_limit_reached(note->srq, note->serial);
		break;
	case IBV_EVENT_DEVICE_FATAL:
		dapl_ep_all_broken(verbs);
		dapl_ia_for_each_on(verbs, async_device_failed, NULL);
		break;
	case IBV_EVENT_PORT_ERR:
		dapl_ia_for_each_on(verbs, async_port_failed, note);
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
	bool lost;

	(void)serial;
	dapl_channel_begin_async();
	while (ibv_get_async_event(ia->verbs, &event) == 0) {
		async_copy(&event, &note);
		ibv_ack_async_event(&event);
		async_dispatch(ia->verbs, &note);
	}
	lost = dapl_channel_check(ia->loops[0].loop, &ia->async_ticket);
	dapl_channel_end_async();
	if (lost)
		dapl_ia_lost_channel(ia, NULL);
}
