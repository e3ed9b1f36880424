/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm.h"
#include "inquiry.h"
#include "peer.h"
#include "slot.h"

#include <stdlib.h>
#include <string.h>

#define BACKLOG_MAX 1024

/*
 * To an id of another process, on the link of whoever made the request.  If there is none,
 * or it takes no more, the loss of the link tells everybody.
 */
static int
dispatch(unsigned int slot, bool called, const struct soft_cm_message *message)
{
	struct soft_link *link;
	int r;

	if (slot == soft_slot_number()) {
		soft_cm_deliver(message);
		return 0;
	}
	link = called ? soft_peer_incoming(slot) : soft_peer_outgoing(slot);
	if (!link)
		return -EPIPE;
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

	(void)dispatch(to->from_slot, to->called, &message);
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
	(void)dispatch(id->peer_slot, id->called, &message);
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
	child = soft_id_new(listener->public.channel, listener->public.context, listener->public.ps);
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

static void
deliver_reply(struct soft_id *id, const struct soft_cm_message *message)
{
	if (id->state != SOFT_ID_REQUESTING)
		return;
	learn_peer(id, message);
	id->state = SOFT_ID_ACCEPTED;
	fill_event(&id->answer, message, SOFT_CM_REP_DATA);
	soft_event_post(id, &id->answer, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
}

static void
deliver_ready(struct soft_id *id)
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
say_goodbye(struct soft_id *id)
{
	id->state = SOFT_ID_DISCONNECTED;
	soft_event_post(id, &id->goodbye, RDMA_CM_EVENT_DISCONNECTED, 0);
}

/* The state decides that exactly one DISCONNECTED is told, however often we learn of it. */
static void
deliver_disconnect(struct soft_id *id)
{
	bool told = id->state == SOFT_ID_DISCONNECTED;

	if (id->state < SOFT_ID_ANSWERED)
		return;
	if (!told)
		say_goodbye(id);
	soft_cm_send(id, SOFT_CM_DREP, 0, NULL, 0);
}

/* Whoever does not know yet that an id has gone learns it when it talks to it. */
static void
deliver_to_nobody(const struct soft_cm_message *message)
{
	switch (message->type) {
	case SOFT_CM_MRA:
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
	if ((id->peer_number && message->from && id->peer_number != message->from) ||
	    id->peer_slot != message->from_slot)
		return;
	switch (message->type) {
	case SOFT_CM_MRA:
		if (id->state == SOFT_ID_REQUESTING)
			id->peer_number = message->from;
		break;
	case SOFT_CM_REP:
		deliver_reply(id, message);
		break;
	case SOFT_CM_RTU:
		deliver_ready(id);
		break;
	case SOFT_CM_REJ:
		deliver_rejection(id, message);
		break;
	case SOFT_CM_DREQ:
		deliver_disconnect(id);
		break;
	case SOFT_CM_DREP:
		if (id->state == SOFT_ID_DISCONNECTING)
			say_goodbye(id);
		break;
	default:
		break;
	}
}

void
soft_cm_abandon(struct soft_id *id)
{
	switch (id->state) {
	case SOFT_ID_REQUESTING:
		/* A peer that has not told its number is answered when it does. */
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
	/* The peer may have gone again before its answer was read. */
	if (id->state != SOFT_ID_ACCEPTED)
		return;
	id->state = SOFT_ID_CONNECTED;
	soft_cm_send(id, SOFT_CM_RTU, 0, NULL, 0);
}

/* The wishes of a consumer, with what stands for "as much as possible" filled in. */
static void
take_wishes(struct soft_cm_message *message, const struct soft_id *id,
    const struct rdma_conn_param *param)
{
	const struct rdma_conn_param most = {
		.responder_resources = RDMA_MAX_RESP_RES,
		.initiator_depth = RDMA_MAX_INIT_DEPTH,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
	const struct ibv_qp *qp = id->public.qp;

	if (!param)
		param = &most;
	message->responder_resources = param->responder_resources;
	message->initiator_depth = param->initiator_depth;
	message->flow_control = param->flow_control;
	message->retry_count = param->retry_count & 7;
	message->rnr_retry_count = param->rnr_retry_count & 7;
	message->srq = qp ? qp->srq != NULL : param->srq;
	message->qpn = qp ? qp->qp_num : param->qp_num;
	message->psn = id->psn;
	message->data_length = param->private_data_len;
	if (param->private_data_len)
		memcpy(message->data, param->private_data, param->private_data_len);
}

static uint8_t
at_most(uint8_t wish, uint8_t any, uint8_t limit)
{
	return wish == any || wish > limit ? limit : wish;
}

static int
check_param(const struct rdma_conn_param *param, uint8_t data_max)
{
	if (!param)
		return 0;
	if (param->private_data_len > data_max || (param->private_data_len && !param->private_data))
		return -EINVAL;
	if ((param->responder_resources != RDMA_MAX_RESP_RES &&
		param->responder_resources > SOFT_MAX_RD_ATOM) ||
	    (param->initiator_depth != RDMA_MAX_INIT_DEPTH &&
		param->initiator_depth > SOFT_MAX_RD_ATOM))
		return -EINVAL;
	return 0;
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
soft_cm_located(const struct soft_cm_message *request, unsigned int slot)
{
	struct soft_id *id = soft_id_find(request->from);

	if (!id || id->state != SOFT_ID_REQUESTING)
		return; /* it gave up */
	if (!slot || slot == soft_slot_number() || dispatch(slot, false, request)) {
		reject_here(id);
		return;
	}
	id->peer_slot = slot;
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
		say_goodbye(id);
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

int
rdma_connect(struct rdma_cm_id *public, struct rdma_conn_param *param)
{
	struct soft_id *id = soft_id_of(public);
	struct rdma_addr *addr = &public->route.addr;
	struct soft_cm_message message = {
		.type = SOFT_CM_REQ,
		.from_slot = soft_slot_number(),
		.from = id->number,
		.port_space = (uint16_t)public->ps,
	};
	int r;

	r = check_param(param,
	    public->ps == RDMA_PS_IB ? SOFT_CM_REQ_DATA_IB : SOFT_CM_REQ_DATA);
	if (r)
		return soft_cm_result(r);
	take_wishes(&message, id, param);
	message.responder_resources =
	    at_most(message.responder_resources, RDMA_MAX_RESP_RES, SOFT_MAX_RD_ATOM);
	message.initiator_depth =
	    at_most(message.initiator_depth, RDMA_MAX_INIT_DEPTH, SOFT_MAX_RD_ATOM);
	pthread_mutex_lock(&soft_cm_lock);
	if (id->state != SOFT_ID_ROUTE_RESOLVED) {
		r = -EINVAL;
	} else {
		message.source = addr->src_storage;
		message.target = addr->dst_storage;
		message.port = soft_address_port(&addr->dst_addr);
		id->retry_count = message.retry_count;
		id->peer_slot = soft_slot_number();
		id->state = SOFT_ID_REQUESTING;
		if (soft_service_here(message.port_space, message.port))
			soft_cm_deliver(&message);
		else if (soft_inquire(&message))
			reject_here(id);
	}
	pthread_mutex_unlock(&soft_cm_lock);
	return r ? soft_cm_result(r) : soft_event_complete(id);
}

int
rdma_listen(struct rdma_cm_id *public, int backlog)
{
	struct soft_id *id = soft_id_of(public);
	struct sockaddr_in any = { .sin_family = AF_INET };
	int r;

	if (soft_id_state(id) == SOFT_ID_IDLE && rdma_bind_addr(public, (struct sockaddr *)&any))
		return -1;
	pthread_mutex_lock(&soft_cm_lock);
	r = id->state == SOFT_ID_BOUND ? soft_service_listen(id) : -EINVAL;
	if (!r) {
		id->state = SOFT_ID_LISTENING;
		id->backlog = backlog > 0 && backlog < BACKLOG_MAX ? backlog : BACKLOG_MAX;
	}
	pthread_mutex_unlock(&soft_cm_lock);
	return soft_cm_result(r);
}

/* The REP; the queue pair, if it is ours, is ready. */
static int
answer(struct soft_id *id, const struct rdma_conn_param *param)
{
	struct soft_cm_message message = {
		.type = SOFT_CM_REP,
		.from_slot = soft_slot_number(),
		.from = id->number,
		.to = id->peer_number,
	};

	if (id->state != SOFT_ID_REQUESTED)
		return id->state == SOFT_ID_DISCONNECTED ? -ECONNRESET : -EINVAL;
	take_wishes(&message, id, param);
	message.responder_resources = id->responder_resources;
	message.initiator_depth = id->initiator_depth;
	id->state = SOFT_ID_ANSWERED;
	(void)dispatch(id->peer_slot, id->called, &message);
	return 0;
}

int
rdma_accept(struct rdma_cm_id *public, struct rdma_conn_param *param)
{
	struct soft_id *id = soft_id_of(public);
	enum soft_id_state state = soft_id_state(id);
	int r;

	if (state == SOFT_ID_ACCEPTED && !public->qp)
		return rdma_establish(public); /* the older way to say so */
	if (state != SOFT_ID_REQUESTED)
		return soft_cm_result(state == SOFT_ID_DISCONNECTED ? ECONNRESET : EINVAL);
	r = check_param(param, SOFT_CM_REP_DATA);
	if (r)
		return soft_cm_result(r);
	/* Without a wish, or with the greatest, it is what the request proposed. */
	if (param && param->responder_resources != RDMA_MAX_RESP_RES)
		id->responder_resources = param->responder_resources;
	if (param && param->initiator_depth != RDMA_MAX_INIT_DEPTH)
		id->initiator_depth = param->initiator_depth;
	if (public->qp) {
		r = soft_cm_qp_ready(id);
		if (r)
			return soft_cm_result(r);
	}
	pthread_mutex_lock(&soft_cm_lock);
	r = answer(id, param);
	pthread_mutex_unlock(&soft_cm_lock);
	if (!r)
		return soft_event_complete(id);
	soft_cm_qp_error(id);
	return soft_cm_result(r);
}

int
rdma_establish(struct rdma_cm_id *public)
{
	struct soft_id *id = soft_id_of(public);
	int r;

	pthread_mutex_lock(&soft_cm_lock);
	r = !public->qp && id->state == SOFT_ID_ACCEPTED ? 0 : -EINVAL;
	if (!r)
		soft_cm_established(id);
	pthread_mutex_unlock(&soft_cm_lock);
	return soft_cm_result(r);
}

int
rdma_reject(struct rdma_cm_id *public, const void *data, uint8_t length)
{
	struct soft_id *id = soft_id_of(public);
	int r = 0;

	if (length > SOFT_CM_REJ_DATA || (length && !data))
		return soft_cm_result(EINVAL);
	pthread_mutex_lock(&soft_cm_lock);
	if (id->state == SOFT_ID_REQUESTED || (id->state == SOFT_ID_ACCEPTED && !public->qp)) {
		soft_cm_send(id, SOFT_CM_REJ, SOFT_CM_REJ_CONSUMER, data, length);
		id->state = SOFT_ID_DISCONNECTED;
	} else if (id->state != SOFT_ID_DISCONNECTED) {
		r = -EINVAL;
	}
	pthread_mutex_unlock(&soft_cm_lock);
	return soft_cm_result(r);
}

int
rdma_disconnect(struct rdma_cm_id *public)
{
	struct soft_id *id = soft_id_of(public);

	if (soft_id_state(id) < SOFT_ID_REQUESTING)
		return soft_cm_result(EINVAL);
	soft_cm_qp_error(id);
	pthread_mutex_lock(&soft_cm_lock);
	switch (id->state) {
	case SOFT_ID_ANSWERED:
	case SOFT_ID_ACCEPTED:
	case SOFT_ID_CONNECTED:
		id->state = SOFT_ID_DISCONNECTING;
		soft_cm_send(id, SOFT_CM_DREQ, 0, NULL, 0);
		break;
	default: /* already on the way, or there never was a connection to end */
		break;
	}
	pthread_mutex_unlock(&soft_cm_lock);
	return 0;
}

int
rdma_notify(struct rdma_cm_id *public, enum ibv_event_type event)
{
	if (event != IBV_EVENT_COMM_EST)
		return soft_cm_result(EINVAL);
	/* A message came before the RTU: that says as much. */
	pthread_mutex_lock(&soft_cm_lock);
	deliver_ready(soft_id_of(public));
	pthread_mutex_unlock(&soft_cm_lock);
	return 0;
}
