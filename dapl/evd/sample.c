/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/evd/sample.h"

#include "dapl/ia/cq_arm.h"
#include "dapl/ia/ia.h"

/*
 * The lock of the object keeps its handle and its adapter; the trigger lock is taken once for each
 * part, so the parts are not of one moment.
 */
static bool
sample_take(struct dapl_evd *evd, struct dapl_evd_sample *sample) REQUIRES(dapl_locks.object)
{
	const struct evd_ref ref = dapl_evd_ref(evd);

	/* An EVD that is being created has a handle before the dispatcher knows it. */
	if (!dapl_object_is_alive(&evd->obj) || evd_query(ref, &sample->status) ||
	    evd_query_counters(ref, &sample->counters) || evd_query_calls(ref, &sample->calls))
		return false;
	sample->handle = evd->obj.handle;
	sample->serial = evd->obj.serial;
	sample->ia = dapl_ia_of(&evd->obj)->self;
	sample->adapter = dapl_ia_of(&evd->obj)->provider->info.ia_name;
	sample->flags = evd->flags;
	sample->rnr_stalls = evd->cq ? dapl_cq_arm_stalls(evd->cq) : 0;
	sample->slow_ns = evd->slow_ns;
	sample->slow_upcalls = atomic_load_explicit(&evd->slow_upcalls, memory_order_relaxed);
	return true;
}

int
dapl_evd_sample(uint32_t index, struct dapl_evd_sample *sample)
{
	struct dapl_evd *evd = dapl_slab_at(&dapl_evd_slab, index);
	bool taken;

	if (!evd)
		return -ENOENT;
	dapl_object_lock(&evd->obj);
	taken = sample_take(evd, sample);
	dapl_object_unlock(&evd->obj);
	return taken;
}
