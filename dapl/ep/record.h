/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record -- what the queue of an EVD keeps of a completion, and the event of a plain one
 */
#ifndef REARM_DAPL_RECORD_H
#define REARM_DAPL_RECORD_H

#include <infiniband/verbs.h>

#include "dapl/ep/ep.h"

/*
 * The record of a completion in the queue of an EVD.  It is written when the completion is polled,
 * and leads to all that its event needs: nothing is looked up a second time.
 *
 * The endpoint and its rings exist as long as the record: after a queue pair was destroyed its
 * records are purged before the slot and the rings are used again.
 */
struct completion {
	struct dapl_ep *ep;
	union {
		const struct dapl_wr_entry *entry;
		uint64_t id; /* SHARED: the wr_id */
	};
	uint32_t length; /* valid if the request succeeded */
	uint32_t traits;
	/* What follows is not set for a plain success. */
	uint32_t key;	     /* the immediate data, or the key that was invalidated */
	uint16_t generation; /* the low bits of that of the queue pair */
	uint8_t status;	     /* enum ibv_wc_status */
};

_Static_assert(sizeof(struct completion) <= sizeof(struct evd_record), "fits into a record");

#define COMPLETION_RECV 1 /* of the ring of receives */
/* Everything but a plain success: completion_convert_other() builds its event. */
#define COMPLETION_OTHER 2
#define COMPLETION_SHARED 4	  /* of a shared receive queue */
#define COMPLETION_IMMEDIATE 8	  /* a message came with immediate data */
#define COMPLETION_RDMA 16	  /* the immediate data of an RDMA write, not of a message */
#define COMPLETION_INVALIDATES 32 /* the other end invalidated a window */

/* Whether a record that is queued belongs to an endpoint: for evd_purge(). */
static inline bool
dapl_completion_is_of(const struct evd_record *record, const void *ep)
{
	return ((const struct completion *)(const void *)record)->ep == ep;
}

/* Whether the record has a plain success, which was queued as one that wakes the sink. */
static inline bool
dapl_completion_is_plain(const struct evd_record *record)
{
	return !(((const struct completion *)(const void *)record)->traits & COMPLETION_OTHER);
}

/* Writes the event of a plain success. */
static inline void
dapl_event_of_plain(
    DAT_EVENT *event, const struct dapl_ep *ep, const struct dapl_wr_entry *entry, uint32_t length)
{
	DAT_DTO_COMPLETION_EVENT_DATA *dto = &event->event_data.dto_completion_event_data;

	event->event_number = DAT_DTO_COMPLETION_EVENT;
	dto->ep_handle = ep->self;
	dto->user_cookie = entry->cookie;
	dto->status = DAT_DTO_SUCCESS;
	dto->transfered_length = length;
	dto->operation = (DAT_DTOS)entry->operation;
	dto->rmr_context = 0;
}

/*
 * The event of a plain success.  Inline: calls that take events have this part of the source's
 * function `convert` in them.
 */
static inline void
dapl_completion_convert_plain(const struct evd_record *record, DAT_EVENT *event)
    REQUIRES(core_locks.trigger)
{
	const struct completion *c = (const struct completion *)(const void *)record;
	const struct dapl_wr_entry *entry = c->entry;
	struct dapl_ep *ep = c->ep;

	dapl_event_of_plain(event, ep, entry, c->length);
	if (c->traits & COMPLETION_RECV) {
		dapl_ep_tally(&ep->counts.received[DAT_DTO_RECEIVE], c->length);
		dapl_wr_ring_done(&ep->rings.recvs, entry->end);
	} else {
		dapl_wr_ring_done(&ep->rings.requests, entry->end);
	}
}

#endif
