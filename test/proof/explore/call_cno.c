/* SPDX-License-Identifier: BSD-3-Clause */
/* call_cno -- what an actor does to a CNO */
#include "call.h"
#include "left.h"
#include "world.h"

static const struct os_site here = { "actor", 0 };

/* An EVD that had been freed or detached before the CNO was looked at is not named any more. */
static void
check_handed(const struct stage_cno *c, const struct stage_cell *cell)
{
	const struct stage_life *l = &cell->evd->lives[cell->serial];
	const uint32_t looked = sched.self->locked_at[c->cno.lock.id];

	if (l->freed_at && looked > l->freed_at)
		violation("CNO %c names EVD %c, which was freed before", 'n' + c->index,
		    'a' + cell->evd->index);
	if (l->detached_at[c->index] && looked > l->detached_at[c->index])
		violation("CNO %c names EVD %c, which was detached before", 'n' + c->index,
		    'a' + cell->evd->index);
}

unsigned int
call_drain_handed(struct stage_cno *c, void *handle)
{
	const struct stage_cell *cell = handle;
	const struct stage_cell **handed = &stage.handed[sched.self - sched.fibers];
	const struct stage_cell *outer = *handed;
	unsigned int n;

	trace_note("it is EVD %c", 'a' + cell->evd->index);
	check_handed(c, cell);
	*handed = cell;
	n = call_drain(cell->evd);
	*handed = outer;
	return n;
}

/* The wait of a thread that may be cancelled. */
static int
wait_or_leave(struct cno_ref ref, uint32_t timeout, void **handle)
{
	struct world_left left;
	int r;

	if (setjmp(left.place))
		return WORLD_CANCELLED;
	sched.self->left = world_may_be_cancelled() ? &left : NULL;
	r = cno_wait(ref, timeout, handle);
	sched.self->left = NULL;
	return r;
}

