/* SPDX-License-Identifier: BSD-3-Clause */
#include "invariant.h"

#include "evd/lead.h"
#include "peek.h"
#include "world.h"

/*
 * These checks are written from the rules and call none of the dispatcher's functions: an error
 * there is not repeated here.
 */

enum sink { SINK_NONE, SINK_CNO, SINK_UPCALL, SINK_WAITER };

bool
invariant_policy_calls(int policy)
{
	return policy == EVD_POLICY_SINGLE || policy == EVD_POLICY_MANY ||
	       policy == EVD_POLICY_NOTIFY;
}

static enum sink
sink_of(const struct evd *evd)
{
	if (evd->waiting)
		return SINK_WAITER;
	if (invariant_policy_calls(evd->policy))
		return SINK_UPCALL;
	return evd->listener && evd->enabled ? SINK_CNO : SINK_NONE;
}

static enum device_armed
wanted_arm(const struct evd *evd)
{
	return evd->solicited_only ? DEVICE_ARMED_SOLICITED : DEVICE_ARMED;
}

unsigned int
invariant_signalled(const struct evd *evd, const struct device_cq *cq)
{
	unsigned int count = peek_signalled(evd);
	const struct device_record *record;

	if (!cq || !cq->solicited || !evd->solicited_only || sink_of(evd) == SINK_UPCALL)
		return count;
	for (unsigned int i = 0; (record = peek_record(evd, i)); i++)
		count -= count && !cq->solicited(NULL, record->id);
	return count;
}

static bool
wanted(const struct evd *evd, const struct device_cq *cq)
{
	const unsigned int count = invariant_signalled(evd, cq);
	/* What was not seen may be an unsolicited completion, where there is one. */
	const bool unseen =
	    peek_unseen(evd) && (!evd->solicited_only || (count && count == peek_signalled(evd)));

	switch (sink_of(evd)) {
	case SINK_WAITER:
		return count >= (unsigned int)evd->threshold;
	case SINK_UPCALL:
		if (evd->policy == EVD_POLICY_MANY)
			return count > 0;
		if (evd->policy == EVD_POLICY_NOTIFY)
			return unseen && evd->in_progress == 0;
		return count > 0 && evd->in_progress == 0;
	case SINK_CNO:
		return unseen;
	case SINK_NONE:
		break;
	}
	return false;
}

/* The loop does not read the shared channel. */
static bool
is_led(const struct lead *lead)
{
	return lead && lead->state.value != LEAD_OVER;
}

/*
 * An event of the completion queue was raised, or will be, and evd_notified() was not called for
 * it.
 */
static bool
notification_due(const struct evd *evd, const struct device_cq *cq)
{
	return cq->raised > evd->counters.notifications || device_will_raise(cq);
}

/* A run is queued or an upcall is in progress: the event must not wait for it without need. */
static void
check_owned(const struct evd *evd, const struct device_cq *cq, int name)
{
	const bool reported = sink_of(evd) == SINK_CNO;
	const bool many = sink_of(evd) == SINK_UPCALL && evd->policy == EVD_POLICY_MANY;
	const struct loop *on = peek_queued_on(evd);

	if (on && peek_delayed(evd) && !peek_backs_off(evd))
		violation("EVD %c is delayed, and does not count as backing off", name);
	if (!wanted(evd, cq) || (cq && notification_due(evd, cq)))
		return;
	if (peek_in_call(evd) && (reported || many))
		violation("EVD %c waits for an upcall in progress without need", name);
	if (on && on != (many && evd->cfg.pool ? evd->cfg.pool : evd->cfg.loop))
		violation("EVD %c is queued for threads that do not serve it", name);
	if (on && ((peek_deferred(evd) && reported) || peek_backs_off(evd)))
		violation("EVD %c was deferred, and is wanted now", name);
}

void
invariant_armed(const struct evd *evd, const struct device_cq *cq, int name)
{
	bool outstanding = cq->armed || cq->raised > evd->counters.notifications;

	if (peek_armed(evd) && !outstanding)
		violation("EVD %c is marked as armed, and its completion queue is not", name);
	if (!peek_armed(evd) && outstanding && !cq->blurred)
		violation("EVD %c is not marked as armed, and its completion queue is", name);
	if (cq->armed && peek_armed(evd) != (int)cq->armed && !cq->blurred)
		violation("EVD %c is marked as armed for the wrong completions", name);
	if (evd->counters.spurious_notifications > cq->arms)
		violation("EVD %c: more spurious wakes than arms", name);
}

void
invariant_direct(const struct evd *evd, int name)
{
	const uint64_t direct = evd->alive && !evd->waiting ? evd->serial : EVD_NOT_DIRECT;

	if (evd->direct != direct)
		violation("EVD %c does not say whether its events may be taken directly", name);
	if (evd->bare &&
	    (!evd->alive || evd->closing || !evd->waitable || evd->overflowed || !evd->cfg.ops ||
		evd->policy != EVD_POLICY_DISABLE || evd->listener || evd->channel.id))
		violation("EVD %c counts as bare, and is not", name);
}

void
invariant_dead(const struct evd *evd, int name)
{
	if (peek_queued_on(evd))
		violation("EVD %c was freed, and its free waits for a queued run", name);
}

