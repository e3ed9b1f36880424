/* SPDX-License-Identifier: BSD-3-Clause */
/* evd_end -- frees EVDs, and checks that all their events have come */
#include "evd.h"

#include "actor.h"
#include "adapter.h"
#include "call.h"
#include "clock.h"
#include "ep.h"
#include "report.h"
#include "take.h"

static void
lock(struct evd *evd)
{
	pthread_mutex_lock(&evd->life.lock);
}

static void
unlock(struct evd *evd)
{
	pthread_mutex_unlock(&evd->life.lock);
}

/* ---- the end ---- */

static int
own_frames(const struct evd *evd)
{
	int n = 0;

	for (const struct frame *f = actor_self()->frame; f; f = f->outer)
		n += f->evd == evd;
	return n;
}

/* Locked.  An endpoint that used the EVD before and after the call must prevent the free. */
static void
judge_freed(struct evd *evd, const struct call *call)
{
	if (!own_frames(evd) && evd->inside)
		report_wrong(&evd->life, NULL, "dat_evd_free returned while %u upcalls still run",
		    evd->inside);
	for (int i = 0; i < EVD_ENDPOINTS; i++) {
		const struct ep *ep = evd->ep[i];

		if (!ep || atomic_load(&ep->life.serial) != evd->ep_serial[i])
			continue;
		if (atomic_load(&ep->life.born) && atomic_load(&ep->life.born) < call->begin &&
		    !life_may_be_ending(&ep->life))
			report_wrong(&evd->life, &ep->life,
			    "dat_evd_free succeeded while an endpoint uses the EVD");
	}
}

DAT_RETURN
evd_free_rudely(struct evd *evd)
{
	struct adapter *adapter = adapter_of(evd->life.home);
	unsigned int attached;
	struct call call;
	DAT_RETURN ret;
	bool first;

	lock(evd);
	attached = evd->attaches;
	attached += evd->life.holds != 0;
	unlock(evd);
	life_end_begin(&evd->life);
	call_begin(&call, CALL_EVD_FREE, &evd->life, NULL, 0);
	ret = call_end(&call, dat_evd_free(atomic_load(&evd->life.handle)));
	if (ret != DAT_SUCCESS) {
		lock(evd);
		/* Endpoints of a flood have no records; only the close that frees them is known. */
		if (dat_is(ret, DAT_INVALID_STATE) && attached == evd->attaches &&
		    !evd->life.holds && !life_may_be_ending(&adapter->life))
			report_wrong(&evd->life, NULL,
			    "dat_evd_free returned %s, but no object uses the EVD", dat_name(ret));
		unlock(evd);
		life_end_failed(&evd->life);
		return ret;
	}
	lock(evd);
	judge_freed(evd, &call);
	evd->ended_inside = own_frames(evd) > 0;
	unlock(evd);
	if (evd->ended_inside)
		adapter_keep_ghost(adapter, &evd->life);
	first = life_ended(&evd->life);
	if (!first && !life_may_be_ending(&adapter->life))
		report_wrong(&evd->life, NULL, "dat_evd_free succeeded twice");
	adapter_drop(adapter, &evd->life);
	return ret;
}

void
evd_audit(struct evd *evd)
{
	DAT_RETURN ret;

	do
		ret = take_dequeue(evd, false);
	while (ret == DAT_SUCCESS);
	if (life_may_be_ending(&evd->life))
		return;
	adapter_drain_async(adapter_of(evd->life.home));
	lock(evd);
	if (dat_is(ret, DAT_INVALID_STATE) && !evd->overflowed)
		report_wrong(&evd->life, NULL,
		    "dat_evd_dequeue returned %s without a waiter or an overflow", dat_name(ret));
	for (int i = 0; i < EVD_LANES && !evd->overflowed; i++) {
		unsigned int n = stream_waiting(&evd->lane[i], UINT64_MAX);

		if (n)
			report_wrong(&evd->life, NULL,
			    "%u software events were lost: the EVD is empty, and no thread takes "
			    "from it",
			    n);
	}
	unlock(evd);
}

bool
evd_free_politely(struct evd *evd)
{
	struct life *life = &evd->life;

	if (!life_close_gate(life))
		return false;
	lock(evd);
	if (life->holds) {
		life->gate = false;
		unlock(evd);
		take_all(evd); /* threads that were shut out may not come back */
		return false;
	}
	unlock(evd);
	(void)evd_set_policy(evd, DAT_UPCALL_TEARDOWN, true, DAT_UPCALL_INVOC_NEW);
	evd_audit(evd);
	if (evd_free_rudely(evd) != DAT_SUCCESS && !life_may_be_ending(life))
		report_wrong(life, NULL, "an EVD that nothing uses could not be freed");
	return life_open_gate_unless_ended(life);
}

/* ---- endpoints and service points ---- */

void
evd_hold(struct evd *evd)
{
	lock(evd);
	evd->life.holds++;
	evd->attaches++;
	unlock(evd);
}

bool
evd_attach(struct evd *evd, struct ep *ep)
{
	int free = -1;

	lock(evd);
	for (int i = EVD_ENDPOINTS - 1; i >= 0; i--)
		if (!evd->ep[i])
			free = i;
	if (free >= 0) {
		evd->ep[free] = ep;
		evd->ep_serial[free] = atomic_load(&ep->life.serial);
		evd->life.holds++;
		evd->attaches++;
	}
	unlock(evd);
	return free >= 0;
}

bool
evd_use_of(struct evd *evd, const struct ep *ep)
{
	const uint64_t serial = atomic_load(&ep->life.serial);
	bool found = false;

	lock(evd);
	for (int i = 0; i < EVD_ENDPOINTS && !found; i++)
		found = evd->ep[i] == ep && evd->ep_serial[i] == serial;
	evd->life.users += found;
	unlock(evd);
	return found;
}

void
evd_detach(struct evd *evd, struct ep *ep)
{
	bool found = false;

	lock(evd);
	for (int i = 0; i < EVD_ENDPOINTS && !found; i++)
		if (evd->ep[i] == ep) {
			evd->ep[i] = NULL;
			found = true;
		}
	unlock(evd);
	if (found)
		life_unhold(&evd->life);
}

/*
 * Software events that find no room are refused, and a completion queue has room for all
 * completions of its endpoints.
 */
static bool
may_overflow(const struct evd *evd)
{
	return evd->streams & (DAT_EVD_CONNECTION_FLAG | DAT_EVD_CR_FLAG);
}

/* Connection requests that find no room are refused as well; the EVD stays usable. */
static bool
overflow_stays(const struct evd *evd)
{
	return evd->streams & DAT_EVD_CONNECTION_FLAG;
}

void
evd_note_overflow(struct adapter *adapter, DAT_HANDLE handle)
{
	uint64_t serials[ADAPTER_CHILDREN];
	unsigned int n = adapter_children(adapter, LIFE_EVD, serials);

	for (unsigned int i = 0; i < n; i++) {
		struct life *life = life_find(LIFE_EVD, serials[i]);

		if (!life || !life_use_stale(life, serials[i]))
			continue;
		if (atomic_load(&life->handle) == handle) {
			lock(evd_of(life));
			evd_of(life)->overflowed = overflow_stays(evd_of(life));
			unlock(evd_of(life));
			if (!may_overflow(evd_of(life)))
				report_wrong(life, &adapter->life,
				    "it overflowed, but it only has completions");
		}
		life_unuse(life);
	}
}