int
call_cno_wait(struct stage_cno *c, int us, unsigned int *drained)
{
	uint32_t timeout = us < 0 ? EVD_FOREVER : (uint32_t)us;
	uint64_t begun = sched.now;
	const struct call call = call_begins_cno(c);
	void *handle;
	const struct left_cno *left = left_cno();
	int r;

	if (!call.late) {
		c->inside_wait |= fiber_bit(sched.self);
		c->taking |= fiber_bit(sched.self);
		c->looked &= ~fiber_bit(sched.self);
	}
	r = wait_or_leave(call_cno_ref(&call), timeout, &handle);
	c->inside_wait &= ~fiber_bit(sched.self);
	c->taking &= ~fiber_bit(sched.self);
	call_ends_with(&call, "cno_wait", r);
	if (r == -ETIMEDOUT && sched.now < begun + (uint64_t)us * 1000u)
		violation("cno_wait: timed out early");
	if ((r == -ETIMEDOUT && (left->triggered || left->last_detached)) ||
	    (r == -ECANCELED && left->alive && !left->closing))
		violation("cno_wait: returned %d, which the state of CNO %c does not allow", r,
		    'n' + c->index);
	if (r == 0 && !handle && !left->last_detaches)
		violation("cno_wait: nothing triggered CNO %c", 'n' + c->index);
	call_result("cno_wait", r,
	    (r == -ETIMEDOUT && us >= 0) ||
		((r == -ENODEV || r == -ECANCELED) &&
		    (call_has(DO_CNO_FREE) || call_has(DO_CNO_ABRUPT) || call_has(DO_CNO_CLOSING) ||
			call_has(DO_CNO_SHUT))));
	if (r == 0 && handle && drained)
		*drained += call_drain_handed(c, handle);
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

/* A trigger is taken without waiting, by cno_trigger() or cno_trywait(). */
static int
take_trigger(struct stage_cno *c, const char *name, int (*take)(struct cno_ref ref, void **handle),
    void **handle)
{
	const struct call call = call_begins_cno(c);
	const struct left_cno *left = left_cno();
	int r;

	*handle = NULL;
	if (!call.late)
		c->taking |= fiber_bit(sched.self);
	r = take(call_cno_ref(&call), handle);
	c->taking &= ~fiber_bit(sched.self);
	call_ends_with(&call, name, r);
	if ((r == -EAGAIN && (left->triggered || left->last_detached)) ||
	    (r == 0 && !*handle && !left->last_detaches))
		violation("%s: returned %d, which the state of CNO %c does not allow", name, r,
		    'n' + c->index);
	call_result(name, r,
	    r == -EAGAIN || (r == -EINVAL && !stage.scenario->fd[c->index]) ||
		(r == -ENODEV &&
		    (call_has(DO_CNO_FREE) || call_has(DO_CNO_ABRUPT) || call_has(DO_CNO_SHUT))));
	return r;
}

/* By the descriptor: the trigger is taken without waiting, and drained. */
int
call_trigger(struct stage_cno *c, unsigned int *drained)
{
	void *handle;
	const int r = take_trigger(c, "cno_trigger", cno_trigger, &handle);

	if (r == 0 && handle)
		*drained += call_drain_handed(c, handle);
	return r;
}

int
call_trywait(struct stage_cno *c, unsigned int *taken)
{
	void *handle;
	const int r = take_trigger(c, "cno_trywait", cno_trywait, &handle);
	const struct stage_cell *cell = handle;

	if (r == 0 && handle) {
		check_handed(c, cell);
		*taken += call_dequeue(cell->evd) == 0;
	}
	return r;
}

/* Sleeps until the descriptor is readable.  True: a signal has ended the sleep. */
static bool
await_fd(struct stage_cno *c, int *tries)
{
	struct pollfd fd = { .fd = cno_fd(&c->cno), .events = POLLIN };
	const int r = world_poll(&fd, 1, UINT64_MAX, &here);

	return r == -EINTR && (*tries)++ < CALL_TRIES;
}

void
call_watch(struct stage_cno *c, int n)
{
	unsigned int got = 0;
	int r = 0, tries = 0;

	while (got < (unsigned int)n && (r == 0 || r == -EAGAIN)) {
		if (await_fd(c, &tries))
			r = 0;
		else
			r = call_trigger(c, &got);
	}
}

void
call_pick(struct stage_cno *c, int n)
{
	unsigned int got = 0;
	int r, tries = 0;

	for (;;) {
		do
			r = call_trywait(c, &got);
		while (r == 0);
		if (r != -EAGAIN || got >= (unsigned int)n)
			return;
		while (await_fd(c, &tries))
			;
	}
}

void
call_agent(struct stage_cno *c, bool installed)
{
	const struct call call = call_begins_cno(c);
	struct stage_agent *own = &c->agents[call.serial];
	struct cno_agent agent = { NULL, NULL };
	int r;

	own->installs += installed;
	if (installed)
		agent = (struct cno_agent){ own, actor_agent };
	r = cno_modify_agent(call_cno_ref(&call), agent);
	call_ends_with(&call, "modify_agent", r);
	call_result("modify_agent", r, call_gone(&call, r));
}

void
call_cno_free(struct stage_cno *c, bool abrupt)
{
	const struct call call = call_begins_cno(c);
	const int r = cno_free(call_cno_ref(&call), abrupt);
	const struct left_cno *left = left_cno();

	call_ends_with(&call, "cno_free", r);
	if ((r == -EBUSY) != (r != -ENODEV && (left->evds > 0 || (left->waiters > 0 && !abrupt))))
		violation(
		    "cno_free: returned %d, and CNO %c has %d EVDs", r, 'n' + c->index, left->evds);
	call_result("cno_free", r, r == -EBUSY || call_gone(&call, r));
}

void
call_cno_closing(struct stage_cno *c)
{
	const struct call call = call_begins_cno(c);

	cno_set_closing(call_cno_ref(&call));
	call_ends();
}

/* The agent that the query returns must be this CNO's own. */
void
call_cno_query(struct stage_cno *c)
{
	const struct call call = call_begins_cno(c);
	struct cno_agent agent;
	const int r = cno_query(call_cno_ref(&call), &agent);

	call_ends_with(&call, "cno_query", r);
	if (r == 0 && agent.function && agent.instance != &c->agents[call.serial])
		violation("cno_query of %c returns another CNO's agent", 'n' + c->index);
	call_result("cno_query", r, call_gone(&call, r));
}
