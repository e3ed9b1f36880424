/* SPDX-License-Identifier: BSD-3-Clause */
#include "deliver.h"
#include "address.h"
#include "call.h"
#include "event.h"
#include "hold.h"
#include "id.h"
#include "lookup.h"
#include "message.h"
#include "pack.h"
#include "path.h"
#include "port.h"
#include "service.h"
#include "shared.h"
#include "timewait.h"
#include "wait.h"
#include "softverbs/device/changes.h"
#include "softverbs/fault/fault.h"
#include "softverbs/wire/link.h"

#include <stdlib.h>
#include <string.h>

static void
deliver_event_fill(struct soft_event *event, const struct soft_cm_message *message, uint8_t padded)
{
	struct rdma_conn_param *conn = &event->public.param.conn;

	memcpy(event->data, message->data, sizeof event->data);
	*conn = (struct rdma_conn_param){
		.private_data = event->data,
		.private_data_len = padded,
		/* The peer's initiator is our responder, and the other way round. */
		.responder_resources = message->initiator_depth,
		.initiator_depth = message->responder_resources,
		.flow_control = message->flow_control,
		.retry_count = message->retry_count,
		.rnr_retry_count = message->rnr_retry_count,
		.srq = message->srq,
		.qp_num = message->qpn,
	};
}

static uint8_t
deliver_limit(uint8_t offer, int limit)
{
	return offer < limit ? offer : (uint8_t)limit;
}

/* The offers and limits of the peer, from which the queue pair is set up. */
static void
deliver_id_set_peer(struct soft_id *id, const struct soft_cm_message *message)
    REQUIRES(soft_locks.cm)
{
	id->peer_slot = message->from_slot;
	id->peer_number = message->from;
	id->peer_qpn = message->qpn;
	id->peer_psn = message->psn;
	id->peer_srq = message->srq;
	id->responder_resources =
	    deliver_limit(message->initiator_depth, soft_id_limits(id)->max_qp_rd_atom);
	id->initiator_depth =
	    deliver_limit(message->responder_resources, soft_id_limits(id)->max_qp_init_rd_atom);
	id->rnr_retry_count = message->rnr_retry_count;
}

static void
deliver_no_listener(const struct soft_cm_message *message) REQUIRES(soft_locks.cm)
{
	if (soft_port_is_abandoned(message->port_space, message->port))
		soft_cm_answer(message, SOFT_CM_REJ, SOFT_CM_REJ_NO_SERVICE);
	else
		soft_cm_answer(message, SOFT_CM_ABSENT, 0);
}

/* A device that has arrived again has no listener that was bound to it before. */
static bool
deliver_is_there(const struct soft_id *listener, const struct soft_device_port *port)
{
	return !soft_device_is_away(port->device) &&
	       !(listener->public.verbs &&
		   soft_context_is_removed(soft_context_of(listener->public.verbs)));
}

