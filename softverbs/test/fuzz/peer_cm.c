/* SPDX-License-Identifier: BSD-3-Clause */
#include "peer_cm.h"

#include <string.h>

#define TALKS 16

/* A connection of the peer's, begun by either side. */
static struct {
	unsigned int slot;
	uint32_t here, there; /* numbers of the ids; there: 0 until it is known */
	bool called;	      /* the device made the request */
} talks[TALKS];
static unsigned int talk_count;
static uint32_t next_number;

void
cm_begin(void)
{
	talk_count = 0;
	next_number = 1000;
}

static unsigned int
begin(unsigned int slot, uint32_t there, bool called)
{
	const unsigned int i = talk_count++ % TALKS;

	talks[i].slot = slot;
	talks[i].here = next_number++;
	talks[i].there = there;
	talks[i].called = called;
	return i;
}

void
cm_heard(unsigned int slot, const struct soft_wire_cm *cm)
{
	if (cm->type == SOFT_CM_REQ) {
		(void)begin(slot, cm->from, true);
		return;
	}
	for (unsigned int i = 0; i < talk_count && i < TALKS; i++)
		if (talks[i].here == cm->to && talks[i].slot == slot && cm->from)
			talks[i].there = cm->from;
}

static struct soft_wire_address
loopback(uint16_t port)
{
	return (struct soft_wire_address){ .family = 4, .port = port, .bytes = { 127, 0, 0, 1 } };
}

bool
cm_say(unsigned int slot, struct soft_wire_cm *cm)
{
	static const uint8_t types[] = { SOFT_CM_REQ, SOFT_CM_REP, SOFT_CM_RTU, SOFT_CM_REJ,
		SOFT_CM_DREQ, SOFT_CM_DREP, SOFT_CM_MRA, SOFT_CM_REQ };
	const uint8_t type = types[input_below(8)];
	unsigned int i = input_below(TALKS);

	if (type == SOFT_CM_REQ || !talk_count)
		i = begin(slot, 0, false);
	else
		i %= talk_count < TALKS ? talk_count : TALKS;
	*cm = (struct soft_wire_cm){
		.type = type,
		.from = talks[i].here,
		.to = type == SOFT_CM_REQ ? 0 : talks[i].there,
		.reason = type == SOFT_CM_REJ ? SOFT_CM_REJ_CONSUMER : 0,
	};
	if (type == SOFT_CM_REQ || type == SOFT_CM_REP) {
		cm->qpn = peer_slot(slot) << 14 | (0x200 + i);
		cm->psn = DEVICE_PEER_PSN;
		cm->responder_resources = input8() % 17;
		cm->initiator_depth = input8() % 17;
		cm->rnr_retry_count = cm->retry_count = 2;
		cm->data_length = input8() % 57;
		memset(cm->data, 'd', cm->data_length);
	}
	if (type == SOFT_CM_REQ) {
		cm->port_space = RDMA_PS_TCP;
		cm->port = device_port();
		cm->source = loopback(4000);
		cm->target = loopback((uint16_t)cm->port);
	}
	return talks[i].called && type != SOFT_CM_REQ;
}
