/* SPDX-License-Identifier: BSD-3-Clause */
/* rmr_bind -- binding a remote memory region, as a request of an endpoint */
#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/ep/dto.h"
#include "dapl/ep/rmr.h"
#include "dapl/trace/err.h"
#include "dapl/trace/shortage.h"

/* What dat_rmr_bind() asks for. */
struct bind {
	struct dapl_rmr *rmr;
	struct ibv_mw *mw;    /* the window of the region, or one that is to replace it */
	bool bound;	      /* that window is */
	struct dapl_lmr *lmr; /* NULL: unbind */
	DAT_LMR_TRIPLET range;
	DAT_MEM_PRIV_FLAGS privileges;
	DAT_VA_TYPE va_type;
	DAT_RMR_COOKIE cookie;
	DAT_COMPLETION_FLAGS flags;
};

static unsigned int
bind_access(DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type)
{
	unsigned int access = va_type == DAT_VA_TYPE_ZB ? IBV_ACCESS_ZERO_BASED : 0;

	if (privileges & DAT_MEM_PRIV_REMOTE_READ_FLAG)
		access |= IBV_ACCESS_REMOTE_READ;
	if (privileges & DAT_MEM_PRIV_REMOTE_WRITE_FLAG)
		access |= IBV_ACCESS_REMOTE_WRITE;
	if (privileges & DAPL_PRIV_REMOTE_ATOMIC)
		access |= IBV_ACCESS_REMOTE_ATOMIC;
	return access;
}

/*
 * A range of no length ends the access.  The driver of soft-RoCE needs a memory region even then.
 */
static struct ibv_mw_bind_info
bind_info(const struct bind *b)
{
	if (!b->lmr)
		return (struct ibv_mw_bind_info){ .mr = b->rmr->lmr->mr };
	return (struct ibv_mw_bind_info){
		.mr = b->lmr->mr,
		.addr = b->range.virtual_address,
		.length = b->range.segment_length,
		.mw_access_flags = bind_access(b->privileges, b->va_type),
	};
}

/* ---- checks ---- */

static bool
bind_is_within(const struct dapl_lmr *lmr, const DAT_LMR_TRIPLET *range)
{
	const uint64_t offset = range->virtual_address - dapl_lmr_base(lmr);

	return range->lmr_context == lmr->mr->lkey && offset <= lmr->length &&
	       range->segment_length <= lmr->length - offset;
}

/*
 * A window gives the other end an access that the program has, or that the other end has through
 * the region under it.  The device requires that the region was registered for windows, as all are,
 * and for local writing if the window is to allow writes or atomics, as those are that allow one of
 * the three.
 */
static DAT_RETURN
bind_check_privileges(const struct dapl_lmr *lmr, DAT_MEM_PRIV_FLAGS privileges)
{
	const DAT_MEM_PRIV_FLAGS has = lmr->privileges;
	const DAT_MEM_PRIV_FLAGS writes =
	    DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG;

	if (privileges & DAT_MEM_PRIV_REMOTE_READ_FLAG &&
	    !(has & (DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG)))
		return DAT_ERROR(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_READ);
	if (privileges & DAT_MEM_PRIV_REMOTE_WRITE_FLAG && !(has & writes))
		return DAT_ERROR(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE);
	if (privileges & DAPL_PRIV_REMOTE_ATOMIC && !(has & (writes | DAPL_PRIV_REMOTE_ATOMIC)))
		return DAT_ERROR(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE);
	return DAT_SUCCESS;
}

/* Windows of type 1 have the addresses of the region under them. */
static bool
bind_can_be_zero_based(const struct bind *b)
{
	return dapl_rmr_is_for_ep(b->rmr) && dapl_ia_of(&b->rmr->obj)->zero_based;
}

static DAT_RETURN
bind_check(const struct bind *b)
{
	DAT_RETURN ret;

	if (b->lmr && !bind_is_within(b->lmr, &b->range))
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	if (b->privileges & ~DAPL_PRIV_KNOWN)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	if (b->va_type != DAT_VA_TYPE_VA && b->va_type != DAT_VA_TYPE_ZB)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
	if (b->va_type == DAT_VA_TYPE_ZB && !bind_can_be_zero_based(b))
		return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	if (b->flags & ~DAPL_IA_COMPLETION_FLAGS)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG8);
	if (!b->lmr)
		return DAT_SUCCESS;
	if (b->lmr->pz != b->rmr->pz)
		return DAT_ERROR(DAT_PROTECTION_VIOLATION, DAT_NO_SUBTYPE);
	ret = bind_check_privileges(b->lmr, b->privileges);
	if (ret == DAT_SUCCESS && b->lmr->unbindable)
		ret = DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	return ret;
}

