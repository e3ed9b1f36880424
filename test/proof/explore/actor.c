/* SPDX-License-Identifier: BSD-3-Clause */
/* actor -- what the threads, upcalls and agents of a scenario do */
#include <stdlib.h>

#include "stage.h"
#include "world.h"

#define TRIES 64 /* of a call that failed by a fault: faults are few */

static const struct os_site site_action = { "actor", 0 };

static bool
has(enum verb verb)
{
	return stage.scenario->verbs >> verb & 1;
}

static bool
policies_change(const struct stage_evd *e)
{
	return e->spec->policy != DAT_UPCALL_DISABLE || has(DO_SINGLE) || has(DO_MANY) ||
	    has(DO_NORIFY) || has(DO_REARM);
}

/* Whether a fault of this run explains the error. */
static bool
explained(int r)
{
	switch (r) {
	case -EINTR:
		return world_faults & FAULT_EINTR;
	case -EIO:
		return world_faults & (FAULT_ARM | FAULT_POLL | FAULT_EXCESS);
	case -ENOMEM:
		return world_faults & FAULT_ALLOC;
	case -EMFILE:
		return world_faults & FAULT_OPEN;
	case -ENOSPC:
		return world_faults & FAULT_EPOLL;
	case -EAGAIN:
		return world_faults & FAULT_THREAD;
	default:
		return false;
	}
}

static void
result(const char *what, int r, bool allowed)
{
	trace_note("%s: %d", what, r);
	if (r > 0 || (r < 0 && !allowed && !explained(r)))
		violation("%s: unexpected result %d", what, r);
}

static bool
gone(int r)
{
	return r == -ENODEV && has(DO_FREE);
}

struct stage_evd *
stage_evd_of(DAT_EVD_HANDLE handle)
{
	return ((struct stage_object *)handle)->evd;
}

/* ---- what enters ---- */

static void
complete(struct stage_evd *e, const struct action *a)
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

static void
post(struct stage_evd *e, enum verb verb, int actor)
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
	result("post", r, gone(r) || (r == -ENOSPC && (e->spec->qlen < 8 || has(DO_RESIZE))));
}

/* The first who notices tells of it, and nobody else. */
static void
overflow(struct stage_evd *e)
{
	const unsigned int life = e->life;

	if (!evd_mark_overflow(&e->evd) || life != e->life)
		return;
	if (e->overflowed)
		violation("the overflow of EVD %c is told twice", 'a' + e->index);
	e->overflowed = true;
}

static void
resize(struct stage_evd *e, int qlen)
{
	int r;

	if (qlen > e->qlen)
		evd_set_depth(&e->evd, (unsigned int)qlen);
	r = evd_resize(&e->evd, (unsigned int)qlen);
	sched_step(OP_EVENT);
	if (r == 0)
		e->qlen = qlen;
	result("resize", r, gone(r) || r == -EAGAIN ||
	    (r == -EBUSY && (has(DO_WAIT) || has(DO_TAKE))));
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

/* ---- what takes ---- */

static int
dequeue(struct stage_evd *e)
{
	DAT_EVENT event;
	int r = evd_dequeue(&e->evd, &event);

	sched_step(OP_EVENT);
	if (r == 0)
		oracle_deliver(e, &event);
	result("dequeue", r, r == -EAGAIN || gone(r) ||
	    (r == -EBUSY && (has(DO_WAIT) || has(DO_TAKE))) ||
	    (r == -EOVERFLOW && has(DO_OVERFLOW)));
	return r;
}

unsigned int
stage_drain(struct stage_evd *e)
{
	unsigned int n = 0;
	int r, tries = 0;

	do {
		r = dequeue(e);
		n += r == 0;
	} while (r == 0 || (explained(r) && r != -EAGAIN && tries++ < TRIES));
	return n;
}

static int
wait_once(struct stage_evd *e, int threshold, int us)
{
	DAT_TIMEOUT timeout = us < 0 ? DAT_TIMEOUT_INFINITE : (DAT_TIMEOUT)us;
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
	} else if (r == -ETIMEDOUT) {
		if (sched.now < begun + (uint64_t)us * 1000u)
			violation("wait: timed out early");
		if (more < 0)
			violation("wait: timed out without nmore");
		if (more >= threshold)
			violation("wait: timed out with %d events, threshold %d", more, threshold);
	}
	result("wait", r, (r == -ETIMEDOUT && us >= 0) || r == -EBUSY ||
	    (r == -EACCES && policies_change(e)) || (r == -EPERM && has(DO_UNWAITABLE)) ||
	    (r == -ECANCELED && has(DO_FREE)) || gone(r) || (r == -EOVERFLOW && has(DO_OVERFLOW)) ||
	    (r == -EINVAL && has(DO_RESIZE)));
	return r;
}

