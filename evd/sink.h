/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sink -- who gets the events of an EVD, what that one wants, and how it is woken
 *
 *   waiter      a thread in evd_wait().  To wake it is to wake its thread, whatever the state of
 *               the job.
 *   upcall      an upcall policy.  To wake it is to queue the job (job.h).
 *   CNO         the same; its run reports to the CNO.
 *   none        nothing is wanted, and no thread is woken.
 *
 * Every change of sink ends, in its own lock section, with evd_sink_changed(): what is queued
 * counts as not seen by the new sink, which is woken.
 */
#ifndef REARM_EVD_SINK_H
#define REARM_EVD_SINK_H

#include "evd/trigger.h"

/* After a change of `alive` or `waiting`. */
static inline void
evd_set_direct(struct evd *evd) REQUIRES(core_locks.trigger)
{
	evd->direct = evd->alive && !evd->waiting ? evd->serial : EVD_NOT_DIRECT;
}

/*
 * After a change of what it depends on.  An EVD is bare if it has a device, and waiting threads are
 * the only sink that it has or ever had: there is no upcall policy and no CNO, and the loop does
 * not read a private channel for it.  Waits must be allowed: it is waitable, was not freed, does
 * not close and has not overflowed, and its channel can be read.  Then a wait begins and ends
 * without a change of sink that must be settled, and may arm before it polls.
 */
static inline void
evd_set_bare(struct evd *evd) REQUIRES(core_locks.trigger)
{
	evd->bare = evd->policy == EVD_POLICY_DISABLE && evd->alive && !evd->closing &&
		    evd->waitable && !evd->overflowed && evd->cfg.ops && !evd->listener &&
		    !evd->channel.id && !evd->channel_lost;
}

/* Which sink the EVD has now.  A waiter comes before an upcall policy, a policy before a CNO. */
enum evd_sink { EVD_SINK_NONE, EVD_SINK_CNO, EVD_SINK_UPCALL, EVD_SINK_WAITER };

static inline enum evd_sink
evd_sink(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	if (evd->waiting)
		return EVD_SINK_WAITER;
	if (evd_policy_calls(evd->policy))
		return EVD_SINK_UPCALL;
	if (evd->listener && evd->enabled)
		return EVD_SINK_CNO;
	return EVD_SINK_NONE;
}

/*
 * True if an upcall is wanted now, for an EVD whose policy makes upcalls.  One at a time, even
 * while upcalls of an earlier policy MANY still run; the return of the last one wakes the sink.
 */
static inline bool
evd_wants_upcall(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	if (evd->in_progress && evd->policy != EVD_POLICY_MANY)
		return false;
	if (evd->policy == EVD_POLICY_NOTIFY)
		return evd_is_unseen(evd->attention);
	return evd_queue_has_signalled(&evd->queue, 1);
}

/* True if the sink wants an event or a report now. */
static inline bool
evd_wanted(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	switch (evd_sink(evd)) {
	case EVD_SINK_WAITER:
		return evd_queue_signalled(&evd->queue) >= (unsigned int)evd->threshold;
	case EVD_SINK_UPCALL:
		return evd_wants_upcall(evd);
	case EVD_SINK_CNO:
		return evd_is_unseen(evd->attention);
	case EVD_SINK_NONE:
		break;
	}
	return false;
}

/* Enters an event of the attention table (attention.h). */
static inline void
evd_attend(struct evd *evd, enum evd_attention_event event) REQUIRES(core_locks.trigger)
{
	evd->attention = evd_attention_next(evd->attention, event);
}

/*
 * Unsignalled completions that fill the ring count as events that wake the sink, because no other
 * completion can enter before one of them is taken.
 */
static inline void
evd_attend_unsignalled(struct evd *evd) REQUIRES(core_locks.trigger)
{
	const struct evd_queue *q = &evd->queue;

	if (q->unsignalled && q->ring_count >= q->qlen)
		evd_attend(evd, EVD_HAS_ENTERED);
}

