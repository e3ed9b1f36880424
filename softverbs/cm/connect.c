/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that request a connection, accept or reject it, and end it. */
#include "address.h"
#include "call.h"
#include "deliver.h"
#include "get_event.h"
#include "id.h"
#include "id_qp.h"
#include "lookup.h"
#include "message.h"
#include "service.h"
#include "wait.h"
#include "softverbs/device/cancel.h"
#include "softverbs/device/slot.h"
#include "softverbs/fault/fault.h"

#include <string.h>

#define BACKLOG_MAX 1024
#define RETRIES_MAX 7 /* of three bits */

static uint8_t
connect_retries(uint8_t wish)
{
	return wish < RETRIES_MAX ? wish : RETRIES_MAX;
}

/*
 * Copies the parameters of the consumer; values that mean "as much as possible" are replaced by the
 * limit.
 */
static void
connect_fill_message(
    struct soft_cm_message *message, const struct soft_id *id, const struct rdma_conn_param *param)
{
	const struct rdma_conn_param most = {
		.responder_resources = RDMA_MAX_RESP_RES,
		.initiator_depth = RDMA_MAX_INIT_DEPTH,
		.retry_count = RETRIES_MAX,
		.rnr_retry_count = RETRIES_MAX,
	};
	const struct ibv_qp *qp = id->public.qp;

	if (!param)
		param = &most;
	message->responder_resources = param->responder_resources;
	message->initiator_depth = param->initiator_depth;
	message->flow_control = param->flow_control;
	message->retry_count = connect_retries(param->retry_count);
	message->rnr_retry_count = connect_retries(param->rnr_retry_count);
	message->srq = qp ? qp->srq != NULL : param->srq;
	message->qpn = qp ? qp->qp_num : param->qp_num;
	message->psn = id->psn;
	message->data_length = (uint8_t)(id->connect_length + param->private_data_len);
	if (id->connect_length)
		memcpy(message->data, id->connect, id->connect_length);
	if (param->private_data_len)
		memcpy(message->data + id->connect_length, param->private_data,
		    param->private_data_len);
}

static uint8_t
connect_limit(uint8_t wish, uint8_t any, uint8_t limit)
{
	return wish == any || wish > limit ? limit : wish;
}

static int
connect_check_param(const struct soft_id *id, const struct rdma_conn_param *param, uint8_t data_max)
{
	const struct ibv_device_attr *limits = soft_id_limits(id);

	if (!param) {
		/* The message would name no queue pair. */
		if (!id->public.qp && id->public.ps == RDMA_PS_TCP)
			return -EINVAL;
		return id->connect_length > data_max ? -EINVAL : 0;
	}
	if (id->connect_length + param->private_data_len > data_max ||
	    (param->private_data_len && !param->private_data))
		return -EINVAL;
	if ((param->responder_resources != RDMA_MAX_RESP_RES &&
		param->responder_resources > limits->max_qp_rd_atom) ||
	    (param->initiator_depth != RDMA_MAX_INIT_DEPTH &&
		param->initiator_depth > limits->max_qp_init_rd_atom))
		return -EINVAL;
	return 0;
}

/* Sends the REP.  If the id has the queue pair, it is ready. */
static int
connect_send_reply(struct soft_id *id, const struct rdma_conn_param *param) REQUIRES(soft_locks.cm)
{
	struct soft_cm_message message = {
		.type = SOFT_CM_REP,
		.from_slot = soft_slot_number(),
		.from = id->number,
		.to = id->peer_number,
	};

	if (id->state != SOFT_ID_REQUESTED) /* it has ended meanwhile */
		return -EINVAL;
	connect_fill_message(&message, id, param);
	message.responder_resources = id->responder_resources;
	message.initiator_depth = id->initiator_depth;
	if (soft_id_is_datagram(id)) {
		id->state = SOFT_ID_DISCONNECTED;
		soft_cm_dispatch(id, &message);
		return 0;
	}
	id->state = SOFT_ID_ANSWERED;
	soft_cm_dispatch(id, &message);
	if (id->state == SOFT_ID_ANSWERED)
		soft_wait_start(id);
	return 0;
}

/* A rule has the answer to the request, which is not sent then. */
static bool
connect_is_answered(struct soft_id *id) REQUIRES(soft_locks.cm)
{
	const struct ibv_context *context = soft_id_context(id);
	struct soft_rule rule;

	if (__builtin_expect(!soft_faults_have_incidents, true))
		return false;
	if (soft_fault_happens(SOFT_INCIDENT_REJECTED, context, 0, &rule)) {
		soft_cm_rejected(id, (uint16_t)soft_rule_value(&rule, SOFT_INCIDENT_REJECTED),
		    rule.data, rule.data_length);
		return true;
	}
	if (!soft_fault_value(SOFT_INCIDENT_UNREACHABLE, context, 0))
		return false;
	soft_cm_give_up(id);
	return true;
}

