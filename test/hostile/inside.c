/* SPDX-License-Identifier: BSD-3-Clause */
#include "inside.h"

#include "actor.h"
#include "adapter.h"
#include "clock.h"
#include "cno.h"
#include "evd.h"
#include "options.h"
#include "run.h"
#include "take.h"

/*
 * An upcall may wait for these without a deadlock: events, with a short timeout; other upcalls of
 * its own EVD; and, on an adapter with closes_inside, the end of any object.
 */

static void
post_to_another(struct adapter *adapter)
{
	struct evd *evd = evd_of(adapter_pick_child(adapter, LIFE_EVD));

	if (!evd)
		return;
	if (evd->streams & DAT_EVD_SOFTWARE_FLAG)
		(void)evd_post(evd, false);
	life_unuse(&evd->life);
}

static void
wait_on_another(struct adapter *adapter)
{
	struct evd *evd = evd_of(adapter_pick_child(adapter, LIFE_EVD));

	if (!evd)
		return;
	(void)take_wait(evd, pick(1500), 1, false);
	life_unuse(&evd->life);
}

static void
wait_on_a_cno(struct adapter *adapter)
{
	struct cno *cno = cno_of(adapter_pick_child(adapter, LIFE_CNO));

	if (!cno)
		return;
	(void)cno_wait(cno, pick(1500));
	life_unuse(&cno->life);
}

static void
drain_and_enable(struct evd *evd)
{
	DAT_RETURN ret = DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE);

	(void)evd_set_policy(evd, DAT_UPCALL_DISABLE, true, DAT_UPCALL_INVOC_NEW);
	for (int tries = 0; tries < 10 && dat_is(ret, DAT_INVALID_STATE); tries++) {
		take_all(evd);
		ret = evd_set_policy(
		    evd, DAT_UPCALL_SINGLE_INSTANCE, chance(50), DAT_UPCALL_INVOC_NEW);
	}
}

/* The operations that end an object, for the groups that allow this. */
static void
end_something(struct adapter *adapter, struct evd *evd)
{
	if (options.group[GROUP_INSIDE] && chance(30))
		/* other threads may begin to end it, and wait for this upcall */
		clock_nap_us(pick(3000));
	if (options.group[GROUP_INSIDE] && adapter->closes_inside && pick(100) == 0)
		(void)adapter_close_rudely(adapter, DAT_CLOSE_ABRUPT_FLAG);
	else if (options.group[GROUP_INSIDE] && !evd->life.tame && chance(25))
		(void)evd_free_rudely(evd);
	else if (options.group[GROUP_POLICY])
		(void)evd_set_policy(evd, DAT_UPCALL_TEARDOWN, true, DAT_UPCALL_INVOC_NEW);
	if (options.group[GROUP_INSIDE] && chance(30))
		clock_nap_us(pick(3000)); /* the upcall of an object that has ended still runs */
}

static void
act(struct adapter *adapter, struct evd *evd)
{
	const unsigned int what = pick(100);

	if (what < 40)
		return;
	if (what < 50)
		(void)take_dequeue(evd, false);
	else if (what < 55)
		take_all(evd);
	else if (what < 63)
		(void)(evd->streams & DAT_EVD_SOFTWARE_FLAG ? evd_post(evd, false) : 0);
	else if (what < 73)
		post_to_another(adapter);
	else if (what < 78)
		clock_nap_us(pick(200));
	else if (what < 84 && options.group[GROUP_POLICY])
		drain_and_enable(evd);
	else if (what < 87 && options.group[GROUP_WAIT])
		wait_on_another(adapter);
	else if (what < 90 && options.group[GROUP_CNO])
		wait_on_a_cno(adapter);
	else if (what < 93 && options.group[GROUP_POLICY])
		(void)evd_set_policy(evd, DAT_UPCALL_MANY, false, DAT_UPCALL_INVOC_ANY);
	else if (what >= 96)
		end_something(adapter, evd);
}

void
inside_upcall(struct evd *evd, const DAT_EVENT *event)
{
	struct adapter *adapter = adapter_of(evd->life.home);

	/* NORIFY makes one upcall for all new events: the events left here would get no other. */
	if (!event)
		take_all(evd);
	if (run_is_calm() || !life_use(&adapter->life, evd->life.home_serial))
		return;
	act(adapter, evd);
	life_unuse(&adapter->life);
}

void
inside_agent(struct cno *cno)
{
	struct adapter *adapter = adapter_of(cno->life.home);
	const bool again = chance(80), first = chance(50);

	if (again && first)
		(void)cno_set_agent(cno, true);
	cno_drain(cno);
	if (again && !first)
		(void)cno_set_agent(cno, true);
	if (run_is_calm() || !options.group[GROUP_INSIDE] ||
	    !life_use(&adapter->life, cno->life.home_serial))
		return;
	if (adapter->closes_inside && pick(100) == 0)
		(void)adapter_close_rudely(adapter, DAT_CLOSE_ABRUPT_FLAG);
	else if (!cno->life.tame && chance(10))
		(void)cno_free_rudely(cno);
	if (chance(10))
		clock_nap_us(pick(3000));
	life_unuse(&adapter->life);
}