void evd_wake_sink(struct evd *evd) REQUIRES(core_locks.trigger);

/*
 * True if neither a notification nor a run will report to the sink what a poll of another thread
 * finds now.  One of these holds:
 *   - the ring was full at the last poll;
 *   - the job waits for a delay, or for its thread;
 *   - the sink is an upcall policy, and the device is armed for solicited completions only.
 */
static inline bool
evd_is_unannounced(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	return evd_is_full(evd->attention) || evd->job_state == EVD_JOB_BACKOFF ||
	       evd->job_state == EVD_JOB_DEFERRED ||
	       (evd->armed == EVD_ARMED_SOLICITED && evd->job_state != EVD_JOB_RUNNING &&
		   evd_policy_calls(evd->policy));
}

/* A poll has found completions, or opened events. */
static inline void
evd_announce(struct evd *evd) REQUIRES(core_locks.trigger)
{
	if (evd_is_unannounced(evd)) {
		evd_attend(evd, EVD_HAS_ROOM);
		evd_wake_sink(evd);
	}
}

/*
 * The channel cannot be read any more, and may poll as readable.  From now on no thread watches a
 * private one.  Wakes the sink, which gets the error.
 */
void evd_lose_channel(struct evd *evd) REQUIRES(core_locks.trigger);

/*
 * Who watches the channel of an EVD that the loop has as a source: a thread that waits, for itself;
 * for any other sink the loop.  Without a sink it stays as it is.
 */
void evd_settle_channel(struct evd *evd) REQUIRES(core_locks.trigger);

/* Gives the shared channel to the loop if the sink needs that. */
void evd_settle_lead(struct evd *evd) REQUIRES(core_locks.trigger);

/*
 * The part of a change of sink that wakes no thread.  Queued events count as not reported to the
 * new sink.  The loop starts to watch the private channel, or stops if the new sink reads the
 * channel itself.  Only for the end of a policy: then the new sink needs the loop for nothing that
 * the old one did not need it for.
 */
static inline void
evd_sink_settle_less(struct evd *evd) REQUIRES(core_locks.trigger)
{
	evd->changes++;
	if (evd->channel.id)
		evd_settle_channel(evd);
	evd_attend(
	    evd, evd_queue_has_signalled(&evd->queue, 1) ? EVD_CHANGES_QUEUED : EVD_CHANGES_EMPTY);
}

/* The same for any change: the loop gets the shared channel if the new sink needs that. */
static inline void
evd_sink_settle(struct evd *evd) REQUIRES(core_locks.trigger)
{
	if (evd->cfg.lead)
		evd_settle_lead(evd);
	evd_sink_settle_less(evd);
}

/* Called at the end of every change of sink: settles, and wakes the new sink. */
static inline void
evd_sink_changed(struct evd *evd) REQUIRES(core_locks.trigger)
{
	evd_sink_settle(evd);
	if (evd_sink(evd) != EVD_SINK_NONE)
		evd_wake_sink(evd);
}

/* The EVD has its other sink again, if it has one and the wait blocked. */
static inline void
evd_wait_over(struct evd *evd, bool blocked) REQUIRES(core_locks.trigger)
{
	if (blocked && !evd->bare && evd->alive) {
		evd_set_bare(evd);
		evd_sink_changed(evd);
	}
}

/*
 * For a sink that is notified (a CNO, a policy NOTIFY).  While the ring was full, the device kept
 * completions back that will raise no notification.  When the ring is empty the sink is woken to
 * poll.
 */
void evd_report_refill(struct evd *evd) REQUIRES(core_locks.trigger);

/* After a completion left the queue. */
static inline void
evd_check_refill(struct evd *evd) REQUIRES(core_locks.trigger)
{
	if (evd->queue.ring_count == 0)
		evd_report_refill(evd);
}

#endif
