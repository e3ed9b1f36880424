/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between ids: how they get there, and what becomes of one that has */
#include "cm.h"
#include "soft/wire/peer.h"
#include "port.h"
#include "soft/device/slot.h"

#include <stdlib.h>
#include <string.h>

/*
 * To an id of another process, on the link of whoever made the request.  If there is none,
 * or it takes no more, the loss of the link tells everybody.
 */
static int
carry(unsigned int slot, bool called, const struct soft_cm_message *message)
{
	struct soft_link *link;
	int r;

	if (slot == soft_slot_number()) {
		soft_cm_deliver(message);
		return 0;
	}
	link = called ? soft_peer_incoming(slot) : soft_peer_outgoing(slot);
	if (!link)
		return called ? -EPIPE : -errno;
	r = soft_link_send_cm(link, message);
	if (r)
		soft_link_kill(link);
	soft_link_put(link);
	return r;
}

/* Answers a message for which there is no id. */
static void
send_bare(const struct soft_cm_message *to, enum soft_cm_type type, uint16_t reason)
{
	struct soft_cm_message message = {
		.type = type,
		.from_slot = soft_slot_number(),
		.from = to->to,
		.to = to->from,
		.reason = reason,
	};

	(void)carry(to->from_slot, to->called, &message);
}

void
soft_cm_dispatch(const struct soft_id *id, const struct soft_cm_message *message)
{
	(void)carry(id->peer_slot, id->called, message);
}

void
soft_cm_send(struct soft_id *id, enum soft_cm_type type, uint16_t reason, const void *data,
    uint8_t data_length)
{
	struct soft_cm_message message = {
		.type = type,
		.from_slot = soft_slot_number(),
		.from = id->number,
		.to = id->peer_number,
		.reason = reason,
		.data_length = data_length,
	};

	if (data_length)
		memcpy(message.data, data, data_length);
	soft_cm_dispatch(id, &message);
}

static void
fill_event(struct soft_event *event, const struct soft_cm_message *message, uint8_t padded)
{
	struct rdma_conn_param *conn = &event->public.param.conn;

	memcpy(event->data, message->data, sizeof event->data);
	*conn = (struct rdma_conn_param){
		.private_data = event->data,
		.private_data_len = padded,
		/* What the peer starts, we answer, and the other way round. */
		.responder_resources = message->initiator_depth,
		.initiator_depth = message->responder_resources,
		.flow_control = message->flow_control,
		.retry_count = message->retry_count,
		.rnr_retry_count = message->rnr_retry_count,
		.srq = message->srq,
		.qp_num = message->qpn,
	};
}

/* What the peer offers and wants; the queue pair is set up from it. */
static void
learn_peer(struct soft_id *id, const struct soft_cm_message *message)
{
	id->peer_slot = message->from_slot;
	id->peer_number = message->from;
	id->peer_qpn = message->qpn;
	id->peer_psn = message->psn;
	id->peer_srq = message->srq;
	id->responder_resources = message->initiator_depth;
	id->initiator_depth = message->responder_resources;
	id->rnr_retry_count = message->rnr_retry_count;
}

