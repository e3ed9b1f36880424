/* SPDX-License-Identifier: BSD-3-Clause */
#include "message.h"
#include "deliver.h"
#include "hold.h"
#include "pack.h"
#include "softverbs/device/slot.h"
#include "softverbs/wire/peer.h"

#include <string.h>

static int
message_carry(unsigned int slot, bool incoming, const struct soft_cm_message *message)
    REQUIRES(soft_locks.cm) SOFT_NO_PEERS_LOCK
{
	struct soft_wire_cm cm;
	struct soft_link *link;
	int r;

	if (slot == soft_slot_number()) {
		soft_cm_deliver(message);
		return 0;
	}
	link = incoming ? soft_peer_incoming(slot) : soft_peer_outgoing(slot);
	if (!link)
		return incoming ? -EPIPE : -errno;
	soft_cm_pack(&cm, message);
	r = soft_link_send_cm(link, &cm);
	if (r)
		soft_link_stop(link);
	soft_link_put(link);
	return r;
}

int
soft_cm_carry(unsigned int slot, bool incoming, const struct soft_cm_message *message)
{
	return soft_hold_output(slot, incoming, message) ? 0 :
							   message_carry(slot, incoming, message);
}

int
soft_cm_carry_again(unsigned int slot, bool incoming, const struct soft_cm_message *message)
{
	return soft_hold_again(slot, incoming, message) ? 0 :
							  message_carry(slot, incoming, message);
}

/* Answers a message for which there is no id. */
void
soft_cm_answer(const struct soft_cm_message *to, enum soft_cm_type type, uint16_t reason)
{
	struct soft_cm_message message = {
		.type = type,
		.from_slot = soft_slot_number(),
		.from = to->to,
		.to = to->from,
		.reason = reason,
	};

	(void)soft_cm_carry(to->from_slot, to->incoming, &message);
}

void
soft_cm_dispatch(const struct soft_id *id, const struct soft_cm_message *message)
{
	(void)soft_cm_carry(id->peer_slot, id->incoming, message);
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
