/* SPDX-License-Identifier: BSD-3-Clause */
/* judge -- what must hold of the provider's events, at every step and in the end */
#include <string.h>

#include "invariant.h"
#include "play.h"

/* A device that keeps completions back for longer is not waited for. */
#define PATIENCE_NS 100000000u

static bool
one_takes(const struct play_evd *evd)
{
	unsigned int takers = evd->spec->policy != DAT_UPCALL_DISABLE;

	for (int i = 0; i < play.scenario->n_actors; i++) {
		const struct actor *actor = &play.scenario->actors[i];
		bool takes = false;

		for (unsigned int j = 0; j < actor->n_actions; j++) {
			const struct action *a = &actor->actions[j];

			takes |= a->object == evd->index && (a->verb == DO_TAKE ||
			    a->verb == DO_WAIT || a->verb == DO_DEQUEUE || a->verb == DO_DRAIN ||
			    a->verb == DO_SINGLE || a->verb == DO_NORIFY);
			takes |= evd->spec->cno >= 0 &&
			    (a->verb == DO_SERVE || a->verb == DO_CNO_WAIT);
		}
		takers += takes;
	}
	return takers <= 1 && evd->spec->policy != DAT_UPCALL_MANY && !play_has(DO_MANY);
}

void
judge_ending(struct play_ep *ep)
{
	struct play_life *life = play_life(ep);

	if (life->ending_at)
		return;
	life->ending_at = sched.steps ? sched.steps : 1;
	life->ending_time = sched.now;
	sched_touch(OP_EVENT, OBJECT_CNO(ep->index));
}

/* ---- events ---- */

/* An event of a life that is over may still come from a call that was on its way. */
static void
check_life(const struct play_ep *ep, unsigned int life)
{
	const uint32_t since = play.taking_since[sched.self - sched.fibers];

	if (ep->lives[life].over_at && since > ep->lives[life].over_at)
		violation("endpoint %c: an event of it is taken after it was freed or reset",
		    'e' + ep->index);
}

static void
judge_transfer(const struct play_evd *evd, const DAT_DTO_COMPLETION_EVENT_DATA *data)
{
	const uint64_t cookie = data->user_cookie.as_64;
	const unsigned int number = cookie & 0xffff, direction = cookie >> 16 & 0xffff;
	const unsigned int n_life = cookie >> 32 & 0xff;
	struct play_ep *ep = &play.eps[(cookie >> 40) % EPS];
	struct play_life *life = &ep->lives[n_life % PLAY_LIVES];
	const bool ordered = one_takes(evd);

	if (cookie >> 40 >= (uint64_t)play.scenario->n_eps || direction > 1 ||
	    n_life > ep->life || number >= life->posted[direction])
		violation("an event carries a cookie that nobody posted: %llx",
		    (unsigned long long)cookie);
	trace_note("%s %u of %c is delivered: %d", direction ? "receive" : "request", number,
	    'e' + ep->index, data->status);
	if (data->ep_handle != life->handle)
		violation("an event of endpoint %c names another one", 'e' + ep->index);
	if (evd->index != (direction ? ep->spec->recv : ep->spec->request))
		violation("an event of endpoint %c is delivered by EVD %c", 'e' + ep->index,
		    'a' + evd->index);
	if (life->told[direction] >> number & 1)
		violation("I2: %s %u of endpoint %c is delivered twice",
		    direction ? "receive" : "request", number, 'e' + ep->index);
	life->told[direction] |= 1u << number;
	check_life(ep, n_life);
	if (direction == REQUESTS && life->mute >> number & 1 && data->status == DAT_DTO_SUCCESS)
		violation("a suppressed request of endpoint %c has an event", 'e' + ep->index);
	if (!ordered)
		return;
	if ((int)number < life->last[direction])
		violation("order: %s %u of endpoint %c comes after %d",
		    direction ? "receive" : "request", number, 'e' + ep->index,
		    life->last[direction]);
	life->last[direction] = (int)number;
	if (evd->index != ep->spec->connect)
		return;
	if (!life->established && !life->ended && direction == RECEIVES)
		violation("order: a receive of endpoint %c overtakes ESTABLISHED", 'e' + ep->index);
	/* What was posted when the connection was about to end is another matter. */
	if (life->ended && life->established && life->posted_at[direction][number] &&
	    life->posted_at[direction][number] < life->ending_at &&
	    sched.now < life->ending_time + PATIENCE_NS)
		violation("order: %s %u of endpoint %c comes after the connection's end",
		    direction ? "receive" : "request", number, 'e' + ep->index);
}