static void
take(struct stage_evd *e, int n)
{
	int r, tries = 0;

	while (n > 0) {
		r = wait_once(e, 1, -1);
		if (r == 0)
			n--;
		else if (!explained(r) || tries++ == TRIES)
			return;
	}
}

/* ---- policies ---- */

static int
modify(struct stage_evd *e, int policy, bool fresh)
{
	struct stage_object *object = &e->objects[policy == DAT_UPCALL_SINGLE_INSTANCE ? 0 :
	    policy == DAT_UPCALL_NORIFY ? 1 : 2];
	DAT_UPCALL_OBJECT upcall = { object, actor_upcall };
	bool enables = policy == object->policy;
	unsigned int life = e->life;
	int r;

	if (policy == DAT_UPCALL_TEARDOWN && *stage_frames(e)) {
		bool *exempted = &stage.exempted[sched.self - sched.fibers][e->index];

		e->exempt += !*exempted;
		*exempted = true;
	}
	if (enables)
		e->enabling++;
	r = evd_modify_upcall(&e->evd, (DAT_UPCALL_POLICY)policy, enables ? &upcall : NULL,
	    fresh ? DAT_UPCALL_INVOC_NEW : DAT_UPCALL_INVOC_ANY);
	sched_step(OP_EVENT);
	if (enables)
		e->enabling--;
	if (life == e->life) {
		if (enables && r == 0)
			e->enabled_at = stage_locked_at(e);
		if (r == 0 && policy == DAT_UPCALL_DISABLE)
			e->disabled_at = stage_locked_at(e);
		if (r == 0 && policy == DAT_UPCALL_TEARDOWN)
			oracle_quiet(e, "TEARDOWN");
	}
	result("modify_upcall", r, gone(r) || (enables &&
	    ((r == -EBUSY && (has(DO_WAIT) || has(DO_TAKE))) || (r == -EAGAIN && fresh))));
	return r;
}

/* The consumer's loop that never loses an event: drain, enable for new ones, or drain again. */
static void
rearm(struct stage_evd *e)
{
	int r, tries = 0;

	do {
		(void)stage_drain(e);
		r = modify(e, DAT_UPCALL_SINGLE_INSTANCE, true);
	} while (r == -EAGAIN || (explained(r) && tries++ < TRIES));
}

static void
free_evd(struct stage_evd *e)
{
	bool inside = *stage_frames(e) > 0;
	unsigned int life = e->life;
	int r;

	if (inside) {
		bool *exempted = &stage.exempted[sched.self - sched.fibers][e->index];

		e->exempt += !*exempted;
		*exempted = true;
	}
	r = evd_free(&e->evd);
	sched_step(OP_EVENT);
	if (r == 0 && life == e->life) {
		e->closing = true;
		if (!inside && e->open)
			violation("free returned and the EVD was not destroyed");
		if (!inside)
			oracle_quiet(e, "free");
		else
			e->disabled_at = stage_locked_at(e);
	}
	result("free", r, r == -ENODEV);
}

