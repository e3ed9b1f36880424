/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

struct stage stage;

static const struct os_site here = { "the channel's reader", 0 };
static const char *const evd_names[EVDS] = { "a", "b", "c", "d" };
static const char *const cno_names[CNOS] = { "n", "o" };

static void
expect(int r, const char *what)
{
	if (r)
		violation("%s failed: %d", what, r);
}

/* Reads until nothing is left, and books what it read before anything else happens. */
static void
shared_readable(void *arg)
{
	struct stage_loop *l = arg;
	int i;

	while ((i = device_read(&l->channel, &here)) >= 0) {
		stage.evds[i].cq.gets++;
		evd_notified(&stage.evds[i].evd);
	}
}

static void
fault(struct evd *evd, int error)
{
	(void)evd;
	(void)error;
	world_check_call_out("fault");
	sched_point(OP_EVENT, OBJECT_WORLD, &here);
}

void
evd_slot_close(struct evd *evd)
{
	struct stage_evd *e = (struct stage_evd *)((char *)evd - offsetof(struct stage_evd, evd));

	world_check_call_out("destroyed");
	if (!e->open)
		violation("destroyed() was called twice");
	e->open = false;
	if (e->running)
		violation("I6: destroyed() while an upcall runs");
	if (e->spec->cq)
		device_cq_destroy(&e->cq);
	if (e->spec->private)
		world_close(e->own.fd, &here);
	if (e->spec->hold)
		evd_hold_fini(&e->hold);
	if (e->cno)
		cno_unref(&e->cno->cno);
	e->cno = NULL;
}

static uint64_t
next_id(struct device_cq *cq)
{
	struct stage_evd *e = &stage.evds[cq->index];

	return event_id((unsigned int)e->index, e->life, STREAM_CQ, e->produced[STREAM_CQ]++);
}

static bool
holds(struct device_cq *cq, uint64_t id, struct evd_hold **hold)
{
	struct stage_evd *e = &stage.evds[cq->index];

	(void)id;
	*hold = &e->hold;
	return evd_hold_is_active(&e->hold);
}

static bool
drops(struct device_cq *cq, uint64_t id)
{
	return stage.evds[cq->index].purged && id & 1;
}

static bool
quiet(struct device_cq *cq, uint64_t id)
{
	return stage.evds[cq->index].spec->quiet && !(id & 1);
}

void
stage_evd_open(struct stage_evd *e)
{
	const struct evd_spec *spec = e->spec;
	struct evd_config config = {
		.handle = &e->objects[0],
		.qlen = spec->qlen,
		.channel_fd = -1,
		.loop = stage.loops[spec->loop].loop,
		.crew = stage.crew,
		.fault = fault,
		.destroyed = evd_slot_close,
	};
	int r;

	e->life++;
	e->running = e->singles = e->exempt = 0;
	e->claims = 0;
	e->enabled_at = e->quiet_at = e->disabled_at = 0;
	e->overflowed = e->purged = e->unlinked = false;
	e->posts = 0;
	e->qlen = spec->qlen;
	e->barrier_after = 0;
	memset(e->produced, 0, sizeof e->produced);
	memset(e->delivered, 0, sizeof e->delivered);
	for (unsigned int i = 0; e->life > 1 && i < FIBERS; i++)
		memset(stage.last[i][e->index], 0, sizeof stage.last[i][e->index]);
	if (spec->cq) {
		bool own = spec->private;

		if (own) {
			memset(&e->own, 0, sizeof e->own);
			e->own.fd = world_channel_open(evd_names[e->index]);
			config.channel_fd = e->own.fd;
		}
		device_cq_open(&e->cq, e->index, own ? &e->own : &stage.loops[spec->loop].channel);
		e->cq.exact = spec->exact;
		e->cq.strict = spec->strict;
		e->cq.effect = spec->effect;
		e->cq.next_id = next_id;
		e->cq.drops = drops;
		e->cq.quiet = quiet;
		config.ops = own ? spec->exact ? &device_ops_private_exact : &device_ops_private
				 : spec->exact ? &device_ops_exact : &device_ops;
		config.source = &e->cq;
		config.raw_size = sizeof(struct device_record);
	}
	r = evd_open(&e->evd, &config);
	if (r) {
		/* Allowed where allocation fails: the slot stays dead. */
		if (!(r == -ENOMEM && world_faults & FAULT_ALLOC))
			violation("evd_open failed: %d", r);
		if (spec->private)
			world_close(e->own.fd, &here);
		return;
	}
	e->open = true;
	e->closing = false;
}

static void
open_hold(struct stage_evd *e)
{
	expect(evd_hold_init(&e->hold, sizeof(struct device_record), (unsigned int)e->spec->qlen),
	    "evd_hold_init");
	e->cq.holds = holds;
	evd_hold_begin(&e->evd, &e->hold);
}

static void
open_loops(void)
{
	const struct scenario *s = stage.scenario;

	stage.n_loops = s->loops;
	for (int i = 0; i < s->loops; i++) {
		struct stage_loop *l = &stage.loops[i];

		memset(l, 0, sizeof *l);
		expect(loop_create(LOOP_THREAD, 1, &l->loop), "loop_create");
		l->channel.fd = world_channel_open("shared");
		expect(loop_add(l->loop, l->channel.fd, shared_readable, l, &l->ticket),
		    "loop_add");
	}
	stage.crew = NULL;
	if (s->crew)
		expect(loop_create(LOOP_CREW, s->crew, &stage.crew), "loop_create");
}

