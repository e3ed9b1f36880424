/* SPDX-License-Identifier: BSD-3-Clause */
/* agent -- the proxy agent of a CNO: installed by the consumer, called by the loop */
#include "cno/body.h"

#include <stddef.h>

static struct cno *
cno_of_job(struct loop_job *job)
{
	return (struct cno *)((char *)job - offsetof(struct cno, job));
}

static void
cno_clear_due(struct cno *cno) REQUIRES(core_locks.cno)
{
	cno->agent_due = false;
	cno->due_evd = NULL;
}

void
cno_run_agent(struct loop_job *job, uint64_t serial)
{
	struct cno *cno = cno_of_job(job);
	struct os_self *self = os_self();
	struct agent_frame frame = { .outer = self->agent, .cno = cno };
	struct cno_agent agent;
	void *handle;
	struct evd *evd;

	cno_lock(cno);
	if (cno->serial != serial) {
		cno_unlock(cno);
		return;
	}
	if (cno->alive && loop_is_pumping()) {
		loop_defer(cno->cfg.loop, job); /* no agent from inside another callback */
		cno_unlock(cno);
		return;
	}
	cno->job_queued = false;
	agent = cno->cfg.agent;
	evd = cno_first_unseen(cno);
	if (cno->alive && agent.function && (evd || cno->agent_due)) {
		/* Called once: removed before the call, which may install the next agent. */
		cno->cfg.agent = (struct cno_agent){ NULL, NULL };
		handle = cno->due_evd;
		if (evd) {
			evd->agent_unseen = false;
			handle = evd->cfg.handle;
		}
		cno_clear_due(cno);
		cno->in_agent = true;
		cno_unlock(cno);

		self->agent = &frame;
		if (cno->cfg.call)
			cno->cfg.call(&agent, handle);
		else
			agent.function(agent.instance, handle);
		self->agent = frame.outer;

		cno_lock(cno);
		cno->in_agent = false;
		cno_queue_agent(cno);
	}
	cno_leave(cno);
}

bool
cno_is_inside(const struct cno *cno)
{
	const struct agent_frame *frame = os_self()->agent;

	while (frame && frame->cno != cno)
		frame = frame->outer;
	return frame != NULL;
}

int
cno_modify_agent(struct cno_ref ref, struct cno_agent agent)
{
	struct cno *cno = cno_enter(ref);

	if (!cno)
		return -ENODEV;
	cno->cfg.agent = agent;
	if (agent.function)
		lead_give_up(cno->cfg.lead);
	else
		cno_clear_due(cno);
	cno_queue_agent(cno);
	cno_unlock(cno);
	return 0;
}

int
cno_query(struct cno_ref ref, struct cno_agent *agent)
{
	struct cno *cno = cno_enter(ref);

	if (!cno)
		return -ENODEV;
	*agent = cno->cfg.agent;
	cno_unlock(cno);
	return 0;
}
