/* SPDX-License-Identifier: BSD-3-Clause */
/* call_evd -- events enter an EVD and leave it, and what else an actor does to one */
#include "call.h"
#include "world.h"

static bool
policies_change(const struct stage_evd *e)
{
	return e->spec->policy != DAT_UPCALL_DISABLE || call_has(DO_SINGLE) || call_has(DO_MANY) ||
	    call_has(DO_NORIFY) || call_has(DO_REARM);
}

static bool
waiters(void)
{
	return call_has(DO_WAIT) || call_has(DO_TAKE);
}

/* ---- what enters ---- */

void
call_complete(struct stage_evd *e, const struct action *a)
{
	for (int i = 0; i < a->n; i++) {
		if (a->verb == DO_BURST)
			device_show(&e->cq);
		else
			device_complete(&e->cq);
	}
	for (int i = 0; a->verb == DO_BURST && i < a->n; i++)
		device_decide(&e->cq);
}

void
call_post(struct stage_evd *e, enum verb verb, int actor)
{
	unsigned int stream = verb == DO_BARRIER ? STREAM_BARRIER :
	    verb == DO_ESTABLISHED ? STREAM_ESTABLISHED : STREAM_ACTOR + (unsigned int)actor;
	unsigned int number = e->produced[stream], life = e->life;
	DAT_EVENT event = { 0 };
	int r;

	device_event(&event, event_id((unsigned int)e->index, e->life, stream, number));
	e->produced[stream]++;
	switch (verb) {
	case DO_BARRIER:
		e->barrier_after = (uint16_t)e->cq.shown;
		r = evd_post_barrier(&e->evd, EVD_STREAM_CONNECTION, &event);
		break;
	case DO_ESTABLISHED:
		r = evd_post_release(&e->evd, EVD_STREAM_CONNECTION, &event, &e->hold);
		break;
	default:
		r = evd_post(&e->evd, EVD_STREAM_SOFTWARE, &event);
		break;
	}
	if (r && life == e->life) {
		if (e->delivered[stream] >> number & 1)
			violation("post failed with %d and its event was delivered", r);
		e->produced[stream]--;
	}
	if (r == 0 && life == e->life)
		e->posts++;
	call_result("post", r, call_gone(r) ||
	    (r == -ENOSPC && (e->spec->qlen < 8 || call_has(DO_RESIZE))));
}

/* The first who notices tells of it, and nobody else. */
void
call_overflow(struct stage_evd *e)
{
	const unsigned int life = e->life;

	if (!evd_mark_overflow(&e->evd) || life != e->life)
		return;
	if (e->overflowed)
		violation("the overflow of EVD %c is told twice", 'a' + e->index);
	e->overflowed = true;
}

static bool
match_event(const DAT_EVENT *event, const void *who)
{
	(void)who;
	return device_event_id(event) & 1;
}

static bool
match_raw(const void *raw, const void *who)
{
	(void)who;
	return ((const struct device_record *)raw)->id & 1;
}

void
call_purge(struct stage_evd *e)
{
	e->purged = true;
	sched_touch(OP_EVENT, OBJECT_DEVICE(e->index)); /* which drops from now on */
	evd_purge(&e->evd, NULL, match_raw, match_event, NULL);
}

/* ---- what takes ---- */