/* ---- CNOs ---- */

static void
attach(struct stage_evd *e, struct stage_cno *c)
{
	struct stage_cno *old;
	int r;

	if (c && cno_ref(&c->cno))
		return;
	r = evd_set_listener(&e->evd, c ? cno_listener(&c->cno) : NULL, c ? c : DAT_HANDLE_NULL);
	if (r == 0) {
		old = e->cno;
		e->cno = c;
		c = old;
	}
	if (c)
		cno_unref(&c->cno);
	result("attach", r, gone(r));
}

static int
cno_wait_once(struct stage_cno *c, int us, unsigned int *drained)
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
	result("cno_wait", r, (r == -ETIMEDOUT && us >= 0) ||
	    ((r == -ENODEV || r == -ECANCELED) && (has(DO_CNO_FREE) || has(DO_CNO_ABRUPT))));
	if (r == 0 && handle) {
		trace_note("cno_wait: EVD %c", 'a' + stage_evd_of(handle)->index);
		*drained += stage_drain(stage_evd_of(handle));
	}
	return r;
}

static void
serve(struct stage_cno *c, int n)
{
	unsigned int got = 0;
	int r, tries = 0;

	while (got < (unsigned int)n) {
		r = cno_wait_once(c, -1, &got);
		if (r && (!explained(r) || tries++ == TRIES))
			return;
	}
}

/* By the descriptor: the trigger is taken without waiting, and drained. */
static int
trigger(struct stage_cno *c, unsigned int *drained)
{
	DAT_EVD_HANDLE handle = DAT_HANDLE_NULL;
	int r = cno_trigger(&c->cno, &handle);

	sched_step(OP_EVENT);
	result("cno_trigger", r, r == -EAGAIN ||
	    (r == -ENODEV && (has(DO_CNO_FREE) || has(DO_CNO_ABRUPT))));
	if (r == 0 && handle)
		*drained += stage_drain(stage_evd_of(handle));
	return r;
}

static void
watch(struct stage_cno *c, int n)
{
	struct pollfd fd = { .fd = cno_fd(&c->cno), .events = POLLIN };
	unsigned int got = 0;
	int r = 0, tries = 0;

	while (got < (unsigned int)n && (r == 0 || r == -EAGAIN)) {
		r = world_poll(&fd, 1, UINT64_MAX, &site_action);
		if (r == -EINTR && tries++ < TRIES) {
			r = 0;
			continue;
		}
		r = trigger(c, &got);
	}
}

static void
set_agent(struct stage_cno *c, bool installed)
{
	DAT_OS_WAIT_PROXY_AGENT agent = { NULL, NULL };

	c->installs += installed;

	if (installed)
		agent = (DAT_OS_WAIT_PROXY_AGENT){ c, actor_agent };
	result("modify_agent", cno_modify_agent(&c->cno, agent), true);
}

static void
free_cno(struct stage_cno *c, bool abrupt)
{
	int r = cno_free(&c->cno, abrupt);

	result("cno_free", r, r == -EBUSY || r == -ENODEV);
}

/* ---- the rest ---- */

static void
make_loop(void)
{
	struct loop *loop;
	int r = loop_create(LOOP_CREW, 2, &loop);

	if (r == 0)
		loop_destroy(loop);
	result("loop_create", r, false);
}

struct watched {
	int fd;
	bool gone;
};

static void
watched_readable(void *arg)
{
	struct watched *w = arg;

	if (w->gone)
		violation("a source is read after it was removed");
	(void)world_event_clear(w->fd, &site_action);
}

/* A source that comes and goes. */
static void
make_source(void)
{
	struct watched w = { world_event_open(false, &site_action), false };
	struct loop_ticket ticket;
	int r;

	if (w.fd < 0)
		return;
	r = loop_add(stage.loops[0].loop, w.fd, watched_readable, &w, &ticket);
	if (r == 0) {
		world_event_set(w.fd, &site_action);
		loop_remove(stage.loops[0].loop, &ticket);
	}
	w.gone = true;
	world_close(w.fd, &site_action);
	sched_point(OP_EVENT, OBJECT_WORLD, &site_action);
	result("loop_add", r, false);
}

