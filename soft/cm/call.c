/* SPDX-License-Identifier: BSD-3-Clause */
#include "call.h"
#include "deliver.h"
#include "message.h"
#include "port.h"
#include "wait.h"
#include "soft/device/slot.h"

void
soft_cm_call(struct soft_id *id, const struct soft_cm_message *request)
{
	unsigned int slot = soft_port_owner(request->port_space, request->port);
	int r;

	id->peer_slot = slot;
	r = !slot || slot == soft_slot_number() ? -ECONNREFUSED :
						  soft_cm_carry(slot, false, request);
	if (r == -EAGAIN || r == -EMFILE || r == -ENFILE)
		r = soft_wait_to_call(id, request);
	if (r)
		soft_cm_reject_request(id);
}