int
soft_rdma_connect(struct rdma_cm_id *public, struct rdma_conn_param *param) SOFT_NO_CM_LOCK
{
	SOFT_UNCANCELLED;
	struct soft_id *id = soft_id_of(public);
	struct rdma_addr *addr = &public->route.addr;
	struct soft_cm_message message = {
		.type = SOFT_CM_REQ,
		.from_slot = soft_slot_number(),
		.from = id->number,
		.port_space = (uint16_t) public->ps,
	};
	int r;

	if (soft_id_refuses(id))
		return -1;
	r = connect_check_param(id, param, soft_cm_request_data(public->ps));
	if (r)
		return soft_cm_result(r);
	connect_fill_message(&message, id, param);
	message.responder_resources = connect_limit(message.responder_resources, RDMA_MAX_RESP_RES,
	    (uint8_t)soft_id_limits(id)->max_qp_rd_atom);
	message.initiator_depth = connect_limit(message.initiator_depth, RDMA_MAX_INIT_DEPTH,
	    (uint8_t)soft_id_limits(id)->max_qp_init_rd_atom);
	soft_cm_lock();
	if (id->state != SOFT_ID_ROUTE_RESOLVED) {
		r = -EINVAL;
	} else {
		message.source = addr->src_storage;
		message.target = addr->dst_storage;
		message.port = soft_address_port(&addr->dst_addr);
		id->retry_count = message.retry_count;
		id->state = SOFT_ID_REQUESTING;
		r = connect_is_answered(id) ? 0 : soft_call_start(id, &message);
		if (r)
			id->state = SOFT_ID_ROUTE_RESOLVED;
		else
			id->connect_length = 0; /* an answer has data of its own */
		if (id->state == SOFT_ID_REQUESTING)
			soft_wait_start(id);
	}
	soft_cm_unlock();
	return r ? soft_cm_result(r) : soft_event_complete(id, &uncancelled_);
}

int
soft_rdma_listen(struct rdma_cm_id *public, int backlog) SOFT_NO_CM_LOCK
{
	SOFT_UNCANCELLED;
	struct soft_id *id = soft_id_of(public);
	struct sockaddr_in any = { .sin_family = AF_INET };
	int r;

	if (soft_id_refuses(id))
		return -1;
	if (soft_id_state(id) == SOFT_ID_IDLE &&
	    soft_rdma_bind_addr(public, (struct sockaddr *)&any))
		return -1;
	soft_cm_lock();
	r = id->state == SOFT_ID_BOUND ? soft_service_listen(id) : -EINVAL;
	if (!r) {
		id->state = SOFT_ID_LISTENING;
		id->backlog = backlog > 0 && backlog < BACKLOG_MAX ? backlog : BACKLOG_MAX;
	}
	soft_cm_unlock();
	return soft_cm_result(r);
}

int
soft_rdma_accept(struct rdma_cm_id *public, struct rdma_conn_param *param) SOFT_NO_CM_LOCK
{
	SOFT_UNCANCELLED;
	struct soft_id *id = soft_id_of(public);
	enum soft_id_state state = soft_id_state(id);
	int r;

	if (soft_id_refuses(id))
		return -1;
	if (state == SOFT_ID_ACCEPTED && !public->qp)
		return soft_rdma_establish(public); /* the older call for the same */
	if (state != SOFT_ID_REQUESTED)
		return soft_cm_result(-EINVAL);
	r = connect_check_param(
	    id, param, soft_id_is_datagram(id) ? SOFT_CM_FOUND_DATA : SOFT_CM_REP_DATA);
	if (!r && soft_id_is_datagram(id) && !param && !public->qp)
		r = -EINVAL; /* the answer would name no queue pair */
	if (r)
		return soft_cm_result(r);
	/*
	 * If the consumer sets no value, or the value for the maximum, the value of the request is
	 * used.
	 */
	if (param && param->responder_resources != RDMA_MAX_RESP_RES)
		id->responder_resources = param->responder_resources;
	if (param && param->initiator_depth != RDMA_MAX_INIT_DEPTH)
		id->initiator_depth = param->initiator_depth;
	if (public->qp && !soft_id_is_datagram(id)) {
		r = soft_cm_qp_ready(id);
		if (r)
			return soft_cm_result(r);
	}
	soft_cm_lock();
	r = connect_send_reply(id, param);
	soft_cm_unlock();
	if (soft_id_is_datagram(id))
		return soft_cm_result(r); /* the queue pair serves others, too */
	if (!r)
		return soft_event_complete(id, &uncancelled_);
	soft_cm_qp_error(id);
	return soft_cm_result(r);
}

