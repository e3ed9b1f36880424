/* SPDX-License-Identifier: BSD-3-Clause */
/* call_evd -- events leave an EVD, and what else an actor does to one */
#include "call.h"
#include "invariant.h"
#include "left.h"
#include "world.h"

static bool
policies_change(const struct stage_evd *e)
{
	return e->spec->policy != EVD_POLICY_DISABLE || call_has(DO_SINGLE) || call_has(DO_MANY) ||
	       call_has(DO_NORIFY) || call_has(DO_REARM);
}

static bool
waiters(void)
{
	return call_has(DO_WAIT) || call_has(DO_TAKE);
}

/* ---- what takes ---- */

/* Only the caller takes events, and every event that entered counts at once. */
static bool
alone(const struct stage_evd *e)
{
	return e->spec->sole && !policies_change(e) && !e->spec->unsignalled &&
	       !call_has(DO_OVERFLOW) && !call_has(DO_REOPEN) && !call_has(DO_PURGE) &&
	       !call_has(DO_LEAVE) && !call_has(DO_AGAIN);
}

/* What a call returned, by what the section left in which it decided. */
static void
check_dequeued(const struct stage_evd *e, int r)
{
	const struct left_evd *left = left_evd();

	if (r == -ENODEV || !left->alive)
		return;
	if (r < 0 && r != -EBUSY && left->queued)
		violation("dequeue: returned %d, and leaves %u events of EVD %c queued", r,
		    left->queued, 'a' + e->index);
	/* A side effect has a section of its own behind it. */
	if (r == -EBUSY ? !left->waiting : left->waiting && !e->spec->effect)
		violation("dequeue: returned %d, and %s thread waits for EVD %c", r,
		    left->waiting ? "a" : "no", 'a' + e->index);
	if ((r == -EOVERFLOW && !left->overflowed) || (r == -EAGAIN && left->overflowed))
		violation("dequeue: returned %d, which the state of EVD %c does not allow", r,
		    'a' + e->index);
}

int
call_dequeue(struct stage_evd *e)
{
	const int least = alone(e) ? entry_queued(e, sched.steps, DEVICE_DEPTH, true) : 0;
	const struct call c = call_begins(e);
	struct device_event event;
	int r = evd_dequeue(call_ref(&c), &event);

	call_ends_with(&c, "dequeue", r);
	check_dequeued(e, r);
	if (r == 0)
		oracle_deliver(e, c.serial, &event);
	else if (r == -EAGAIN && least)
		violation("dequeue: EVD %c is reported as empty, and has %d events", 'a' + e->index,
		    least);
	call_result("dequeue", r,
	    r == -EAGAIN || call_gone(&c, r) || (r == -EBUSY && waiters()) ||
		(r == -EOVERFLOW && call_has(DO_OVERFLOW)));
	return r;
}

/* A dequeue of up to so many. */
int
call_several(struct stage_evd *e, unsigned int most)
{
	const struct call c = call_begins(e);
	struct device_event events[4];
	int r = evd_dequeue_several(call_ref(&c), most < 4 ? most : 4, events);

	call_ends_with(&c, "dequeue_several", r);
	check_dequeued(e, r < 0 ? r : 0);
	if (r == 0 || r > (int)most)
		violation("dequeue_several: returned %d", r);
	for (int i = 0; i < r; i++)
		oracle_deliver(e, c.serial, &events[i]);
	call_result("dequeue_several", r < 0 ? r : 0,
	    r == -EAGAIN || call_gone(&c, r) || (r == -EBUSY && waiters()) ||
		(r == -EOVERFLOW && call_has(DO_OVERFLOW)));
	return r;
}

unsigned int
call_drain(struct stage_evd *e)
{
	unsigned int n = 0;
	int r, tries = 0;

	do {
		r = call_dequeue(e);
		n += r == 0;
	} while (r == 0 || (call_explained(r) && r != -EAGAIN && tries++ < CALL_TRIES));
	return n;
}

