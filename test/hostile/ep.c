/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep.h"

#include <string.h>

#include "actor.h"
#include "adapter.h"
#include "call.h"
#include "clock.h"
#include "evd.h"
#include "report.h"

/* Events of an endpoint count as lost after so many ticks without any of them. */
#define END_TICKS 4000

static struct ep records[EP_RECORDS];

struct ep *
ep_of(struct life *life)
{
	return (struct ep *)life;
}

static void
lock(struct ep *ep)
{
	pthread_mutex_lock(&ep->life.lock);
}

static void
unlock(struct ep *ep)
{
	pthread_mutex_unlock(&ep->life.lock);
}

/* ---- its place in the adapter's memory ---- */

static int
take_place(struct adapter *adapter, uint64_t serial)
{
	int place = -1;

	pthread_mutex_lock(&adapter->life.lock);
	for (int i = 0; i < ADAPTER_EPS && place < 0; i++)
		if (!adapter->ep_place[i]) {
			adapter->ep_place[i] = serial;
			place = i;
		}
	pthread_mutex_unlock(&adapter->life.lock);
	return place;
}

/* No thread uses the record any more, so no thread reads the buffers. */
static void
give_place(struct life *life)
{
	struct ep *ep = ep_of(life);
	struct adapter *adapter = adapter_of(life->home);

	if (ep->place < 0)
		return;
	pthread_mutex_lock(&adapter->life.lock);
	if (atomic_load(&adapter->life.serial) == life->home_serial)
		adapter->ep_place[ep->place] = 0;
	pthread_mutex_unlock(&adapter->life.lock);
	ep->place = -1;
}

void
eps_begin(void)
{
	life_pool(LIFE_EP, records, sizeof records[0], EP_RECORDS, give_place);
	life_pool_rests(LIFE_EP, EP_REST_TICKS);
}

/* ---- create ---- */

static void
detach(struct ep *ep)
{
	evd_detach(ep->recv, ep);
	if (ep->request != ep->recv)
		evd_detach(ep->request, ep);
	if (ep->connect != ep->recv && ep->connect != ep->request)
		evd_detach(ep->connect, ep);
}

static bool
attach(struct ep *ep)
{
	if (evd_attach(ep->recv, ep) && (ep->request == ep->recv || evd_attach(ep->request, ep)) &&
	    (ep->connect == ep->recv || ep->connect == ep->request || evd_attach(ep->connect, ep)))
		return true;
	detach(ep);
	return false;
}

static DAT_RETURN
create(struct adapter *adapter, struct ep *ep, DAT_EP_HANDLE *handle)
{
	DAT_EP_ATTR attr = adapter->ep_attr;
	struct call call;

	attr.recv_completion_flags = ep->recv_flags;
	attr.request_completion_flags = ep->request_flags;
	attr.max_recv_dtos = attr.max_request_dtos = ep->depth;
	call_begin(&call, CALL_EP_CREATE, &adapter->life, &ep->connect->life,
	    (uint64_t)ep->recv_flags << 32 | ep->request_flags);
	call_also(&call, &ep->recv->life);
	call_also(&call, &ep->request->life);
	return call_end(
	    &call, dat_ep_create(adapter->ia, adapter->pz, atomic_load(&ep->recv->life.handle),
		       atomic_load(&ep->request->life.handle),
		       atomic_load(&ep->connect->life.handle), &attr, handle));
}

struct ep *
ep_make(struct adapter *adapter, const struct ep_plan *plan)
{
	struct life *life = life_new(LIFE_EP, &adapter->life, plan->tame);
	struct ep *ep = ep_of(life);
	DAT_EP_HANDLE handle;

	if (!life)
		return NULL;
	memset((char *)ep + sizeof *life, 0, sizeof *ep - sizeof *life);
	ep->recv = plan->recv;
	ep->request = plan->request;
	ep->connect = plan->connect;
	ep->recv_flags = plan->recv_flags;
	ep->request_flags = plan->request_flags;
	ep->depth = plan->depth;
	ep->place = take_place(adapter, atomic_load(&life->serial));
	if (ep->place < 0 || !attach(ep)) {
		life_unborn(life);
		return NULL;
	}
	trace("(new EP)", life_name(life), life_name(&ep->connect->life), (uint64_t)plan->depth);
	if (create(adapter, ep, &handle) != DAT_SUCCESS) {
		detach(ep);
		life_unborn(life);
		return NULL;
	}
	life_born(life, handle);
	if (!adapter_add(adapter, life)) {
		if (life_may_be_ending(&adapter->life)) {
			(void)life_ended(life);
			ep_gone(ep);
		} else {
			(void)ep_free_rudely(ep);
		}
		life_unuse(life);
		return NULL;
	}
	return ep;
}

/* ---- the end ---- */

void
ep_gone(struct ep *ep)
{
	detach(ep);
}

