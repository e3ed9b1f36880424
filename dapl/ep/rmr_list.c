/* SPDX-License-Identifier: BSD-3-Clause */
/* rmr_list -- the regions of an adapter: by their contexts, and by their queue pair */
#include "dapl/ep/rmr.h"
#include "dapl/evd/wr_id.h"
#include "dapl/ia/ia.h"
#include "dapl/trace/err.h"

/* What a region is looked for by. */
struct sought {
	bool by_key;
	uint32_t key;
	/* Of the queue pair of its last request, or of a window that a bind replaces. */
	uint32_t slot, generation;
	uint64_t below; /* its serial number is lower; 0: any */
};

static bool
rmr_id_is_of(uint64_t id, uint32_t slot, uint32_t generation)
{
	return id != DAPL_WR_ID_NONE && dapl_wr_id_slot(id) == slot &&
	       dapl_wr_id_has_generation(id, generation);
}

static bool
rmr_is_of(struct dapl_rmr *rmr, uint32_t slot, uint32_t generation)
{
	return rmr_id_is_of(
	    atomic_load_explicit(&rmr->last, memory_order_relaxed), slot, generation);
}

static bool
rmr_is(struct dapl_rmr *rmr, const struct sought *sought) REQUIRES(dapl_locks.object)
{
	if (sought->by_key)
		return rmr->lmr && rmr->context == sought->key;
	return rmr_is_of(rmr, sought->slot, sought->generation) ||
	       rmr_id_is_of(rmr->replaced, sought->slot, sought->generation);
}

/* Such a region, the one with the highest serial number, and this number; or NULL. */
static struct dapl_rmr *
rmr_search(struct dapl_ia *ia, const struct sought *sought, uint64_t *serial) DAPL_NO_ADAPTER_LOCK
{
	struct dapl_rmr *rmr = NULL;

	dapl_ia_lock(ia);
	for (struct dapl_object *o = ia->parent.children[DAPL_KIND_RMR]; o; o = o->next) {
		dapl_object_lock(o);
		if (dapl_object_is_alive(o) && (!sought->below || o->serial < sought->below) &&
		    (!rmr || o->serial > *serial) && rmr_is((struct dapl_rmr *)o, sought)) {
			rmr = (struct dapl_rmr *)o;
			*serial = o->serial;
		}
		dapl_object_unlock(o);
	}
	dapl_ia_unlock(ia);
	return rmr;
}

/* The same with `binds` locked.  Another thread may have bound it again meanwhile. */
static struct dapl_rmr *
rmr_find(struct dapl_ia *ia, const struct sought *sought) TRY_ACQUIRE(dapl_locks.binds) DAPL_NO_LOCK
{
	struct dapl_rmr *found, *rmr;
	uint64_t serial = 0; /* not used before `rmr_search` sets it; some gcc do not see that */

	while ((found = rmr_search(ia, sought, &serial))) {
		rmr = dapl_rmr_lock_serial(found, serial);
		if (rmr)
			return rmr;
	}
	return NULL;
}

void
dapl_rmr_invalidated(struct dapl_ia *ia, uint32_t rkey)
{
	const struct sought sought = { .by_key = true, .key = rkey };
	struct dapl_rmr *rmr = rmr_find(ia, &sought);

	if (!rmr)
		return;
	if (rmr->lmr && rmr->context == rkey)
		dapl_rmr_unbind(rmr);
	dapl_rmr_unlock(rmr);
}

/*
 * The requests that are outstanding still count, and so `last` stays until the queue pair is gone.
 */
void
dapl_rmr_renew_all(struct dapl_ia *ia, uint32_t slot, uint32_t generation)
{
	struct sought sought = { .slot = slot, .generation = generation };
	struct dapl_rmr *rmr;

	for (;;) {
		rmr = rmr_find(ia, &sought);
		if (!rmr)
			return;
		sought.below = rmr->obj.serial;
		if (dapl_rmr_is_for_ep(rmr) && rmr_is_of(rmr, slot, generation))
			dapl_rmr_renew(rmr);
		dapl_rmr_unlock(rmr);
	}
}