static DAT_RETURN
bind_check_ep(const struct bind *b, const struct dapl_ep *ep) REQUIRES(dapl_locks.object)
{
	if (!(ep->parts.request->flags & DAT_EVD_RMR_BIND_FLAG))
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_EVD_REQUEST);
	if (ep->parts.pz != b->rmr->pz)
		return DAT_ERROR(DAT_PROTECTION_VIOLATION, DAT_NO_SUBTYPE);
	return DAT_SUCCESS;
}

/* ---- post ---- */

/* Whether the request, and the invalidation that it may need, fit into the queue. */
static bool
bind_has_room(struct dapl_ep *ep, bool two) REQUIRES(dapl_locks.object)
{
	struct dapl_wr_ring *ring = &ep->rings.requests;
	uint32_t place;

	return two ? dapl_wr_ring_takes_two(ring) : dapl_wr_ring_next(ring, &place) != NULL;
}

/* Enters the next request, for which there is room, and returns its place. */
static uint32_t
bind_enter(struct dapl_ep *ep, const struct bind *b, enum dapl_wr_suppressed suppressed)
    REQUIRES(dapl_locks.object)
{
	struct dapl_wr_ring *ring = &ep->rings.requests;
	struct dapl_wr_entry *entry;
	uint32_t place;

	entry = dapl_wr_ring_next_spare(ring, &place);
	*entry = (struct dapl_wr_entry){
		.end = place + 1,
		.cookie = b->cookie,
		.rmr = b->rmr->obj.handle,
		.lmr = b->lmr,
		.region = b->rmr->obj.slot.index,
		.operation = DAT_DTO_BIND_MW,
		.suppressed = (uint8_t)suppressed,
		.unsignalled = b->flags & DAT_COMPLETION_UNSIGNALLED_FLAG,
	};
	if (b->lmr)
		atomic_fetch_add_explicit(&b->lmr->binds, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&b->rmr->posted, 1, memory_order_relaxed);
	ep->rings.bind = true;
	dapl_wr_ring_publish(ring, place);
	return place;
}

static uint64_t
bind_wr_id(struct dapl_ep *ep, uint32_t place) REQUIRES(dapl_locks.object)
{
	return dapl_ep_wr_id(ep, DAPL_WR_REQUEST, place);
}

static unsigned int
bind_send_flags(const struct bind *b)
{
	return b->flags & DAT_COMPLETION_BARRIER_FENCE_FLAG ?
		   (unsigned int)IBV_SEND_SIGNALED | IBV_SEND_FENCE :
		   (unsigned int)IBV_SEND_SIGNALED;
}

static int
bind_post_type_1(struct dapl_ep *ep, const struct bind *b, uint64_t id) REQUIRES(dapl_locks.object)
{
	struct ibv_mw_bind bind = {
		.wr_id = id,
		.send_flags = bind_send_flags(b),
		.bind_info = bind_info(b),
	};

	return ibv_bind_mw(ep->qp, b->mw, &bind);
}

/* A window of type 2 gets its new key from the program, which keeps it when it was posted. */
static int
bind_post_type_2(struct dapl_ep *ep, const struct bind *b, uint64_t id) REQUIRES(dapl_locks.object)
{
	struct ibv_mw *mw = b->mw;
	struct ibv_send_wr wr = {
		.wr_id = id,
		.send_flags = bind_send_flags(b),
	}, *bad;
	int r;

	if (b->lmr) {
		wr.opcode = IBV_WR_BIND_MW;
		wr.bind_mw.mw = mw;
		wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
		wr.bind_mw.bind_info = bind_info(b);
	} else {
		wr.opcode = IBV_WR_LOCAL_INV;
		wr.invalidate_rkey = mw->rkey;
	}
	r = ibv_post_send(ep->qp, &wr, &bad);
	if (!r && b->lmr)
		mw->rkey = wr.bind_mw.rkey;
	return r;
}

/*
 * Posts one request.  `suppressed`: the invalidation of the old range, which the program did not
 * ask for.
 */
static DAT_RETURN
bind_post_one(struct dapl_ep *ep, const struct bind *b, enum dapl_wr_suppressed suppressed,
    struct bind *posted) REQUIRES(dapl_locks.object, dapl_locks.binds)
{
	const uint32_t place = bind_enter(ep, b, suppressed);
	const uint64_t id = bind_wr_id(ep, place);
	int r;

