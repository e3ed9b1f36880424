/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cm -- the reader of an IA's connection manager channel
 *
 * An event is copied and acknowledged before the provider acts on it: the destruction of an id
 * waits until its events are acknowledged, and the provider may destroy ids.
 */
#include <string.h>

#include "dapl/cm/cm.h"

#include "dapl/state/cm_event.h"
#include "dapl/cm/connect.h"
#include "dapl/cm/cr.h"
#include "dapl/trace/debug.h"
#include "dapl/ep/ep.h"
#include "dapl/ia/channel.h"
#include "dapl/ia/ia.h"
#include "dapl/trace/name.h"
#include "evd/probe.h"

struct note {
	enum rdma_cm_event_type type;
	int status;
	struct dapl_conn *conn; /* of the id, or of the listener for a request */
	uint32_t generation;	/* of the conn when the event was read */
	struct rdma_cm_id *id;
	bool datagram;		    /* of the port space of datagrams */
	struct ibv_ah_attr address; /* then: where the queue pair is, its number and its key */
	uint32_t qpn, qkey;
	uint8_t responder, initiator, size;
	uint8_t data[DAPL_EP_ANSWER_MAX];
};

static void
cm_copy(const struct rdma_cm_event *event, struct note *note)
{
	const struct rdma_conn_param *param = &event->param.conn;
	const bool request = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;

	note->type = event->event;
	note->status = event->status;
	note->id = event->id;
	REARM_PROBE_INTS(cm_event, note->id, note->type, note->status);
	note->conn = (request ? event->listen_id : event->id)->context;
	/* The event is not acknowledged yet, so the id and its conn still exist. */
	note->generation =
	    note->conn ? atomic_load_explicit(&note->conn->generation, memory_order_acquire) : 0;
	note->datagram = event->id->ps == RDMA_PS_UDP;
	if (note->datagram) {
		/* Private data and their length stand at the same place. */
		note->address = event->param.ud.ah_attr;
		note->qpn = event->param.ud.qp_num;
		note->qkey = event->param.ud.qkey;
	} else {
		note->responder = param->responder_resources;
		note->initiator = param->initiator_depth;
	}
	note->size = param->private_data ? param->private_data_len : 0;
	if (note->size)
		memcpy(note->data, param->private_data, note->size);
	memset(note->data + note->size, 0, sizeof note->data - note->size);
}

static bool
cm_is_zero(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (data[i])
			return false;
	return true;
}

/* Whether the private data begin with the version word. */
static bool
cm_has_version(const struct note *note)
{
	uint32_t version = 0;

	if (note->size >= sizeof version)
		memcpy(&version, note->data, sizeof version);
	return ntohl(version) >> DAPL_CR_REJECT_MAJOR_SHIFT ==
	       DAPL_CR_REJECT_VERSION >> DAPL_CR_REJECT_MAJOR_SHIFT;
}

/*
 * A rejection that begins with the version word was made by a DAT consumer, and one that has data
 * by a consumer of the connection manager.  Any other was made by a provider or by the transport.
 */
static void
cm_rejected(struct dapl_ep *ep, const struct note *note) DAPL_NO_LOCK
{
	const size_t version = sizeof(uint32_t);
	size_t size;

	if (cm_has_version(note)) {
		/* Other providers report the whole length of a padded message: zeros follow. */
		size = note->size == DAPL_CR_REJECT_PADDED ? note->size : note->size - version;
		dapl_ep_happened(
		    ep, note->conn, DAPL_EP_IS_REJECTED_BY_PEER, note->data + version, size);
	} else if (note->status == DAPL_CR_REJECT_BY_CONSUMER &&
		   !cm_is_zero(note->data, note->size)) {
		dapl_ep_happened(
		    ep, note->conn, DAPL_EP_IS_REJECTED_BY_PEER, note->data, note->size);
	} else {
		dapl_ep_happened(ep, note->conn, DAPL_EP_IS_REJECTED, note->data, note->size);
	}
}

static void
cm_act(struct dapl_ep *ep, const struct note *note) DAPL_NO_LOCK
{
	const struct dapl_cm_meaning *meaning = dapl_cm_meaning(note->type);

	if (dapl_debug_wants(DAPL_DEBUG_CONNECTIONS)) {
		const char *name = dapl_name_cm_event(note->type);

		dapl_debug_line("ep %p: RDMA_CM_EVENT_%s, status %d", ep->self, name ? name : "?",
		    note->status);
	}
	switch (meaning->sense) {
	case DAPL_CM_HAS_ADDRESS:
		dapl_connect_address_resolved(ep, note->conn);
		break;
	case DAPL_CM_HAS_ROUTE:
		dapl_connect_route_resolved(ep, note->conn);
		break;
	case DAPL_CM_HAS_NEITHER:
		dapl_connect_unresolved(ep, note->conn, note->status);
		break;
	case DAPL_CM_REJECTED:
		cm_rejected(ep, note);
		break;
	case DAPL_CM_HAPPENS:
		/* Of these, only an answer that accepts the connection has data. */
		dapl_ep_happened(ep, note->conn, meaning->what, note->data,
		    meaning->what == DAPL_EP_IS_ESTABLISHED ? note->size : 0);
		break;
	case DAPL_CM_MEANS_NOTHING:
		break;
	}
}

