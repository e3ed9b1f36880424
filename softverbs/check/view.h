/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * view -- what the sentry saw of a queue, at one time
 */
#ifndef SOFT_CHECK_VIEW_H
#define SOFT_CHECK_VIEW_H

#include "queue.h"

/* For how long a suspicion has lasted: nanoseconds in which it was strong, and all. */
struct soft_lasting {
	uint64_t strong, all;
};

struct soft_check_view {
	bool exists;
	struct soft_check_state state;
	unsigned int activity;
	bool was_armed, arm_failed;
	bool taken;   /* an event was read after the last poll and the last arm */
	pid_t polled; /* the thread that did so last; 0: none */
	pid_t keeper; /* the thread that polled, armed or read an event last; 0: none */
	unsigned int events_read, events_acknowledged;
	const struct soft_channel *channel; /* only to compare */
	int fd;				    /* of the channel, or -1 */
	pid_t destroying;		    /* the thread; 0: none */
	unsigned int asked;		    /* see soft_channel */
	uint64_t asked_at;		    /* when this was last seen to grow */
	bool asks;			    /* not long ago */
	bool quiet;			    /* no call was made since the last view */

	/* Requests that will have a completion, if they are counted; see outstanding.h. */
	bool counted;
	uint32_t sends, receives;
	uint32_t gone;	 /* of these, on queue pairs whose peer has disconnected */
	bool unread_end; /* the event of one of these was not read */
	bool listens;	 /* the process listens for new connections */

	/* What has been suspected, since which activity, and for how long it has lasted. */
	unsigned int suspected; /* the kind, plus 1; 0: nothing */
	unsigned int since;
	struct soft_lasting lasting;
	pid_t napper;	    /* the thread that had a nap meanwhile; 0: none */
	unsigned long naps; /* its number */
};

/* Looks at the queue now; false if there is no memory for it. */
bool soft_check_view_take(struct soft_check_queue *queue) SOFT_NO_CHECK_LOCK;

/*
 * True if any queue on the channel of this one is armed, or has an event that was not read: a
 * thread that sleeps on the channel will be woken.
 */
bool soft_check_view_wakes(const struct soft_check_view *view);

#endif
