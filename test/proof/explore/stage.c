/* SPDX-License-Identifier: BSD-3-Clause */
#include "call.h"
#include "left.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

struct stage stage;

static const struct os_site here = { "the channel's reader", 0 };
const char *const evd_names[EVDS] = { "a", "b", "c", "d" };
static const char *const cno_names[CNOS] = { "n", "o" };

static void
expect(int r, const char *what)
{
	if (r)
		violation("%s failed: %d", what, r);
}

/* Books what it read before anything else happens. */
static int
read_shared(void *arg)
{
	struct stage_loop *l = arg;
	int i = device_read(&l->channel, &here);

	if (i < 0)
		return 0;
	stage.evds[i].cq.gets++;
	evd_notified(stage.evds[i].cq_ref);
	return 1;
}

static void
shared_readable(void *arg, uint64_t serial)
{
	struct stage_loop *l = arg;

	(void)serial;
	(void)loop_read_some(&l->pace, read_shared, l);
}

struct lead *
stage_lead(void)
{
	return stage.scenario->lead ? &stage.loops[0].lead : NULL;
}

/* For a thread that leads. */
static int
read_for_lead(void *arg, struct evd_ref *ref)
{
	struct stage_loop *l = arg;
	int i = device_read(&l->channel, &here);

	if (i < 0)
		return 0;
	stage.evds[i].cq.gets++;
	*ref = stage.evds[i].cq_ref;
	return 1;
}

static void
open_lead(struct stage_loop *l)
{
	struct lead *lead = stage_lead();

	if (!lead)
		return;
	*lead = (struct lead){ .loop = l->loop,
		.ticket = &l->ticket,
		.fd = l->channel.fd,
		.read = read_for_lead,
		.arg = l };
	lead_open(lead);
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
		expect(loop_add(l->loop, l->channel.fd, shared_readable, l, 0, &l->ticket),
		    "loop_add");
	}
	open_lead(&stage.loops[0]);
	stage.pool = NULL;
	if (s->pool)
		expect(loop_create(LOOP_POOL, s->pool, &stage.pool), "loop_create");
}

static void
open_cno(int i)
{
	struct stage_cno *c = &stage.cnos[i];

	memset(c, 0, sizeof *c);
	c->index = i;
	cno_slot_init(&c->cno);
	world_mutex_name(&c->cno.lock, RANK_CNO, cno_names[i]);
	stage_cno_open(c, stage.scenario->agent[i]);
}

int
stage_modify(const struct stage_evd *e, struct evd_ref ref, int policy, struct stage_object *object,
    enum evd_pending pending)
{
	const struct evd_upcall array = { object, (void (*)(void))actor_upcall_array,
		(unsigned int)e->spec->array };
	const struct evd_upcall one = { object, (void (*)(void))actor_upcall, 0 };
	const struct evd_upcall *upcall = e->spec->array ? &array : &one;

	return evd_modify_upcall(ref, (enum evd_policy)policy, object ? upcall : NULL, pending);
}

static void
open_evd(int i)
{
	struct stage_evd *e = &stage.evds[i];
	const struct evd_spec *spec = &stage.scenario->evds[i];
	struct stage_object *object = NULL;

	memset(e, 0, offsetof(struct stage_evd, lives));
	e->index = i;
	e->spec = spec;
	evd_slot_init(&e->evd);
	world_mutex_name(&e->evd.lock, RANK_EVD, evd_names[i]);
	if (stage_moves()) {
		os_mutex_init(&e->link);
		world_mutex_name(&e->link, RANK_EP, evd_names[i]);
	}
	stage_evd_open(e, BASE_SAME);
	e->listener.value = (uintptr_t)(spec->cno < 0 ? NULL : &stage.cnos[spec->cno].agents[1]);
	e->policy.value = (uint64_t)spec->policy;
	if (spec->solicited)
		call_solicited(e, true);
	if (spec->off)
		call_enabled(e, false);
	if (spec->cno >= 0) {
		e->cno = &stage.cnos[spec->cno];
		expect(cno_attach_evd(cno_self(&e->cno->cno)), "cno_ref");
		expect(evd_set_listener(
			   evd_self(&e->evd), cno_listener(&e->cno->cno), &e->cno->agents[1]),
		    "evd_set_listener");
	}
	for (int n = 0; n < spec->backlog; n++)
		device_complete(&e->cq, 0);
	if (spec->policy != EVD_POLICY_DISABLE) {
		for (int p = 0; p < STAGE_OBJECTS / 2; p++)
			if (stage_life(e)->objects[p].policy == spec->policy)
				object = &stage_life(e)->objects[p];
		expect(stage_modify(e, evd_self(&e->evd), spec->policy, object, EVD_PENDING_CALL),
		    "evd_modify_upcall");
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
			expect(evd_free(evd_self(&stage.evds[i].evd)), "evd_free");
	for (int i = 0; i < s->n_cnos; i++)
		if (stage.cnos[i].cno.alive)
			expect(cno_free(cno_self(&stage.cnos[i].cno), true), "cno_free");
	for (int i = 0; i < stage.n_loops; i++) {
		if (stage.loops[i].loop)
			loop_remove(stage.loops[i].loop, &stage.loops[i].ticket);
		loop_free(stage.loops[i].loop);
		world_close(stage.loops[i].channel.fd, &here);
	}
	loop_free(stage.pool);
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
	world_shipped_locks = scenario->shipped || scenario_shipped;
	strategy->max_faults = scenario->max_faults;
	sched_oracle = oracle_step;
	memset(stage.frames, 0, sizeof stage.frames);
	memset(stage.exempted, 0, sizeof stage.exempted);
	memset(stage.calling, 0, sizeof stage.calling);
	memset(stage.actor_of, -1, sizeof stage.actor_of);
	memset(stage.last, 0, sizeof stage.last);
	memset(stage.acting, -1, sizeof stage.acting);
	memset(stage.handed, 0, sizeof stage.handed);
	memset(stage.in_agent, 0, sizeof stage.in_agent);
	memset(stage.knows, 1, sizeof stage.knows);
	memset(stage.knows_cno, 1, sizeof stage.knows_cno);
	stage.closes = 0;
	stage.closes_begun = 0;
	identity_reset();
	claim_reset();
	left_reset();
	world_section = identity_section;
	return sched_run(strategy, seed, body);
}
