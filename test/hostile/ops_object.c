/* SPDX-License-Identifier: BSD-3-Clause */
/* ops_object -- operations that create and end objects, and that use objects that have ended */
#include <sched.h>
#include <stddef.h>

#include "actor.h"
#include "adapter.h"
#include "call.h"
#include "clock.h"
#include "cno.h"
#include "evd.h"
#include "ops.h"
#include "report.h"
#include "take.h"

#define EVDS_MOST 14
#define CNOS_MOST 4
#define CHURN_MOST 90 /* more than the slots that a provider keeps free */

static void
make_evd(struct adapter *adapter)
{
	struct evd *evd = NULL;

	if (adapter_has_room(adapter, LIFE_EVD, EVDS_MOST))
		evd = evd_make_any(adapter, adapter->life.tame ? chance(60) : chance(30));
	if (evd)
		life_unuse(&evd->life);
}

static void
make_cno(struct adapter *adapter)
{
	struct cno *cno = NULL;

	if (adapter_has_room(adapter, LIFE_CNO, CNOS_MOST))
		cno = cno_make(adapter, chance(50), chance(30));
	if (cno)
		life_unuse(&cno->life);
}

static void
end_evd(struct adapter *adapter)
{
	struct life *life = adapter_pick_child(adapter, LIFE_EVD);

	if (!life)
		return;
	(void)evd_free_politely(evd_of(life));
	life_unuse(life);
}

static void
end_cno(struct adapter *adapter)
{
	struct life *life = adapter_pick_child(adapter, LIFE_CNO);

	if (!life)
		return;
	(void)cno_end(life);
	life_unuse(life);
}

static void
free_evd(struct adapter *adapter)
{
	struct life *life = adapter_pick_child(adapter, LIFE_EVD);

	if (!life)
		return;
	if (!life->tame)
		(void)evd_free_rudely(evd_of(life));
	life_unuse(life);
}

static void
free_cno(struct adapter *adapter)
{
	struct life *life = adapter_pick_child(adapter, LIFE_CNO);

	if (!life)
		return;
	if (!life->tame)
		(void)cno_free_rudely(cno_of(life));
	life_unuse(life);
}

/*
 * Creates private EVDs, one after the other, in the slots that were freed.  A missing or an extra
 * event shows that a call on another EVD has reached this one.
 */
static void
churn(struct adapter *adapter)
{
	struct evd_plan plan = { .streams = DAT_EVD_SOFTWARE_FLAG, .qlen = 4, .tame = true };
	struct evd *evd[CHURN_MOST];
	unsigned int n = CHURN_MOST / 2 + pick(CHURN_MOST / 2);

	for (unsigned int i = 0; i < n; i++) {
		evd[i] = evd_make_apart(adapter, &plan);
		if (!evd[i]) {
			n = i;
			break;
		}
		(void)evd_post(evd[i], false);
	}
	sched_yield();
	for (unsigned int i = 0; i < n; i++) {
		evd_audit(evd[i]);
		(void)evd_free_rudely(evd[i]);
		life_unuse(&evd[i]->life);
	}
}

/* ---- stale handles ---- */

static void
use_stale_evd(struct evd *evd)
{
	static const DAT_UPCALL_POLICY policies[] = { DAT_UPCALL_DISABLE,
		DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_MANY, DAT_UPCALL_TEARDOWN };

	switch (pick(10)) {
	case 0:
		(void)take_dequeue(evd, true);
		break;
	case 1:
		(void)evd_post(evd, true);
		break;
	case 2:
		(void)evd_set_policy(evd, policies[pick(4)], false, DAT_UPCALL_INVOC_ANY);
		break;
	case 3:
		(void)take_wait(evd, 500, 1, true);
		break;
	case 4:
		(void)evd_set_cno(evd, NULL);
		break;
	case 5:
		(void)evd_set_enabled(evd, chance(50));
		break;
	case 6:
		(void)evd_set_waitable(evd, chance(50));
		break;
	case 7:
		(void)evd_resize(evd, 3);
		break;
	case 8:
		evd_query(evd);
		break;
	default:
		(void)evd_free_rudely(evd);
		break;
	}
}

