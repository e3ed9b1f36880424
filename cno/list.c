/* SPDX-License-Identifier: BSD-3-Clause */
/* list -- the lists of EVDs, and what a trigger wakes: a waiter, the agent, the descriptor */
#include "cno/body.h"

#include <stddef.h>

static struct cno *
cno_of_listener(struct evd_listener *listener)
{
	return (struct cno *)((char *)listener - offsetof(struct cno, listener));
}

static void
cno_list_append(struct cno *cno, struct evd *evd) REQUIRES(core_locks.cno)
{
	ASSUME(!evd->triggered);
	evd->triggered = true;
	evd->triggered_next = NULL;
	if (cno->last)
		cno->last->triggered_next = evd;
	else
		cno->first = evd;
	cno->last = evd;
}

void
cno_list_remove(struct cno *cno, struct evd *evd)
{
	struct evd *before = NULL;

	if (!evd->triggered)
		return;
	for (struct evd *e = cno->first; e != evd; e = e->triggered_next)
		before = e;
	if (before)
		before->triggered_next = evd->triggered_next;
	else
		cno->first = evd->triggered_next;
	if (cno->last == evd)
		cno->last = before;
	evd->triggered = evd->agent_unseen = false;
	evd->triggered_next = NULL;
}

void
cno_handed_add(struct cno *cno, struct evd *evd)
{
	if (evd->handed)
		return;
	evd->handed = true;
	TAILQ_INSERT_TAIL(&cno->handed, evd, handed_link);
}

void
cno_handed_remove(struct cno *cno, struct evd *evd)
{
	if (!evd->handed)
		return;
	evd->handed = false;
	TAILQ_REMOVE(&cno->handed, evd, handed_link);
}

void
cno_set_fd(struct cno *cno)
{
	const bool readable = cno_is_triggered(cno);

	if (readable == cno->fd_readable)
		return;
	cno->fd_readable = readable;
	if (readable)
		os_event_set(cno->fd);
	else
		(void)os_event_clear(cno->fd);
}

struct evd *
cno_first_unseen(const struct cno *cno)
{
	struct evd *evd = cno->first;

	while (evd && !evd->agent_unseen)
		evd = evd->triggered_next;
	return evd;
}

/*
 * The agent and the waiters read the same list.  A waiter removes an EVD from it.  The agent only
 * marks the EVD as seen: so an agent that is installed again is not called again for the same
 * trigger, and a later cno_wait() still finds the EVD.  An agent that was installed when the
 * trigger came is called even if a waiter was faster.
 */
void
cno_queue_agent(struct cno *cno)
{
	if (!cno->alive || cno->job_queued || cno->in_agent)
		return;
	if (!cno->cfg.agent.function || (!cno->agent_due && !cno_first_unseen(cno)))
		return;
	cno->job_queued = true;
	loop_ready(cno->cfg.loop, &cno->job);
}

void
cno_on_notify(struct evd_listener *listener, struct evd *evd)
{
	struct cno *cno = cno_of_listener(listener);

	cno_lock(cno);
	if (!evd->triggered)
		cno_list_append(cno, evd);
	evd->agent_unseen = true;
	(void)park_list_wake_first(&cno->waiters);
	if (cno->cfg.agent.function)
		cno_queue_agent(cno);
	cno_update_fd(cno);
	cno_unlock(cno);
}

void
cno_on_detach(struct evd_listener *listener, struct evd *evd)
{
	struct cno *cno = cno_of_listener(listener);

	cno_lock(cno);
	cno_list_remove(cno, evd);
	cno_handed_remove(cno, evd);
	if (cno->due_evd == evd->cfg.handle)
		cno->due_evd = NULL;
	cno_update_fd(cno);
	cno_unlock(cno);
}