int
soft_rdma_establish(struct rdma_cm_id *public) SOFT_NO_CM_LOCK
{
	SOFT_UNCANCELLED;
	struct soft_id *id = soft_id_of(public);
	int r;

	if (soft_id_refuses(id))
		return -1;
	soft_cm_lock();
	r = !public->qp && id->state == SOFT_ID_ACCEPTED ? 0 : -EINVAL;
	if (!r)
		soft_cm_established(id);
	soft_cm_unlock();
	return soft_cm_result(r);
}

static int
connect_reject(
    struct rdma_cm_id *public, const void *data, uint8_t length, uint16_t reason) SOFT_NO_CM_LOCK
{
	struct soft_id *id = soft_id_of(public);
	int r = 0;

	if (length > (soft_id_is_datagram(id) ? SOFT_CM_FOUND_DATA : SOFT_CM_REJ_DATA) ||
	    (length && !data))
		return soft_cm_result(EINVAL);
	if (soft_id_refuses(id))
		return -1;
	soft_cm_lock();
	if (id->state == SOFT_ID_REQUESTED || (id->state == SOFT_ID_ACCEPTED && !public->qp)) {
		soft_cm_send(id, SOFT_CM_REJ, reason, data, length);
		id->state = SOFT_ID_DISCONNECTED;
		id->rejected = true;
	} else if (id->state != SOFT_ID_DISCONNECTED || id->rejected) {
		r = -EINVAL;
	}
	soft_cm_unlock();
	return soft_cm_result(r);
}

int
soft_rdma_reject(struct rdma_cm_id *public, const void *data, uint8_t length) SOFT_NO_CM_LOCK
{
	SOFT_UNCANCELLED;

	return connect_reject(public, data, length, SOFT_CM_REJ_CONSUMER);
}

int
soft_rdma_reject_ece(struct rdma_cm_id *public, const void *data, uint8_t length) SOFT_NO_CM_LOCK
{
	SOFT_UNCANCELLED;

	return connect_reject(public, data, length, SOFT_CM_REJ_VENDOR_OPTION);
}

/*
 * Options of vendors for the connection.  The device has none, so none are sent, and no peer has
 * any.
 */
int
soft_rdma_set_local_ece(struct rdma_cm_id *public, struct ibv_ece *ece)
{
	SOFT_UNCANCELLED;

	if (!public || public->qp || !ece || !ece->vendor_id || ece->comp_mask)
		return soft_cm_result(EINVAL);
	return soft_id_refuses(soft_id_of(public)) ? -1 : 0;
}

int
soft_rdma_get_remote_ece(struct rdma_cm_id *public, struct ibv_ece *ece)
{
	SOFT_UNCANCELLED;

	if (soft_id_refuses(soft_id_of(public)))
		return -1;
	if (public->qp || !ece)
		return soft_cm_result(EINVAL);
	*ece = (struct ibv_ece){ .vendor_id = 0 };
	return 0;
}

int
soft_rdma_disconnect(struct rdma_cm_id *public) SOFT_NO_CM_LOCK
{
	SOFT_UNCANCELLED;
	struct soft_id *id = soft_id_of(public);
	bool reported;

	if (soft_id_refuses(id))
		return -1;
	if (soft_id_is_datagram(id) || soft_id_state(id) < SOFT_ID_REQUESTING)
		return soft_cm_result(EINVAL);
	soft_cm_qp_error(id);
	soft_cm_lock();
	switch (id->state) {
	case SOFT_ID_ANSWERED:
	case SOFT_ID_ACCEPTED:
	case SOFT_ID_CONNECTED:
		id->state = SOFT_ID_DISCONNECTING;
		soft_cm_send(id, SOFT_CM_DREQ, 0, NULL, 0);
		if (id->state == SOFT_ID_DISCONNECTING)
			soft_wait_start(id);
		break;
	default: /* the connection is ending already, or there is none */
		break;
	}
	/* If the event was read already, there is none to wait for. */
	reported = id->state != SOFT_ID_DISCONNECTING && !id->disconnected.queued;
	soft_cm_unlock();
	return reported ? 0 : soft_event_complete(id, &uncancelled_);
}

int
soft_rdma_notify(struct rdma_cm_id *public, enum ibv_event_type event) SOFT_NO_CM_LOCK
{
	SOFT_UNCANCELLED;
	struct soft_id *id = soft_id_of(public);
	int r = -EINVAL;

	if (event != IBV_EVENT_COMM_EST)
		return soft_cm_result(EINVAL);
	if (soft_id_refuses(id))
		return -1;
	/* A message on the queue pair that comes before the RTU means the same. */
	soft_cm_lock();
	if (id->state == SOFT_ID_ANSWERED) {
		soft_cm_ready(id);
		r = 0;
	} else if (id->state == SOFT_ID_CONNECTED) {
		r = -EISCONN;
	}
	soft_cm_unlock();
	return soft_cm_result(r);
}