/* An IA that is closed from inside an upcall: the loop outlives the call, and then ends. */
static void
close_loop(void)
{
	struct stage_loop *l = &stage.loops[0];
	struct loop *loop = l->loop;

	loop_remove(loop, &l->ticket);
	l->loop = NULL;
	loop_destroy(loop);
}

struct until {
	struct stage_evd *evd;
	unsigned int n;
};

static bool
delivered(void *arg)
{
	const struct until *until = arg;

	return until->evd->n_delivered >= until->n;
}

static void
perform(const struct action *a, int actor)
{
	struct stage_evd *e = &stage.evds[a->object];
	struct stage_cno *c = &stage.cnos[a->object];
	struct until until = { e, (unsigned int)a->n };
	unsigned int drained = 0;

	switch (a->verb) {
	case DO_COMPLETION:
	case DO_BURST:
		complete(e, a);
		break;
	case DO_SPURIOUS:
		device_spurious(&e->cq);
		break;
	case DO_POST:
	case DO_BARRIER:
	case DO_ESTABLISHED:
		for (int i = 0; i < a->n; i++)
			post(e, a->verb, actor);
		break;
	case DO_OVERFLOW:
		overflow(e);
		break;
	case DO_RESIZE:
		resize(e, a->n);
		break;
	case DO_WATCH:
		watch(c, a->n);
		break;
	case DO_TRIGGER:
		(void)trigger(c, &drained);
		break;
	case DO_PURGE:
		e->purged = true;
		sched_touch(OP_EVENT, OBJECT_DEVICE(e->index)); /* which drops from now on */
		evd_purge(&e->evd, NULL, match_raw, match_event, NULL);
		break;
	case DO_SINGLE:
		(void)modify(e, DAT_UPCALL_SINGLE_INSTANCE, a->fresh);
		break;
	case DO_MANY:
		(void)modify(e, DAT_UPCALL_MANY, a->fresh);
		break;
	case DO_NORIFY:
		(void)modify(e, DAT_UPCALL_NORIFY, a->fresh);
		break;
	case DO_DISABLE:
		(void)modify(e, DAT_UPCALL_DISABLE, false);
		break;
	case DO_TEARDOWN:
		(void)modify(e, DAT_UPCALL_TEARDOWN, false);
		break;
	case DO_REARM:
		rearm(e);
		break;
	case DO_FREE:
		free_evd(e);
		break;
	case DO_REOPEN:
		if (!e->open)
			stage_evd_open(e);
		break;
	case DO_DEQUEUE:
		(void)dequeue(e);
		break;
	case DO_DRAIN:
		(void)stage_drain(e);
		break;
	case DO_TAKE:
		take(e, a->n);
		break;
	case DO_WAIT:
		(void)wait_once(e, a->n, a->us);
		break;
	case DO_UNWAITABLE:
	case DO_WAITABLE:
		(void)evd_set_waitable(&e->evd, a->verb == DO_WAITABLE);
		break;
	case DO_ATTACH:
		attach(e, &stage.cnos[a->other]);
		break;
	case DO_DETACH:
		attach(e, NULL);
		break;
	case DO_CNO_ON:
	case DO_CNO_OFF:
		(void)evd_set_enabled(&e->evd, a->verb == DO_CNO_ON);
		break;
	case DO_SERVE:
		serve(c, a->n);
		break;
	case DO_CNO_WAIT:
		(void)cno_wait_once(c, a->us, &drained);
		break;
	case DO_AGENT:
	case DO_NO_AGENT:
		set_agent(c, a->verb == DO_AGENT);
		break;
	case DO_CNO_FREE:
	case DO_CNO_ABRUPT:
		free_cno(c, a->verb == DO_CNO_ABRUPT);
		break;
	case DO_UNTIL:
		sched_until(delivered, &until, OP_UNTIL, OBJECT_EVD(e->index));
		break;
	case DO_LOOP:
		make_loop();
		break;
	case DO_SOURCE:
		make_source();
		break;
	case DO_CLOSE_LOOP:
		close_loop();
		break;
	default:
		break; /* of the provider's explorer */
	}
}

