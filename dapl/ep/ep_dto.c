/* SPDX-License-Identifier: BSD-3-Clause */
/* ep_dto -- the calls of DAT that post data transfers */
#include "dapl/object/cancel.h"
#include "dapl/api.h"
#include "dapl/ep/dto.h"
#include "dapl/ep/rmr.h"
#include "dapl/trace/err.h"

static const struct dapl_dto_args message_args = {
	.segments = DAT_INVALID_ARG2,
	.iov = DAT_INVALID_ARG3,
	.flags = DAT_INVALID_ARG5,
};

static const struct dapl_dto_args rdma_args = {
	.segments = DAT_INVALID_ARG2,
	.iov = DAT_INVALID_ARG3,
	.remote = DAT_INVALID_ARG5,
	.flags = DAT_INVALID_ARG6,
};

/*
 * The locked endpoint for a plain post: one segment and no flags, on a connected endpoint.  NULL,
 * without the lock: any other, which the general function does; also if another thread has the
 * lock.
 */
static inline struct dapl_ep *
ep_lock_plain(DAT_EP_HANDLE handle, DAT_COUNT segments, const DAT_LMR_TRIPLET *iov,
    DAT_COMPLETION_FLAGS flags) TRY_ACQUIRE(dapl_locks.object) DAPL_NO_OBJECT_LOCK
{
	uint64_t serial;
	struct dapl_ep *ep;

	/* One test for both: every post passes it. */
	_Static_assert(DAT_COMPLETION_DEFAULT_FLAG == 0, "no flag is no bit");
	if (((unsigned int)segments ^ 1) | (unsigned int)flags)
		return NULL;
	if (!iov || !iov->segment_length)
		return NULL;
	ep = dapl_handle_object(handle, DAPL_KIND_EP, &serial);
	if (!ep || !dapl_object_trylock(&ep->obj))
		return NULL;
	if (dapl_object_is(&ep->obj, serial) && ep->state == DAT_EP_STATE_CONNECTED && ep->qp &&
	    !dapl_ep_is_datagram(ep))
		return ep;
	dapl_object_unlock(&ep->obj);
	return NULL;
}

/* The entry for a plain post, or NULL if there is no room. */
static inline struct dapl_wr_entry *
ep_enter_plain(struct dapl_wr_ring *ring, DAT_DTO_COOKIE cookie, DAT_DTOS operation,
    const DAT_LMR_TRIPLET *iov, uint32_t *place)
{
	struct dapl_wr_entry *entry = dapl_wr_ring_next(ring, place);

	if (!entry)
		return NULL;
	entry->cookie = cookie;
	entry->length = iov->segment_length;
	entry->operation = (uint8_t)operation;
	entry->plain = true;
	return entry;
}

static inline struct ibv_sge
ep_plain_sge(const DAT_LMR_TRIPLET *iov)
{
	return (struct ibv_sge){
		.addr = iov->virtual_address,
		.length = iov->segment_length,
		.lkey = iov->lmr_context,
	};
}

/* The device refused it: the entry is free again.  Drops the lock. */
static __attribute__((noinline)) DAT_RETURN
ep_retract_plain(struct dapl_ep *ep, struct dapl_wr_ring *ring, uint32_t place, int error)
    RELEASE(dapl_locks.object)
{
	const bool receives = ring == &ep->rings.recvs;

	dapl_wr_ring_retract(ring, place);
	dapl_object_unlock(&ep->obj);
	return dapl_err_post(receives ? "ibv_post_recv" : "ibv_post_send", error);
}

static __attribute__((noinline)) DAT_RETURN
ep_post_recv_any(DAT_EP_HANDLE handle, DAT_COUNT segments, const DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags) DAPL_NO_LOCK
{
	const struct dapl_dto d = {
		.segments = segments,
		.iov = iov,
		.cookie = cookie,
		.flags = flags,
		.operation = DAT_DTO_RECEIVE,
	};
	struct dapl_ep *ep;
	DAT_RETURN ret;

	ep = dapl_dto_lock(handle, DAPL_EP_RECV, &ret);
	if (!ep)
		return ret;
	ret = dapl_dto_check(&d, ep->attr.max_recv_iov, &message_args);
	if (ret == DAT_SUCCESS)
		ret = dapl_dto_post_recv(ep, &d);
	dapl_object_unlock(&ep->obj);
	return ret;
}

DAT_RETURN
dapl_ep_post_recv(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags)
{
	struct dapl_ep *ep = ep_lock_plain(handle, segments, iov, flags);
	struct ibv_recv_wr wr, *bad;
	struct ibv_sge sge;
	uint32_t place;
	int state, r;

	if (!ep)
		return ep_post_recv_any(handle, segments, iov, cookie, flags);
	/* With a shared receive queue the ring has no room. */
	if (!ep->parts.recv || ep->attr.max_recv_iov < 1 ||
	    !ep_enter_plain(&ep->rings.recvs, cookie, DAT_DTO_RECEIVE, iov, &place)) {
		dapl_object_unlock(&ep->obj);
		return ep_post_recv_any(handle, segments, iov, cookie, flags);
	}
	sge = ep_plain_sge(iov);
	wr.wr_id = dapl_ep_wr_id(ep, DAPL_WR_RECV, place);
	wr.next = NULL;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	dapl_wr_ring_publish(&ep->rings.recvs, place);
	state = dapl_post_begin();
	r = ibv_post_recv(ep->qp, &wr, &bad);
	dapl_post_end(state);
	if (r)
		return ep_retract_plain(ep, &ep->rings.recvs, place, r);
	dapl_ep_tally(&ep->counts.posted[DAT_DTO_RECEIVE], sge.length);
	dapl_object_unlock(&ep->obj);
	return DAT_SUCCESS;
}

