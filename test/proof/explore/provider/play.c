/* SPDX-License-Identifier: BSD-3-Clause */
#include "play.h"

#include <string.h>

#include "context.h"
#include "slots.h"
#include "stage.h"
#include "world.h"

struct play play;

static struct dapl_provider adapter;

static void
expect(DAT_RETURN ret, const char *what)
{
	if (ret != DAT_SUCCESS)
		violation("%s failed: %x", what, (unsigned int)ret);
}

DAT_RETURN
play_open_evd(int i, DAT_EVD_HANDLE async, enum evd_base base)
{
	const struct evd_spec *spec = &play.scenario->evds[i];
	struct play_evd *evd = &play.evds[i];
	DAT_EVD_FLAGS flags = DAT_EVD_SOFTWARE_FLAG;
	const bool user = spec->base == BASE_PRIVATE || spec->cno >= 0;
	const DAT_UPCALL_POLICY policy =
	    play.scenario->faults && !user ? (DAT_UPCALL_POLICY)spec->policy : DAT_UPCALL_DISABLE;
	struct play_evd_life *next = &evd->lives[evd->life + 1];
	DAT_UPCALL_OBJECT object = { next, consumer_upcall };
	DAT_EVD_HANDLE handle = async;
	DAT_RETURN ret = DAT_SUCCESS;
	struct play_evd_life *life;
	uint64_t number;

	if ((base == BASE_SAME ? spec->base : base) != BASE_SOFTWARE)
		flags |= DAT_EVD_DTO_FLAG;
	if (flags & DAT_EVD_DTO_FLAG && play.scenario->windows)
		flags |= DAT_EVD_RMR_BIND_FLAG;
	for (int e = 0; e < play.scenario->n_eps; e++)
		if (play.scenario->eps[e].connect == i)
			flags |= DAT_EVD_CONNECTION_FLAG;
	if (spec->all)
		flags |= DAT_EVD_ASYNC_FLAG;
	if (play_has(DO_EVD_ASKED))
		flags |= DAT_EVD_CR_FLAG;
	if (evd->life + 1 == PLAY_LIVES)
		violation("the scenario makes too many EVDs");
	*next = (struct play_evd_life){ .evd = evd, .handle = async };
	if (!spec->async && user)
		ret = dapl_evd_create(play.ia, spec->qlen,
		    spec->cno < 0 ? DAT_HANDLE_NULL : consumer_cno_handle(&play.cnos[spec->cno]),
		    flags, &handle);
	else if (!spec->async)
		ret = dapl_evd_kcreate(
		    play.ia, spec->qlen, policy, policy ? &object : NULL, flags, &next->handle);
	if (next->handle != async && ret != DAT_SUCCESS)
		violation("an EVD that was not made has a handle");
	if (ret != DAT_SUCCESS)
		return ret;
	life = next;
	handle = handle == async ? life->handle : handle;
	life->handle = handle;
	life->object = dapl_handle_object(handle, DAPL_KIND_EVD, &number);
	life->over = !life->object || play.closed; /* while it was on its way back to us */
	life->flags = flags;
	life->enabled.value = DAT_EVD_STATE_ENABLED;
	life->waitable.value = DAT_EVD_STATE_WAITABLE;
	life->policy.value = policy;
	life->listener.value =
	    spec->cno < 0 ? 0 : (uintptr_t)consumer_cno_handle(&play.cnos[spec->cno]);
	/*
	 * As long as its completion queue was made; nothing fails in it before it is the
	 * consumer's.
	 */
	if (life->object && life->object->cq) {
		rnic_cq(life->object->cq)->booked = &life->object->core.counters.notifications;
		context_release(life->object->cq);
	}
	if (life->object)
		life->length.value =
		    (uint64_t)(life->object->cq ? life->object->cq->cqe : spec->qlen);
	evd->life++;
	return ret;
}

static void
open_evd(int i, DAT_EVD_HANDLE async)
{
	struct play_evd *evd = &play.evds[i];

	*evd = (struct play_evd){ .index = i, .spec = &play.scenario->evds[i] };
	expect(play_open_evd(i, async, BASE_SAME), "evd_create");
	if (evd->spec->all)
		expect(
		    dapl_ia_open(&adapter, 8, &play_evd_life(evd)->handle, &play.other), "ia_open");
}

DAT_RETURN
play_open_cno(int i)
{
	DAT_OS_WAIT_PROXY_AGENT agent = { NULL, NULL };
	struct play_cno *cno = &play.cnos[i];
	struct play_cno_life *life = &cno->lives[cno->life + 1];
	struct dapl_cno *object;
	DAT_CNO_HANDLE handle;
	DAT_RETURN ret;
	uint64_t number;

	if (cno->life + 1 == PLAY_LIVES)
		violation("the scenario makes too many CNOs");
	*life = (struct play_cno_life){ .cno = cno };
	if (cno->life == 0 && play.scenario->agent[i])
		agent = (DAT_OS_WAIT_PROXY_AGENT){ life, consumer_agent };
	ret = dapl_cno_create(play.ia, agent, &handle);
	if (ret != DAT_SUCCESS)
		return ret;
	object = dapl_handle_object(handle, DAPL_KIND_CNO, &number);
	life->core = object ? &object->core : NULL;
	life->handle = handle;
	life->over = !object || play.closed;
	cno->life++;
	return ret;
}

static DAT_EP_ATTR
attributes(const struct ep_spec *spec)
{
	const int depth = spec->depth ? spec->depth : REQUESTS_MAX;

	return (DAT_EP_ATTR){ .service_type = DAT_SERVICE_TYPE_RC,
		.qos = DAT_QOS_BEST_EFFORT,
		.recv_completion_flags = (DAT_COMPLETION_FLAGS)spec->in_flags,
		.request_completion_flags = (DAT_COMPLETION_FLAGS)spec->out_flags,
		.max_recv_dtos = depth,
		.max_request_dtos = depth,
		.max_recv_iov = 1,
		.max_request_iov = 1 };
}

