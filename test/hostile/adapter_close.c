/* SPDX-License-Identifier: BSD-3-Clause */
/* adapter_close -- closes adapters, abruptly or after all their objects were ended */
#include "adapter.h"

#include "actor.h"
#include "call.h"
#include "clock.h"
#include "cno.h"
#include "ep.h"
#include "evd.h"
#include "psp.h"
#include "report.h"

/* The adapter counts as stuck if no object of it ends in so many ticks. */
#define END_TICKS 16000

bool
adapter_keep_open(struct adapter *adapter)
{
	pthread_rwlock_rdlock(&adapter->open);
	if (!life_may_be_ending(&adapter->life))
		return true;
	pthread_rwlock_unlock(&adapter->open);
	return false;
}

void
adapter_let_close(struct adapter *adapter)
{
	pthread_rwlock_unlock(&adapter->open);
}

/* All objects of the adapter have ended with it. */
static void
bury_children(struct adapter *adapter)
{
	for (enum life_kind kind = LIFE_EVD; kind < LIFE_KINDS; kind++)
		for (;;) {
			struct life *life;
			uint64_t serial = 0;

			pthread_mutex_lock(&adapter->life.lock);
			if (adapter->child[kind].n)
				serial = adapter->child[kind].serial[--adapter->child[kind].n];
			pthread_mutex_unlock(&adapter->life.lock);
			if (!serial)
				break;
			life = life_find(kind, serial);
			if (!life || !life_use_stale(life, serial))
				continue;
			(void)life_ended(life);
			if (kind == LIFE_EP)
				ep_gone((struct ep *)life);
			if (kind == LIFE_PSP)
				psp_gone((struct psp *)life);
			life_unuse(life);
		}
}

/* Only upcalls and agents that the closing thread is in may still run. */
static void
judge_closed(struct adapter *adapter)
{
	const int own = adapter_own_frames(adapter);
	int inside;

	if (!life_ended(&adapter->life))
		report_wrong(&adapter->life, NULL, "dat_ia_close succeeded twice");
	inside = atomic_load(&adapter->inside);
	if (inside != own)
		report_wrong(&adapter->life, NULL,
		    "dat_ia_close returned while %d upcalls or agents of the adapter still run "
		    "(%d of them on the closing thread)",
		    inside, own);
}

DAT_RETURN
adapter_close_rudely(struct adapter *adapter, DAT_CLOSE_FLAGS flags)
{
	const uint64_t serial = atomic_load(&adapter->life.serial);
	struct call call;
	DAT_RETURN ret;

	pthread_rwlock_wrlock(&adapter->open);
	life_end_begin(&adapter->life);
	pthread_rwlock_unlock(&adapter->open);
	call_begin(&call, CALL_IA_CLOSE, &adapter->life, NULL, flags);
	ret = call_end(&call, dat_ia_close(adapter->ia, flags));
	if (ret != DAT_SUCCESS) {
		life_end_failed(&adapter->life);
		if (flags == DAT_CLOSE_ABRUPT_FLAG && !dat_is(ret, DAT_INVALID_HANDLE))
			report_wrong(
			    &adapter->life, NULL, "an abrupt close returned %s", dat_name(ret));
		return ret;
	}
	if (flags == DAT_CLOSE_GRACEFUL_FLAG)
		report_wrong(&adapter->life, NULL,
		    "a graceful close succeeded although the adapter has a protection zone");
	judge_closed(adapter);
	bury_children(adapter);
	adapter_give_place(serial);
	return ret;
}

static void
end_children_politely(struct adapter *adapter, enum life_kind kind, bool (*end)(struct life *))
{
	uint64_t since = clock_tick();

	for (unsigned int left = 1; left;) {
		struct life *life = adapter_nth_child(adapter, kind, 0);
		bool ended = false;

		if (life) {
			ended = end(life);
			life_unuse(life);
		}
		if (ended)
			since = clock_tick();
		if (clock_tick() - since > END_TICKS)
			report_wrong(&adapter->life, NULL,
			    "the adapter is being closed politely, but its objects do not end");
		pthread_mutex_lock(&adapter->life.lock);
		left = adapter->child[kind].n;
		pthread_mutex_unlock(&adapter->life.lock);
		if (left && !ended)
			clock_nap_us(500);
	}
}

static bool
end_evd(struct life *life)
{
	return evd_free_politely(evd_of(life));
}

bool
adapter_close_politely(struct adapter *adapter)
{
	const uint64_t serial = atomic_load(&adapter->life.serial);
	struct call call;

	if (!life_close_gate(&adapter->life))
		return false;
	end_children_politely(adapter, LIFE_PSP, psp_end);
	end_children_politely(adapter, LIFE_CR, cr_end);
	end_children_politely(adapter, LIFE_EP, ep_end);
	end_children_politely(adapter, LIFE_EVD, end_evd);
	end_children_politely(adapter, LIFE_CR, cr_end); /* requests that were still in an EVD */
	end_children_politely(adapter, LIFE_CNO, cno_end);
	adapter_drain_async(adapter);
	dat_must("dat_lmr_free", dat_lmr_free(adapter->lmr));
	dat_must("dat_pz_free", dat_pz_free(adapter->pz));
	life_end_begin(&adapter->life);
	call_begin(&call, CALL_IA_CLOSE, &adapter->life, NULL, DAT_CLOSE_GRACEFUL_FLAG);
	if (call_end(&call, dat_ia_close(adapter->ia, DAT_CLOSE_GRACEFUL_FLAG)) != DAT_SUCCESS)
		report_wrong(
		    &adapter->life, NULL, "a graceful close failed although the adapter is empty");
	judge_closed(adapter);
	adapter_give_place(serial);
	return true;
}

void
adapters_close_all(void)
{
	for (;;) {
		struct adapter *adapter = adapter_pick();

		if (adapter) {
			if (adapter->life.tame)
				(void)adapter_close_politely(adapter);
			else
				(void)adapter_close_rudely(adapter, DAT_CLOSE_ABRUPT_FLAG);
			life_unuse(&adapter->life);
		}
		if (!adapters_any())
			return;
	}
}