/* The queue pair of its last request is gone. */
static void
rmr_leave(struct dapl_rmr *rmr) REQUIRES(dapl_locks.binds) DAPL_NO_LIST_LOCK
{
	dapl_rmr_settle(rmr);
	if (dapl_rmr_is_for_ep(rmr) && rmr->lmr)
		dapl_rmr_renew(rmr);
	atomic_store_explicit(&rmr->last, DAPL_WR_ID_NONE, memory_order_relaxed);
}

void
dapl_rmr_leave_all(struct dapl_ia *ia, uint32_t slot, uint32_t generation)
{
	const struct sought sought = { .slot = slot, .generation = generation };
	struct dapl_rmr *rmr;

	for (;;) {
		rmr = rmr_find(ia, &sought);
		if (!rmr)
			return;
		if (rmr_is_of(rmr, slot, generation))
			rmr_leave(rmr);
		dapl_rmr_unlock(rmr);
	}
}

/* ---- a read into a region ---- */

static DAT_RETURN
rmr_check_range(DAT_MEM_PRIV_FLAGS privileges, uint64_t offset, uint64_t length, uint64_t of)
{
	if (offset > of || length > of - offset)
		return DAT_ERROR(DAT_PROTECTION_VIOLATION, DAT_NO_SUBTYPE);
	if (!(privileges & DAT_MEM_PRIV_REMOTE_WRITE_FLAG))
		return DAT_ERROR(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE);
	return DAT_SUCCESS;
}

/* False: the region does not have the context, or the endpoint cannot use it. */
static bool
rmr_range_of(struct dapl_rmr *rmr, const struct dapl_rmr_user *user, const DAT_RMR_TRIPLET *range,
    DAT_LMR_TRIPLET *local, DAT_RETURN *ret) REQUIRES(dapl_locks.object)
{
	uint64_t offset = range->virtual_address;

	if (!rmr->lmr || rmr->context != range->rmr_context || rmr->pz != user->pz)
		return false;
	if (dapl_rmr_is_for_ep(rmr) && !rmr_is_of(rmr, user->slot, user->generation))
		return false;
	if (rmr->va_type != DAT_VA_TYPE_ZB)
		offset -= rmr->range.virtual_address;
	*ret = rmr_check_range(
	    rmr->privileges, offset, range->segment_length, rmr->range.segment_length);
	*local = (DAT_LMR_TRIPLET){
		.virtual_address = rmr->range.virtual_address + offset,
		.segment_length = range->segment_length,
		.lmr_context = rmr->range.lmr_context,
	};
	return true;
}

/* The same for a local region, which names its memory by its addresses. */
static bool
rmr_range_of_lmr(const struct dapl_lmr *lmr, const struct dapl_rmr_user *user,
    const DAT_RMR_TRIPLET *range, DAT_LMR_TRIPLET *local, DAT_RETURN *ret)
{
	if (lmr->mr->rkey != range->rmr_context || lmr->pz != user->pz)
		return false;
	*ret = rmr_check_range(lmr->privileges, range->virtual_address - dapl_lmr_base(lmr),
	    range->segment_length, lmr->length);
	*local = (DAT_LMR_TRIPLET){
		.virtual_address = range->virtual_address,
		.segment_length = range->segment_length,
		.lmr_context = lmr->mr->lkey,
	};
	return true;
}

DAT_RETURN
dapl_rmr_resolve(struct dapl_ia *ia, const struct dapl_rmr_user *user, const DAT_RMR_TRIPLET *range,
    DAT_LMR_TRIPLET *local)
{
	DAT_RETURN ret = DAT_ERROR(DAT_PROTECTION_VIOLATION, DAT_NO_SUBTYPE);
	bool found = false;

	dapl_ia_lock(ia);
	for (struct dapl_object *o = ia->parent.children[DAPL_KIND_RMR]; o && !found; o = o->next) {
		dapl_object_lock(o);
		found = dapl_object_is_alive(o) &&
			rmr_range_of((struct dapl_rmr *)o, user, range, local, &ret);
		dapl_object_unlock(o);
	}
	for (struct dapl_object *o = ia->parent.children[DAPL_KIND_LMR]; o && !found; o = o->next) {
		dapl_object_lock(o);
		found = dapl_object_is_alive(o) &&
			rmr_range_of_lmr((struct dapl_lmr *)o, user, range, local, &ret);
		dapl_object_unlock(o);
	}
	dapl_ia_unlock(ia);
	return ret;
}