static void
deliver_request(const struct soft_cm_message *message)
{
	struct soft_id *listener, *child = NULL;
	struct soft_event *event = NULL;
	uint16_t reason = SOFT_CM_REJ_NO_SERVICE;

	listener = soft_service_find(message->port_space, message->port,
	    (const struct sockaddr *)&message->target);
	if (!listener)
		goto reject;
	reason = SOFT_CM_REJ_CONSUMER;
	if (listener->waiting >= listener->backlog)
		goto reject;
	event = soft_event_new();
	child = soft_id_new(listener->public.channel, listener->public.context,
	    listener->public.ps);
	if (!event || !child)
		goto reject;
	soft_id_join(child);
	child->state = SOFT_ID_REQUESTED;
	child->called = true;
	child->public.route.addr.src_storage = message->target;
	child->public.route.addr.dst_storage = message->source;
	soft_address_set_port(&child->public.route.addr.src_addr, message->port);
	learn_peer(child, message);
	child->retry_count = message->retry_count;
	fill_event(event, message,
	    listener->public.ps == RDMA_PS_IB ? SOFT_CM_REQ_DATA_IB : SOFT_CM_REQ_DATA);
	event->child = child;
	listener->waiting++;
	soft_event_post(listener, event, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	soft_cm_send(child, SOFT_CM_MRA, 0, NULL, 0);
	return;

reject:
	free(event);
	if (child)
		soft_id_free(child);
	send_bare(message, SOFT_CM_REJ, reason);
}

void
soft_cm_refuse(struct soft_id *child)
{
	soft_cm_abandon(child);
	soft_event_drop(child);
	soft_cm_device_put(); /* not the last: the listener has one */
	soft_id_free(child);
}

/* Of a peer that answers after we have given it up. */
static bool
too_late(const struct soft_id *id, const struct soft_cm_message *message)
{
	if (id->state == SOFT_ID_DISCONNECTED)
		send_bare(message, SOFT_CM_REJ, SOFT_CM_REJ_TIMEOUT);
	return id->state != SOFT_ID_REQUESTING;
}

/* The peer's connection manager lives, and leaves the answer to its consumer. */
static void
deliver_receipt(struct soft_id *id, const struct soft_cm_message *message)
{
	if (id->state != SOFT_ID_ANSWERED && too_late(id, message))
		return;
	id->peer_number = message->from;
	soft_cm_wait_on(id);
}

/* Who has answered need not say that its consumer is at it: the answer is on its way. */
static void
deliver_question(struct soft_id *id)
{
	if (id->state == SOFT_ID_REQUESTED || id->state == SOFT_ID_ACCEPTED)
		soft_cm_send(id, SOFT_CM_MRA, 0, NULL, 0);
}

static void
deliver_reply(struct soft_id *id, const struct soft_cm_message *message)
{
	if (too_late(id, message))
		return;
	learn_peer(id, message);
	id->state = SOFT_ID_ACCEPTED;
	fill_event(&id->answer, message, SOFT_CM_REP_DATA);
	soft_event_post(id, &id->answer, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
}

void
soft_cm_ready(struct soft_id *id)
{
	if (id->state != SOFT_ID_ANSWERED)
		return;
	id->state = SOFT_ID_CONNECTED;
	soft_event_post(id, &id->answer, RDMA_CM_EVENT_ESTABLISHED, 0);
}

static void
deliver_rejection(struct soft_id *id, const struct soft_cm_message *message)
{
	if (id->state != SOFT_ID_REQUESTING && id->state != SOFT_ID_ANSWERED &&
	    id->state != SOFT_ID_REQUESTED)
		return;
	id->state = SOFT_ID_DISCONNECTED;
	fill_event(&id->answer, message, SOFT_CM_REJ_DATA);
	soft_event_post(id, &id->answer, RDMA_CM_EVENT_REJECTED, message->reason);
}

static void
say_goodbye(struct soft_id *id, int status)
{
	id->state = SOFT_ID_DISCONNECTED;
	soft_event_post(id, &id->goodbye, RDMA_CM_EVENT_DISCONNECTED, status);
}

void
soft_cm_give_up(struct soft_id *id)
{
	if (id->state == SOFT_ID_DISCONNECTING) {
		say_goodbye(id, -ETIMEDOUT);
		return;
	}
	soft_cm_abandon(id);
	soft_event_post(id, &id->answer, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
}

/* The state decides that exactly one DISCONNECTED is posted, however often the news comes. */
static void
deliver_disconnect(struct soft_id *id)
{
	bool told = id->state == SOFT_ID_DISCONNECTED;

	if (id->state < SOFT_ID_ANSWERED)
		return;
	if (!told)
		say_goodbye(id, 0);
	soft_cm_send(id, SOFT_CM_DREP, 0, NULL, 0);
}

/* Whoever does not know yet that an id has gone learns it when it talks to it. */
static void
deliver_to_nobody(const struct soft_cm_message *message)
{
	switch (message->type) {
	case SOFT_CM_MRA:
	case SOFT_CM_ASK:
	case SOFT_CM_REP:
		send_bare(message, SOFT_CM_REJ, SOFT_CM_REJ_TIMEOUT);
		break;
	case SOFT_CM_RTU:
		send_bare(message, SOFT_CM_DREQ, 0);
		break;
	case SOFT_CM_DREQ:
		send_bare(message, SOFT_CM_DREP, 0);
		break;
	default:
		break;
	}
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
		deliver_to_nobody(message);
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
			say_goodbye(id, 0);
		break;
	default:
		break;
	}
}

/* Nobody listens there: the rejection comes from ourselves. */
static void
reject_here(struct soft_id *id)
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
soft_cm_call(struct soft_id *id, const struct soft_cm_message *request)
{
	unsigned int slot = soft_port_owner(request->port_space, request->port);
	int r;

	id->peer_slot = slot;
	r = !slot || slot == soft_slot_number() ? -ECONNREFUSED : carry(slot, false, request);
	if (r == -EAGAIN || r == -EMFILE || r == -ENFILE)
		r = soft_cm_wait_to_call(id, request);
	if (r)
		reject_here(id);
}

static void
peer_lost(struct soft_id *id)
{
	switch (id->state) {
	case SOFT_ID_REQUESTING:
	case SOFT_ID_REQUESTED:
	case SOFT_ID_ANSWERED:
		id->state = SOFT_ID_DISCONNECTED;
		soft_event_post(id, &id->answer, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
		break;
	case SOFT_ID_ACCEPTED:
	case SOFT_ID_CONNECTED:
	case SOFT_ID_DISCONNECTING:
		say_goodbye(id, 0);
		break;
	default:
		break;
	}
}

struct lost {
	unsigned int slot;
	bool called;
};

static void
lost_if_there(struct soft_id *id, void *arg)
{
	const struct lost *lost = arg;

	if (id->peer_slot == lost->slot && id->called == lost->called)
		peer_lost(id);
}

void
soft_cm_peer_lost(unsigned int slot, bool called)
{
	struct lost lost = { slot, called };

	pthread_mutex_lock(&soft_cm_lock);
	soft_id_each(lost_if_there, &lost);
	pthread_mutex_unlock(&soft_cm_lock);
}
