/* SPDX-License-Identifier: BSD-3-Clause */
/* binds -- a region for an endpoint, which is bound again and again, and the memory under it */
#include "dapl/memory/lmr.h"

#include "play.h"

#define BIND_EP (EPS + 1) /* the cookies of binds have it in the place of an endpoint */
#define SILENT 0x10000u	  /* in the cookie of what the provider posts for itself, before a bind */
#define MEMORY 4096
#define MEMORY_KEY 77

/* ---- memory: what dapl/memory/lmr.c does ---- */

static void
prepare(void *slot)
{
	dapl_object_prepare(slot, DAPL_KIND_LMR);
}

static struct dapl_slab slab = DAPL_SLAB_INITIALIZER(struct dapl_lmr, prepare);
static struct ibv_mr mr;
static char memory[MEMORY];

static void
open_memory(void)
{
	struct dapl_pz *pz = dapl_object_get(play.pz, DAPL_KIND_PZ, NULL);
	struct dapl_lmr *lmr = dapl_slab_alloc(&slab);

	mr = (struct ibv_mr){ .pd = pz->pd, .addr = memory, .length = MEMORY, .lkey = MEMORY_KEY };
	lmr->pz = pz;
	lmr->mr = &mr;
	lmr->length = MEMORY;
	lmr->privileges = DAT_MEM_PRIV_ALL_FLAG;
	lmr->va_type = DAT_VA_TYPE_VA;
	lmr->binds = 0;
	if (dapl_object_create(&lmr->obj, pz->obj.parent, &dapl_ia_of(&pz->obj)->provider->table) ||
	    dapl_object_attach(&lmr->obj))
		violation("memory cannot be registered");
	play.lmr = lmr->obj.handle;
}

int
dapl_lmr_free_by_handle(DAT_HANDLE handle)
{
	uint64_t number;
	struct dapl_lmr *lmr = dapl_handle_object(handle, DAPL_KIND_LMR, &number);
	const int r = lmr ? dapl_object_free(&lmr->obj, number) : -ENODEV;

	if (r)
		return r;
	if (lmr->binds)
		violation("memory is deregistered, and %u binds to it are outstanding", lmr->binds);
	dapl_object_put(&lmr->pz->obj);
	dapl_object_detach(&lmr->obj);
	dapl_slab_free(&slab, lmr);
	return 0;
}

/* ---- the consumer ---- */

void
binds_open(void)
{
	open_memory();
	if (dapl_rmr_create_for_ep(play.pz, &play.rmr) != DAT_SUCCESS)
		violation("rmr_create_for_ep failed");
}

static bool
binds_is(uint64_t cookie)
{
	return cookie >> 40 == BIND_EP;
}

void
binds_post(struct play_ep *ep, unsigned int l, bool unbinds, bool mute)
{
	uint64_t *posting = &play.posting[play_self()];
	const uint64_t outer = *posting;
	const unsigned int number = play.n_binds++;
	struct play_bind *bind = &play.binds[number];
	DAT_RMR_COOKIE cookie = { .as_64 = (uint64_t)BIND_EP << 40 | number };
	DAT_LMR_TRIPLET range = { .virtual_address = (DAT_VADDR)(uintptr_t)memory,
		.segment_length = unbinds ? 0 : 64,
		.lmr_context = MEMORY_KEY };
	DAT_RMR_CONTEXT context;
	DAT_RETURN ret;

	if (number == BINDS_MAX)
		violation("the scenario binds too often");
	*bind = (struct play_bind){ .ep = ep, .life = l, .unbinds = unbinds, .mute = mute };
	*posting = cookie.as_64;
	ret = dapl_rmr_bind(play.rmr, play.lmr, &range, DAT_MEM_PRIV_REMOTE_WRITE_FLAG,
	    DAT_VA_TYPE_VA, ep->lives[l].handle, cookie,
	    mute ? DAT_COMPLETION_SUPPRESS_FLAG : DAT_COMPLETION_DEFAULT_FLAG, &context);
	*posting = outer;
	sched_step(OP_EVENT);
	if (ret != DAT_SUCCESS && (bind->outcome != OUTCOME_NONE || bind->delivered))
		violation("a bind that was refused was posted");
	bind->accepted = ret == DAT_SUCCESS;
	consumer_result("rmr_bind", ret,
	    consumer_gone(ret, false, DO_EP_FREE, DO_IA_CLOSE) ||
		consumer_is(ret, DAT_INVALID_STATE) ||
		consumer_is(ret, DAT_INSUFFICIENT_RESOURCES));
}