static void
check_waited(const struct stage_evd *e, int threshold, int r, int more, uint32_t since)
{
	const struct left_evd *left = left_evd();
	bool so = true;

	if (r == 0 && !left->alive && !e->spec->effect)
		violation("wait: took an event of EVD %c, which was freed", 'a' + e->index);
	if (r == -ENODEV || !left->alive)
		return;
	switch (r) {
	case 0:
		so = e->spec->effect || more == (int)left->queued;
		break;
	case -ETIMEDOUT:
		so = left->signalled < (unsigned int)threshold && more <= (int)left->queued;
		break;
	case -EBUSY:
		so = left->waiting;
		break;
	case -EACCES:
		so = invariant_policy_calls(left->policy);
		break;
	case -EPERM:
		/* Or it was, and is again, while the thread slept. */
		so = !left->waitable || e->waitable.busy || e->dismissed_at > since;
		break;
	case -EINVAL:
		so = threshold < 1 || (unsigned int)threshold > left->qlen;
		break;
	case -ECANCELED:
		so = left->closing;
		break;
	case -EOVERFLOW:
		so = left->overflowed && left->signalled < (unsigned int)threshold;
		break;
	default:
		break;
	}
	if (!so)
		violation("wait: returned %d with nmore %d, which EVD %c does not allow", r, more,
		    'a' + e->index);
}

/* Unsignalled completions end a wait only if they fill the ring. */
static void
check_woken(const struct stage_evd *e, int threshold, const struct device_event *event)
{
	const struct left_evd *left = left_evd();
	const uint64_t id = device_event_id(event);

	if (!e->spec->unsignalled || e->spec->effect || !left->alive ||
	    stream_of(id) >= STREAM_ACTOR || left->queued + 1 >= left->qlen)
		return;
	if (!(id & 1) && left->signalled < (unsigned int)threshold)
		violation("wait: returned for %u signalled events of EVD %c, of %d",
		    left->signalled, 'a' + e->index, threshold);
}

/* The wait of a thread that may be cancelled. */
static int
wait_or_leave(
    struct evd_ref ref, uint32_t timeout, int threshold, struct device_event *event, int *more)
{
	struct world_left left;
	int r;

	if (setjmp(left.place))
		return WORLD_CANCELLED;
	sched.self->left = world_may_be_cancelled() ? &left : NULL;
	r = evd_wait(ref, timeout, threshold, event, more);
	sched.self->left = NULL;
	return r;
}

int
call_wait(struct stage_evd *e, int threshold, int us)
{
	uint32_t timeout = us < 0 ? EVD_FOREVER : (uint32_t)us;
	const int least =
	    alone(e) && !call_has(DO_RESIZE) ? entry_queued(e, sched.steps, e->qlen, false) : 0;
	const struct call c = call_begins(e);
	const int gone = entry_delivered_of(e);
	const uint32_t since = sched.steps;
	uint64_t begun = sched.now;
	struct device_event event;
	int r, more = -1;

	/* A wait for an earlier EVD of the slot does not wait at all. */
	if (!c.late)
		e->inside_wait |= fiber_bit(sched.self);
	r = wait_or_leave(call_ref(&c), timeout, threshold, &event, &more);
	e->inside_wait &= ~fiber_bit(sched.self);
	call_ends_with(&c, "wait", r);
	check_waited(e, threshold, r, more, since);
	if (r == 0) {
		oracle_deliver(e, c.serial, &event);
		check_woken(e, threshold, &event);
		if (more < threshold - 1)
			violation("wait: threshold %d reached, but nmore is %d", threshold, more);
		if (call_current(&c) && more > entry_most(e, gone))
			violation("wait: nmore is %d", more);
	} else if (r == -ETIMEDOUT && call_current(&c)) {
		if (sched.now < begun + (uint64_t)us * 1000u)
			violation("wait: timed out early");
		if (more < 0)
			violation("wait: timed out without nmore");
		if (more < least || more > entry_most(e, gone))
			violation("wait: timed out with nmore %d", more);
		if (more >= threshold && !e->spec->unsignalled)
			violation("wait: timed out with %d events, threshold %d", more, threshold);
	}
	call_result("wait", r,
	    (r == -ETIMEDOUT && us >= 0) || r == -EBUSY || (r == -EACCES && policies_change(e)) ||
		(r == -EPERM && call_has(DO_UNWAITABLE)) ||
		(r == -ECANCELED && call_has(DO_FREE)) || call_gone(&c, r) ||
		((r == -ECANCELED || r == -ENODEV) &&
		    (call_has(DO_CLOSING) || call_has(DO_SHUT))) ||
		(r == -EOVERFLOW && call_has(DO_OVERFLOW)) ||
		(r == -EINVAL && (call_has(DO_RESIZE) || threshold > e->qlen ||
				     (threshold > 1 && e->spec->solicited))));
	return r;
}

