/* SPDX-License-Identifier: BSD-3-Clause */
/* take -- events that leave an EVD: every way to take one, and the judgement of each event */
#ifndef REARM_HOSTILE_TAKE_H
#define REARM_HOSTILE_TAKE_H

#include "life.h"

struct evd;
struct ep;

/* What an event carries: whose it is, the lane or direction, the number in the stream. */
DAT_PVOID take_mark_software(const struct evd *evd, unsigned int lane, uint32_t number);
DAT_DTO_COOKIE take_mark_dto(const struct ep *ep, unsigned int direction, uint32_t number);

/* One taking: from which EVD, and the stamp after which the library took the event out. */
struct taking {
	struct evd *evd;
	uint64_t begin;
	bool stale; /* by a handle that may be another object's by now */
};

/* Ends the run if the event is not one that this EVD could hand out now. */
void take_judge(const struct taking *taking, const DAT_EVENT *event);

DAT_RETURN take_dequeue(struct evd *evd, bool stale);
DAT_RETURN take_wait(struct evd *evd, DAT_TIMEOUT timeout, DAT_COUNT threshold, bool stale);
/* Does nothing but dequeue, as fast as it can, until it ends. */
void take_until_it_ends(struct evd *evd);
/* Dequeues until there is nothing, or something else to do. */
void take_all(struct evd *evd);

#endif
