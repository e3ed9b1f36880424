/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attention -- what an EVD still owes its sink, as a table of states and events
 *
 * A sink that is notified rather than fed (a CNO, an upcall of policy NOTIFY) is to be notified once for
 * whatever entered since the last time.  And the device may hold completions that will raise no
 * notification: those that did not fit when it was polled last.  Both are one state, guarded by the
 * trigger lock; doc/evd-states.md is printed from the table.
 *
 * Events that are not worth waking for (see EVD_QUEUE_UNSIGNALLED) do not count as entered.
 */
#ifndef REARM_EVD_ATTENTION_H
#define REARM_EVD_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

/*
 * SEEN, UNSEEN: whether something entered that the sink was not notified of.
 * NOTIFIED:     a notification was read, and the device was not polled since.
 * FULL:         the last poll ended because there was no room for what the device holds.
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
	EVD_IS_NOTIFIED,    /* a notification of the device was read */
	EVD_IS_POLLED,	    /* the notification's work was done: a poll, or a sink that wants what is queued */
	EVD_IS_FULL,	    /* a poll found no room */
	EVD_HAS_ROOM,	    /* there is room again, or was enough for the next poll */
	EVD_HAS_ENTERED,    /* something worth waking for entered */
	EVD_HAS_REPORTED,   /* the sink is notified */
	EVD_CHANGES_QUEUED, /* another sink takes over, and finds something queued */
	EVD_CHANGES_EMPTY,  /* another sink takes over, and finds nothing */
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