	r = dapl_rmr_is_for_ep(b->rmr) ? bind_post_type_2(ep, b, id) : bind_post_type_1(ep, b, id);
	if (r) {
		dapl_wr_ring_retract(&ep->rings.requests, place);
		return dapl_err_post("ibv_post_send", r);
	}
	atomic_store_explicit(&b->rmr->last, id, memory_order_relaxed);
	*posted = *b;
	return DAT_SUCCESS;
}

/* The program gets its event, but the device gets no request. */
static DAT_RETURN
bind_complete_here(struct dapl_ep *ep, const struct bind *b, DAT_DTO_COMPLETION_STATUS status)
    REQUIRES(dapl_locks.object) NO_CORE_LOCK
{
	DAT_EVENT event = { .event_number = DAT_RMR_BIND_COMPLETION_EVENT };
	DAT_RMR_BIND_COMPLETION_EVENT_DATA *data = &event.event_data.rmr_completion_event_data;

	if (status == DAT_DTO_SUCCESS && b->flags & DAT_COMPLETION_SUPPRESS_FLAG)
		return DAT_SUCCESS;
	data->rmr_handle = b->rmr->obj.handle;
	data->user_cookie = b->cookie;
	data->status = status;
	return dapl_dto_post_event(ep, ep->parts.request, &event,
	    status == DAT_DTO_SUCCESS && b->flags & DAT_COMPLETION_UNSIGNALLED_FLAG);
}

/*
 * Whether a request on this queue pair can rely on what the region has as its state: not if the
 * last request was posted to another queue pair, and not if the other end may have invalidated the
 * window with a message that is not reported yet.
 */
static bool
bind_is_ordered(const struct bind *b, struct dapl_ep *ep) REQUIRES(dapl_locks.object)
{
	const uint64_t last = atomic_load_explicit(&b->rmr->last, memory_order_relaxed);

	if (last == DAPL_WR_ID_NONE)
		return true;
	if (dapl_wr_id_slot(last) != ep->obj.slot.index ||
	    !dapl_wr_id_has_generation(last, dapl_ep_generation(ep)))
		return false;
	if (!dapl_rmr_is_for_ep(b->rmr) || !b->rmr->lmr || !ep->parts.recv)
		return true;
	(void)evd_refresh(dapl_evd_ref(ep->parts.recv));
	return !dapl_invalidated_has(&ep->rings.invalidated, b->rmr->context);
}

/* *posted: what the region is to be now, if anything has changed. */
static DAT_RETURN
bind_post(struct dapl_ep *ep, const struct bind *b, struct bind *posted)
    REQUIRES(dapl_locks.object, dapl_locks.binds) NO_CORE_LOCK
{
	const struct bind undo = { .rmr = b->rmr, .mw = b->mw, .flags = b->flags };
	/* A bound window of type 2 can only be bound again when it was invalidated. */
	const bool two = dapl_rmr_is_for_ep(b->rmr) && b->lmr && b->bound;
	DAT_RETURN ret;

	if (!b->lmr && !b->bound) {
		ret = bind_complete_here(ep, b, DAT_DTO_SUCCESS);
		if (ret == DAT_SUCCESS && b->mw != b->rmr->mw) {
			atomic_store_explicit(&b->rmr->last, DAPL_WR_ID_NONE, memory_order_relaxed);
			*posted = *b;
		}
		return ret;
	}
	/* Nothing else polls for a program that suppresses all events. */
	if (!bind_has_room(ep, two))
		(void)evd_refresh(dapl_evd_ref(ep->parts.request));
	if (!bind_has_room(ep, two))
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	if (two) {
		ret = bind_post_one(ep, &undo, DAPL_WR_ALWAYS, posted);
		if (ret != DAT_SUCCESS)
			return ret;
	}
	return bind_post_one(ep, b,
	    b->flags & DAT_COMPLETION_SUPPRESS_FLAG ? DAPL_WR_ON_SUCCESS : DAPL_WR_NEVER, posted);
}

/*
 * The request goes to another queue pair than the last one, or the window is not known to be bound:
 * it cannot be invalidated there.  One of type 2 is replaced, if all goes well.
 */
