/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attention -- what an EVD has not reported to its sink yet, as a table of states and events
 *
 * A sink that is notified (a CNO, a policy NOTIFY) gets one report for all events that entered
 * since the last report.  The device may also hold completions that raise no notification, because
 * they did not fit at the last poll.  Both facts are one state, guarded by the trigger lock.
 * doc/evd-states.md is printed from the table.
 *
 * Unsignalled completions (EVD_QUEUE_UNSIGNALLED) do not count as entered, unless the ring is full
 * of them: then the device may hold back a signalled one.
 */
#ifndef REARM_EVD_ATTENTION_H
#define REARM_EVD_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

/*
 * SEEN, UNSEEN: whether an event entered that was not reported to the sink.
 * NOTIFIED: a notification was read, and the device was not polled since.
 * FULL: the last poll ended because there was no room for more completions.
 */
enum evd_attention {
	EVD_SEEN,
	EVD_SEEN_NOTIFIED,
	EVD_SEEN_FULL,
	EVD_UNSEEN,
	EVD_UNSEEN_NOTIFIED,
	EVD_UNSEEN_FULL,
	EVD_ATTENTIONS
};

enum evd_attention_event {
	EVD_IS_NOTIFIED, /* a notification of the device was read */
	EVD_IS_POLLED, /* the device was polled, or the sink takes events that are queued already */
	EVD_IS_FULL,   /* a poll found no room */
	EVD_HAS_ROOM,  /* there is room, or there was enough for the next poll */
	EVD_HAS_ENTERED,    /* an event that wakes a sink entered */
	EVD_HAS_REPORTED,   /* the report was made */
	EVD_CHANGES_QUEUED, /* the sink changed, and events are queued */
	EVD_CHANGES_EMPTY,  /* the sink changed, and nothing is queued */
	EVD_ATTENTION_EVENTS
};

/* The next state. */
extern const uint8_t evd_attention_table[EVD_ATTENTIONS][EVD_ATTENTION_EVENTS];

static inline enum evd_attention
evd_attention_next(enum evd_attention state, enum evd_attention_event event)
{
	return (enum evd_attention)evd_attention_table[state][event];
}

static inline bool
evd_is_unseen(enum evd_attention state)
{
	return state >= EVD_UNSEEN;
}

static inline bool
evd_is_notified(enum evd_attention state)
{
	return state == EVD_SEEN_NOTIFIED || state == EVD_UNSEEN_NOTIFIED;
}

static inline bool
evd_is_full(enum evd_attention state)
{
	return state == EVD_SEEN_FULL || state == EVD_UNSEEN_FULL;
}

#endif
