/* SPDX-License-Identifier: BSD-3-Clause */
/* actor -- what the threads, upcalls and agents of a scenario do */
#include "call.h"
#include "world.h"

static const struct os_site here = { "actor", 0 };

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
	/* or an EVD's number */
	struct stage_cno *c = a->object < CNOS ? &stage.cnos[a->object] : NULL;
	struct until until = { e, (unsigned int)a->n };
	unsigned int drained = 0;

	switch (a->verb) {
	case DO_COMPLETION:
	case DO_BURST:
		call_complete(e, a);
		break;
	case DO_SPURIOUS:
		device_spurious(&e->cq);
		break;
	case DO_POST:
	case DO_BARRIER:
	case DO_ESTABLISHED:
		for (int i = 0; i < a->n; i++)
			call_post(e, a->verb, actor, a->ep);
		break;
	case DO_LEAVE:
	case DO_AGAIN:
		call_leave(e, a->ep, a->verb == DO_AGAIN);
		break;
	case DO_DEPTH:
		call_depth(e, (unsigned int)a->n);
		break;
	case DO_REFRESH:
		call_refresh(e);
		break;
	case DO_EMPTY:
		call_empty(e);
		break;
	case DO_QUERY:
		call_query(e);
		break;
	case DO_WRONG:
		call_wrong(e);
		break;
	case DO_OVERFLOW:
		call_overflow(e);
		break;
	case DO_RESIZE:
		call_resize(e, a->n);
		break;
	case DO_WATCH:
		call_watch(c, a->n);
		break;
	case DO_TRIGGER:
		(void)call_trigger(c, &drained);
		break;
	case DO_TRYWAIT:
		(void)call_trywait(c, &drained);
		break;
	case DO_PICK:
		call_pick(c, a->n);
		break;
	case DO_PURGE:
		call_purge(e);
		break;
	case DO_SINGLE:
		(void)call_modify(e, EVD_POLICY_SINGLE, a);
		break;
	case DO_MANY:
		(void)call_modify(e, EVD_POLICY_MANY, a);
		break;
	case DO_NORIFY:
		(void)call_modify(e, EVD_POLICY_NOTIFY, a);
		break;
	case DO_DISABLE:
		(void)call_modify(e, EVD_POLICY_DISABLE, a);
		break;
	case DO_TEARDOWN:
		(void)call_modify(e, EVD_POLICY_TEARDOWN, a);
		break;
	case DO_REARM:
		call_rearm(e);
		break;
	case DO_FREE:
		call_free(e);
		break;
	case DO_REOPEN:
		/*
		 * The slot is used by another object, or is not free yet: the actor keeps its
		 * object.
		 */
		if (!e->vacant || e->serial == LIVES - 1)
			break;
		stage_evd_open(e, a->base);
		stage.knows[actor][e->index] = (uint8_t)e->serial;
		break;
	case DO_SEE:
		stage.knows[actor][e->index] = (uint8_t)e->evd.serial;
		sched_see(OP_EVENT, OBJECT_EVD(e->index));
		break;
	case DO_DEQUEUE:
		(void)call_dequeue(e);
		break;
	case DO_SEVERAL:
		(void)call_several(e, (unsigned int)a->n);
		break;
	case DO_DRAIN:
		(void)call_drain(e);
		break;
	case DO_TAKE:
		call_take(e, a->n);
		break;
	case DO_WAIT:
		(void)call_wait(e, a->n, a->us);
		break;
	case DO_UNWAITABLE:
	case DO_WAITABLE:
		call_waitable(e, a->verb == DO_WAITABLE);
		break;
	case DO_SOLICITED:
	case DO_ALL:
		call_solicited(e, a->verb == DO_SOLICITED);
		break;
	case DO_CLOSING:
		call_closing(e);
		break;
	case DO_SHUT:
		call_shut(e);
		break;
	case DO_CNO_SHUT:
		call_cno_shut(c);
		break;
	case DO_ATTACH:
		call_attach(e, &stage.cnos[a->other]);
		break;
	case DO_DETACH:
		call_attach(e, NULL);
		break;
	case DO_CNO_ON:
	case DO_CNO_OFF:
		call_enabled(e, a->verb == DO_CNO_ON);
		break;
	case DO_SERVE:
		call_serve(c, a->n);
		break;
	case DO_CNO_WAIT:
		(void)call_cno_wait(c, a->us, &drained);
		break;
	case DO_CNO_IGNORE:
		(void)call_cno_wait(c, a->us, NULL);
		break;
	case DO_AGENT:
	case DO_NO_AGENT:
		call_agent(c, a->verb == DO_AGENT);
		break;
	case DO_CNO_FREE:
	case DO_CNO_ABRUPT:
		call_cno_free(c, a->verb == DO_CNO_ABRUPT);
		break;
	case DO_CNO_CLOSING:
		call_cno_closing(c);
		break;
	case DO_CNO_REOPEN:
		if (!c->vacant || c->serial == LIVES - 1)
			break;
		stage_cno_open(c, false);
		stage.knows_cno[actor][c->index] = (uint8_t)c->serial;
		break;
	case DO_CNO_SEE:
		stage.knows_cno[actor][c->index] = (uint8_t)c->cno.serial;
		sched_see(OP_EVENT, OBJECT_CNO(c->index));
		break;
	case DO_CNO_QUERY:
		call_cno_query(c);
		break;
	case DO_UNTIL:
		sched_until(delivered, &until, OP_UNTIL, OBJECT_EVD(e->index));
		break;
	case DO_LOOP:
		call_loop();
		break;
	case DO_SOURCE:
		call_source();
		break;
	case DO_CLOSE_LOOP:
		call_close_loop();
		break;
	default:
		break; /* of the provider's explorer */
	}
}

