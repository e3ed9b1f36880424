/* SPDX-License-Identifier: BSD-3-Clause */
/* oracle -- what must hold, at every step and in the end */
#include <string.h>

#include "invariant.h"
#include "peek.h"
#include "stage.h"
#include "world.h"

static const struct os_site here = { "the consumer", 0 };

static void
check_claims(struct stage_evd *e)
{
	bool stopped = e->disabled_at && e->disabled_at > e->enabled_at && !e->enabling;

	if (e->evd.counters.upcalls != e->claims) {
		if (e->evd.policy != EVD_POLICY_MANY && e->evd.in_progress > 1)
			violation(
			    "I5: EVD %c: an upcall is claimed while another runs", 'a' + e->index);
		if (stopped || e->closing)
			violation("EVD %c: an upcall was claimed after DISABLE or free returned",
			    'a' + e->index);
		e->claims = e->evd.counters.upcalls;
	}
}

/* Threads that waited when the last EVD of the CNO was detached must return. */
static void
check_deserted(const struct stage_cno *c)
{
	uint32_t waiters = c->cno.alive ? c->inside_wait & c->looked : 0;

	for (; waiters; waiters &= waiters - 1)
		if (invariant_asleep(waiters & -waiters) &&
		    c->last_detaches[__builtin_ctz(waiters)] != c->cno.last_detaches)
			violation("the last EVD of CNO %c was detached, and a thread still waits",
			    'n' + c->index);
}

void
oracle_step(void)
{
	for (int i = 0; i < stage.scenario->n_evds; i++) {
		struct stage_evd *e = &stage.evds[i];

		if (e->evd.lock.owner)
			continue;
		invariant_direct(&e->evd, 'a' + i);
		if (!e->evd.alive) {
			invariant_dead(&e->evd, 'a' + i);
			continue;
		}
		check_claims(e);
		if (e->cq.alive)
			invariant_armed(&e->evd, &e->cq, 'a' + i);
		invariant_sink(&e->evd, e->cq.alive ? &e->cq : NULL, e->inside_wait, 'a' + i);
	}
	for (int i = 0; i < stage.scenario->n_cnos; i++)
		if (!stage.cnos[i].cno.lock.owner) {
			invariant_cno(&stage.cnos[i].cno, stage.cnos[i].inside_wait, 'n' + i);
			check_deserted(&stage.cnos[i]);
		}
}

/* ---- upcalls ---- */

void
oracle_installed(struct stage_evd *e, const struct stage_object *object)
{
	for (int i = 0; i < STAGE_OBJECTS; i++) {
		struct stage_object *o = &stage_life(e)->objects[i];

		if (o == object || o->replaced)
			continue;
		o->replaced = true;
		o->claimed = e->evd.in_progress - e->running;
	}
}

void
oracle_upcall_begins(struct stage_evd *e, struct stage_object *object)
{
	world_check_call_out("an upcall");
	claim_called(e, object);
	if (stage.calling[sched.self - sched.fibers])
		violation("I8: an upcall of EVD %c begins inside a call of the consumer's",
		    'a' + e->index);
	sched_point(OP_EVENT, OBJECT_EVD(e->index), &here);
	sched_step(OP_EVENT);
	trace_note("upcall of %c begins", 'a' + e->index);
	/* One that was claimed before MANY came into force may begin among others. */
	if (!stage.scenario->pool && e->running)
		violation("I5: a second upcall of EVD %c begins", 'a' + e->index);
	if (!e->open)
		violation("I6: an upcall of EVD %c begins after it was destroyed", 'a' + e->index);
	if (object->serial != e->serial)
		violation(
		    "identity: an upcall of EVD %c is made for one that was freed", 'a' + e->index);
	if (object->replaced && object->claimed-- <= 0)
		violation(
		    "an upcall of EVD %c is made for an object that was replaced", 'a' + e->index);
	if (e->stopped_at && e->stopped_at > e->enabled_at && !e->enabling)
		violation("I6: an upcall of EVD %c begins after TEARDOWN returned", 'a' + e->index);
	if (stage.scenario->pool && e->running >= stage.scenario->pool + stage.scenario->loops)
		violation("more upcalls of EVD %c run than there are threads", 'a' + e->index);
	e->running++;
	stage_life(e)->upcalls++;
	++*stage_frames(e);
}