int
call_dequeue(struct stage_evd *e)
{
	DAT_EVENT event;
	int r = evd_dequeue(&e->evd, &event);

	sched_step(OP_EVENT);
	if (r == 0)
		oracle_deliver(e, &event);
	call_result("dequeue", r, r == -EAGAIN || call_gone(r) ||
	    (r == -EBUSY && waiters()) || (r == -EOVERFLOW && call_has(DO_OVERFLOW)));
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

static bool
takes(const struct actor *actor, int evd)
{
	for (unsigned int i = 0; i < actor->n_actions; i++) {
		const struct action *a = &actor->actions[i];

		switch (a->verb) {
		case DO_DEQUEUE:
		case DO_DRAIN:
		case DO_TAKE:
		case DO_WAIT:
		case DO_PURGE:
			if (a->object == evd)
				return true;
			break;
		case DO_SERVE:
		case DO_CNO_WAIT:
		case DO_WATCH:
		case DO_TRIGGER:
		case DO_AGENT:
			return true;
		default:
			break;
		}
	}
	return false;
}

/* No more than so many take, and what entered counts at once. */
static bool
at_most_take(const struct stage_evd *e, int n)
{
	for (int i = 0; i < stage.scenario->n_actors; i++) {
		const struct actor *actor = &stage.scenario->actors[i];

		n -= takes(actor, e->index) * (actor->every ? 2 : 1);
	}
	return n >= 0 && !policies_change(e) && !e->spec->hold && !e->spec->quiet &&
	    !call_has(DO_BARRIER) &&
	    !call_has(DO_OVERFLOW);
}

/* What counts as queued at least: what had entered by now, of completions at most `most`. */
static int
queued(const struct stage_evd *e, int most)
{
	int left = e->produced[STREAM_CQ] - __builtin_popcountll(e->delivered[STREAM_CQ]);
	int posts = e->posts;

	for (unsigned int s = STREAM_CQ + 1; s < STREAMS; s++)
		posts -= __builtin_popcountll(e->delivered[s]);
	return (left < most ? left : most) + posts;
}

/* At most: what was produced and not delivered. */
static int
under_way(const struct stage_evd *e)
{
	int n = 0;

	for (unsigned int s = 0; s < STREAMS; s++)
		n += e->produced[s] - __builtin_popcountll(e->delivered[s]);
	return n;
}

int
call_wait(struct stage_evd *e, int threshold, int us)
{
	DAT_TIMEOUT timeout = us < 0 ? DAT_TIMEOUT_INFINITE : (DAT_TIMEOUT)us;
	const int least = at_most_take(e, 1) && !call_has(DO_RESIZE) ? queued(e, e->qlen) : 0;
	uint64_t begun = sched.now;
	DAT_EVENT event;
	int r, more = -1;

	e->inside_wait |= fiber_bit(sched.self);
	r = evd_wait(&e->evd, timeout, threshold, &event, &more);
	e->inside_wait &= ~fiber_bit(sched.self);
	sched_step(OP_EVENT);
	if (r == 0) {
		oracle_deliver(e, &event);
		if (more < threshold - 1)
			violation("wait: threshold %d reached, but nmore is %d", threshold, more);
		if (more < least - 1 || more > under_way(e))
			violation("wait: nmore is %d", more);
	} else if (r == -ETIMEDOUT) {
		if (sched.now < begun + (uint64_t)us * 1000u)
			violation("wait: timed out early");
		if (more < 0)
			violation("wait: timed out without nmore");
		if (more < least || more > under_way(e))
			violation("wait: timed out with nmore %d", more);
		if (more >= threshold && !e->spec->quiet)
			violation("wait: timed out with %d events, threshold %d", more, threshold);
	}
	call_result("wait", r, (r == -ETIMEDOUT && us >= 0) || r == -EBUSY ||
	    (r == -EACCES && policies_change(e)) || (r == -EPERM && call_has(DO_UNWAITABLE)) ||
	    (r == -ECANCELED && call_has(DO_FREE)) || call_gone(r) ||
	    ((r == -ECANCELED || r == -ENODEV) && call_has(DO_CLOSING)) ||
	    (r == -EOVERFLOW && call_has(DO_OVERFLOW)) || (r == -EINVAL && call_has(DO_RESIZE)));
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

/* As a provider does it: told of a deeper device queue before, of a shorter one afterwards. */
void
call_resize(struct stage_evd *e, int qlen)
{
	const int was = e->qlen, least = at_most_take(e, 0) ? queued(e, DEVICE_DEPTH) : 0;
	int r;

	if (qlen > was)
		evd_set_depth(&e->evd, (unsigned int)qlen);
	r = evd_resize(&e->evd, (unsigned int)qlen);
	sched_step(OP_EVENT);
	if (r == 0 && least > qlen)
		violation("resize: %d events are queued, and it is made for %d", least, qlen);
	if (r == 0)
		e->qlen = qlen;
	if (r == 0 && qlen < was)
		evd_set_depth(&e->evd, (unsigned int)qlen);
	call_result("resize", r, call_gone(r) || r == -EAGAIN || (r == -EBUSY && waiters()));
}

void
call_free(struct stage_evd *e)
{
	bool inside = *stage_frames(e) > 0;
	unsigned int life = e->life;
	int r;

	if (stage_moves()) {
		os_lock(&e->link);
		e->unlinked = true; /* from now on nobody attaches it */
		os_unlock(&e->link);
	}

	if (inside)
		call_exempt(e);
	r = evd_free(&e->evd);
	sched_step(OP_EVENT);
	if (r == 0 && life == e->life) {
		e->closing = true;
		if (!inside && e->open)
			violation("free returned and the EVD was not destroyed");
		if (!inside || e->evd.closing)
			oracle_quiet(e, "free");
		else
			e->disabled_at = stage_locked_at(e);
	}
	call_result("free", r, r == -ENODEV);
}

void
call_attach(struct stage_evd *e, struct stage_cno *c)
{
	struct stage_cno *old;
	int r;

	if (c && cno_ref(&c->cno))
		return;
	/* The lock makes a pair of the listener and the reference that is held for it. */
	os_lock(&e->link);
	old = c;
	r = e->unlinked ? -ENODEV :
	    evd_set_listener(&e->evd, c ? cno_listener(&c->cno) : NULL, c ? c : DAT_HANDLE_NULL);
	if (r == 0) {
		old = e->cno;
		e->cno = c;
	}
	os_unlock(&e->link);
	if (old)
		cno_unref(&old->cno);
	call_result("attach", r, call_gone(r));
}