static DAT_RETURN
bind_move(struct bind *b, struct ibv_mw **fresh) REQUIRES(dapl_locks.binds) DAPL_NO_LIST_LOCK
{
	struct dapl_rmr *rmr = b->rmr;

	if (dapl_rmr_is_outstanding(rmr))
		return DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE);
	dapl_rmr_settle(rmr);
	b->mw = rmr->mw;
	b->bound = rmr->lmr != NULL;
	if (rmr->mw && !dapl_rmr_is_for_ep(rmr))
		return DAT_SUCCESS;
	errno = 0;
	*fresh = ibv_alloc_mw(rmr->pz->pd, rmr->type);
	if (!*fresh)
		return dapl_err_perhaps("dat_rmr_bind", dapl_shortage_of_device("ibv_alloc_mw"),
		    DAT_RESOURCE_MEMORY_REGION);
	dapl_rmr_replace_begin(rmr);
	b->mw = *fresh;
	b->bound = false;
	return DAT_SUCCESS;
}

static DAT_RETURN
bind_start(struct bind *b, DAT_EP_HANDLE ep_handle, struct ibv_mw **fresh, struct bind *posted)
    REQUIRES(dapl_locks.binds) DAPL_NO_LIST_LOCK
{
	bool moved = false;
	struct dapl_ep *ep;
	DAT_RETURN ret;

	b->mw = b->rmr->mw;
	b->bound = b->rmr->lmr != NULL;
	for (;;) {
		ep = dapl_dto_lock(ep_handle, DAPL_EP_REQUEST, &ret);
		if (!ep)
			return ret;
		ret = bind_check_ep(b, ep);
		if (ret != DAT_SUCCESS)
			break;
		if (dapl_dto_flushes_here(ep, &ep->rings.requests, ep->parts.request)) {
			ret = bind_complete_here(ep, b, DAT_DTO_ERR_FLUSHED);
			break;
		}
		if (moved || (b->mw && bind_is_ordered(b, ep))) {
			ret = bind_post(ep, b, posted);
			break;
		}
		dapl_object_unlock(&ep->obj);
		ret = bind_move(b, fresh);
		if (ret != DAT_SUCCESS)
			return ret;
		moved = true;
	}
	dapl_object_unlock(&ep->obj);
	return ret;
}

/* When the region is bound to b->lmr, it takes over the reference, and b->lmr becomes NULL. */
static DAT_RETURN
bind_run(struct bind *b, DAT_EP_HANDLE ep) REQUIRES(dapl_locks.binds) DAPL_NO_LIST_LOCK
{
	struct bind posted = { .rmr = NULL };
	struct ibv_mw *fresh = NULL;
	DAT_RETURN ret;

	dapl_rmr_settle(b->rmr);
	ret = bind_start(b, ep, &fresh, &posted);
	if (fresh) {
		if (posted.rmr)
			dapl_rmr_replace(b->rmr, fresh);
		else
			(void)ibv_dealloc_mw(fresh);
		dapl_rmr_replace_end(b->rmr);
	}
	if (!posted.rmr) /* nothing has changed */
		return ret;
	dapl_rmr_set_range(b->rmr, posted.lmr, &posted.range, posted.privileges, posted.va_type);
	if (posted.lmr)
		b->lmr = NULL;
	return ret;
}

DAT_RETURN
dapl_rmr_bind(DAT_RMR_HANDLE handle, DAT_LMR_HANDLE lmr, const DAT_LMR_TRIPLET *range,
    DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type, DAT_EP_HANDLE ep, DAT_RMR_COOKIE cookie,
    DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT *context)
{
	DAPL_UNCANCELLED;
	struct dapl_rmr *rmr = dapl_rmr_lock(handle);
	struct bind b = { .rmr = rmr, .va_type = va_type, .cookie = cookie, .flags = flags };
	DAT_RETURN ret;

	if (!rmr)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RMR);
	if (!range) {
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
		goto unlock;
	}
	if (range->segment_length > 0) {
		b.range = *range;
		b.privileges = privileges;
		b.lmr = dapl_object_get(lmr, DAPL_KIND_LMR, rmr->obj.parent);
	}
	if (range->segment_length > 0 && !b.lmr)
		ret = DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR);
	else
		ret = bind_check(&b);
	if (ret == DAT_SUCCESS && b.lmr && !context)
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG9);
	if (ret == DAT_SUCCESS)
		ret = bind_run(&b, ep);
	if (ret == DAT_SUCCESS && context)
		*context = rmr->context;
	if (b.lmr)
		dapl_object_put(&b.lmr->obj);
unlock:
	dapl_rmr_unlock(rmr);
	return ret;
}