static void
judge_connection(const struct play_evd *evd, const DAT_EVENT *event)
{
	const DAT_EP_HANDLE handle = event->event_data.connect_event_data.ep_handle;
	const bool established = event->event_number == DAT_CONNECTION_EVENT_ESTABLISHED;
	struct play_life *life;
	struct play_ep *ep = NULL;

	for (int i = 0; i < play.scenario->n_eps; i++)
		for (unsigned int l = 0; l <= play.eps[i].life; l++)
			if (play.eps[i].lives[l].handle == handle)
				ep = &play.eps[i];
	if (!ep)
		violation("a connection event names no endpoint");
	trace_note("connection event %x of %c", event->event_number, 'e' + ep->index);
	if (evd->index != ep->spec->connect)
		violation("a connection event is delivered by EVD %c", 'a' + evd->index);
	if (ep->freed && play_life(ep)->handle == handle)
		check_life(ep, ep->life);
	/* A reset endpoint's earlier connections are still told, in their order. */
	life = &ep->lives[0];
	while (life->handle != handle)
		life++;
	while (life->ended && life < play_life(ep))
		life++;
	if (life->ended)
		violation("endpoint %c: event %x after the connection's end", 'e' + ep->index,
		    event->event_number);
	if (established && life->established)
		violation("endpoint %c is established twice", 'e' + ep->index);
	if (!established && !life->ending_at && !play_has(DO_DEVICE_FATAL))
		violation("the connection of endpoint %c ends for no reason", 'e' + ep->index);
	life->established |= established;
	life->ended |= !established;
}

void
judge_event(struct play_evd_life *of, const DAT_EVENT *event)
{
	struct play_evd *evd = of->evd;
	const uintptr_t software =
	    (uintptr_t)event->event_data.software_event_data.pointer;
	const unsigned int poster = software >> 16 & 0xff;
	const DAT_ASYNCH_ERROR_EVENT_DATA *async = &event->event_data.asynch_error_event_data;

	if (event->evd_handle != of->handle)
		violation("identity: an event of EVD %c names another one", 'a' + evd->index);
	switch (event->event_number) {
	case DAT_DTO_COMPLETION_EVENT:
		judge_transfer(evd, &event->event_data.dto_completion_event_data);
		break;
	case DAT_SOFTWARE_EVENT:
		if (software >> 24 != (uintptr_t)(of - evd->lives))
			violation("identity: EVD %c delivers an event of another life",
			    'a' + evd->index);
		if (poster >= FIBERS || (software & 0xffff) >= of->posted[poster])
			violation("a software event that nobody posted");
		of->taken[poster]++;
		break;
	case DAT_ASYNC_ERROR_EVD_OVERFLOW:
		for (int i = 0; i < play.scenario->n_evds; i++)
			if (play_evd_life(&play.evds[i])->handle == async->dat_handle &&
			    play.evds[i].overflows++)
				violation("the overflow of EVD %c is told twice", 'a' + i);
		trace_note("an overflow is told");
		break;
	case DAT_ASYNC_ERROR_IA_CATASTROPHIC:
		if (evd->catastrophes++)
			violation("EVD %c tells twice that its adapter failed", 'a' + evd->index);
		break;
	case DAT_ASYNC_ERROR_EP_BROKEN:
	case DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR:
		break;
	default:
		judge_connection(evd, event);
		break;
	}
	evd->n_delivered++;
	if (play_has(DO_UNTIL)) {
		sched_touch(OP_EVENT, OBJECT_EVD(evd->index));
		sched_changed();
	}
}

/* ---- states ---- */

static const struct device_cq *
cq_of(const struct dapl_evd *evd)
{
	return evd->cq ? rnic_cq(evd->cq) : NULL;
}