static void
cm_handle_lookup(struct dapl_ep *ep, const struct note *note) DAPL_NO_LOCK
{
	struct dapl_lookup_news news = {
		.type = note->type,
		.status = note->status,
		.address = note->address,
		.qpn = note->qpn,
		.qkey = note->qkey,
		.data = note->data,
		.size = note->size,
	};

	if (note->type != RDMA_CM_EVENT_ESTABLISHED) {
		news.by_peer = cm_has_version(note);
		news.data += news.by_peer ? sizeof(uint32_t) : 0;
		news.size = news.by_peer ? note->size - sizeof(uint32_t) : 0;
	}
	dapl_lookup_handle(ep, note->conn, note->generation, &news);
}

/* Pins the endpoint, so that it keeps the connection that the event is about. */
static void
cm_handle_ep(struct dapl_ep *ep, const struct note *note) DAPL_NO_LOCK
{
	bool ours;

	dapl_object_lock(&ep->obj);
	ours = dapl_object_is_alive(&ep->obj) && ep->conn == note->conn &&
	       dapl_conn_is(note->conn, note->generation);
	if (ours)
		dapl_ep_get_pin(ep);
	dapl_object_unlock(&ep->obj);
	if (!ours)
		return;
	cm_act(ep, note);
	dapl_ep_put_pin(ep);
}

/* False: a handoff or an accept has given the conn another owner. */
static bool
cm_handle_cr(struct dapl_cr *cr, const struct note *note) DAPL_NO_LOCK
{
	switch (note->type) {
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return dapl_cr_withdrawn(cr, note->conn, note->generation);
	default:
		return true;
	}
}

static void
cm_handle_owner(const struct note *note) DAPL_NO_LOCK
{
	struct dapl_object *owner;

	do
		owner = atomic_load_explicit(&note->conn->owner, memory_order_acquire);
	while (owner->kind == DAPL_KIND_CR && !cm_handle_cr((struct dapl_cr *)owner, note));
	if (owner->kind != DAPL_KIND_EP)
		return;
	if (note->datagram)
		cm_handle_lookup((struct dapl_ep *)owner, note);
	else
		cm_handle_ep((struct dapl_ep *)owner, note);
}

static void
cm_device_removed(struct dapl_ia *ia, void *arg) REQUIRES(dapl_locks.adapters)
{
	(void)arg;
	atomic_store_explicit(&ia->removal.begun, true, memory_order_release);
	dapl_ia_report_catastrophe(ia);
}

/*
 * Each id of a device that is removed gets an event.  The first concerns all adapters: a program
 * may close them before the events of the other ids were read.
 */
static void
cm_dispatch(struct dapl_ia *ia, const struct note *note) DAPL_NO_LOCK
{
	if (note->type == RDMA_CM_EVENT_DEVICE_REMOVAL) {
		dapl_ep_all_broken(ia->verbs);
		dapl_ia_for_each_on(ia->verbs, cm_device_removed, NULL);
	}
	if (!note->conn)
		return; /* the IA's own id */
	if (note->type == RDMA_CM_EVENT_CONNECT_REQUEST) {
		const struct dapl_cr_request request = {
			.id = note->id,
			.datagram = note->datagram,
			.responder = note->responder,
			.initiator = note->initiator,
			.size = note->size,
			.data = note->data,
		};

		dapl_cr_arrived(ia, note->conn, note->generation, &request);
		return;
	}
	if (!dapl_conn_is(note->conn, note->generation))
		return; /* the conn was closed after the event was read */
	cm_handle_owner(note);
}

static bool
cm_next_event(struct dapl_ia *ia, struct rdma_cm_event **event) DAPL_NO_LOCK
{
	int r;

	dapl_ia_cm_lock(ia);
	r = rdma_get_cm_event(ia->events, event);
	dapl_ia_cm_unlock(ia);
	return r == 0;
}

void
dapl_cm_read(void *arg, uint64_t serial)
{
	struct dapl_ia *ia = arg;
	struct rdma_cm_event *event;
	struct note note;

	(void)serial;
	while (cm_next_event(ia, &event)) {
		cm_copy(event, &note);
		rdma_ack_cm_event(event);
		cm_dispatch(ia, &note);
	}
	if (dapl_channel_check(ia->loops[0].loop, &ia->cm_ticket))
		dapl_ia_lost_channel(ia, NULL);
}