/* ---- the device ---- */

uint64_t
binds_cookie(uint64_t cookie, enum ibv_wc_opcode opcode)
{
	if (!binds_is(cookie) || opcode != IBV_WC_LOCAL_INV)
		return cookie;
	return play.binds[cookie & 0xffff].unbinds ? cookie : cookie | SILENT;
}

/* False: of no bind. */
bool
binds_posted(uint64_t cookie)
{
	if (!binds_is(cookie))
		return false;
	if (cookie & SILENT)
		return true;
	if (play.binds[cookie & 0xffff].outcome != OUTCOME_NONE)
		violation("a bind is posted twice");
	play.binds[cookie & 0xffff].outcome = OUTCOME_POSTED;
	play.binds[cookie & 0xffff].order = ++play.n_posted_binds;
	return true;
}

bool
binds_completed(uint64_t cookie, enum ibv_wc_status status)
{
	struct play_bind *bind = &play.binds[cookie & 0xffff];

	if (!binds_is(cookie))
		return false;
	if (!(cookie & SILENT))
		bind->outcome = (uint8_t)(OUTCOME_DONE + status);
	if (status == IBV_WC_SUCCESS || status == IBV_WC_WR_FLUSH_ERR)
		return true;
	bind->ep->lives[bind->life].causes |= CAUSE_FAILED;
	if (bind->ep->object->state == DAT_EP_STATE_DISCONNECT_PENDING)
		bind->ep->lives[bind->life].causes |= CAUSE_FAILED_LEAVING;
	return true;
}

/* ---- events ---- */

void
binds_event(
    const struct play_evd *evd, const DAT_RMR_BIND_COMPLETION_EVENT_DATA *data, bool ordered)
{
	const uint64_t cookie = data->user_cookie.as_64;
	const unsigned int number = cookie & 0xffff;
	struct play_bind *bind = &play.binds[number];
	DAT_DTO_COMPLETION_STATUS status = DAT_DTO_ERR_FLUSHED;

	if (!binds_is(cookie) || number >= play.n_binds)
		violation("the event of a bind that was not posted");
	if (data->rmr_handle != play.rmr || evd->index != bind->ep->spec->request)
		violation("the event of a bind names another region, or is delivered elsewhere");
	if (bind->delivered)
		violation("I2: bind %u is delivered twice", number);
	bind->delivered = true;
	judge_life(bind->ep, bind->life);
	if (bind->outcome == OUTCOME_POSTED)
		violation("a bind has an event, and is outstanding");
	if (bind->outcome >= OUTCOME_DONE)
		status = transfer_status(bind->outcome);
	else if (bind->unbinds && data->status == DAT_DTO_SUCCESS)
		status = DAT_DTO_SUCCESS; /* nothing was bound */
	if (data->status != status)
		violation("a bind has status %d, the device's is %d", data->status, status);
	if (bind->mute && status == DAT_DTO_SUCCESS)
		violation("a suppressed bind has an event");
	if (!ordered || bind->outcome < OUTCOME_DONE)
		return;
	if (bind->order < bind->ep->lives[bind->life].bound)
		violation("order: bind %u comes after a later one", number);
	bind->ep->lives[bind->life].bound = bind->order;
}

/* After everything that was queued was taken. */
void
binds_end(void)
{
	for (unsigned int i = 0; i < play.n_binds && !play.closed; i++) {
		const struct play_bind *bind = &play.binds[i];
		const struct play_ep *ep = bind->ep;

		if (!bind->accepted || bind->delivered || ep->freed || bind->life < ep->life ||
		    judge_evd_gone(ep->spec->request) || ep->lives[bind->life].vague)
			continue;
		if (bind->outcome > OUTCOME_DONE || (bind->outcome == OUTCOME_DONE && !bind->mute))
			violation("I2: the event of bind %u is lost", i);
	}
}