void
oracle_upcall_ends(struct stage_evd *e)
{
	bool *exempted = &stage.exempted[sched.self - sched.fibers][e->index];

	sched_point(OP_EVENT, OBJECT_EVD(e->index), &here);
	sched_step(OP_EVENT);
	e->running--;
	--*stage_frames(e);
	e->exempt -= *exempted;
	*exempted = false;
	trace_note("upcall of %c ends", 'a' + e->index);
}

void
oracle_stopped(struct stage_evd *e, const char *what)
{
	uint32_t since = stage_locked_at(e);
	int own = *stage_frames(e), others;

	/* A call that enables and took effect since explains everything. */
	if (e->enabling || e->enabled_at > since)
		return;
	/* From inside it does not wait for upcalls that do the same. */
	others = own ? e->running - e->exempt : e->running;
	if (others > 0)
		violation("I6: %s of EVD %c returned while an upcall runs", what, 'a' + e->index);
	if (!own)
		stage_later(&e->stopped_at, since);
	stage_later(&e->disabled_at, since);
}

/* ---- events ---- */

/* ESTABLISHED before the endpoint's receives, which come before its end. */
static void
check_connection(const struct stage_evd *e, struct stage_life *l, uint64_t id)
{
	const unsigned int stream = stream_of(id);
	const int ep = stream_ep(stream);
	uint64_t before;

	if (!e->spec->ordered || ep < 0 || stage_is_gone(e, id))
		return;
	if (stream < STREAM_ACTOR && (e->spec->holds & ~l->unheld) >> ep & 1 &&
	    !(l->delivered[STREAM_ESTABLISHED + ep] >> e->gone[STREAM_ESTABLISHED + ep])) {
		/* It may be refused by now, which its caller does not know yet. */
		if (l->establishing >> ep & 1)
			l->escaped |= (uint8_t)(1u << ep);
		else
			violation("order: a completion of %c overtakes its ESTABLISHED", 'e' + ep);
	}
	if (stream != STREAM_BARRIER + (unsigned int)ep)
		return;
	before = stage_first(entry_find(l, id)->after) & ~stage_first(e->gone[STREAM_CQ + ep]);
	if ((l->delivered[STREAM_CQ + ep] & before) != before)
		violation("order: the end of %c overtakes one of its completions", 'e' + ep);
}

/* What was purged is taken by no section that began since. */
static void
check_gone(struct stage_evd *e, uint64_t id)
{
	const int ep = stream_ep(stream_of(id));
	const struct stage_entry *it = entry_find(stage_life(e), id);

	/* With a side effect the last section of the lock is not the one that took it. */
	if (ep >= 0 && it && it->to < e->gone_at[ep] && !e->spec->effect && stage_is_gone(e, id) &&
	    stage_locked_at(e) > e->gone_at[ep])
		violation(
		    "an event of %c is taken from EVD %c, which it left", 'e' + ep, 'a' + e->index);
}

void
oracle_deliver(struct stage_evd *e, unsigned int meant, const struct device_event *event)
{
	uint64_t id = device_event_id(event);
	unsigned int evd = (unsigned int)(id >> 40), serial = (unsigned int)(id >> 32) & 0xff;
	unsigned int stream = stream_of(id), number = id & 0xffff;
	struct stage_life *l = &e->lives[meant];
	uint16_t *last;

	if (evd != (unsigned int)e->index || stream >= STREAMS || number >= 64)
		violation("EVD %c delivers what is not its own (%llx)", 'a' + e->index,
		    (unsigned long long)id);
	trace_note("%s %u of %c is delivered", stream < STREAM_ACTOR ? "completion" : "event",
	    number, 'a' + e->index);
	if (serial != meant)
		violation("identity: a call for EVD %c, serial number %u, gets an event of %u",
		    'a' + e->index, meant, serial);
	if (event->evd != &l->cell)
		violation("an event of EVD %c names another one", 'a' + e->index);
	if (number >= l->produced[stream])
		violation("EVD %c delivers event %u.%u, which was never produced", 'a' + e->index,
		    stream, number);
	if (l->delivered[stream] >> number & 1)
		violation(
		    "I2: event %u.%u of EVD %c is delivered twice", stream, number, 'a' + e->index);
	if (serial == e->serial) {
		check_gone(e, id);
		check_connection(e, l, id);
	}
	l->delivered[stream] |= 1ull << number;
	entry_delivered(e, l, id);
	e->n_delivered++;
	if (serial != e->serial)
		return;
	/* Among several threads that take, the order is each one's own. */
	last = &stage.last[sched.self - sched.fibers][e->index][stream];
	if (number + 1u <= *last)
		violation("I2: event %u.%u of EVD %c comes after its successor", stream, number,
		    'a' + e->index);
	*last = (uint16_t)(number + 1);
	if (stage.scenario->verbs[DO_UNTIL]) {
		sched_touch(OP_EVENT, OBJECT_EVD(e->index));
		sched_changed();
	}
}