void
call_take(struct stage_evd *e, int n)
{
	int r, tries = 0;

	while (n > 0) {
		r = call_wait(e, 1, -1);
		if (r == 0)
			n--;
		else if (!call_explained(r) || tries++ == CALL_TRIES)
			return;
	}
}

/* ---- what changes it ---- */

static void
check_resized(const struct stage_evd *e, unsigned int qlen, int r)
{
	const struct left_evd *left = left_evd();

	if (!left->alive)
		return;
	if ((r == -EBUSY && !left->waiting) || (r == -EAGAIN && left->stored <= qlen) ||
	    (r == 0 && (left->waiting || left->qlen != qlen)))
		violation("resize to %u: returned %d, and EVD %c has %u of %u", qlen, r,
		    'a' + e->index, left->stored, left->qlen);
}

/* As a provider does: it announces a deeper device queue before, and a shorter one afterwards. */
void
call_resize(struct stage_evd *e, int qlen)
{
	const int was = e->qlen;
	const int least = alone(e) && e->spec->consumers == 0 ?
			      entry_queued(e, sched.steps, DEVICE_DEPTH, true) :
			      0;
	const struct call c = call_begins(e);
	int r;

	setting_begins(&e->length);
	if (qlen > was && qlen > e->spec->depth && !call_has(DO_DEPTH))
		evd_set_depth(call_ref(&c), (unsigned int)qlen);
	r = evd_resize(call_ref(&c), (unsigned int)qlen);
	check_resized(e, (unsigned int)qlen, r);
	/* A longer queue is never refused. If two calls run at once, either may set the length. */
	if (r == 0 && least > qlen && qlen < was && !e->length.unknown)
		violation("resize: %d events are queued, and it is made for %d", least, qlen);
	if (r == 0 && call_current(&c))
		e->qlen = qlen;
	if (r == 0 && qlen < was && qlen >= e->spec->depth && !call_has(DO_DEPTH))
		evd_set_depth(call_ref(&c), (unsigned int)qlen);
	call_ends_with(&c, "resize", r);
	setting_ends(&e->length, r == 0 && call_current(&c), (uint64_t)qlen);
	call_result("resize", r, call_gone(&c, r) || r == -EAGAIN || (r == -EBUSY && waiters()));
}

void
call_free(struct stage_evd *e)
{
	const struct call c = call_begins(e);
	bool inside = *stage_frames(e) > 0;
	int r;

	if (stage_moves() && call_current(&c)) {
		os_lock(&e->link);
		if (call_current(&c))
			e->unlinked = true; /* it is not attached any more */
		os_unlock(&e->link);
	}

	if (inside)
		call_exempt(e);
	r = evd_free(call_ref(&c));
	call_ends_with(&c, "free", r);
	if (r == 0)
		stage_later(&e->lives[c.serial].freed_at, sched.steps);
	if (r == 0 && call_current(&c)) {
		const bool destroys = !inside && !call_gives_way();

		e->closing = true;
		if (destroys && e->open)
			violation("free returned and the EVD was not destroyed");
		if (destroys)
			oracle_stopped(e, "free");
		else
			e->disabled_at = stage_locked_at(e);
	}
	call_result("free", r, call_gone(&c, r));
}

