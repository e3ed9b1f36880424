/* SPDX-License-Identifier: BSD-3-Clause */
#include "play.h"

#include <string.h>

#include "slots.h"
#include "stage.h"
#include "world.h"

struct play play;

static struct provider adapter;

static void
expect(DAT_RETURN ret, const char *what)
{
	if (ret != DAT_SUCCESS)
		violation("%s failed: %x", what, (unsigned int)ret);
}

static void
open_evd(int i, DAT_EVD_HANDLE async)
{
	const struct evd_spec *spec = &play.scenario->evds[i];
	struct play_evd *evd = &play.evds[i];
	DAT_EVD_FLAGS flags = DAT_EVD_SOFTWARE_FLAG;

	*evd = (struct play_evd){ .index = i, .spec = spec, .handle = async };
	if (spec->cq)
		flags |= DAT_EVD_DTO_FLAG;
	for (int e = 0; e < play.scenario->n_eps; e++)
		if (play.scenario->eps[e].connect == i)
			flags |= DAT_EVD_CONNECTION_FLAG;
	if (spec->all)
		flags |= DAT_EVD_ASYNC_FLAG;
	if (spec->async)
		;
	else if (spec->private || spec->cno >= 0)
		expect(dapl_evd_create(play.ia, spec->qlen,
		    spec->cno >= 0 ? play.cnos[spec->cno].handle : DAT_HANDLE_NULL, flags,
		    &evd->handle), "evd_create");
	else
		expect(dapl_evd_kcreate(play.ia, spec->qlen, DAT_UPCALL_DISABLE, NULL, flags,
		    &evd->handle), "evd_kcreate");
	evd->object = handle_object(evd->handle, KIND_EVD);
	if (spec->all)
		expect(dapl_ia_open(&adapter, 8, &evd->handle, &play.other), "ia_open");
}

static void
open_cno(int i)
{
	const DAT_OS_WAIT_PROXY_AGENT none = { NULL, NULL };
	struct play_cno *cno = &play.cnos[i];

	expect(dapl_cno_create(play.ia, none, &cno->handle), "cno_create");
	cno->core = &((struct dapl_cno *)handle_object(cno->handle, KIND_CNO))->core;
}

static void
open_ep(int i)
{
	const struct ep_spec *spec = &play.scenario->eps[i];
	struct play_ep *ep = &play.eps[i];

	*ep = (struct play_ep){ .index = i, .spec = spec };
	for (int l = 0; l < LIVES; l++)
		ep->lives[l].last[0] = ep->lives[l].last[1] = -1;
	expect(dapl_ep_create(play.ia, play.pz, play.evds[spec->recv].handle,
	    play.evds[spec->request].handle, play.evds[spec->connect].handle, NULL, &ep->handle),
	    "ep_create");
	ep->object = handle_object(ep->handle, KIND_EP);
	for (int n = 0; n < spec->recvs; n++)
		consumer_post(ep, RECEIVES, false);
	if (spec->begin == EP_BEGINS_FRESH)
		return;
	expect(consumer_connect(ep), "ep_connect");
	sched_rest(true);
	if (spec->begin == EP_BEGINS_PENDING)
		return;
	rnic_move(ep->object, RNIC_CONNECTS);
	sched_rest(true);
	consumer_drain(&play.evds[spec->connect]);
	for (int n = 0; n < spec->sends; n++)
		consumer_post(ep, REQUESTS, false);
}

static void
close_all(struct fiber *flusher)
{
	for (int i = 0; i < play.scenario->n_evds; i++)
		if (!play.evds[i].freed)
			consumer_drain(&play.evds[i]);
	judge_end();
	if (play.other)
		expect(dapl_ia_close(play.other, DAT_CLOSE_ABRUPT_FLAG), "ia_close");
	expect(dapl_ia_close(play.ia, DAT_CLOSE_ABRUPT_FLAG), "ia_close");
	rnic_stop();
	sched_rest(true);
	if (flusher->state != FIBER_DONE)
		violation("the device does not end");
	park_close_self();
	world_check_balance();
}

static void
body(void)
{
	const struct scenario *s = play.scenario;
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	struct fiber *flusher;

	slots_reset();
	rnic_reset(s->fixed);
	expect(dapl_ia_open(&adapter, 8, &async, &play.ia), "ia_open");
	flusher = sched_spawn("device", rnic_flusher, NULL);
	sched_rest(true);
	expect(dapl_pz_create(play.ia, &play.pz), "pz_create");
	for (int i = 0; i < s->n_cnos; i++)
		open_cno(i);
	for (int i = 0; i < s->n_evds; i++)
		open_evd(i, async);
	for (int i = 0; i < s->n_eps; i++)
		open_ep(i);
	for (int i = 0; i < s->n_evds; i++) {
		DAT_UPCALL_OBJECT object = { &play.evds[i], consumer_upcall };

		if (s->evds[i].policy != DAT_UPCALL_DISABLE)
			expect(dapl_evd_modify_upcall(play.evds[i].handle,
			    (DAT_UPCALL_POLICY)s->evds[i].policy, &object, DAT_UPCALL_INVOC_ANY),
			    "evd_modify_upcall");
	}
	sched_rest(true);
	for (int i = 0; i < s->n_actors; i++) {
		struct fiber *f;

		if (s->actors[i].kind != ACTOR_THREAD)
			continue;
		f = sched_spawn(s->actors[i].name, consumer_body, (void *)(uintptr_t)&s->actors[i]);
		play.actor_of[f - sched.fibers] = (int8_t)i;
	}
	sched_rest(false);
	judge_rest();
	close_all(flusher);
}

enum outcome
stage_play(const struct scenario *scenario, struct strategy *strategy, uint64_t seed)
{
	memset(&play, 0, sizeof play);
	memset(play.actor_of, -1, sizeof play.actor_of);
	play.scenario = scenario;
	world_faults = scenario->faults;
	strategy->max_faults = scenario->max_faults;
	sched_oracle = judge_step;
	return sched_run(strategy, seed, body);
}