DAT_RETURN
ep_free_rudely(struct ep *ep)
{
	struct adapter *adapter = adapter_of(ep->life.home);
	struct call call;
	DAT_RETURN ret;

	life_end_begin(&ep->life);
	call_begin(&call, CALL_EP_FREE, &ep->life, NULL, 0);
	ret = call_end(&call, dat_ep_free(atomic_load(&ep->life.handle)));
	if (ret != DAT_SUCCESS) {
		life_end_failed(&ep->life);
		if (dat_is(ret, DAT_INVALID_STATE))
			report_wrong(&ep->life, NULL,
			    "dat_ep_free returned %s, but no service point "
			    "has it",
			    dat_name(ret));
		return ret;
	}
	if (life_ended(&ep->life))
		ep_gone(ep);
	else if (!life_may_be_ending(&adapter->life))
		report_wrong(&ep->life, NULL, "dat_ep_free succeeded twice");
	adapter_drop(adapter, &ep->life);
	return ret;
}

void
ep_note_broken(struct ep *ep)
{
	lock(ep);
	ep->broken = true;
	unlock(ep);
}

static bool
any_overflowed(struct ep *ep)
{
	struct evd *const evds[] = { ep->recv, ep->request, ep->connect };
	struct adapter *adapter = adapter_of(ep->life.home);
	bool overflowed = adapter->async_overflowed;

	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&evds[i]->life.lock);
		overflowed = overflowed || evds[i]->overflowed;
		pthread_mutex_unlock(&evds[i]->life.lock);
	}
	return overflowed;
}

/*
 * This program posts no transfer that the other side must refuse.  So the device has dropped a
 * completion because a queue was full, and the EVD must soon report an overflow.
 */
static void
judge_broken(struct ep *ep)
{
	const uint64_t since = clock_tick();

	while (ep->broken && !any_overflowed(ep) && !life_may_be_ending(&ep->life)) {
		adapter_drain_async(adapter_of(ep->life.home));
		if (clock_tick() - since > END_TICKS)
			report_wrong(&ep->life, NULL,
			    "an asynchronous event reports that it broke, but none of "
			    "its EVDs overflowed");
		clock_nap_us(500);
	}
}

/* The number of events that have not come. */
static unsigned int
missing(struct ep *ep)
{
	unsigned int n;

	lock(ep);
	if (ep->fuzzy)
		n = 0;
	else if (ep->phase == EP_CONNECTING || ep->phase == EP_UP)
		n = 1;
	else
		n = ep->phase == EP_OVER ? ep_missing(ep) : 0;
	unlock(ep);
	return n;
}

static void
take_all_from(struct evd *evd, const struct ep *ep)
{
	if (!evd_use_of(evd, ep))
		return;
	take_all(evd);
	life_unuse(&evd->life);
}

/* Takes events until all events of its connection have come. */
static void
await_everything(struct ep *ep)
{
	struct adapter *adapter = adapter_of(ep->life.home);
	unsigned int left = missing(ep), now;
	uint64_t since = clock_tick();

	while (left) {
		take_all_from(ep->connect, ep);
		if (ep->recv != ep->connect)
			take_all_from(ep->recv, ep);
		if (ep->request != ep->connect && ep->request != ep->recv)
			take_all_from(ep->request, ep);
		now = missing(ep);
		if (life_may_be_ending(&ep->life))
			return;
		if (now != left)
			since = clock_tick();
		left = now;
		if (!left || clock_tick() - since < 8) {
			clock_nap_us(50);
			continue;
		}
		adapter_drain_async(adapter);
		judge_broken(ep);
		if (any_overflowed(ep))
			return;
		if (clock_tick() - since > END_TICKS)
			report_wrong(&ep->life, &ep->connect->life,
			    "the connection was ended, its EVDs were emptied for %d ticks, and %u "
			    "of its events have not come",
			    END_TICKS, left);
		clock_nap_us(500);
	}
}

bool
ep_end(struct life *life)
{
	struct ep *ep = ep_of(life);
	bool up;

	if (!life_close_gate(life))
		return false;
	lock(ep);
	up = ep->phase == EP_CONNECTING || ep->phase == EP_UP;
	unlock(ep);
	if (up)
		(void)ep_disconnect(
		    ep, chance(80) ? DAT_CLOSE_ABRUPT_FLAG : DAT_CLOSE_GRACEFUL_FLAG);
	if (up)
		(void)ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG);
	judge_broken(ep);
	if (!ep->fuzzy && !any_overflowed(ep))
		await_everything(ep);
	if (ep_free_rudely(ep) != DAT_SUCCESS && !life_may_be_ending(life))
		report_wrong(life, NULL, "an endpoint could not be freed");
	return life_open_gate_unless_ended(life);
}

enum ep_phase
ep_phase(struct ep *ep)
{
	enum ep_phase phase;

	lock(ep);
	phase = ep->phase;
	unlock(ep);
	return phase;
}

/* ---- the thread that connects it ---- */

bool
ep_enter(struct ep *ep)
{
	bool ok;

	lock(ep);
	ok = !ep->busy;
	ep->busy = true;
	unlock(ep);
	return ok;
}

void
ep_leave(struct ep *ep)
{
	lock(ep);
	ep->busy = false;
	unlock(ep);
}
