/* SPDX-License-Identifier: BSD-3-Clause */
#include "invariant.h"

#include "peek.h"
#include "world.h"

/* Written from the rules, not from the dispatcher's own functions: a rule broken there is not
 * broken here as well. */

enum taker { NOBODY, BY_CNO, BY_UPCALL, BY_WAITER };

bool
invariant_policy_calls(int policy)
{
	return policy == DAT_UPCALL_SINGLE_INSTANCE || policy == DAT_UPCALL_MANY ||
	       policy == DAT_UPCALL_NORIFY;
}

static enum taker
taker(const struct evd *evd)
{
	if (evd->waiting)
		return BY_WAITER;
	if (invariant_policy_calls(evd->policy))
		return BY_UPCALL;
	return evd->listener && evd->enabled ? BY_CNO : NOBODY;
}

static enum device_armed
wish_of(const struct evd *evd)
{
	return evd->solicited_only ? DEVICE_ARMED_SOLICITED : DEVICE_ARMED;
}

unsigned int
invariant_signalled(const struct evd *evd, const struct device_cq *cq)
{
	unsigned int count = peek_signalled(evd);
	const struct device_record *record;

	if (!cq || !cq->solicited || !evd->solicited_only)
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

	switch (taker(evd)) {
	case BY_WAITER:
		return count >= (unsigned int)evd->threshold;
	case BY_UPCALL:
		if (evd->policy == DAT_UPCALL_MANY)
			return count > 0;
		if (evd->policy == DAT_UPCALL_NORIFY)
			return unseen && evd->in_progress == 0;
		return count > 0 && evd->in_progress == 0;
	case BY_CNO:
		return unseen;
	case NOBODY:
		break;
	}
	return false;
}

/* An event of the completion queue was raised, or will be, and has not been booked. */
static bool
notice_coming(const struct evd *evd, const struct device_cq *cq)
{
	return cq->raised > evd->counters.notifications || device_will_raise(cq);
}

/* A run is queued or an upcall stands, and the event waits for what its taker need not wait for. */
static void
check_owned(const struct evd *evd, const struct device_cq *cq, int name)
{
	const bool told = taker(evd) == BY_CNO;
	const bool many = taker(evd) == BY_UPCALL && evd->policy == DAT_UPCALL_MANY;
	const struct loop *on = peek_queued_on(evd);

	if (!wanted(evd, cq) || (cq && notice_coming(evd, cq)))
		return;
	if (peek_in_call(evd) && (told || many))
		violation("EVD %c waits for an upcall that stands, and need not", name);
	if (on && on != (many && evd->cfg.pool ? evd->cfg.pool : evd->cfg.loop))
		violation("EVD %c is queued for threads that do not serve it", name);
	if (on && ((peek_deferred(evd) && told) || peek_backs_off(evd)))
		violation("EVD %c was put off, and is wanted now", name);
}

void
invariant_armed(const struct evd *evd, const struct device_cq *cq, int name)
{
	bool outstanding = cq->armed || cq->raised > evd->counters.notifications;

	if (peek_armed(evd) && !outstanding)
		violation("EVD %c believes its completion queue armed, and it is silent", name);
	if (!peek_armed(evd) && outstanding && !cq->blurred)
		violation("EVD %c forgot that its completion queue is armed", name);
	if (cq->armed && peek_armed(evd) != (int)cq->armed && !cq->blurred)
		violation("EVD %c does not know what its completion queue is armed for", name);
	if (evd->counters.spurious_notifications > cq->arms)
		violation("EVD %c: more spurious wakes than arms", name);
}

void
invariant_dead(const struct evd *evd, int name)
{
	if (peek_queued_on(evd))
		violation("EVD %c was freed, and its free waits for a run that is queued", name);
}

bool
invariant_asleep(uint32_t fibers)
{
	return fibers && !(fibers & ~(sched.pollers & ~sched.enabled));
}

void
invariant_sink(const struct evd *evd, const struct device_cq *cq, uint32_t waiters, int name)
{
	/* The taker of a full queue empties it, and is notified then of what the device held. */
	const bool full = peek_full(evd);
	const bool by_loop = taker(evd) == BY_UPCALL || taker(evd) == BY_CNO;
	const enum device_armed wish = wish_of(evd);

	if (evd->channel.id && by_loop && !evd->channel_watched)
		violation("EVD %c: the loop does not watch its channel", name);
	switch (taker(evd)) {
	case NOBODY:
		return;
	case BY_WAITER:
		if ((unsigned int)evd->threshold > evd->queue.qlen)
			violation("EVD %c: a thread waits for more than the queue holds", name);
		/* Whoever is awake looks by himself. */
		if (!invariant_asleep(waiters))
			return;
		if (evd->made_unwaitable)
			violation("EVD %c: a thread sleeps that was sent away", name);
		if (evd->closing)
			violation("EVD %c: a thread sleeps, and its adapter closes", name);
		break;
	case BY_UPCALL:
	case BY_CNO:
		if (peek_busy(evd)) {
			check_owned(evd, cq, name);
			return;
		}
		/* With one at a time, the return of the last upcall kicks. */
		if (taker(evd) == BY_UPCALL && evd->policy != DAT_UPCALL_MANY && evd->in_progress)
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
		    "I1: EVD %c has a taker, nobody is on the way, and it is not armed", name);
	if (wanted(evd, cq) && !(cq && notice_coming(evd, cq)))
		violation("I1: EVD %c holds what its taker wants, and nobody is on the way", name);
	if (cq && device_has(cq, wish) && !full && !notice_coming(evd, cq))
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
	if (cno->last_detached && cno->evds)
		violation("CNO %c has an EVD, and says that the last one went", name);
	if (cno->fd >= 0 && world_is_readable(cno->fd) != (cno->first || cno->last_detached))
		violation("CNO %c: its descriptor does not tell whether it is triggered", name);
	if (cno->cfg.agent.proxy_agent_func && !cno->job_queued && !cno->in_agent)
		for (const struct evd *evd = cno->first; evd; evd = evd->triggered_next)
			if (evd->agent_unseen)
				violation("CNO %c is triggered and its agent is not called", name);
}

void
invariant_rest(const struct evd *evd, const struct device_cq *cq, int name)
{
	const unsigned int left = peek_closed(evd) + invariant_signalled(evd, cq) +
				  (cq && device_has(cq, wish_of(evd)) ? cq->count : 0);

	if (!evd->alive)
		return;
	if (peek_busy(evd))
		violation("at rest EVD %c is still owned", name);
	if (evd->in_progress || evd->exempt || evd->tearing || evd->pins || evd->waiting ||
	    evd->waiters.first || evd->teardowns.first)
		violation("at rest EVD %c still counts somebody inside", name);
	if (!left || peek_over(evd))
		return;
	switch (taker(evd)) {
	case BY_UPCALL:
		violation("at rest an event of EVD %c is stranded", name);
	case BY_CNO:
		/* A waiter that gets the EVD drains it; what came later triggered the CNO anew. */
		if (!evd->triggered)
			violation(
			    "at rest an event of EVD %c is stranded, its CNO is not triggered",
			    name);
		break;
	case BY_WAITER:
	case NOBODY:
		break;
	}
}
