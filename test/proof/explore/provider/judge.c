/* SPDX-License-Identifier: BSD-3-Clause */
/* judge -- what must hold of the provider's events, at every step and in the end */
#include <string.h>

#include "invariant.h"
#include "dapl/ep/conn.h"
#include "play.h"
#include "slots.h"
#include "world.h"

static bool
one_takes(const struct play_evd *evd)
{
	bool upcalls = evd->spec->policy != DAT_UPCALL_DISABLE, agents = play_has(DO_AGENT);
	unsigned int consumers = 0;

	for (int i = 0; i < play.scenario->n_cnos; i++)
		agents |= play.scenario->agent[i];
	consumers += agents && (evd->spec->cno >= 0 || play_has(DO_ATTACH));
	for (int i = 0; i < play.scenario->n_actors; i++) {
		const struct actor *actor = &play.scenario->actors[i];
		bool takes = false;

		for (unsigned int j = 0; j < actor->n_actions; j++) {
			const struct action *a = &actor->actions[j];

			takes |=
			    a->object == evd->index &&
			    (a->verb == DO_TAKE || a->verb == DO_WAIT || a->verb == DO_DEQUEUE ||
				a->verb == DO_SEVERAL || a->verb == DO_DRAIN);
			upcalls |= a->object == evd->index &&
				   (a->verb == DO_SINGLE || a->verb == DO_NORIFY);
			takes |=
			    evd->spec->cno >= 0 && (a->verb == DO_SERVE || a->verb == DO_CNO_WAIT);
		}
		consumers += takes;
	}
	consumers += upcalls;
	return consumers <= 1 && evd->spec->policy != DAT_UPCALL_MANY && !play_has(DO_MANY);
}

/* ---- events ---- */

/* An event of a life that is over may still come from a call that was on its way. */
void
judge_life(const struct play_ep *ep, unsigned int life)
{
	const uint32_t since = play.taking_since[sched.self - sched.fibers];

	/* What one actor posts while another resets may be of the next life. */
	if (!judge_is_exact(ep) && play_has(DO_EP_RESET))
		return;
	if (ep->lives[life].over_at && since > ep->lives[life].over_at)
		violation("endpoint %c: an event of it is taken after it was freed or reset",
		    'e' + ep->index);
}

static void
judge_connection(const struct play_evd *evd, const DAT_EVENT *event)
{
	const DAT_EP_HANDLE handle = event->event_data.connect_event_data.ep_handle;
	const bool established = event->event_number == DAT_CONNECTION_EVENT_ESTABLISHED;
	const bool ordered = one_takes(evd);
	struct play_life *life;
	struct play_ep *ep = NULL;
	bool counted;

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
		judge_life(ep, ep->life);
	/*
	 * Events of the connections before a reset still come, in order if one thread takes them.
	 */
	life = &ep->lives[0];
	while (life->handle != handle)
		life++;
	while ((ordered || !established ? life->ended : life->established) && life < play_life(ep))
		life++;
	/* While a reset is about to return the next life's events may come. */
	counted = judge_is_exact(ep) || !play_has(DO_EP_RESET);
	if (ordered && counted && life->ended)
		violation("endpoint %c: event %x after the connection's end", 'e' + ep->index,
		    event->event_number);
	if (established && counted && life->established)
		violation("endpoint %c is established twice", 'e' + ep->index);
	/* A queue pair that breaks before it is to be connected flushes what nothing holds. */
	if (established && ordered && counted && life->early && !play_has(DO_QP_FATAL))
		violation("order: a receive of endpoint %c overtook ESTABLISHED", 'e' + ep->index);
	judge_connection_cause(ep, (unsigned int)(life - ep->lives), ordered,
	    &event->event_data.connect_event_data, event->event_number);
	if (event->event_number == DAT_CONNECTION_EVENT_TIMED_OUT && life == play_life(ep))
		judge_ending(ep);
	if (!established && ordered && !life->ending_at && !play_has(DO_DEVICE_FATAL) &&
	    judge_is_exact(ep))
		violation("the connection of endpoint %c ends for no reason", 'e' + ep->index);
	life->established |= established;
	life->ended |= !established;
}

/* Events of connections, and requests to connect, may find no room; a poster is refused. */
static bool
may_overflow(int evd)
{
	bool may = play.evds[evd].lost || play_has(DO_EVD_ASKED);

	for (int i = 0; i < play.scenario->n_eps; i++)
		may |= play.scenario->eps[i].connect == evd;
	return may;
}

