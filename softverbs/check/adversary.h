/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * adversary -- a personality that chooses, by a seed, the moments that hurt
 *
 * What it does is what the specification of verbs allows, by these rules:
 *
 * 1. A completion becomes visible at any time after its request was executed.  The order within a
 * queue is kept.
 *    Queues have no order among each other, nor has a completion and what the peer does.
 * 2. A request for notification concerns completions that are added after it.  One that becomes
 * visible just before
 *    the request takes effect raises no event.
 * 3. A completion that is added while the queue is armed for it raises an event.  The event is
 * delivered at some time
 *    after that; the completion may have been polled by then.
 * 4. A request that is made while an event of the queue is on its way is answered by this event.
 * The program gets an
 *    event after the request, so it will arm and poll again.
 * 5. The events of several queues on a channel have no order.  One that is kept all the same: a
 * receive may be the answer
 *    to a send that completed before it, so it does not overtake the completion of a send on the
 *    same channel, nor its event.  The specification does not promise this, but without losses on
 *    the wire no adapter does otherwise.
 * 6. A thread may lose the processor at any time; also in ibv_req_notify_cq(), before the request
 * takes effect, or after it.
 *
 * Events that are held are raised at full intervals of 4 ms of the clock, so that those of several
 * queues come together.
 *
 * A completion is held for 5 ms at most and an event for 10 ms, receives by rule 5 for 25 ms more.
 * These are times in which the program can run, as fair.h says: on a busy machine they are longer.
 * Queues without a channel are left alone.
 */
#ifndef SOFT_CHECK_ADVERSARY_H
#define SOFT_CHECK_ADVERSARY_H

#include "fair.h"
#include "schedule.h"
#include "softverbs/cq/cq.h"

/* What is held back. */
struct soft_held {
	uint64_t look_at; /* when it is looked at; 0: nothing is held */
	struct soft_fair fair;
};

/* Its state of a queue; guarded by the lock of the CQ. */
struct soft_adversary {
	struct soft_schedule schedule;
	struct soft_held show;	/* the completions that are held */
	struct soft_held raise; /* the events that are held */
	uint32_t waits;		/* how often receives have waited, by rule 5 */
	bool holding_sends;	/* counted in the channel */
	bool left;		/* the queue is being destroyed, and counts no more */
	bool sends,
	    receives; /* what completed, of those held and those whose event is not posted */
	bool owed;    /* a completion that is held was added while the queue was armed for it */
	/*
	 * The moves since the last event was read, and those between this and the one before: a bit
	 * for each.
	 */
	unsigned int made, made_before;
	enum soft_armed armed; /* as the last function left it: before a new request */
};

extern const struct soft_personality soft_adversary;

/* The queue is about to be destroyed. */
void soft_adversary_leave(struct soft_cq *cq) SOFT_NO_CQ_LOCK;

/*
 * A thread is about to arm the queue, or has just done so: it may pause until a completion comes.
 */
void soft_adversary_pause(struct soft_cq *cq) SOFT_NO_CQ_LOCK;
void soft_adversary_pause_after(struct soft_cq *cq) SOFT_NO_CQ_LOCK;

/* A thread is in a poll: it may pause there. */
void soft_adversary_pause_poll(struct soft_cq *cq);

/* An event of the queue was read. */
void soft_adversary_event(struct soft_cq *cq) SOFT_NO_CQ_LOCK;

/* True if a request for notification is to fail; only asked if the user wants that. */
bool soft_adversary_fails(struct soft_cq *cq) SOFT_NO_CQ_LOCK;

#endif