DAT_RETURN
play_open_ep(int i)
{
	const struct ep_spec *spec = &play.scenario->eps[i];
	struct play_ep *ep = &play.eps[i];
	const bool first = !ep->spec;
	DAT_EP_ATTR attr;
	DAT_EP_HANDLE handle;
	DAT_RETURN ret;
	uint64_t number;

	attr = attributes(spec);
	if (spec->shared)
		ret = dapl_ep_create_with_srq(play.ia, play.pz,
		    consumer_evd(&play.evds[spec->recv])->handle,
		    consumer_evd(&play.evds[spec->request])->handle,
		    consumer_evd(&play.evds[spec->connect])->handle, play.srq, &attr, &handle);
	else
		ret = dapl_ep_create(play.ia, play.pz, consumer_evd(&play.evds[spec->recv])->handle,
		    consumer_evd(&play.evds[spec->request])->handle,
		    consumer_evd(&play.evds[spec->connect])->handle, &attr, &handle);
	if (ret != DAT_SUCCESS)
		return ret;
	ep->spec = spec;
	ep->index = i;
	ep->life += !first;
	ep->object = dapl_handle_object(handle, DAPL_KIND_EP, &number);
	ep->freed = !ep->object || play.closed;
	*play_life(ep) = (struct play_life){ .handle = handle,
		.last = { -1, -1 },
		.over_at = ep->freed,
		.generation = ep->object ? ep->object->generation : 0 };
	return ret;
}

static void
open_ep(int i)
{
	const struct ep_spec *spec = &play.scenario->eps[i];
	struct play_ep *ep = &play.eps[i];

	*ep = (struct play_ep){ .index = i };
	for (int l = 0; l < PLAY_LIVES; l++)
		ep->lives[l].last[0] = ep->lives[l].last[1] = -1;
	expect(play_open_ep(i), "ep_create");
	for (int n = 0; n < spec->recvs; n++)
		consumer_post(ep, RECEIVES, DAT_COMPLETION_DEFAULT_FLAG);
	if (spec->begin == EP_BEGINS_FRESH)
		return;
	expect(consumer_connect(play_life(ep)->handle, DAT_TIMEOUT_INFINITE), "ep_connect");
	sched_rest(true);
	if (spec->begin == EP_BEGINS_PENDING)
		return;
	connection_answer(ep->object, ANSWER_ACCEPTS);
	sched_rest(true);
	consumer_drain(play_evd_life(&play.evds[spec->connect]));
	for (int n = 0; n < spec->sends; n++)
		consumer_post(ep, REQUESTS, DAT_COMPLETION_DEFAULT_FLAG);
}

/* What is taken may lead to more: a failure to the end of a connection, which arrives elsewhere. */
static void
drain_all(void)
{
	unsigned int n;

	do {
		n = 0;
		for (int i = 0; i < play.scenario->n_evds; i++)
			if (!play_evd_life(&play.evds[i])->over)
				n += consumer_drain(play_evd_life(&play.evds[i]));
		sched_rest(true);
	} while (n);
}

static void
close_all(struct fiber *flusher)
{
	drain_all();
	judge_end();
	if (play.other)
		expect(dapl_ia_close(play.other, DAT_CLOSE_ABRUPT_FLAG), "ia_close");
	if (!play.closed)
		expect(dapl_ia_close(play.ia, DAT_CLOSE_ABRUPT_FLAG), "ia_close");
	rnic_stop();
	sched_rest(true);
	if (flusher->state != FIBER_DONE)
		violation("the device does not end");
	park_close_self();
	connection_check_end();
	rnic_check_end();
	world_check_balance();
}

static void
body(void)
{
	const struct scenario *s = play.scenario;
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	struct fiber *flusher;

	slots_reset();
	rnic_reset(s->fixed, s->silent, s->windows);
	expect(dapl_ia_open(&adapter, 8, &async, &play.ia), "ia_open");
	flusher = sched_spawn("device", rnic_flusher, NULL);
	sched_rest(true);
	if (s->n_eps)
		expect(dapl_pz_create(play.ia, &play.pz), "pz_create");
	for (int i = 0; i < s->n_cnos; i++)
		expect((play.cnos[i].index = i, play_open_cno(i)), "cno_create");
	for (int i = 0; i < s->n_evds; i++)
		open_evd(i, async);
	if (s->windows)
		binds_open();
	for (int i = 0; i < s->n_eps && !play.srq; i++)
		if (s->eps[i].shared)
			stock_open();
	for (int i = 0; i < s->n_eps; i++)
		open_ep(i);
	for (int i = 0; i < s->n_evds; i++) {
		struct play_evd_life *evd = play_evd_life(&play.evds[i]);

		if (s->evds[i].policy != DAT_UPCALL_DISABLE)
			expect(consumer_modify(evd, s->evds[i].policy, true, DAT_UPCALL_INVOC_ANY),
			    "evd_modify_upcall");
		evd->policy.value = (uint64_t)s->evds[i].policy;
	}
	sched_rest(true);
	connection_script(s->answers);
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
	memset(play.acting, -1, sizeof play.acting);
	memset(play.knows, 1, sizeof play.knows);
	memset(play.knows_cno, 1, sizeof play.knows_cno);
	play.scenario = scenario;
	world_faults = scenario->faults;
	world_shipped_locks = scenario->shipped || scenario_shipped;
	strategy->max_faults = scenario->max_faults;
	sched_oracle = judge_step;
	return sched_run(strategy, seed, body);
}