/* Any send. */
static DAT_RETURN
ep_post_send(DAT_EP_HANDLE handle, const struct dapl_dto *d) DAPL_NO_LOCK
{
	struct dapl_ep *ep;
	DAT_RETURN ret;

	ep = dapl_dto_lock(handle, DAPL_EP_REQUEST, &ret);
	if (!ep)
		return ret;
	ret = dapl_dto_check(d, ep->attr.max_request_iov, &message_args);
	if (ret == DAT_SUCCESS && d->invalidates && !dapl_ia_can_invalidate(dapl_ia_of(&ep->obj)))
		ret = DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	if (ret == DAT_SUCCESS)
		ret = dapl_dto_post_request(ep, d, UINT64_MAX);
	dapl_object_unlock(&ep->obj);
	return ret;
}

static __attribute__((noinline)) DAT_RETURN
ep_post_send_any(DAT_EP_HANDLE handle, DAT_COUNT segments, const DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags) DAPL_NO_LOCK
{
	const struct dapl_dto d = {
		.segments = segments,
		.iov = iov,
		.cookie = cookie,
		.flags = flags,
		.operation = DAT_DTO_SEND,
	};

	return ep_post_send(handle, &d);
}

DAT_RETURN
dapl_ep_post_send(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags)
{
	struct dapl_ep *ep = ep_lock_plain(handle, segments, iov, flags);
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;
	uint32_t place;
	int state, r;

	if (!ep)
		return ep_post_send_any(handle, segments, iov, cookie, flags);
	if (!ep->parts.request || ep->attr.max_request_iov < 1 ||
	    iov->segment_length > dapl_ia_max_message(dapl_ia_of(&ep->obj)) ||
	    !ep_enter_plain(&ep->rings.requests, cookie, DAT_DTO_SEND, iov, &place)) {
		dapl_object_unlock(&ep->obj);
		return ep_post_send_any(handle, segments, iov, cookie, flags);
	}
	sge = ep_plain_sge(iov);
	wr.wr_id = dapl_ep_wr_id(ep, DAPL_WR_REQUEST, place);
	wr.next = NULL;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_SIGNALED; /* see dapl_dto_post_request() */
	dapl_wr_ring_publish(&ep->rings.requests, place);
	state = dapl_post_begin();
	r = ibv_post_send(ep->qp, &wr, &bad);
	dapl_post_end(state);
	if (r)
		return ep_retract_plain(ep, &ep->rings.requests, place, r);
	dapl_ep_tally(&ep->counts.posted[DAT_DTO_SEND], sge.length);
	dapl_object_unlock(&ep->obj);
	return DAT_SUCCESS;
}

DAT_RETURN
dapl_ep_post_rdma_write(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
	const struct dapl_dto d = {
		.segments = segments,
		.iov = iov,
		.cookie = cookie,
		.flags = flags,
		.operation = DAT_DTO_RDMA_WRITE,
		.remote = remote,
	};

	return dapl_dto_post_rdma(handle, &d, &rdma_args);
}

DAT_RETURN
dapl_ep_post_rdma_read(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
	const struct dapl_dto d = {
		.segments = segments,
		.iov = iov,
		.cookie = cookie,
		.flags = flags,
		.operation = DAT_DTO_RDMA_READ,
		.remote = remote,
	};

	return dapl_dto_post_rdma(handle, &d, &rdma_args);
}

/* The device invalidates the region only after the message has arrived. */
DAT_RETURN
dapl_ep_post_send_with_invalidate(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags, DAT_BOOLEAN invalidate,
    DAT_RMR_CONTEXT context)
{
	const struct dapl_dto d = {
		.segments = segments,
		.iov = iov,
		.cookie = cookie,
		.flags = flags,
		.operation = DAT_DTO_SEND,
		.invalidates = invalidate != DAT_FALSE,
		.region = context,
	};

	return ep_post_send(handle, &d);
}

/*
 * InfiniBand reads into local regions only.  The memory under a bound region is one: the read is
 * posted with the context of the region below.
 */
DAT_RETURN
dapl_ep_post_rdma_read_to_rmr(DAT_EP_HANDLE handle, const DAT_RMR_TRIPLET *local,
    DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
	static const struct dapl_dto_args args = {
		.iov = DAT_INVALID_ARG2,
		.remote = DAT_INVALID_ARG4,
		.flags = DAT_INVALID_ARG5,
	};
	DAT_LMR_TRIPLET iov;
	const struct dapl_dto d = {
		.segments = 1,
		.iov = local ? &iov : NULL,
		.cookie = cookie,
		.flags = flags,
		.operation = DAT_DTO_RDMA_READ,
		.remote = remote,
	};
	struct dapl_rmr_user user;
	struct dapl_ep *ep;
	struct dapl_ia *ia;
	DAT_RETURN ret;

	ep = dapl_dto_lock(handle, DAPL_EP_REQUEST, &ret);
	if (!ep)
		return ret;
	ia = dapl_ia_of(&ep->obj);
	user = (struct dapl_rmr_user){
		.pz = ep->parts.pz, .slot = ep->obj.slot.index, .generation = dapl_ep_generation(ep)
	};
	dapl_parent_get(&ia->parent); /* the endpoint may be freed meanwhile, but not its adapter */
	dapl_object_unlock(&ep->obj);
	if (local)
		ret = dapl_rmr_resolve(ia, &user, local, &iov);
	else
		ret = DAT_SUCCESS;
	dapl_parent_put(&ia->parent);
	if (ret != DAT_SUCCESS)
		return ret;
	return dapl_dto_post_rdma(handle, &d, &args);
}