/* ---- at rest: no thread can run, every thread has done its work ---- */

/* A thread may have left events of the EVD to the next cno_trywait(). */
static bool
may_leave(const struct stage_evd *e)
{
	return e->evd.handed && stage.scenario->verbs[DO_TRYWAIT];
}

/* An agent that is installed has been called for whatever came, and drained it. */
static void
check_agent_rest(const struct stage_evd *e)
{
	const struct evd *evd = &e->evd;
	const struct stage_cno *c = e->cno;

	if (!evd->alive || !c || !c->cno.alive || !c->cno.cfg.agent.function || !evd->enabled ||
	    e->listener.unknown || e->policy.unknown || invariant_policy_calls(evd->policy))
		return;
	if (invariant_signalled(evd, &e->cq) && !peek_over(evd) && !may_leave(e))
		violation(
		    "at rest an event of EVD %c is left, and the agent of its CNO is installed",
		    'a' + e->index);
}

void
oracle_rest(void)
{
	world_check_rest();
	for (unsigned int i = STAGE + 1; i < sched.n_fibers; i++) {
		const struct fiber *f = &sched.fibers[i];

		if (stage.actor_of[i] >= 0 && f->state != FIBER_DONE)
			violation("no thread can run, and %s is still in %s", f->name,
			    f->site ? f->site->function : "?");
		if (f->n_held)
			violation("at rest %s holds a lock", f->name);
	}
	for (int i = 0; i < stage.scenario->n_evds; i++) {
		invariant_rest(&stage.evds[i].evd,
		    stage.evds[i].cq.alive ? &stage.evds[i].cq : NULL, may_leave(&stage.evds[i]),
		    'a' + i);
		account_rest(&stage.evds[i]);
		check_agent_rest(&stage.evds[i]);
	}
	for (int i = 0; i < stage.scenario->n_cnos; i++)
		if (stage.cnos[i].cno.job_queued || stage.cnos[i].cno.in_agent ||
		    stage.cnos[i].cno.n_waiters)
			violation("at rest CNO %c still counts a thread inside", 'n' + i);
	if (stage.scenario->lead && stage.loops[0].lead.state.value == LEAD_TAKEN)
		violation("at rest a thread still leads");
}

/* Held receives stay held without ESTABLISHED; purged ones were dropped. */
static uint64_t
due(const struct stage_evd *e, const struct stage_life *l, unsigned int stream)
{
	const int ep = stream_ep(stream);
	uint64_t all = stage_first(l->produced[stream]) & ~stage_first(e->gone[stream]);

	if (stream < STREAM_ACTOR && e->spec->holds >> ep & 1 &&
	    l->produced[STREAM_ESTABLISHED + ep] <= e->gone[STREAM_ESTABLISHED + ep])
		return 0;
	return e->purged ? all & 0x5555555555555555ull : all;
}

/* After everything still queued was taken. */
void
oracle_end(void)
{
	for (int i = 0; i < stage.scenario->n_evds; i++) {
		struct stage_evd *e = &stage.evds[i];
		const struct stage_life *l = stage_life(e);

		if (!e->evd.alive)
			continue;
		for (unsigned int s = 0; s < STREAMS; s++) {
			const uint64_t missing = due(e, l, s) & ~l->delivered[s];

			if (missing)
				violation("I2: event %u.%d of EVD %c is lost", s,
				    __builtin_ctzll(missing), 'a' + e->index);
		}
	}
}