static void
judge_overflow(DAT_HANDLE handle)
{
	for (int i = 0; i < play.scenario->n_evds; i++) {
		if (play_evd_life(&play.evds[i])->handle != handle)
			continue;
		if (play.evds[i].overflows++)
			violation("the overflow of EVD %c is reported twice", 'a' + i);
		if (!may_overflow(i))
			violation("EVD %c is reported as overflowed, and is not", 'a' + i);
	}
	trace_note("an overflow is reported");
}

static void
judge_endpoint_error(DAT_HANDLE handle)
{
	unsigned int causes = 0;

	if (stock_reported(handle))
		return;
	for (int i = 0; i < play.scenario->n_eps; i++)
		for (unsigned int l = 0; l < PLAY_LIVES; l++)
			if (l > play.eps[i].life || play.eps[i].lives[l].handle == handle)
				causes |= play.eps[i].lives[l].causes;
	if (!(causes & CAUSE_BROKE) && !play.unknown_broke)
		violation("the error of an endpoint has no cause");
}

void
judge_reads(int fd)
{
	(void)fd; /* the provider's channels are its own, and never block */
}

void
judge_event(struct play_evd_life *of, const DAT_EVENT *event)
{
	struct play_evd *evd = of->evd;
	const uintptr_t software = (uintptr_t)event->event_data.software_event_data.pointer;
	const unsigned int poster = software >> 16 & 0xff;
	const DAT_ASYNCH_ERROR_EVENT_DATA *async = &event->event_data.asynch_error_event_data;

	if (event->evd_handle != of->handle)
		violation("identity: an event of EVD %c names another one", 'a' + evd->index);
	switch (event->event_number) {
	case DAT_DTO_COMPLETION_EVENT:
		judge_transfer(evd, &event->event_data.dto_completion_event_data, one_takes(evd));
		break;
	case DAT_RMR_BIND_COMPLETION_EVENT:
		binds_event(evd, &event->event_data.rmr_completion_event_data, one_takes(evd));
		break;
	case DAT_SOFTWARE_EVENT:
		if (software >> 24 != (uintptr_t)(of - evd->lives))
			violation("identity: EVD %c delivers an event of an earlier EVD",
			    'a' + evd->index);
		if (poster >= FIBERS || (software & 0xffff) >= of->posted[poster])
			violation("a software event that was not posted");
		of->taken[poster]++;
		break;
	case DAT_CONNECTION_REQUEST_EVENT:
		slots_answer(event->event_data.cr_arrival_event_data.cr_handle);
		break;
	case DAT_ASYNC_ERROR_EVD_OVERFLOW:
		judge_overflow(async->dat_handle);
		break;
	case DAT_ASYNC_ERROR_IA_CATASTROPHIC:
		if (evd->catastrophes++)
			violation("EVD %c reports twice that its adapter failed", 'a' + evd->index);
		break;
	case DAT_ASYNC_ERROR_EP_BROKEN:
		judge_endpoint_error(async->dat_handle);
		break;
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

/* An EVD gives its CNO up before it drops the reference that keeps the CNO. */
static void
check_listener(const struct evd *evd, int name)
{
	for (int i = 0; i < play.scenario->n_cnos; i++)
		for (unsigned int l = 1; l <= play.cnos[i].life; l++) {
			const struct cno *cno = play.cnos[i].lives[l].core;

			if (cno && evd->listener == &cno->listener && !cno->lock.owner &&
			    !cno->alive)
				violation("EVD %c has a CNO that was freed", name);
		}
}

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

		if (!evd->life || life->over || life->object->core.lock.owner)
			continue;
		invariant_direct(&life->object->core, 'a' + i);
		if (!life->object->core.alive)
			continue;
		cq = cq_of(life->object);
		if (cq && !cq->alive)
			cq = NULL;
		if (cq)
			invariant_armed(&life->object->core, cq, 'a' + i);
		invariant_sink(&life->object->core, cq, evd->inside_wait, 'a' + i);
		check_listener(&life->object->core, 'a' + i);
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

/* An attempt that failed is withdrawn: nothing can accept it.  None waits beyond its timeout. */
static void
check_attempt(const struct play_ep *ep)
{
	const bool asking = ep->object->state == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING;
	const uint64_t patience = ep->lives[ep->life].patience;

	if (connection_is_stray(
		&ep->object->obj, ep->object->conn ? ep->object->conn->id : NULL, asking))
		violation("at rest an attempt of endpoint %c that is over was not withdrawn",
		    'e' + ep->index);
	if (asking && patience && sched.now >= patience)
		violation("at rest endpoint %c waits to be connected, and its time is over",
		    'e' + ep->index);
}

void
judge_rest(void)
{
	world_check_rest();
	for (unsigned int i = STAGE + 1; i < sched.n_fibers; i++) {
		const struct fiber *f = &sched.fibers[i];

		if (play.actor_of[i] >= 0 && f->state != FIBER_DONE)
			violation("no thread can run, and %s is still in %s", f->name,
			    f->site ? f->site->function : "?");
		if (f->n_held)
			violation("at rest %s holds a lock", f->name);
	}
	for (int i = 0; i < play.scenario->n_evds; i++) {
		const struct play_evd_life *evd = play_evd_life(&play.evds[i]);

		if (evd->over)
			continue;
		invariant_rest(&evd->object->core, cq_of(evd->object), false, 'a' + i);
		standing_rest(evd->evd);
	}
	for (int i = 0; i < play.scenario->n_cnos; i++)
		check_references(play_cno_life(&play.cnos[i]), 'n' + i);
	for (int i = 0; i < play.scenario->n_eps; i++) {
		struct play_ep *ep = &play.eps[i];

		if (ep->freed)
			continue;
		if (ep->object->pins)
			violation("at rest endpoint %c is still pinned", 'e' + i);
		check_attempt(ep);
		if (!play_life(ep)->vague)
			judge_transfers_rest(ep);
	}
}

bool
judge_evd_gone(int i)
{
	return play_evd_life(&play.evds[i])->over || play.evds[i].lost || play.evds[i].life > 1;
}

/* A request that fails breaks the connection, and so does a queue pair. */
static void
check_broken(const struct play_ep *ep)
{
	const struct play_life *life = &ep->lives[ep->life];

	if (life->causes & (CAUSE_FAILED | CAUSE_BROKE) && !judge_evd_gone(ep->spec->request) &&
	    !judge_evd_gone(ep->spec->recv) &&
	    (ep->object->state == DAT_EP_STATE_CONNECTED ||
		ep->object->state == DAT_EP_STATE_DISCONNECT_PENDING))
		violation("endpoint %c failed, and is connected", 'e' + ep->index);
}

/* After everything still queued was taken. */
void
judge_end(void)
{
	unsigned int evds = 0;

	stock_end();
	binds_end();
	if (slots_unanswered())
		violation(
		    "%u requests to connect are neither taken nor refused", slots_unanswered());
	for (int i = 0; i < play.scenario->n_evds; i++)
		evds += !play.scenario->evds[i].async && !play_evd_life(&play.evds[i])->over;
	/* Each adapter that is open has one of its own, or was lent one. */
	if (slots_evds() != evds + !play.closed)
		violation("there are %u EVDs, and %u are known", slots_evds(), evds + !play.closed);
	for (int i = 0; i < play.scenario->n_eps; i++) {
		struct play_ep *ep = &play.eps[i];
		const struct play_life *life = play_life(ep);

		if (ep->freed)
			continue;
		if (!life->vague)
			judge_transfers_end(ep);
		check_broken(ep);
		if (ep->object->state != DAT_EP_STATE_DISCONNECTED)
			continue;
		if (!life->ended && !life->vague && !judge_evd_gone(ep->spec->connect))
			violation("the end of endpoint %c's connection is never reported", 'e' + i);
	}
	for (int i = 0; i < play.scenario->n_evds; i++) {
		const struct play_evd *evd = &play.evds[i];
		const struct play_evd_life *life = &evd->lives[evd->life];

		for (unsigned int f = 0; f < FIBERS && !life->over && !evd->lost; f++)
			if (life->taken[f] != life->posted[f])
				violation(
				    "I2: a software event of EVD %c is lost or doubled", 'a' + i);
		if (play_has(DO_DEVICE_FATAL) && !life->over && !evd->catastrophes &&
		    (evd->spec->all || evd->spec->async))
			violation("EVD %c does not report that its adapter failed", 'a' + i);
		if (evd->lost && evd->life == 1 && !life->over && !evd->overflows)
			for (int j = 0; j < play.scenario->n_evds; j++)
				if (play.evds[j].spec->async)
					violation(
					    "the overflow of EVD %c is never reported", 'a' + i);
	}
}