/*
 * The bait is an EVD that is soon freed, and many others are created in its place.  Meanwhile other
 * threads make calls on it.
 */
static _Atomic(struct evd *) bait;
static _Atomic(uint64_t) bait_serial;

static void
lay_bait(struct adapter *adapter)
{
	struct evd_plan plan = { .streams = DAT_EVD_SOFTWARE_FLAG, .qlen = 4 };
	struct evd *evd = evd_make_apart(adapter, &plan);

	if (!evd)
		return;
	atomic_store(&bait, evd);
	atomic_store(&bait_serial, atomic_load(&evd->life.serial));
	clock_nap_us(pick(60));
	(void)evd_free_rudely(evd);
	life_unuse(&evd->life);
	churn(adapter);
}

static void
bite(struct adapter *adapter)
{
	struct evd *evd = atomic_load(&bait);
	const uint64_t serial = atomic_load(&bait_serial);
	const bool one_kind = chance(80);

	(void)adapter;
	if (!evd || !life_use(&evd->life, serial))
		return;
	if (one_kind)
		take_until_it_ends(evd);
	else
		for (int i = 0; i < 1000 && !life_end(&evd->life); i++)
			use_stale_evd(evd);
	life_unuse(&evd->life);
}

static void
use_stale_cno(struct cno *cno)
{
	switch (pick(3)) {
	case 0:
		(void)cno_set_agent(cno, true);
		break;
	case 1:
		(void)cno_free_rudely(cno);
		break;
	default:
		cno_wait_stale(cno);
		break;
	}
}

static void
use_stale(struct adapter *adapter)
{
	struct life *life = life_pick_stale(chance(80) ? LIFE_EVD : LIFE_CNO);

	(void)adapter;
	if (!life)
		return;
	if (life->kind == LIFE_EVD)
		use_stale_evd(evd_of(life));
	else
		use_stale_cno(cno_of(life));
	life_unuse(life);
}

/* ---- adapters ---- */

static void
open_another(struct adapter *adapter)
{
	(void)adapter;
	adapter_open(chance(40));
}

static void
close_rudely(struct adapter *adapter)
{
	if (!adapter->life.tame)
		(void)adapter_close_rudely(
		    adapter, chance(60) ? DAT_CLOSE_ABRUPT_FLAG : DAT_CLOSE_GRACEFUL_FLAG);
	else
		(void)adapter_close_rudely(adapter, DAT_CLOSE_GRACEFUL_FLAG);
}

static void
close_politely(struct adapter *adapter)
{
	if (adapter->life.tame)
		(void)adapter_close_politely(adapter);
}

static void
read_async(struct adapter *adapter)
{
	adapter_drain_async(adapter);
}

const struct op ops_object[] = {
	{ "create an EVD", GROUP_SOFT, 1200, make_evd },
	{ "end an EVD", GROUP_SOFT, 400, end_evd },
	{ "churn", GROUP_SOFT, 40, churn },
	{ "create a CNO", GROUP_CNO, 300, make_cno },
	{ "end a CNO", GROUP_CNO, 60, end_cno },
	{ "free an EVD", GROUP_FREE, 600, free_evd },
	{ "free a CNO", GROUP_FREE, 100, free_cno },
	{ "lay a bait", GROUP_STALE, 60, lay_bait },
	{ "bite", GROUP_STALE, 2500, bite },
	{ "use a stale handle", GROUP_STALE, 1500, use_stale },
	{ "open an adapter", GROUP_SOFT, 60, open_another },
	{ "close an adapter abruptly", GROUP_CLOSE, 25, close_rudely },
	{ "close an adapter politely", GROUP_SOFT, 4, close_politely },
	{ "read asynchronous events", GROUP_SOFT, 200, read_async },
	{ NULL, GROUP_SOFT, 0, NULL },
};
