/* SPDX-License-Identifier: BSD-3-Clause */
#include "invariant.h"

#include "world.h"

/* Written from the rules, not from the dispatcher's own functions: a rule broken there is not
 * broken here as well. */

enum taker { NOBODY, BY_CNO, BY_UPCALL, BY_WAITER };

static bool
calls(int policy)
{
	return policy == DAT_UPCALL_SINGLE_INSTANCE || policy == DAT_UPCALL_MANY ||
	    policy == DAT_UPCALL_NORIFY;
}

static enum taker
taker(const struct evd *evd)
{
	if (evd->waiting)
		return BY_WAITER;
	if (calls(evd->policy))
		return BY_UPCALL;
	return evd->listener && evd->enabled ? BY_CNO : NOBODY;
}

static unsigned int
countable(const struct evd *evd)
{
	const struct evd_queue *q = &evd->queue;
	unsigned int quiet = 0;

	/* A full stash is worth waking for, whatever it holds. */
	for (unsigned int i = 0; q->raw_count < q->qlen && i < q->raw_count; i++)
		quiet += q->raw_quiet[(q->raw_head + i) % q->qlen];
	return q->raw_count + q->posted_open + q->released_count - quiet;
}

static bool
wanted(const struct evd *evd)
{
	unsigned int count = countable(evd);

	switch (taker(evd)) {
	case BY_WAITER:
		return count >= (unsigned int)evd->threshold;
	case BY_UPCALL:
		if (evd->policy == DAT_UPCALL_MANY)
			return count > 0;
		if (evd->policy == DAT_UPCALL_NORIFY)
			return evd->news && evd->in_progress == 0;
		return count > 0 && evd->in_progress == 0;
	case BY_CNO:
		return evd->news;
	case NOBODY:
		break;
	}
	return false;
}

/* An event of the completion queue was raised, or will be, and has not been booked. */
static bool
notice_coming(const struct evd *evd, const struct device_cq *cq)
{
	return cq->raised > evd->counters.notifications || (cq->armed && cq->undecided);
}

/* A run is queued or an upcall stands, and the event waits for what its taker need not wait for. */
static void
check_owned(const struct evd *evd, const struct device_cq *cq, int name)
{
	const bool told = taker(evd) == BY_CNO;
	const bool many = taker(evd) == BY_UPCALL && evd->policy == DAT_UPCALL_MANY;

	if (!wanted(evd) || (cq && notice_coming(evd, cq)))
		return;
	if (evd->caller && (told || many))
		violation("EVD %c waits for an upcall that stands, and need not", name);
	if (evd->job.next && evd->job.on != (many && evd->cfg.crew ? evd->cfg.crew : evd->cfg.loop))
		violation("EVD %c is queued for threads that do not serve it", name);
	if (evd->job.next && evd->put_off && (told || evd->fault_delay))
		violation("EVD %c was put off, and is wanted now", name);
}

void
invariant_armed(const struct evd *evd, const struct device_cq *cq, int name)
{
	bool outstanding = cq->armed || cq->raised > evd->counters.notifications;

	if (evd->armed && !outstanding)
		violation("EVD %c believes its completion queue armed, and it is silent", name);
	if (!evd->armed && outstanding)
		violation("EVD %c forgot that its completion queue is armed", name);
	if (evd->counters.spurious_notifications > cq->arms)
		violation("EVD %c: more spurious wakes than arms", name);
}

bool
invariant_asleep(uint32_t fibers)
{
	return fibers && !(fibers & ~(sched.pollers & ~sched.enabled));
}

void
invariant_taker(const struct evd *evd, const struct device_cq *cq, uint32_t waiters, int name)
{
	/* Who was told of a full queue empties it; what the device held back is told of then. */
	const bool full = evd->queue.raw_count == evd->queue.qlen ||
	    (evd->blind && evd->queue.raw_count > 0);

	switch (taker(evd)) {
	case NOBODY:
		return;
	case BY_WAITER:
		if ((unsigned int)evd->threshold > evd->queue.qlen)
			violation("EVD %c: a thread waits for more than the queue holds", name);
		/* Whoever is awake looks by himself. */
		if (!invariant_asleep(waiters))
			return;
		if (evd->dismissed)
			violation("EVD %c: a thread sleeps that was sent away", name);
		if (evd->closing)
			violation("EVD %c: a thread sleeps, and its adapter closes", name);
		break;
	case BY_UPCALL:
	case BY_CNO:
		if (evd->owned) {
			check_owned(evd, cq, name);
			return;
		}
		/* With one at a time, the return of the last upcall kicks. */
		if (taker(evd) == BY_UPCALL && evd->policy != DAT_UPCALL_MANY && evd->in_progress)
			return;
		break;
	}
	if (cq && !evd->armed)
		violation("I1: EVD %c has a taker, nobody is on the way, and it is not armed",
		    name);
	if (wanted(evd) && !(cq && notice_coming(evd, cq)))
		violation("I1: EVD %c holds what its taker wants, and nobody is on the way", name);
	if (cq && cq->count && !full && !notice_coming(evd, cq))
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
	if (cno->fd >= 0 && world_is_readable(cno->fd) != (cno->first || cno->forsaken))
		violation("CNO %c: its descriptor does not tell whether it is triggered", name);
	if (cno->cfg.agent.proxy_agent_func && !cno->job_queued && !cno->in_agent)
		for (const struct evd *evd = cno->first; evd; evd = evd->triggered_next)
			if (evd->agent_unseen)
				violation("CNO %c is triggered and its agent is not called", name);
}

void
invariant_rest(const struct evd *evd, const struct device_cq *cq, int name)
{
	const unsigned int left = evd->queue.posted_count - evd->queue.posted_open +
	    countable(evd) + (cq ? cq->count : 0);

	if (!evd->alive)
		return;
	if (evd->owned)
		violation("at rest EVD %c is still owned", name);
	if (evd->in_progress || evd->exempt || evd->tearing || evd->pins || evd->waiting ||
	    evd->waiters.first || evd->teardowns.first)
		violation("at rest EVD %c still counts somebody inside", name);
	if (!left)
		return;
	switch (taker(evd)) {
	case BY_UPCALL:
		violation("at rest an event of EVD %c is stranded", name);
	case BY_CNO:
		/* Whoever is handed the EVD drains it: what came later was told again. */
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
