/* SPDX-License-Identifier: BSD-3-Clause */
/* call_cno -- what an actor does to a CNO */
#include "call.h"
#include "world.h"

static const struct os_site here = { "actor", 0 };

unsigned int
call_drain_handed(DAT_EVD_HANDLE handle)
{
	struct stage_evd *e = ((struct stage_object *)handle)->evd;

	trace_note("it is EVD %c", 'a' + e->index);
	return call_drain(e);
}

int
call_cno_wait(struct stage_cno *c, int us, unsigned int *drained)
{
	DAT_TIMEOUT timeout = us < 0 ? DAT_TIMEOUT_INFINITE : (DAT_TIMEOUT)us;
	uint64_t begun = sched.now;
	DAT_EVD_HANDLE handle;
	int r;

	c->inside_wait |= fiber_bit(sched.self);
	r = cno_wait(&c->cno, timeout, &handle);
	c->inside_wait &= ~fiber_bit(sched.self);
	sched_step(OP_EVENT);
	if (r == -ETIMEDOUT && sched.now < begun + (uint64_t)us * 1000u)
		violation("cno_wait: timed out early");
	call_result("cno_wait", r, (r == -ETIMEDOUT && us >= 0) ||
	    ((r == -ENODEV || r == -ECANCELED) &&
	    (call_has(DO_CNO_FREE) || call_has(DO_CNO_ABRUPT) || call_has(DO_CNO_CLOSING))));
	if (r == 0 && handle)
		*drained += call_drain_handed(handle);
	return r;
}

void
call_serve(struct stage_cno *c, int n)
{
	unsigned int got = 0;
	int r, tries = 0;

	while (got < (unsigned int)n) {
		r = call_cno_wait(c, -1, &got);
		if (r && (!call_explained(r) || tries++ == CALL_TRIES))
			return;
	}
}

/* By the descriptor: the trigger is taken without waiting, and drained. */
int
call_trigger(struct stage_cno *c, unsigned int *drained)
{
	DAT_EVD_HANDLE handle = DAT_HANDLE_NULL;
	int r = cno_trigger(&c->cno, &handle);

	sched_step(OP_EVENT);
	call_result("cno_trigger", r, r == -EAGAIN ||
	    (r == -ENODEV && (call_has(DO_CNO_FREE) || call_has(DO_CNO_ABRUPT))));
	if (r == 0 && handle)
		*drained += call_drain_handed(handle);
	return r;
}

void
call_watch(struct stage_cno *c, int n)
{
	struct pollfd fd = { .fd = cno_fd(&c->cno), .events = POLLIN };
	unsigned int got = 0;
	int r = 0, tries = 0;

	while (got < (unsigned int)n && (r == 0 || r == -EAGAIN)) {
		r = world_poll(&fd, 1, UINT64_MAX, &here);
		if (r == -EINTR && tries++ < CALL_TRIES) {
			r = 0;
			continue;
		}
		r = call_trigger(c, &got);
	}
}

void
call_agent(struct stage_cno *c, bool installed)
{
	DAT_OS_WAIT_PROXY_AGENT agent = { NULL, NULL };

	c->installs += installed;

	if (installed)
		agent = (DAT_OS_WAIT_PROXY_AGENT){ c, actor_agent };
	call_result("modify_agent", cno_modify_agent(&c->cno, agent), true);
}

void
call_cno_free(struct stage_cno *c, bool abrupt)
{
	int r = cno_free(&c->cno, abrupt);

	call_result("cno_free", r, r == -EBUSY || r == -ENODEV);
}
