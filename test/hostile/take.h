/* SPDX-License-Identifier: BSD-3-Clause */
/* take -- takes events from an EVD in every possible way, and checks each of them */
#ifndef REARM_HOSTILE_TAKE_H
#define REARM_HOSTILE_TAKE_H

#include "life.h"

struct evd;
struct ep;

/* The mark of an event: its object, the lane or direction, the number in the stream. */
DAT_PVOID take_mark_software(const struct evd *evd, unsigned int lane, uint32_t number);
DAT_DTO_COOKIE take_mark_dto(const struct ep *ep, unsigned int direction, uint32_t number);

/* One call that takes an event: the EVD, and the stamp before the call. */
struct taking {
	struct evd *evd;
	uint64_t begin;
	bool stale; /* the handle may belong to another object now */
};

/* Ends the run if this EVD cannot deliver this event now. */
void take_judge(const struct taking *taking, const DAT_EVENT *event);

#define TAKE_MOST 40 /* events of one call */

/* The same for the events of an array, which must be in order. */
void take_judge_all(const struct taking *taking, const DAT_EVENT *events, DAT_COUNT n);

DAT_RETURN take_dequeue(struct evd *evd, bool stale);
DAT_RETURN take_wait(struct evd *evd, DAT_TIMEOUT timeout, DAT_COUNT threshold, bool stale);
/* Dequeues in a loop until the EVD ends. */
void take_until_it_ends(struct evd *evd);
/* Dequeues until the EVD is empty or the thread must stop. */
void take_all(struct evd *evd);

#endif
