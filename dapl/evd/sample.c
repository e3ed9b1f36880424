/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/evd/sample.h"

#include "dapl/ia/cq_arm.h"
#include "dapl/ia/ia.h"
#include "evd/stats/publisher.h"

_Static_assert((int)EVD_STATS_COMPLETIONS == (int)DAT_EVD_DTO_FLAG &&
		   (int)EVD_STATS_CONNECTIONS == (int)DAT_EVD_CONNECTION_FLAG &&
		   (int)EVD_STATS_ASYNC == (int)DAT_EVD_ASYNC_FLAG,
    "flags of rows");

/* The lock of the object keeps its handle and its adapter. */
static bool
sample_take(struct dapl_evd *evd, struct evd_stats_row *row) REQUIRES(dapl_locks.object)
{
	/* An EVD that is being created has a handle before the dispatcher knows it. */
	if (!dapl_object_is_alive(&evd->obj) || evd_stats_fill(dapl_evd_ref(evd), row))
		return false;
	row->evd = (uintptr_t)evd->obj.handle;
	row->serial = evd->obj.serial;
	row->ia = (uintptr_t)dapl_ia_of(&evd->obj)->self;
	row->flags = (uint64_t)evd->flags;
	/* -1, which is EVD_STATS_UNKNOWN: the device does not say. */
	row->rnr_stalls = evd->cq ? (uint64_t)dapl_cq_arm_stalls(evd->cq) : 0;
	row->slow_us = evd->slow_ns / OS_NS_PER_US;
	row->slow_upcalls = atomic_load_explicit(&evd->slow_upcalls, memory_order_relaxed);
	evd_stats_name(row, dapl_ia_of(&evd->obj)->provider->info.ia_name);
	return true;
}

int
dapl_evd_sample(uint32_t index, struct evd_stats_row *row)
{
	struct dapl_evd *evd = dapl_slab_at(&dapl_evd_slab, index);
	bool taken;

	if (!evd)
		return -ENOENT;
	dapl_object_lock(&evd->obj);
	taken = sample_take(evd, row);
	dapl_object_unlock(&evd->obj);
	return taken;
}
