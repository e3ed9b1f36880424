/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No slot is as new: what an object finds in its slot is what no earlier object left there, but for
 * the members that stay from one to the next.  An object that trusts any other shows it in every
 * test that uses the device.
 */
#include "fault.h"

#include <stddef.h>

#include "dapl/cm/cr.h"
#include "dapl/cm/sp.h"
#include "dapl/ep/rmr.h"
#include "dapl/evd/cno.h"
#include "dapl/ia/channel.h"
#include "dapl/srq/srq.h"

#define LEFT 1 /* each byte: true, a number that is not 0, and a pointer to nothing */

/* Members that stay, in their order. */
struct stays {
	size_t begin, end;
};

#define STAYS_TO(type, first, last) \
	{ \
		offsetof(type, first), offsetof(type, last) + sizeof(((type *)0)->last) \
	}
#define STAYS(type, member) STAYS_TO(type, member, member)

/* A late thread finds that the object is gone, and to which adapter it belonged. */
#define STAYS_OBJECT(type) STAYS_TO(type, obj.slot, obj.parent), STAYS(type, obj.listed)

/* The embedded objects of evd/ and cno/ have slots of their own there: evd_slot_init(). */
static const struct stays evd_stays[] = { STAYS_OBJECT(struct dapl_evd),
	STAYS(struct dapl_evd, core), { 0 } };
static const struct stays cno_stays[] = { STAYS_OBJECT(struct dapl_cno),
	STAYS(struct dapl_cno, core), { 0 } };
static const struct stays ep_stays[] = { STAYS_OBJECT(struct dapl_ep),
	STAYS(struct dapl_ep, generation), STAYS(struct dapl_ep, unpinned), { 0 } };
/* No region is freed while binds to it are outstanding. */
static const struct stays lmr_stays[] = { STAYS_OBJECT(struct dapl_lmr),
	STAYS(struct dapl_lmr, binds), { 0 } };
static const struct stays srq_stays[] = { STAYS_OBJECT(struct dapl_srq),
	STAYS_TO(struct dapl_srq, membership, lock), { 0 } };
static const struct stays rmr_stays[] = { STAYS_OBJECT(struct dapl_rmr),
	STAYS(struct dapl_rmr, binds), { 0 } };
static const struct stays sp_stays[] = { STAYS_OBJECT(struct dapl_sp), STAYS(struct dapl_sp, ops),
	{ 0 } };
static const struct stays ia_stays[] = { STAYS_OBJECT(struct dapl_ia),
	STAYS_TO(struct dapl_ia, parent.lock, parent.free), STAYS(struct dapl_ia, cm_lock), { 0 } };
static const struct stays object_stays[] = { STAYS_OBJECT(struct dapl_pz), { 0 } };
static const struct stays conn_stays[] = { STAYS_TO(struct dapl_conn, slot, owner), { 0 } };
static const struct stays slot_stays[] = { { 0, sizeof(struct dapl_slab_slot) }, { 0 } };

static const struct stays *const kinds[DAPL_KIND_COUNT] = {
	[DAPL_KIND_IA] = ia_stays,
	[DAPL_KIND_PZ] = object_stays,
	[DAPL_KIND_LMR] = lmr_stays,
	[DAPL_KIND_RMR] = rmr_stays,
	[DAPL_KIND_SRQ] = srq_stays,
	[DAPL_KIND_EVD] = evd_stays,
	[DAPL_KIND_CNO] = cno_stays,
	[DAPL_KIND_EP] = ep_stays,
	[DAPL_KIND_PSP] = sp_stays,
	[DAPL_KIND_RSP] = sp_stays,
	[DAPL_KIND_CSP] = sp_stays,
	[DAPL_KIND_CR] = object_stays,
};

static void
leave(char *slot, size_t size, const struct stays *stays)
{
	size_t at = 0;

	for (; stays->end; stays++) {
		memset(slot + at, LEFT, stays->begin - at);
		at = stays->end;
	}
	memset(slot + at, LEFT, size - at);
}

void *__real_dapl_slab_alloc(struct dapl_slab *slab);
void *__wrap_dapl_slab_alloc(struct dapl_slab *slab);
void *
__wrap_dapl_slab_alloc(struct dapl_slab *slab)
{
	struct dapl_object *const obj = __real_dapl_slab_alloc(slab);

	if (!obj)
		return NULL;
	if (slab == &dapl_ep_qp_context_slab || slab == &dapl_cq_context_slab) {
		leave((char *)obj, slab->size, slot_stays);
	} else if (!slab->prepare) {
		leave((char *)obj, slab->size, conn_stays);
	} else {
		/* Late threads look at the object. */
		dapl_object_lock(obj);
		leave((char *)obj, slab->size, kinds[obj->kind]);
		dapl_object_unlock(obj);
	}
	return obj;
}