void
judge_step(void)
{
	for (int i = 0; i < play.scenario->n_evds; i++) {
		const struct play_evd *evd = &play.evds[i];
		const struct play_evd_life *life = &evd->lives[evd->life];
		const struct device_cq *cq;

		if (!evd->life || life->over || life->object->core.lock.owner ||
		    !life->object->core.alive)
			continue;
		cq = cq_of(life->object);
		if (cq && !cq->alive)
			cq = NULL;
		if (cq)
			invariant_armed(&life->object->core, cq, 'a' + i);
		invariant_taker(&life->object->core, cq, evd->inside_wait, 'a' + i);
	}
	for (int i = 0; i < play.scenario->n_cnos; i++) {
		const struct play_cno *cno = &play.cnos[i];
		const struct play_cno_life *life = &cno->lives[cno->life];

		if (cno->life && !life->over && !life->core->lock.owner)
			invariant_cno(life->core, cno->inside_wait, 'n' + i);
	}
}

/* As many EVDs refer to it as are attached. */
static void
check_references(const struct play_cno_life *cno, int name)
{
	unsigned int attached = 0;

	for (int i = 0; i < play.scenario->n_evds; i++) {
		const struct play_evd_life *evd = play_evd_life(&play.evds[i]);

		attached += !evd->over && evd->object->cno && &evd->object->cno->core == cno->core;
	}
	if (!cno->over && cno->core->evds != attached)
		violation("at rest CNO %c counts %u EVDs, %u are attached", name, cno->core->evds,
		    attached);
}

void
judge_rest(void)
{
	for (unsigned int i = STAGE + 1; i < sched.n_fibers; i++) {
		const struct fiber *f = &sched.fibers[i];

		if (play.actor_of[i] >= 0 && f->state != FIBER_DONE)
			violation("nobody can run, and %s is still in %s", f->name,
			    f->site ? f->site->function : "?");
		if (f->n_held)
			violation("at rest %s holds a lock", f->name);
	}
	for (int i = 0; i < play.scenario->n_evds; i++) {
		const struct play_evd_life *evd = play_evd_life(&play.evds[i]);

		if (!evd->over)
			invariant_rest(&evd->object->core, cq_of(evd->object), 'a' + i);
	}
	for (int i = 0; i < play.scenario->n_cnos; i++)
		check_references(play_cno_life(&play.cnos[i]), 'n' + i);
	for (int i = 0; i < play.scenario->n_eps; i++)
		if (!play.eps[i].freed && play.eps[i].object->pins)
			violation("at rest endpoint %c is still pinned", 'e' + i);
}

static bool
evd_gone(int i)
{
	return play_evd_life(&play.evds[i])->over || play.evds[i].lost || play.evds[i].life > 1;
}

/* After everything still queued was taken. */
void
judge_end(void)
{
	for (int i = 0; i < play.scenario->n_eps; i++) {
		struct play_ep *ep = &play.eps[i];
		const struct play_life *life = play_life(ep);

		if (ep->freed || ep->object->state != DAT_EP_STATE_DISCONNECTED)
			continue;
		if (!life->ended && !evd_gone(ep->spec->connect))
			violation("the end of endpoint %c's connection is never told", 'e' + i);
		for (unsigned int d = 0; d < 2; d++) {
			const uint32_t due = (1u << life->posted[d]) - 1;
			const uint32_t told = life->told[d] | (d == REQUESTS ? life->mute : 0);

			if (!evd_gone(d ? ep->spec->recv : ep->spec->request) &&
			    (told & due) != due)
				violation("I2: %s %d of endpoint %c is lost",
				    d ? "receive" : "request", __builtin_ctz(due & ~told), 'e' + i);
		}
	}
	for (int i = 0; i < play.scenario->n_evds; i++) {
		const struct play_evd *evd = &play.evds[i];
		const struct play_evd_life *life = &evd->lives[evd->life];

		for (unsigned int f = 0; f < FIBERS && !life->over && !evd->lost; f++)
			if (life->taken[f] != life->posted[f])
				violation("I2: a software event of EVD %c is lost or doubled",
				    'a' + i);
		if (play_has(DO_DEVICE_FATAL) && !life->over && !evd->catastrophes &&
		    (evd->spec->all || evd->spec->async))
			violation("EVD %c does not tell that its adapter failed", 'a' + i);
		if (evd->lost && !life->over && !evd->overflows)
			for (int j = 0; j < play.scenario->n_evds; j++)
				if (play.evds[j].spec->async)
					violation("the overflow of EVD %c is never told", 'a' + i);
	}
}