/* The n-th action's points are numbered from 4096 n on, whatever others take: for the shrinking. */
static void
act(const struct actor *actor, int number, bool numbered)
{
	int8_t *acting = &stage.acting[sched.self - sched.fibers];
	const int8_t outer = *acting;

	*acting = (int8_t)number;
	for (unsigned int i = 0; i < actor->n_actions; i++) {
		const struct action *a = &actor->actions[i];

		if (numbered && !sched.no_choices)
			sched.self->ops = 4096 * (i + 1);
		if (a->dropped)
			continue;
		trace_note("-- %s %c", verb_name(a->verb),
		    verb_prefix(a->verb) ? verb_prefix(a->verb) + a->object : ' ');
		stage.calling[sched.self - sched.fibers]++;
		perform(a, number);
		stage.calling[sched.self - sched.fibers]--;
	}
	*acting = outer;
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

/* A busy EVD must not keep the thread of a loop from reading its sources. */
static void
check_sources_read(void)
{
	const struct loop *loop = world_self()->loop;
	const unsigned int most = LOOP_SPAN + (unsigned int)stage.scenario->n_evds * EVD_BUDGET;

	if (loop != stage.pool && ++sched.self->unread > most)
		violation("%u events got upcalls, and the thread has not read its sources",
		    sched.self->unread);
}

static void
upcall(struct stage_object *object, const struct device_event *events, unsigned int n)
{
	struct stage_evd *e = object->evd;
	uint8_t *serial = &stage.frame_life[sched.self - sched.fibers][e->index];
	const uint8_t outer = *serial;
	bool first;

	oracle_upcall_begins(e, object);
	*serial = (uint8_t)object->serial;
	first = e->upcalls++ == 0;
	if (has_script(ACTOR_UPCALL, e->index))
		sched_touch(OP_EVENT, OBJECT_EVD(e->index)); /* the order of the actors matters */
	if (object->policy == EVD_POLICY_NOTIFY) {
		if (events)
			violation("an upcall that notifies brings an event");
		(void)call_drain(e);
	} else if (!events || n < 1) {
		violation("an upcall without an event");
	} else {
		for (unsigned int i = 0; i < n; i++)
			oracle_deliver(e, object->serial, &events[i]);
		check_sources_read();
	}
	/* At rest the stage pumps nothing: what happens now is the teardown's. */
	if (!sched.no_choices)
		play_script(ACTOR_UPCALL, e->index, first);
	oracle_upcall_ends(e);
	*serial = outer;
}

void
actor_upcall(void *instance, const struct device_event *event, int more)
{
	(void)more;
	upcall(instance, event, 1);
}

void
actor_upcall_array(void *instance, const struct device_event *events, unsigned int n, int more)
{
	(void)more;
	if (n > STAGE_ARRAY)
		violation("an upcall gets %d events, and its object takes %d", n, STAGE_ARRAY);
	upcall(instance, events, n);
}

void
actor_call(void *instance, const void *event, int more, void (*function)(void))
{
	((__typeof__(&actor_upcall))function)(instance, event, more);
}

void
actor_call_array(
    void *instance, const void *events, unsigned int n, int more, const struct evd_upcall *upcall)
{
	((__typeof__(&actor_upcall_array))upcall->function)(instance, events, n, more);
}

void
actor_agent(void *instance, void *handle)
{
	struct stage_agent *own = instance;
	struct stage_cno *c = own->cno;
	const struct stage_agent **in_agent = &stage.in_agent[sched.self - sched.fibers];
	const struct stage_agent *outer = *in_agent;

	world_check_call_out("agent");
	if (stage.calling[sched.self - sched.fibers])
		violation("I8: an agent is called inside a call of the consumer's");
	sched_point(OP_EVENT, OBJECT_CNO(c->index), &here);
	sched_step(OP_EVENT);
	if (own->serial != c->serial)
		violation("identity: the agent of a CNO that was freed is called");
	if (own->installs-- == 0)
		violation("an agent is called again without having been installed again");
	if (c->in_agent++)
		violation("a second call of the agent begins");
	if (!c->open)
		violation("the agent is called after its CNO was destroyed");
	*in_agent = own;
	if (handle)
		(void)call_drain_handed(c, handle);
	if (!sched.no_choices)
		play_script(ACTOR_AGENT, c->index, c->agent_calls++ == 0);
	*in_agent = outer;
	sched_point(OP_EVENT, OBJECT_CNO(c->index), &here);
	sched_step(OP_EVENT);
	c->in_agent--;
}
