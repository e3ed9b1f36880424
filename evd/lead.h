/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lead -- a thread that waits reads the channel that EVDs share
 *
 * The EVDs of a loop that have no channel of their own share one.  While the only thread that needs
 * its notifications is one that waits for a CNO, that thread reads the channel itself: it leads.
 * Then the thread of the loop need not wake up, and nothing has to be handed from one thread to the
 * other.
 *
 *     FREE   no thread leads, and the loop does not watch the channel
 *     TAKEN  one thread leads, and the loop does not watch the channel
 *     OVER   the loop watches the channel
 *
 * OVER is final.  The channel is given to the loop as soon as something needs its notifications
 * while no thread leads: an upcall policy, a thread in evd_wait() on an EVD without a channel of
 * its own, a CNO with an agent or a descriptor, or a second thread that sleeps at the same time as
 * the first.  With several threads leading saves nothing: a thread that leads and returns would
 * have to wake another one to lead.  So the invariant is:
 *
 *     If the loop does not watch the channel, then at most one thread sleeps for a notification of
 *     it, and that thread watches it.
 *
 * A notification that stays unread while no thread waits is not lost: the next thread that waits
 * for a CNO reads it.  A thread that still leads after OVER is one more reader, which does no harm:
 * a read does not block, and each notification is counted by the thread that has read it.
 */
#ifndef REARM_EVD_LEAD_H
#define REARM_EVD_LEAD_H

#include <stdbool.h>

#include "evd/annotate.h"
#include "evd/loop.h"
#include "evd/os.h"

struct evd_ref;

enum lead_state { LEAD_FREE, LEAD_TAKEN, LEAD_OVER };

/* The owner of the channel embeds it.  Only lead.c accesses `state`; the rest is constant. */
struct lead {
	struct os_flag state; /* enum lead_state */
	struct loop *loop;
	const struct loop_ticket *ticket; /* of the channel, as a source of the loop */
	int fd;
	/*
	 * Not locked.  Reads one notification without blocking: 1 and the EVD that it is for, 0 if
	 * there is none, or -errno.
	 */
	int (*read)(void *arg, struct evd_ref *ref);
	void *arg;
	struct loop_pace pace; /* of the thread that leads */
};

/*
 * After loop_add(), with all members but `state` set.  From now on the loop does not watch the
 * channel.
 */
void lead_open(struct lead *lead) EXCLUDES(core_locks.loop);

/* Gives the channel to the loop, if the lead is not over. */
void lead_give_up_now(struct lead *lead) EXCLUDES(core_locks.loop);

/*
 * Gives the channel to the loop.  A NULL `lead` stands for a channel that the loop always watches.
 */
static inline void
lead_give_up(struct lead *lead) EXCLUDES(core_locks.loop)
{
	if (lead && os_flag_get(&lead->state) != LEAD_OVER)
		lead_give_up_now(lead);
}

/*
 * Before a thread sleeps for a notification.  True: it leads, and watches the descriptor until
 * lead_end().  False: the loop watches it.
 */
bool lead_begin(struct lead *lead) EXCLUDES(core_locks.loop);
void lead_end(struct lead *lead);

/* Whether a thread that does not sleep has to read the channel, because the loop does not. */
bool lead_must_read(struct lead *lead);

#endif
