/* SPDX-License-Identifier: BSD-3-Clause */
/* consumer -- what the threads, upcalls and agents of a scenario do, by the provider's calls */
#include "evd/os.h"
#include "evd/park.h"

#include "play.h"
#include "world.h"

static const struct os_site site = { "consumer", 0 };

/* ---- results ---- */

bool
consumer_is(DAT_RETURN ret, DAT_RETURN type)
{
	return DAT_GET_TYPE(ret) == type;
}

void
consumer_result(const char *what, DAT_RETURN ret, bool allowed)
{
	trace_note("%s: %x", what, (unsigned int)ret);
	/* The provider may return the error of a call that failed. */
	allowed |= sched.faults && (consumer_is(ret, DAT_INSUFFICIENT_RESOURCES) ||
				       consumer_is(ret, DAT_INTERNAL_ERROR));
	if (ret != DAT_SUCCESS && !allowed)
		violation("%s: unexpected result %x", what, (unsigned int)ret);
}

bool
consumer_gone(DAT_RETURN ret, bool over, enum verb by, enum verb or_by)
{
	return consumer_is(ret, DAT_INVALID_HANDLE) &&
	       (over || play.closing || play_has(by) || play_has(or_by));
}

void
consumer_too_late(const char *what, DAT_RETURN ret, bool over)
{
	if (over && !consumer_is(ret, DAT_INVALID_HANDLE))
		violation("identity: %s on an object that was freed before returned %x", what,
		    (unsigned int)ret);
}

/* ---- call-outs ---- */

static void
play_scripts(enum actor_kind kind, int object, bool first)
{
	const struct scenario *s = play.scenario;

	for (int i = 0; i < s->n_actors && !sched.no_choices; i++)
		if (s->actors[i].kind == kind && s->actors[i].object == object &&
		    (first || s->actors[i].every))
			(void)consumer_body((void *)(uintptr_t)&s->actors[i]);
}

static void
call_out_begins(unsigned int object, const char *what)
{
	world_check_call_out(what);
	sched_point_minor(OP_EVENT, object, &site);
	sched_touch(OP_EVENT, object);
	if (play.closed)
		violation("I6: %s begins after its adapter was closed", what);
}

static void
call_out_ends(unsigned int object)
{
	sched_point(OP_EVENT, object, &site);
	sched_touch(OP_EVENT, object);
}

static void
upcall(struct play_evd_life *life, const DAT_EVENT *events, DAT_COUNT n)
{
	struct play_evd *evd = life->evd;
	const struct play_evd_life **frame = &play.frame[play_self()][evd->index];
	const struct play_evd_life *outer = *frame;

	call_out_begins(OBJECT_EVD(evd->index), "an upcall");
	if (life->stopped)
		violation("I6: an upcall of EVD %c begins after it was freed", 'a' + evd->index);
	evd->running++;
	life->upcalls++;
	play.frames[play_self()][evd->index]++;
	*frame = life;
	play.taking_since[play_self()] = 0; /* it is not known when it was claimed */
	for (DAT_COUNT i = 0; i < n; i++)
		judge_event(life, &events[i]);
	if (!events)
		(void)consumer_drain(life);
	play_scripts(ACTOR_UPCALL, evd->index, evd->upcalls++ == 0);
	call_out_ends(OBJECT_EVD(evd->index));
	*frame = outer;
	play.frames[play_self()][evd->index]--;
	evd->running--;
}

void
consumer_upcall(DAT_PVOID life, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	(void)more;
	upcall(life, event, event ? 1 : 0);
}

void
consumer_upcall_array(DAT_PVOID life, const DAT_EVENT *events, DAT_COUNT n, DAT_BOOLEAN more)
{
	(void)more;
	if (n > PLAY_ARRAY || (events && n < 1))
		violation("an upcall gets %d events, and its object takes %d", n, PLAY_ARRAY);
	upcall(life, events, n);
}

void
consumer_agent(DAT_PVOID instance, DAT_EVD_HANDLE handle)
{
	struct play_cno_life *life = instance;
	struct play_cno *cno = life->cno;

	call_out_begins(OBJECT_CNO(cno->index), "an agent");
	if (life->over)
		violation("the agent of CNO %c is called after it was freed", 'n' + cno->index);
	if (cno->in_agent++)
		violation("a second call of the agent of CNO %c begins", 'n' + cno->index);
	play.agents[play_self()][cno->index]++;
	for (int i = 0; i < play.scenario->n_evds; i++)
		for (unsigned int l = 1; l <= play.evds[i].life; l++)
			if (play.evds[i].lives[l].handle == handle)
				(void)consumer_drain(&play.evds[i].lives[l]);
	play_scripts(ACTOR_AGENT, cno->index, cno->agent_calls++ == 0);
	call_out_ends(OBJECT_CNO(cno->index));
	play.agents[play_self()][cno->index]--;
	cno->in_agent--;
}

/* ---- actions ---- */

static bool
delivered(void *arg)
{
	const struct action *a = arg;

	return play.closed || play.evds[a->object].n_delivered >= (unsigned int)a->n;
}

static void
pause_for(int us)
{
	struct park *park = park_self();

	park_reset(park);
	(void)park_sleep(park, os_clock_ns() + (uint64_t)us * 1000, -1, NULL);
}

static void
perform(struct action *a)
{
	switch (verb_prefix(a->verb)) {
	case 'e':
		consumer_act_ep(a);
		return;
	case 'n':
		consumer_act_cno(a);
		return;
	default:
		break;
	}
	switch (a->verb) {
	case DO_UNTIL:
		sched_until(delivered, a, OP_UNTIL, OBJECT_EVD(a->object));
		break;
	case DO_CM_ASKS:
		for (int i = 0; i < a->n; i++)
			connection_ask();
		break;
	case DO_STOCK:
		for (int i = 0; i < a->n; i++)
			stock_post();
		break;
	case DO_LENGTH:
		stock_resize(a->n);
		break;
	case DO_PAUSE:
		pause_for(a->n);
		break;
	case DO_DEVICE_FATAL:
		rnic_device_fails();
		break;
	case DO_IA_CLOSE:
		consumer_close(DAT_CLOSE_ABRUPT_FLAG);
		break;
	case DO_IA_GRACEFUL:
		consumer_close(DAT_CLOSE_GRACEFUL_FLAG);
		break;
	default:
		consumer_act_evd(a);
		break;
	}
}

void *
consumer_body(void *arg)
{
	const struct actor *actor = arg;
	int8_t *acting = &play.acting[play_self()];
	const int8_t outer = *acting;

	*acting = (int8_t)(actor - play.scenario->actors);
	for (unsigned int i = 0; i < actor->n_actions; i++) {
		struct action a = actor->actions[i];

		if (actor->kind == ACTOR_THREAD)
			sched.self->ops = 4096 * (i + 1); /* as in actor.c */
		if (a.dropped)
			continue;
		trace_note("-- %s %c", verb_name(a.verb),
		    verb_prefix(a.verb) ? verb_prefix(a.verb) + a.object : ' ');
		perform(&a);
	}
	*acting = outer;
	return NULL;
}
