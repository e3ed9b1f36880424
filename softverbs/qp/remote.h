/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote -- queue pairs as the wire sees them
 *
 * The functions for struct soft_handlers; see softverbs/wire/handlers.h.
 */
#ifndef SOFT_REMOTE_H
#define SOFT_REMOTE_H

#include "softverbs/wire/handlers.h"

/* Turns of struct soft_sq and of struct soft_answers; their ops, as initialisers. */
void soft_remote_requester_get(struct soft_turn *turn);
void soft_remote_requester_put(struct soft_turn *turn);
void soft_remote_requester_send(struct soft_turn *turn, struct soft_link *link) SOFT_NO_SEND_LOCK;
void soft_remote_responder_get(struct soft_turn *turn);
void soft_remote_responder_put(struct soft_turn *turn);
void soft_remote_responder_send(struct soft_turn *turn, struct soft_link *link) SOFT_NO_SEND_LOCK;

#define SOFT_REMOTE_REQUESTER_TURN \
	{ \
		soft_remote_requester_get, soft_remote_requester_put, soft_remote_requester_send \
	}
#define SOFT_REMOTE_RESPONDER_TURN \
	{ \
		soft_remote_responder_get, soft_remote_responder_put, soft_remote_responder_send \
	}

void soft_remote_misbehaved(unsigned int slot) SOFT_NO_SEND_LOCK;
void soft_remote_link_lost(unsigned int slot, bool outgoing, bool gone) SOFT_NO_CM_LOCK;

#endif