void
call_closing(struct stage_evd *e)
{
	const struct call c = call_begins(e);

	evd_set_closing(call_ref(&c));
	call_ends();
}

void
call_waitable(struct stage_evd *e, bool waitable)
{
	const struct call c = call_begins(e);
	int r;

	setting_begins(&e->waitable);
	r = evd_set_waitable(call_ref(&c), waitable);
	call_ends_with(&c, "set_waitable", r);
	setting_ends(&e->waitable, r == 0 && call_current(&c), waitable);
	if (r == 0 && call_current(&c) && !waitable)
		stage_later(&e->dismissed_at, stage_locked_at(e));
	call_result("set_waitable", r, call_gone(&c, r));
}

/* A CNO that gets an EVD is triggered for the queued events, even if they were reported before. */
static void
check_announced(const struct stage_evd *e)
{
	const struct left_evd *left = left_evd();

	if (left->alive && left->listened && left->enabled && !left->waiting && !left->overflowed &&
	    !invariant_policy_calls(left->policy) && left->signalled > 0 && !left->busy)
		violation(
		    "EVD %c was enabled with events, and its CNO is not going to be triggered",
		    'a' + e->index);
}

void
call_enabled(struct stage_evd *e, bool enabled)
{
	const struct call c = call_begins(e);
	const bool changes =
	    enabled && !e->enabled.unknown && !e->enabled.busy && !e->enabled.value;
	int r;

	setting_begins(&e->enabled);
	r = evd_set_enabled(call_ref(&c), enabled);
	call_ends_with(&c, "set_enabled", r);
	setting_ends(&e->enabled, r == 0 && call_current(&c), enabled);
	if (r == 0 && call_current(&c) && changes && !e->enabled.unknown)
		check_announced(e);
	call_result("set_enabled", r, call_gone(&c, r));
}

void
call_attach(struct stage_evd *e, struct stage_cno *c)
{
	struct stage_cno *old;
	struct call call;
	int r;

	if (c) {
		call = call_begins_cno(c);
		r = cno_attach_evd(call_cno_ref(&call));
		call_ends_with(&call, "attach_evd", r);
		if (r)
			return;
	}
	call = call_begins(e);
	setting_begins(&e->listener);
	/* The lock makes a pair of the listener and the reference that is held for it. */
	os_lock(&e->link);
	old = c;
	if (c)
		e->lives[call.serial].detached_at[c->index] = 0;
	r = e->unlinked && call_current(&call) ?
		-ENODEV :
		evd_set_listener(call_ref(&call), c ? cno_listener(&c->cno) : NULL,
		    c ? &c->agents[c->serial] : NULL);
	if (r == 0) {
		old = e->cno;
		e->cno = c;
		if (old && old != c)
			e->lives[call.serial].detached_at[old->index] = sched.steps;
	}
	os_unlock(&e->link);
	if (old)
		cno_detach_evd(&old->cno);
	call_ends_with(&call, "attach", r);
	setting_ends(&e->listener, r == 0 && call_current(&call),
	    (uintptr_t)(c ? &c->agents[c->serial] : NULL));
	call_result("attach", r, call_gone(&call, r) || (r == -ENODEV && call_has(DO_FREE)));
}

void
call_solicited(struct stage_evd *e, bool only)
{
	const struct call c = call_begins(e);
	int r;

	setting_begins(&e->solicited);
	r = evd_set_solicited(call_ref(&c), only);
	call_ends_with(&c, "set_solicited", r);
	setting_ends(&e->solicited, r == 0 && call_current(&c), only);
	call_result("set_solicited", r, call_gone(&c, r));
}