static void
cno_slot_close(struct cno *cno)
{
	struct stage_cno *c = (struct stage_cno *)((char *)cno - offsetof(struct stage_cno, cno));

	world_check_call_out("destroyed");
	if (!c->open)
		violation("destroyed() of a CNO was called twice");
	if (c->in_agent > (sched.self->self.agent_of == cno))
		violation("a CNO is destroyed while its agent runs");
	c->open = false;
}

static void
open_cno(int i)
{
	struct stage_cno *c = &stage.cnos[i];
	struct cno_config config = { .loop = stage.loops[0].loop, .destroyed = cno_slot_close,
		.with_fd = stage.scenario->fd[i] };

	memset(c, 0, sizeof *c);
	c->index = i;
	c->open = true;
	cno_slot_init(&c->cno);
	world_mutex_name(&c->cno.lock, RANK_CNO, cno_names[i]);
	c->installs = stage.scenario->agent[i];
	if (stage.scenario->agent[i])
		config.agent = (DAT_OS_WAIT_PROXY_AGENT){ c, actor_agent };
	expect(cno_open(&c->cno, &config), "cno_open");
}

static void
open_evd(int i)
{
	struct stage_evd *e = &stage.evds[i];
	const struct evd_spec *spec = &stage.scenario->evds[i];
	static const int policies[3] = {
		DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_NORIFY, DAT_UPCALL_MANY
	};
	DAT_UPCALL_OBJECT object;

	memset(e, 0, sizeof *e);
	e->index = i;
	e->spec = spec;
	for (int p = 0; p < STAGE_OBJECTS; p++)
		e->objects[p] = (struct stage_object){ .evd = e, .policy = policies[p % 3] };
	evd_slot_init(&e->evd);
	world_mutex_name(&e->evd.lock, RANK_EVD, evd_names[i]);
	if (stage_moves()) {
		os_mutex_init(&e->link);
		world_mutex_name(&e->link, RANK_EP, evd_names[i]);
	}
	stage_evd_open(e);
	if (spec->hold)
		open_hold(e);
	if (spec->off)
		expect(evd_set_enabled(&e->evd, false), "evd_set_enabled");
	if (spec->cno >= 0) {
		e->cno = &stage.cnos[spec->cno];
		expect(cno_ref(&e->cno->cno), "cno_ref");
		expect(evd_set_listener(&e->evd, cno_listener(&e->cno->cno), e->cno),
		    "evd_set_listener");
	}
	for (int n = 0; n < spec->backlog; n++)
		device_complete(&e->cq);
	if (spec->policy != DAT_UPCALL_DISABLE) {
		for (int p = 0; p < 3; p++)
			if (policies[p] == spec->policy)
				object = (DAT_UPCALL_OBJECT){ &e->objects[p], actor_upcall };
		expect(evd_modify_upcall(&e->evd, (DAT_UPCALL_POLICY)spec->policy, &object,
		    DAT_UPCALL_INVOC_ANY), "evd_modify_upcall");
	}
}

static void
close_all(void)
{
	const struct scenario *s = stage.scenario;

	for (int i = 0; i < s->n_evds; i++) {
		struct stage_evd *e = &stage.evds[i];

		if (!e->evd.alive)
			continue;
		/* What is still queued comes out now, so that nothing is missing in the end. */
		(void)call_drain(e);
	}
	oracle_end();
	for (int i = 0; i < s->n_evds; i++)
		if (stage.evds[i].evd.alive)
			expect(evd_free(&stage.evds[i].evd), "evd_free");
	for (int i = 0; i < s->n_cnos; i++)
		if (stage.cnos[i].cno.alive)
			expect(cno_free(&stage.cnos[i].cno, true), "cno_free");
	for (int i = 0; i < stage.n_loops; i++) {
		if (stage.loops[i].loop)
			loop_remove(stage.loops[i].loop, &stage.loops[i].ticket);
		loop_destroy(stage.loops[i].loop);
		world_close(stage.loops[i].channel.fd, &here);
	}
	loop_destroy(stage.crew);
	park_close_self();
	world_check_balance();
	for (int i = 0; i < s->n_evds; i++)
		if (stage.evds[i].open)
			violation("EVD %c was freed and never destroyed", 'a' + i);
	for (int i = 0; i < s->n_cnos; i++)
		if (stage.cnos[i].open)
			violation("CNO %c was freed and never destroyed", 'n' + i);
}

static void
body(void)
{
	const struct scenario *s = stage.scenario;

	open_loops();
	/* A search begins with loops that sleep: in what order they came to it is no matter. */
	if (sched.settled)
		sched_rest(true);
	for (int i = 0; i < s->n_cnos; i++)
		open_cno(i);
	for (int i = 0; i < s->n_evds; i++)
		open_evd(i);
	for (int i = 0; i < s->n_actors; i++) {
		struct fiber *f;

		if (s->actors[i].kind != ACTOR_THREAD)
			continue;
		f = sched_spawn(s->actors[i].name, actor_body, (void *)(uintptr_t)&s->actors[i]);
		stage.actor_of[f - sched.fibers] = (int8_t)i;
	}
	sched_rest(false);
	oracle_rest();
	close_all();
}

enum outcome
stage_play(const struct scenario *scenario, struct strategy *strategy, uint64_t seed)
{
	stage.scenario = scenario;
	world_faults = scenario->faults;
	strategy->max_faults = scenario->max_faults;
	sched_oracle = oracle_step;
	memset(stage.frames, 0, sizeof stage.frames);
	memset(stage.exempted, 0, sizeof stage.exempted);
	memset(stage.calling, 0, sizeof stage.calling);
	memset(stage.actor_of, -1, sizeof stage.actor_of);
	memset(stage.last, 0, sizeof stage.last);
	return sched_run(strategy, seed, body);
}