static void
deliver_request(const struct soft_cm_message *message) REQUIRES(soft_locks.cm)
{
	const struct soft_device_port *port = soft_topology_find_ip(
					  (const struct sockaddr *)&message->target),
				      *peer = soft_topology_find_ip(
					  (const struct sockaddr *)&message->source);
	struct soft_id *listener, *child = NULL;
	struct ibv_sa_path_rec *path = NULL;
	struct soft_event *event = NULL;

	listener = soft_service_find(
	    message->port_space, message->port, (const struct sockaddr *)&message->target);
	/* The peer may have another topology, with other ports. */
	if (!listener || !port || !peer || !deliver_is_there(listener, port)) {
		deliver_no_listener(message);
		return;
	}
	if (listener->waiting >= listener->backlog)
		goto reject;
	event = soft_event_create();
	child =
	    soft_id_create(listener->public.channel, listener->public.context, listener->public.ps);
	if (!event || !child)
		goto reject;
	child->port = port;
	child->peer_port = peer;
	child->public.route.addr.src_storage = message->target;
	child->public.route.addr.dst_storage = message->source;
	soft_address_set_port(&child->public.route.addr.src_addr, message->port);
	path = soft_path_create(child);
	if (!path)
		goto reject;
	soft_id_inherit_device(child);
	child->state = SOFT_ID_REQUESTED;
	child->incoming = true;
	child->public.route.addr.addr.ibaddr.dgid =
	    soft_path_gid(peer, &child->public.route.addr.dst_addr);
	soft_path_give(child, path);
	deliver_id_set_peer(child, message);
	child->retry_count = message->retry_count;
	if (soft_id_is_datagram(listener))
		soft_lookup_fill_event(child, event, message, false);
	else
		deliver_event_fill(event, message, soft_cm_request_data(listener->public.ps));
	event->child = child;
	listener->waiting++;
	soft_event_post(listener, event, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	soft_cm_send(child, SOFT_CM_MRA, 0, NULL, 0);
	return;

reject:
	free(path);
	free(event);
	if (child)
		soft_id_free(child);
	soft_cm_answer(message, SOFT_CM_REJ, SOFT_CM_REJ_CONSUMER);
}

/* True if the peer answers after its time was over. */
static bool
deliver_is_late(const struct soft_id *id, const struct soft_cm_message *message)
    REQUIRES(soft_locks.cm)
{
	if (id->state == SOFT_ID_DISCONNECTED)
		soft_cm_answer(message, SOFT_CM_REJ, SOFT_CM_REJ_TIMEOUT);
	return id->state != SOFT_ID_REQUESTING;
}

/* The connection manager of the peer works, and its consumer decides. */
static void
deliver_receipt(struct soft_id *id, const struct soft_cm_message *message) REQUIRES(soft_locks.cm)
{
	if (id->state != SOFT_ID_ANSWERED && deliver_is_late(id, message))
		return;
	soft_call_stop(id);
	id->peer_number = message->from;
	soft_wait_renew(id);
}

/* Once the consumer has answered, no MRA is sent: the answer is on its way. */
static void
deliver_question(struct soft_id *id) REQUIRES(soft_locks.cm)
{
	if (id->state == SOFT_ID_REQUESTED || id->state == SOFT_ID_ACCEPTED)
		soft_cm_send(id, SOFT_CM_MRA, 0, NULL, 0);
}

static void
deliver_reply(struct soft_id *id, const struct soft_cm_message *message) REQUIRES(soft_locks.cm)
{
	if (deliver_is_late(id, message))
		return;
	soft_call_stop(id);
	if (soft_id_is_datagram(id)) {
		soft_lookup_found(id, message);
		return;
	}
	deliver_id_set_peer(id, message);
	id->state = SOFT_ID_ACCEPTED;
	deliver_event_fill(&id->answer, message, SOFT_CM_REP_DATA);
	soft_event_post(id, &id->answer, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
}

static void
deliver_rejection(struct soft_id *id, const struct soft_cm_message *message) REQUIRES(soft_locks.cm)
{
	if (id->state != SOFT_ID_REQUESTING && id->state != SOFT_ID_ANSWERED &&
	    id->state != SOFT_ID_REQUESTED)
		return;
	soft_call_stop(id);
	if (soft_id_is_datagram(id)) {
		/* A service does not hear that its client gave up. */
		if (id->state == SOFT_ID_REQUESTING)
			soft_lookup_refused(id, message);
		return;
	}
	id->state = SOFT_ID_DISCONNECTED;
	deliver_event_fill(&id->answer, message, SOFT_CM_REJ_DATA);
	soft_event_post(id, &id->answer, RDMA_CM_EVENT_REJECTED, message->reason);
}

/* A rule lets it come a second time. */
static void
deliver_id_post_twice(struct soft_id *id, int status) REQUIRES(soft_locks.cm)
{
	struct soft_event *event;
	struct soft_rule rule;

	if (!soft_fault_happens(SOFT_INCIDENT_DISCONNECTED_TWICE, soft_id_context(id), 0, &rule))
		return;
	event = soft_event_create();
	if (event)
		soft_event_post(id, event, RDMA_CM_EVENT_DISCONNECTED, status);
}

static void
deliver_id_post_disconnected(struct soft_id *id, int status) REQUIRES(soft_locks.cm)
{
	id->state = SOFT_ID_DISCONNECTED;
	soft_event_post(id, &id->disconnected, RDMA_CM_EVENT_DISCONNECTED, status);
	if (__builtin_expect(soft_faults_have_incidents, false))
		deliver_id_post_twice(id, status);
	soft_timewait_start(id);
}

/* The state ensures that exactly one DISCONNECTED is posted, however often a DREQ comes. */
static void
deliver_disconnect(struct soft_id *id) REQUIRES(soft_locks.cm)
{
	bool told = id->state == SOFT_ID_DISCONNECTED;

	if (id->state < SOFT_ID_ANSWERED)
		return;
	if (!told)
		deliver_id_post_disconnected(id, 0);
	soft_cm_send(id, SOFT_CM_DREP, 0, NULL, 0);
}

/* As if the other end had asked for it, which hears the same. */
void
soft_cm_drop(struct soft_id *id)
{
	soft_cm_send(id, SOFT_CM_DREQ, 0, NULL, 0);
	deliver_id_post_disconnected(id, 0);
}

/* Answers a peer that does not know yet that the id was destroyed. */
static void
deliver_without_id(const struct soft_cm_message *message) REQUIRES(soft_locks.cm)
{
	switch (message->type) {
	case SOFT_CM_MRA:
	case SOFT_CM_ASK:
	case SOFT_CM_REP:
		soft_cm_answer(message, SOFT_CM_REJ, SOFT_CM_REJ_TIMEOUT);
		break;
	case SOFT_CM_RTU:
		soft_cm_answer(message, SOFT_CM_DREQ, 0);
		break;
	case SOFT_CM_DREQ:
		soft_cm_answer(message, SOFT_CM_DREP, 0);
		break;
	default:
		break;
	}
}

static void
deliver_id_lose_peer(struct soft_id *id) REQUIRES(soft_locks.cm)
{
	switch (id->state) {
	case SOFT_ID_REQUESTING:
	case SOFT_ID_REQUESTED:
	case SOFT_ID_ANSWERED:
		if (soft_id_is_datagram(id) && id->state == SOFT_ID_REQUESTED)
			break;
		/* It had no listener before; another process may get one. */
		if (id->held_until) {
			soft_call_absent(id);
			break;
		}
		soft_call_stop(id);
		id->state = SOFT_ID_DISCONNECTED;
		soft_event_post(id, &id->answer, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
		break;
	case SOFT_ID_ACCEPTED:
	case SOFT_ID_CONNECTED:
	case SOFT_ID_DISCONNECTING:
		deliver_id_post_disconnected(id, 0);
		break;
	default:
		break;
	}
}

struct lost {
	unsigned int slot;
	bool incoming;
};

static void
deliver_id_lose_link(struct soft_id *id, void *arg) REQUIRES(soft_locks.cm)
{
	const struct lost *lost = arg;

	if (id->peer_slot == lost->slot && id->incoming == lost->incoming)
		deliver_id_lose_peer(id);
}

void
soft_cm_disconnect(struct soft_id *id)
{
	soft_call_stop(id);
	switch (id->state) {
	case SOFT_ID_REQUESTING:
		/*
		 * If the number of the peer is not known yet, the peer gets the answer when its
		 * number arrives.
		 */
		if (id->peer_number)
			soft_cm_send(id, SOFT_CM_REJ, SOFT_CM_REJ_TIMEOUT, NULL, 0);
		break;
	case SOFT_ID_REQUESTED:
	case SOFT_ID_ACCEPTED:
		soft_cm_send(id, SOFT_CM_REJ, SOFT_CM_REJ_CONSUMER, NULL, 0);
		break;
	case SOFT_ID_ANSWERED: /* the peer may have the answer, and be connected */
	case SOFT_ID_CONNECTED:
		soft_cm_send(id, SOFT_CM_DREQ, 0, NULL, 0);
		break;
	default:
		break;
	}
	id->state = SOFT_ID_DISCONNECTED;
}

void
soft_cm_established(struct soft_id *id)
{
	/* The peer may have disconnected before its answer was read. */
	if (id->state != SOFT_ID_ACCEPTED)
		return;
	id->state = SOFT_ID_CONNECTED;
	soft_cm_send(id, SOFT_CM_RTU, 0, NULL, 0);
}

void
soft_event_purge(struct soft_id *id)
{
	struct soft_event_channel *channel;
	struct soft_event *event;

	if (soft_id_is_orphan(id))
		return; /* it has none */
	channel = soft_event_channel_of(id->public.channel);
	event = TAILQ_FIRST(&channel->events);
	while (event) {
		struct soft_id *child = event->child;

		if (event->id != id) {
			event = TAILQ_NEXT(event, link);
			continue;
		}
		soft_event_remove(channel, event);
		if (event->allocated)
			free(event);
		if (child)
			soft_cm_refuse(child); /* may free the event, which is part of the child */
		event = TAILQ_FIRST(&channel->events);
	}
}

void
soft_cm_refuse(struct soft_id *child)
{
	soft_cm_disconnect(child);
	soft_event_purge(child);
	soft_id_free(child);
	soft_cm_device_put_more(); /* the listener has a reference */
}

void
soft_cm_ready(struct soft_id *id)
{
	if (id->state != SOFT_ID_ANSWERED)
		return;
	id->state = SOFT_ID_CONNECTED;
	soft_event_post(id, &id->answer, RDMA_CM_EVENT_ESTABLISHED, 0);
}

void
soft_cm_reject_request(struct soft_id *id)
{
	const struct soft_cm_message message = {
		.type = SOFT_CM_REJ,
		.from_slot = id->peer_slot,
		.to = id->number,
		.reason = SOFT_CM_REJ_NO_SERVICE,
	};

	deliver_rejection(id, &message);
}

void
soft_cm_rejected(struct soft_id *id, uint16_t reason, const void *data, uint8_t length)
{
	struct soft_cm_message message = {
		.type = SOFT_CM_REJ, .to = id->number, .reason = reason, .data_length = length
	};

	memcpy(message.data, data, length);
	deliver_rejection(id, &message);
}

void
soft_cm_give_up(struct soft_id *id)
{
	if (id->state == SOFT_ID_DISCONNECTING) {
		deliver_id_post_disconnected(id, -ETIMEDOUT);
		return;
	}
	soft_cm_disconnect(id);
	soft_event_post(id, &id->answer, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
}

void
soft_cm_deliver(const struct soft_cm_message *message)
{
	struct soft_id *id;

	if (message->type == SOFT_CM_REQ) {
		deliver_request(message);
		return;
	}
	id = soft_id_find(message->to);
	if (!id) {
		deliver_without_id(message);
		return;
	}
	if ((id->peer_number && id->peer_number != message->from) ||
	    id->peer_slot != message->from_slot)
		return;
	switch (message->type) {
	case SOFT_CM_MRA:
		deliver_receipt(id, message);
		break;
	case SOFT_CM_ASK:
		deliver_question(id);
		break;
	case SOFT_CM_ABSENT:
		soft_call_absent(id);
		break;
	case SOFT_CM_REP:
		deliver_reply(id, message);
		break;
	case SOFT_CM_RTU:
		soft_cm_ready(id);
		break;
	case SOFT_CM_REJ:
		deliver_rejection(id, message);
		break;
	case SOFT_CM_DREQ:
		deliver_disconnect(id);
		break;
	case SOFT_CM_DREP:
		if (id->state == SOFT_ID_DISCONNECTING)
			deliver_id_post_disconnected(id, 0);
		break;
	default:
		break;
	}
}

void
soft_cm_link_lost(unsigned int slot, bool incoming)
{
	struct lost lost = { slot, incoming };

	soft_cm_lock();
	soft_id_each(deliver_id_lose_link, &lost);
	soft_cm_unlock();
}

bool
soft_cm_frame(struct soft_link *link, const struct soft_wire_cm *cm)
{
	struct soft_cm_message message;

	if (!soft_cm_unpack(&message, cm, link->slot))
		return false;
	message.incoming = !link->outgoing;
	if (message.incoming)
		(void)soft_link_read_answers(link->slot, SOFT_READER_PROGRESS);
	soft_cm_lock();
	if (!soft_hold_input(&message))
		soft_cm_deliver(&message);
	soft_cm_unlock();
	return true;
}
