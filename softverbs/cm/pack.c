/* SPDX-License-Identifier: BSD-3-Clause */
#include "pack.h"
#include "address.h"
#include "lookup.h"

#include <string.h>

_Static_assert(SOFT_CM_REP_DATA == SOFT_WIRE_CM_DATA, "a message carries the longest private data");

static void
pack_address(struct soft_wire_address *wire, const struct sockaddr_storage *address)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
	const struct sockaddr_in *in = (const struct sockaddr_in *)address;

	wire->port = soft_address_port((const struct sockaddr *)address);
	if (address->ss_family == AF_INET) {
		wire->family = 4;
		memcpy(wire->bytes, &in->sin_addr, sizeof in->sin_addr);
	} else {
		wire->family = 6;
		wire->scope = in6->sin6_scope_id;
		memcpy(wire->bytes, &in6->sin6_addr, sizeof in6->sin6_addr);
	}
}

static bool
pack_read_address(struct sockaddr_storage *address, const struct soft_wire_address *wire)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)address;
	struct sockaddr_in *in = (struct sockaddr_in *)address;

	memset(address, 0, sizeof *address);
	if (wire->family == 4) {
		in->sin_family = AF_INET;
		memcpy(&in->sin_addr, wire->bytes, sizeof in->sin_addr);
	} else if (wire->family == 6) {
		in6->sin6_family = AF_INET6;
		in6->sin6_scope_id = wire->scope;
		memcpy(&in6->sin6_addr, wire->bytes, sizeof in6->sin6_addr);
	} else {
		return false;
	}
	soft_address_set_port((struct sockaddr *)address, wire->port);
	return true;
}

/* A REQ is addressed to no id, and its REJ may come from no id.  An ABSENT always does. */
static bool
pack_numbers_valid(const struct soft_wire_cm *wire)
{
	if (wire->type == SOFT_CM_ABSENT)
		return !wire->from && wire->to;
	return (wire->from || wire->type == SOFT_CM_REJ) &&
	       !wire->to == (wire->type == SOFT_CM_REQ);
}

static uint32_t
pack_data_limit(const struct soft_wire_cm *wire)
{
	switch (wire->type) {
	case SOFT_CM_REQ:
		return soft_cm_request_data(wire->port_space);
	case SOFT_CM_REP:
		return SOFT_CM_REP_DATA;
	case SOFT_CM_REJ:
		return SOFT_CM_REJ_DATA;
	default:
		return 0;
	}
}

void
soft_cm_pack(struct soft_wire_cm *wire, const struct soft_cm_message *message)
{
	*wire = (struct soft_wire_cm){
		.type = message->type,
		.from = message->from,
		.to = message->to,
		.reason = message->reason,
		.port_space = message->port_space,
		.port = message->port,
		.qpn = message->qpn,
		.psn = message->psn,
		.responder_resources = message->responder_resources,
		.initiator_depth = message->initiator_depth,
		.retry_count = message->retry_count,
		.rnr_retry_count = message->rnr_retry_count,
		.flow_control = message->flow_control,
		.srq = message->srq,
		.data_length = message->data_length,
	};
	if (message->type == SOFT_CM_REQ) {
		pack_address(&wire->source, &message->source);
		pack_address(&wire->target, &message->target);
	}
	memcpy(wire->data, message->data, sizeof wire->data);
}

bool
soft_cm_unpack(struct soft_cm_message *message, const struct soft_wire_cm *wire, unsigned int slot)
{
	if (wire->type < SOFT_CM_REQ || wire->type > SOFT_CM_ABSENT || wire->reason > UINT16_MAX ||
	    wire->port_space > UINT16_MAX || wire->port > UINT16_MAX || wire->zero ||
	    wire->qpn > SOFT_QPN_MAX || wire->psn > SOFT_PSN_MASK || wire->retry_count > 7 ||
	    wire->rnr_retry_count > 7 || wire->responder_resources > SOFT_MAX_RD_ATOM ||
	    wire->initiator_depth > SOFT_MAX_RD_ATOM || !pack_numbers_valid(wire) ||
	    wire->data_length > pack_data_limit(wire))
		return false;
	*message = (struct soft_cm_message){
		.type = (enum soft_cm_type)wire->type,
		.from_slot = slot,
		.from = wire->from,
		.to = wire->to,
		.reason = (uint16_t)wire->reason,
		.port_space = (uint16_t)wire->port_space,
		.port = (uint16_t)wire->port,
		.qpn = wire->qpn,
		.psn = wire->psn,
		.responder_resources = wire->responder_resources,
		.initiator_depth = wire->initiator_depth,
		.retry_count = wire->retry_count,
		.rnr_retry_count = wire->rnr_retry_count,
		.flow_control = wire->flow_control,
		.srq = wire->srq,
		.data_length = wire->data_length,
	};
	memcpy(message->data, wire->data, sizeof message->data);
	return wire->type != SOFT_CM_REQ || (pack_read_address(&message->source, &wire->source) &&
						pack_read_address(&message->target, &wire->target));
}
