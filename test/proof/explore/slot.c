/* SPDX-License-Identifier: BSD-3-Clause */
/* slot -- EVDs and CNOs begin and end in their slots, one after another */
#include "call.h"

#include <string.h>

#include "context.h"
#include "world.h"

#define HOLD_CAPACITY 8

static const struct os_site here = { "a slot", 0 };

static void
fault(struct evd *evd, int error)
{
	struct stage_evd *e = (struct stage_evd *)((char *)evd - offsetof(struct stage_evd, evd));
	const unsigned int after = e->cq.failed_after[sched.self - sched.fibers];

	world_check_call_out("fault");
	if (error != -EIO)
		violation("EVD %c reports a failure that is none: %d", 'a' + e->index, error);
	/* Of arms alone it is known when an episode ends. */
	if (e->faults++ && world_faults == FAULT_ARM && after == e->arms_reported)
		violation("EVD %c reports twice that it cannot be armed", 'a' + e->index);
	e->arms_reported = after;
	/* As an upcall: a TEARDOWN or a free that returns meanwhile is a violation. */
	e->running++;
	++*stage_frames(e);
	sched_point(OP_EVENT, OBJECT_WORLD, &here);
	--*stage_frames(e);
	e->running--;
}

static void
evd_slot_close(struct evd *evd)
{
	struct stage_evd *e = (struct stage_evd *)((char *)evd - offsetof(struct stage_evd, evd));

	world_check_call_out("destroyed");
	if (!e->open)
		violation("destroyed() was called twice");
	e->open = false;
	if (e->running)
		violation("I6: destroyed() while an upcall runs");
	if (e->base != BASE_SOFTWARE)
		device_cq_destroy(&e->cq);
	if (e->base == BASE_PRIVATE)
		world_close(e->own.fd, &here);
	for (int i = 0; i < EPS; i++)
		if (e->holds[i].capacity)
			evd_hold_fini(&e->holds[i]);
	if (e->cno)
		cno_detach_evd(&e->cno->cno);
	e->cno = NULL;
	e->vacant = true;
	context_release(e);
}

/* ---- what the device asks about a completion ---- */

static uint64_t
next_id(struct device_cq *cq, int ep)
{
	struct stage_evd *e = &stage.evds[cq->index];
	const unsigned int stream = STREAM_CQ + (unsigned int)ep;
	const uint64_t id =
	    event_id((unsigned int)e->index, e->serial, stream, stage_life(e)->produced[stream]++);

	entry_ends(entry_begins(stage_life(e), id), false);
	return id;
}

static bool
holds(struct device_cq *cq, uint64_t id, struct evd_hold **hold)
{
	struct stage_evd *e = &stage.evds[cq->index];

	*hold = &e->holds[stream_ep(stream_of(id))];
	return (*hold)->capacity && evd_hold_is_active(*hold);
}

static bool
drops(struct device_cq *cq, uint64_t id)
{
	const struct stage_evd *e = &stage.evds[cq->index];

	return entry_is_dropped(e, id);
}

static bool
unsignalled(struct device_cq *cq, uint64_t id)
{
	return stage.evds[cq->index].spec->unsignalled && !(id & 1);
}

static bool
solicited(struct device_cq *cq, uint64_t id)
{
	(void)cq;
	return id & 2; /* two, and the next two not */
}

/* ---- EVDs ---- */

static void
begin_life(struct stage_evd *e)
{
	static const int policies[STAGE_OBJECTS / 2] = { EVD_POLICY_SINGLE, EVD_POLICY_NOTIFY,
		EVD_POLICY_MANY };
	struct stage_life *l;

	context_acquire(e); /* the slab orders the objects of a slot */
	if (++e->serial == LIVES)
		violation("the scenario opens too many EVDs in one slot");
	l = stage_life(e);
	memset(l, 0, offsetof(struct stage_life, entries));
	l->cell = (struct stage_cell){ e, e->serial };
	for (int i = 0; i < STAGE_OBJECTS; i++)
		l->objects[i] = (struct stage_object){
			.evd = e, .serial = e->serial, .policy = policies[i % (STAGE_OBJECTS / 2)]
		};
	for (unsigned int i = 0; e->serial > 1 && i < FIBERS; i++)
		memset(stage.last[i][e->index], 0, sizeof stage.last[i][e->index]);
	e->vacant = false;
	e->running = e->exempt = 0;
	e->claims = 0;
	e->enabling = 0;
	e->enabled_at = e->stopped_at = e->disabled_at = e->dismissed_at = 0;
	e->overflowed = e->purged = e->unlinked = e->closing = e->departed = false;
	e->faults = 0;
	memset(e->gone, 0, sizeof e->gone);
	memset(e->gone_at, 0, sizeof e->gone_at);
	e->length = (struct setting){ .value = (uint64_t)e->spec->qlen };
	e->enabled = e->waitable = (struct setting){ .value = true };
	e->policy = (struct setting){ .value = EVD_POLICY_DISABLE };
	e->solicited = e->listener = (struct setting){ 0 };
	e->qlen = e->spec->qlen;
}

