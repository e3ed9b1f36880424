/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handlers -- what the wire calls in the parts above it
 *
 * The wire knows frames, links and processes.  What a frame does to a queue pair or to an rdma id
 * is up to these functions.  The thread that reads calls them, under the input lock (input.h);
 * `message`, `misbehaved` and `lost` are called on the progress thread alone.
 */
#ifndef SOFT_HANDLERS_H
#define SOFT_HANDLERS_H

#include "wire.h"

struct soft_link;

/* An object that has frames to send has a turn, its place in a list of a link. */
struct soft_turn {
	TAILQ_ENTRY(soft_turn) link;
	bool queued GUARDED_BY(soft_locks.turns);
};

/* The functions of the object that a turn belongs to. */
struct soft_turn_ops {
	void (*get)(struct soft_turn *turn); /* under the lock of the link */
	void (*put)(struct soft_turn *turn);
	/* sends as much as the link takes */
	void (*send)(struct soft_turn *turn, struct soft_link *link);
};

struct soft_handlers {
	/* Frames by type.  False if the frame makes no sense: the link is closed. */
	bool (*request)(
	    struct soft_link *link, const struct soft_frame *frame, const char *payload);
	bool (*response)(
	    struct soft_link *link, const struct soft_frame *frame, const char *payload);
	bool (*pulled)(struct soft_link *link, const struct soft_frame *frame);
	bool (*datagram)(
	    struct soft_link *link, const struct soft_frame *frame, const char *payload);
	bool (*message)(struct soft_link *link, const struct soft_wire_cm *cm);

	/*
	 * The send queues, and the answers, of queue pairs with a peer at the other end of a
	 * link.
	 */
	struct soft_turn_ops requester, responder;

	/* The process at the slot sent a frame that makes no sense; lost() follows. */
	void (*misbehaved)(unsigned int slot);

	/*
	 * A link was closed.  `gone`: the link carried our requests, and the other process has
	 * ended.
	 */
	void (*lost)(unsigned int slot, bool outgoing, bool gone);
};

/* Set by soft_handlers_set(), before the first link is created. */
extern const struct soft_handlers *_Atomic soft_handlers;

void soft_handlers_set(const struct soft_handlers *handlers);

#endif
