/* SPDX-License-Identifier: BSD-3-Clause */
/* ops_evd -- operations on EVDs and CNOs that are alive */
#include <stddef.h>

#include "actor.h"
#include "adapter.h"
#include "call.h"
#include "clock.h"
#include "cno.h"
#include "evd.h"
#include "ops.h"
#include "take.h"

static struct evd *
an_evd(struct adapter *adapter)
{
	return evd_of(adapter_pick_child(adapter, LIFE_EVD));
}

static struct cno *
a_cno(struct adapter *adapter)
{
	return cno_of(adapter_pick_child(adapter, LIFE_CNO));
}

/*
 * Mostly short, because a waiting thread does nothing else.  Without a timeout it waits until
 * run_watch() interrupts it.  Only such a wait shows a lost wake-up, which a timeout would hide.
 */
static DAT_TIMEOUT
a_timeout(void)
{
	switch (pick(10)) {
	case 0:
	case 1:
		return 0;
	case 2:
	case 3:
	case 4:
		return 1 + pick(300);
	case 5:
	case 6:
		return 1000 + pick(3000);
	case 7:
	case 8:
		return 5000 + pick(20000);
	default:
		return DAT_TIMEOUT_INFINITE;
	}
}

static void
post(struct adapter *adapter)
{
	struct evd *evd = an_evd(adapter);

	if (!evd)
		return;
	if (evd->streams & DAT_EVD_SOFTWARE_FLAG)
		for (unsigned int n = 1 + pick(4); n; n--)
			(void)evd_post(evd, false);
	life_unuse(&evd->life);
}

static void
dequeue(struct adapter *adapter)
{
	struct evd *evd = an_evd(adapter);

	if (!evd)
		return;
	if (chance(20))
		take_all(evd);
	else
		(void)take_dequeue(evd, false);
	life_unuse(&evd->life);
}

static void
wait_for_events(struct adapter *adapter)
{
	struct evd *evd = an_evd(adapter);

	if (!evd)
		return;
	(void)take_wait(evd, a_timeout(), chance(70) ? 1 : (DAT_COUNT)(1 + pick(5)), false);
	life_unuse(&evd->life);
}

static void
change_waitable(struct adapter *adapter)
{
	struct evd *evd = an_evd(adapter);

	if (!evd)
		return;
	(void)evd_set_waitable(evd, chance(70));
	life_unuse(&evd->life);
}

static void
change_policy(struct adapter *adapter)
{
	/* Off as often as on, so that other threads can take events. */
	static const DAT_UPCALL_POLICY policies[] = { DAT_UPCALL_DISABLE, DAT_UPCALL_DISABLE,
		DAT_UPCALL_TEARDOWN, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SINGLE_INSTANCE,
		DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_NORIFY, DAT_UPCALL_MANY };
	struct evd *evd = an_evd(adapter);

	if (!evd)
		return;
	(void)evd_set_policy(evd, policies[pick(8)], chance(10),
	    chance(60) ? DAT_UPCALL_INVOC_ANY : DAT_UPCALL_INVOC_NEW);
	life_unuse(&evd->life);
}

/* As storage code does: disable, empty, and enable again unless an event came meanwhile. */
static void
drain_and_enable(struct adapter *adapter)
{
	struct evd *evd = an_evd(adapter);
	DAT_RETURN ret = DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE);

	if (!evd)
		return;
	(void)evd_set_policy(evd, DAT_UPCALL_DISABLE, true, DAT_UPCALL_INVOC_NEW);
	for (int tries = 0; tries < 10 && dat_is(ret, DAT_INVALID_STATE); tries++) {
		take_all(evd);
		ret = evd_set_policy(
		    evd, DAT_UPCALL_SINGLE_INSTANCE, chance(50), DAT_UPCALL_INVOC_NEW);
	}
	life_unuse(&evd->life);
}

static void
attach_cno(struct adapter *adapter)
{
	struct evd *evd = an_evd(adapter);
	struct cno *cno = chance(80) ? a_cno(adapter) : NULL;

	if (evd) {
		(void)evd_set_cno(evd, cno);
		life_unuse(&evd->life);
	}
	if (cno)
		life_unuse(&cno->life);
}

static void
change_enabled(struct adapter *adapter)
{
	struct evd *evd = an_evd(adapter);

	if (!evd)
		return;
	(void)evd_set_enabled(evd, chance(70));
	life_unuse(&evd->life);
}

static void
wait_for_cno(struct adapter *adapter)
{
	struct cno *cno = a_cno(adapter);

	if (!cno)
		return;
	(void)cno_wait(cno, chance(20) ? DAT_TIMEOUT_INFINITE : a_timeout());
	life_unuse(&cno->life);
}

static void
change_agent(struct adapter *adapter)
{
	struct cno *cno = a_cno(adapter);

	if (!cno)
		return;
	(void)cno_set_agent(cno, chance(80));
	life_unuse(&cno->life);
}

static void
resize(struct adapter *adapter)
{
	struct evd *evd = an_evd(adapter);

	if (!evd)
		return;
	(void)evd_resize(evd, evd_some_length(evd->streams, evd->life.tame));
	life_unuse(&evd->life);
}

static void
query(struct adapter *adapter)
{
	struct evd *evd = an_evd(adapter);

	if (!evd)
		return;
	evd_query(evd);
	life_unuse(&evd->life);
}

/* Prefers a waiting thread: its call must return the right code and lose no event. */
static void
signal_somebody(struct adapter *adapter)
{
	unsigned int n = 0;

	(void)adapter;
	for (const struct actor *a = actor_first(); a; a = a->next) {
		if (!atomic_load(&a->in_use) || atomic_load(&a->role)[0] != 'o')
			continue;
		if (atomic_load(&a->manner) == ACTOR_SLEEPS && pick(++n) == 0)
			actor_signal(a);
	}
}

const struct op ops_evd[] = {
	{ "post", GROUP_SOFT, 6000, post },
	{ "dequeue", GROUP_SOFT, 3000, dequeue },
	{ "query", GROUP_SOFT, 400, query },
	{ "wait", GROUP_WAIT, 1200, wait_for_events },
	{ "waitable", GROUP_WAIT, 600, change_waitable },
	{ "policy", GROUP_POLICY, 1800, change_policy },
	{ "drain and enable", GROUP_POLICY, 400, drain_and_enable },
	{ "attach a CNO", GROUP_CNO, 1200, attach_cno },
	{ "enable", GROUP_CNO, 500, change_enabled },
	{ "wait for a CNO", GROUP_CNO, 1200, wait_for_cno },
	{ "agent", GROUP_CNO, 800, change_agent },
	{ "signal", GROUP_SIGNAL, 300, signal_somebody },
	{ "resize", GROUP_RESIZE, 500, resize },
	{ NULL, GROUP_SOFT, 0, NULL },
};