bool
invariant_asleep(uint32_t fibers)
{
	uint32_t asleep = sched.pollers & ~sched.enabled;

	/* A thread that waits for a lock is about to act. */
	for (unsigned int i = STAGE; i < sched.n_fibers; i++)
		if (sched.fibers[i].locking)
			asleep &= ~fiber_bit(&sched.fibers[i]);
	return fibers && !(fibers & ~asleep);
}

void
invariant_sink(const struct evd *evd, const struct device_cq *cq, uint32_t waiters, int name)
{
	/* The sink of a full queue empties it, and is then notified of what is in the device. */
	const bool full = peek_full(evd);
	const bool by_loop = sink_of(evd) == SINK_UPCALL || sink_of(evd) == SINK_CNO;
	const enum device_armed wish = wanted_arm(evd);

	if (evd->channel.id && by_loop && !evd->channel_watched)
		violation("EVD %c: the loop does not watch its channel", name);
	if ((sink_of(evd) == SINK_WAITER || sink_of(evd) == SINK_UPCALL) && is_led(evd->cfg.lead))
		violation("EVD %c: the loop does not watch the shared channel", name);
	switch (sink_of(evd)) {
	case SINK_NONE:
		return;
	case SINK_WAITER:
		if ((unsigned int)evd->threshold > evd->queue.qlen)
			violation("EVD %c: a thread waits for more than the queue holds", name);
		/* A thread that is awake checks by itself. */
		if (!invariant_asleep(waiters))
			return;
		if (evd->made_unwaitable)
			violation(
			    "EVD %c: a thread sleeps although the EVD was made unwaitable", name);
		if (evd->closing)
			violation("EVD %c: a thread sleeps although its adapter closes", name);
		break;
	case SINK_UPCALL:
	case SINK_CNO:
		if (peek_busy(evd)) {
			check_owned(evd, cq, name);
			return;
		}
		/* With one upcall at a time, the return of the last one wakes the sink. */
		if (sink_of(evd) == SINK_UPCALL && evd->policy != EVD_POLICY_MANY &&
		    evd->in_progress)
			return;
		if (peek_failing(evd))
			violation("EVD %c was polled and armed, and takes the next failure for the "
				  "last one",
			    name);
		break;
	}
	/* Of a device that lost its queue, and failed since, nothing is expected. */
	if (peek_over(evd))
		return;
	if (cq && peek_armed(evd) < (int)wish)
		violation(
		    "I1: EVD %c has a sink, no thread will run it, and it is not armed", name);
	if (wanted(evd, cq) && !(cq && notification_due(evd, cq)))
		violation("I1: EVD %c has events for its sink, and no thread will run it", name);
	if (cq && device_has(cq, wish) && !full && !notification_due(evd, cq))
		violation("I1: a completion of EVD %c is stranded in its queue", name);
}

void
invariant_cno(const struct cno *cno, uint32_t waiters, int name)
{
	if (!cno->alive)
		return;
	for (const struct evd *evd = cno->first; evd; evd = evd->triggered_next)
		if (!evd->lock.owner && !evd->alive)
			violation("CNO %c still lists an EVD that was freed", name);
	if (cno->first && invariant_asleep(waiters))
		violation("CNO %c is triggered and every waiter sleeps", name);
	if ((cno->cfg.agent.function || cno->fd >= 0) && is_led(cno->cfg.lead))
		violation("CNO %c has an agent or a descriptor, and the loop does not watch the "
			  "shared channel",
		    name);
	if (cno->last_detached && cno->evds)
		violation("CNO %c has an EVD, and is marked as if the last one was detached", name);
	if (cno->fd >= 0 && world_is_readable(cno->fd) != (cno->first || cno->last_detached))
		violation("CNO %c: its descriptor does not show whether it is triggered", name);
	if (cno->cfg.agent.function && !cno->job_queued && !cno->in_agent)
		for (const struct evd *evd = cno->first; evd; evd = evd->triggered_next)
			if (evd->agent_unseen)
				violation("CNO %c is triggered and its agent is not called", name);
}

void
invariant_rest(const struct evd *evd, const struct device_cq *cq, bool leaves, int name)
{
	const unsigned int left = peek_closed(evd) + invariant_signalled(evd, cq) +
				  (cq && device_has(cq, wanted_arm(evd)) ? cq->count : 0);

	if (!evd->alive)
		return;
	if (peek_busy(evd))
		violation("at rest the job of EVD %c is not idle", name);
	if (evd->in_progress || evd->exempt || evd->tearing || evd->pins || evd->waiting ||
	    evd->waiter || evd->teardowns.first)
		violation("at rest EVD %c still counts a thread inside", name);
	if (!left || peek_over(evd))
		return;
	switch (sink_of(evd)) {
	case SINK_UPCALL:
		violation("at rest an event of EVD %c is stranded", name);
	case SINK_CNO:
		/*
		 * A waiter that gets the EVD drains it; later events trigger the CNO again.  A
		 * notification that the loop does not read is for the next thread that waits.  What
		 * a single cno_trywait() leaves is for the next one.
		 */
		if (!evd->triggered && !leaves &&
		    !(is_led(evd->cfg.lead) && cq && notification_due(evd, cq)))
			violation(
			    "at rest an event of EVD %c is stranded, its CNO is not triggered",
			    name);
		break;
	case SINK_WAITER:
	case SINK_NONE:
		break;
	}
}