/* The n-th action's points are numbered from 4096 n on, whatever the others take: see the shrinking. */
static void
act(const struct actor *actor, int number, bool numbered)
{
	for (unsigned int i = 0; i < actor->n_actions; i++) {
		const struct action *a = &actor->actions[i];

		if (numbered && !sched.quiet)
			sched.self->ops = 4096 * (i + 1);
		if (a->dropped)
			continue;
		trace_note("-- %s %c", verb_name(a->verb),
		    verb_prefix(a->verb) ? verb_prefix(a->verb) + a->object : ' ');
		stage.calling[sched.self - sched.fibers]++;
		perform(a, number);
		stage.calling[sched.self - sched.fibers]--;
	}
}

void *
actor_body(void *arg)
{
	const struct actor *actor = arg;

	act(actor, (int)(actor - stage.scenario->actors), true);
	return NULL;
}

static bool
has_script(enum actor_kind kind, int object)
{
	const struct scenario *s = stage.scenario;

	for (int i = 0; i < s->n_actors; i++)
		if (s->actors[i].kind == kind && s->actors[i].object == object)
			return true;
	return false;
}

static void
play_script(enum actor_kind kind, int object, bool first)
{
	const struct scenario *s = stage.scenario;

	for (int i = 0; i < s->n_actors; i++) {
		const struct actor *actor = &s->actors[i];

		if (actor->kind == kind && actor->object == object && (first || actor->every))
			act(actor, i, false);
	}
}

void
actor_upcall(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	const struct stage_object *object = instance;
	struct stage_evd *e = object->evd;
	bool first;

	(void)more;
	oracle_upcall_begins(e);
	first = e->upcalls++ == 0;
	if (has_script(ACTOR_UPCALL, e->index))
		sched_touch(OP_EVENT, OBJECT_EVD(e->index)); /* who is first matters */
	if (object->policy == DAT_UPCALL_NORIFY) {
		if (event)
			violation("an upcall that notifies brings an event");
		(void)stage_drain(e);
	} else if (!event) {
		violation("an upcall without an event");
	} else {
		oracle_deliver(e, event);
	}
	/* At rest the stage pumps nothing: what happens now is the teardown's. */
	if (!sched.quiet)
		play_script(ACTOR_UPCALL, e->index, first);
	oracle_upcall_ends(e);
}

void
actor_agent(DAT_PVOID instance, DAT_EVD_HANDLE handle)
{
	struct stage_cno *c = instance;

	world_check_call_out("agent");
	if (stage.calling[sched.self - sched.fibers])
		violation("I8: an agent is called inside a call of the consumer's");
	sched_point(OP_EVENT, OBJECT_CNO(c->index), &site_action);
	sched_step(OP_EVENT);
	if (c->installs-- == 0)
		violation("an agent is called again without having been installed again");
	if (c->in_agent++)
		violation("a second call of the agent begins");
	if (!c->open)
		violation("the agent is called after its CNO was destroyed");
	if (handle) {
		trace_note("agent: EVD %c", 'a' + stage_evd_of(handle)->index);
		(void)stage_drain(stage_evd_of(handle));
	}
	if (!sched.quiet)
		play_script(ACTOR_AGENT, c->index, c->agent_calls++ == 0);
	sched_point(OP_EVENT, OBJECT_CNO(c->index), &site_action);
	sched_step(OP_EVENT);
	c->in_agent--;
}