static void
open_cq(struct stage_evd *e, struct evd_config *config)
{
	const struct evd_spec *spec = e->spec;
	const bool own = e->base == BASE_PRIVATE;

	if (own) {
		memset(&e->own, 0, sizeof e->own);
		e->own.fd = world_channel_open(evd_names[e->index]);
		config->channel_fd = e->own.fd;
	}
	device_cq_open(&e->cq, e->index, own ? &e->own : &stage.loops[spec->loop].channel);
	if (call_has(DO_DEPTH))
		e->cq.depth = (unsigned int)spec->depth;
	e->cq.exact = spec->exact;
	e->cq.strict = spec->strict;
	e->cq.effect = spec->effect;
	e->cq.evd = config->handle;
	e->cq.booked = &e->evd.counters.notifications;
	e->cq.next_id = next_id;
	e->cq.drops = drops;
	e->cq.unsignalled = unsignalled;
	e->cq.solicited = spec->solicited ? solicited : NULL;
	e->cq.holds = spec->holds ? holds : NULL;
	e->cq_ref = (struct evd_ref){ &e->evd, e->serial };
	config->ops = own	  ? spec->exact ? &device_ops_private_exact : &device_ops_private :
		      spec->exact ? &device_ops_exact :
				    &device_ops;
	config->source = &e->cq;
}

static void
open_holds(struct stage_evd *e)
{
	for (int i = 0; i < EPS; i++) {
		if (!(e->spec->holds >> i & 1))
			continue;
		if (evd_hold_init(&e->holds[i], HOLD_CAPACITY))
			violation("evd_hold_init failed");
		evd_hold_begin(evd_self(&e->evd), &e->holds[i]);
	}
}

void
stage_evd_open(struct stage_evd *e, enum evd_base base)
{
	struct evd_config config = {
		.qlen = e->spec->qlen,
		.posted_on_demand = e->spec->bare,
		.channel_fd = -1,
		.spin_ns = e->spec->spins ? 50000 : 0,
		.loop = stage.loops[e->spec->loop].loop,
		.pool = stage.pool,
		.lead =
		    (base == BASE_SAME ? e->spec->base : base) == BASE_SHARED ? stage_lead() : NULL,
		.fault = fault,
		.destroyed = evd_slot_close,
	};
	const bool coarse = sched.coarse;
	int r;

	begin_life(e);
	config.handle = &stage_life(e)->cell;
	config.event_size = sizeof(struct device_event);
	config.call = actor_call;
	config.call_array = actor_call_array;
	config.serial = e->serial;
	e->base = base == BASE_SAME ? e->spec->base : base;
	if (e->base != BASE_SOFTWARE)
		open_cq(e, &config);
	sched.coarse = true; /* no other thread sees it before it was created */
	r = evd_create(&e->evd, &config);
	sched.coarse = coarse;
	if (r) {
		/* Allowed where allocation fails: the slot stays dead. */
		if (!(r == -ENOMEM && world_faults & FAULT_ALLOC))
			violation("evd_create failed: %d", r);
		if (e->base == BASE_PRIVATE)
			world_close(e->own.fd, &here);
		e->vacant = true;
		return;
	}
	e->open = true;
	if (e->spec->depth > e->spec->qlen)
		evd_set_depth(evd_self(&e->evd), (unsigned int)e->spec->depth);
	if (e->base != BASE_SOFTWARE)
		open_holds(e);
}

/* ---- CNOs ---- */

static void
cno_slot_close(struct cno *cno)
{
	struct stage_cno *c = (struct stage_cno *)((char *)cno - offsetof(struct stage_cno, cno));

	world_check_call_out("destroyed");
	if (!c->open)
		violation("destroyed() of a CNO was called twice");
	if (c->in_agent > cno_is_inside(cno))
		violation("a CNO is destroyed while its agent runs");
	c->open = false;
	c->vacant = true;
	context_release(c);
}

void
stage_cno_open(struct stage_cno *c, bool with_agent)
{
	struct cno_config config = { .loop = stage.loops[0].loop,
		.lead = stage_lead(),
		.destroyed = cno_slot_close,
		.with_fd = stage.scenario->fd[c->index] };
	const bool coarse = sched.coarse;
	struct stage_agent *own;
	int r;

	context_acquire(c);
	if (++c->serial == LIVES)
		violation("the scenario opens too many CNOs in one slot");
	own = &c->agents[c->serial];
	*own = (struct stage_agent){ c, c->serial, with_agent };
	config.serial = c->serial;
	if (with_agent)
		config.agent = (struct cno_agent){ own, actor_agent };
	c->vacant = false;
	sched.coarse = true;
	r = cno_create(&c->cno, &config);
	sched.coarse = coarse;
	if (r) {
		if (!(r == -EMFILE && world_faults & FAULT_OPEN))
			violation("cno_create failed: %d", r);
		c->vacant = true;
		return;
	}
	c->open = true;
}
