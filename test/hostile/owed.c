/* SPDX-License-Identifier: BSD-3-Clause */
#include "owed.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "adapter.h"
#include "cno.h"
#include "ep.h"
#include "evd.h"

static _Atomic(uint64_t) takings, connections, abroad, transfers_done;

uint64_t
owed_takings(void)
{
	return atomic_load(&takings);
}

uint64_t
owed_connections(void)
{
	return atomic_load(&connections);
}

uint64_t
owed_abroad(void)
{
	return atomic_load(&abroad);
}

void
owed_note_abroad(void)
{
	atomic_fetch_add_explicit(&abroad, 1, memory_order_relaxed);
}

uint64_t
owed_transfers(void)
{
	return atomic_load(&transfers_done);
}

void
owed_note_taking(DAT_EVENT_NUMBER number)
{
	atomic_fetch_add_explicit(&takings, 1, memory_order_relaxed);
	if (number == DAT_CONNECTION_EVENT_ESTABLISHED)
		atomic_fetch_add_explicit(&connections, 1, memory_order_relaxed);
	if (number == DAT_DTO_COMPLETION_EVENT)
		atomic_fetch_add_explicit(&transfers_done, 1, memory_order_relaxed);
}

/* Locked. */
static unsigned int
software_events(const struct evd *evd)
{
	unsigned int n = 0;

	for (int i = 0; i < EVD_LANES; i++)
		n += stream_waiting(&evd->lane[i], UINT64_MAX);
	return n;
}

/* Locked.  The lowest threshold of a waiting thread, or 0. */
static DAT_COUNT
threshold_of(const struct evd *evd)
{
	DAT_COUNT least = 0;

	for (int i = 0; i < EVD_WAITS; i++)
		if (evd->waiting[i].begin && (!least || evd->waiting[i].threshold < least))
			least = evd->waiting[i].threshold;
	return least;
}

/* The CNO that must be triggered, used: one that has a waiter or an agent.  Or NULL. */
static struct cno *
cno_with_reader(uint64_t serial, const char **sink)
{
	struct life *life = life_find(LIFE_CNO, serial);
	struct cno *cno = cno_of(life);
	bool reader = false;

	if (!life || !life_use(life, serial))
		return NULL;
	pthread_mutex_lock(&life->lock);
	if (cno->waiters) {
		reader = true;
		*sink = "a thread waits on its CNO";
	} else if (cno->agent.sure && cno->agent.value) {
		reader = true;
		*sink = "its CNO has an agent";
	}
	pthread_mutex_unlock(&life->lock);
	if (!reader || life_may_be_ending(life)) {
		life_unuse(life);
		return NULL;
	}
	return cno;
}

/* Fills in what and sink.  True if the EVD must deliver an event now. */
static bool
owes(struct evd *evd, struct owed *owed)
{
	uint64_t cno = 0;
	DAT_COUNT threshold;
	unsigned int n, transfers = 0;
	bool it_does = false;

	owed->cno = NULL;
	owed->ep = NULL;
	pthread_mutex_lock(&evd->life.lock);
	n = software_events(evd);
	for (int i = 0; i < EVD_ENDPOINTS; i++) {
		unsigned int of_it = evd->ep[i] ? ep_owes(evd->ep[i], evd) : 0;

		if (of_it)
			owed->ep = evd->ep[i];
		transfers += of_it;
	}
	n += transfers;
	threshold = threshold_of(evd);
	if (evd->overflowed || adapter_of(evd->life.home)->async_overflowed ||
	    life_may_be_ending(&evd->life)) {
		n = 0;
	} else if (threshold && evd->waitable.sure && !evd->waitable.value) {
		snprintf(owed->what, sizeof owed->what, "the EVD is unwaitable");
		owed->sink = "a thread still waits on it";
		it_does = true;
	} else if (n) {
		snprintf(
		    owed->what, sizeof owed->what, "%u events wait, %u of endpoints", n, transfers);
		if (threshold) {
			owed->sink = "a thread waits for that many";
			it_does = n >= (unsigned int)threshold;
		} else if (!evd->policy.sure) {
			it_does = false;
		} else if ((int)evd->policy.value > DAT_UPCALL_DISABLE) {
			owed->sink = "upcalls are enabled";
			it_does = true;
		} else if (evd->cno.sure && evd->enabled.sure && evd->enabled.value) {
			cno = evd->cno.value;
		}
	}
	pthread_mutex_unlock(&evd->life.lock);
	if (cno) {
		owed->cno = cno_with_reader(cno, &owed->sink);
		it_does = owed->cno != NULL;
	}
	return it_does;
}

static bool
find_in(struct adapter *adapter, struct owed *owed)
{
	uint64_t serials[ADAPTER_CHILDREN];
	unsigned int n = adapter_children(adapter, LIFE_EVD, serials);

	for (unsigned int i = 0; i < n; i++) {
		struct life *life = life_find(LIFE_EVD, serials[i]);

		if (!life || !life_use(life, serials[i]))
			continue;
		if (owes(evd_of(life), owed)) {
			owed->adapter = adapter;
			owed->evd = evd_of(life);
			return true;
		}
		life_unuse(life);
	}
	return false;
}

bool
owed_find(struct owed *owed)
{
	for (unsigned int i = 0; i < ADAPTERS_OPEN; i++) {
		struct adapter *adapter = adapter_nth(i);

		if (!adapter)
			continue;
		if (find_in(adapter, owed))
			return true;
		life_unuse(&adapter->life);
	}
	return false;
}

void
owed_release(struct owed *owed)
{
	if (owed->cno)
		life_unuse(&owed->cno->life);
	life_unuse(&owed->evd->life);
	life_unuse(&owed->adapter->life);
}

bool
owed_inside(void)
{
	bool inside = false;

	for (unsigned int i = 0; i < ADAPTERS_OPEN; i++) {
		struct adapter *adapter = adapter_nth(i);

		if (!adapter)
			continue;
		inside = inside || atomic_load(&adapter->inside) != 0;
		life_unuse(&adapter->life);
	}
	return inside;
}

void
owed_read_async(void)
{
	for (unsigned int i = 0; i < ADAPTERS_OPEN; i++) {
		struct adapter *adapter = adapter_nth(i);

		if (!adapter)
			continue;
		adapter_drain_async(adapter);
		life_unuse(&adapter->life);
	}
}
