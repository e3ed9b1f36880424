/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/object/cancel.h"
#include "dapl/ep/dto.h"

#include <dat2/dat_ib_extensions.h>

#include "dapl/ep/ib_event.h"
#include "dapl/memory/sge.h"
#include "dapl/trace/err.h"

struct dapl_ep *
dapl_dto_lock(DAT_EP_HANDLE handle, enum dapl_ep_call call, DAT_RETURN *ret)
{
	struct dapl_ep *ep = dapl_object_lock_handle(handle, DAPL_KIND_EP);

	if (!ep) {
		*ret = DAPL_EP_BAD_HANDLE;
		return NULL;
	}
	if (!dapl_ep_allows(ep, call))
		*ret = dapl_ep_state_error(ep);
	else if (call == DAPL_EP_RECV ? !ep->parts.recv : !ep->parts.request)
		*ret = DAT_ERROR(DAT_INVALID_STATE, call == DAPL_EP_RECV ?
							DAT_INVALID_STATE_EP_EVD_RECV :
							DAT_INVALID_STATE_EP_EVD_REQUEST);
	else if (call == DAPL_EP_RECV && ep->parts.srq)
		*ret = DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE);
	else if (!ep->qp && ep->state != DAT_EP_STATE_DISCONNECTED)
		*ret = DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_DISCONNECTED);
	else
		return ep;
	dapl_object_unlock(&ep->obj);
	return NULL;
}

DAT_RETURN
dapl_dto_check(const struct dapl_dto *d, DAT_COUNT max_segments, const struct dapl_dto_args *args)
{
	if (d->segments < 0 || d->segments > max_segments)
		return DAT_ERROR(DAT_INVALID_PARAMETER, args->segments);
	if (d->segments > 0 && !d->iov)
		return DAT_ERROR(DAT_INVALID_PARAMETER, args->iov);
	if (d->flags & ~DAPL_IA_COMPLETION_FLAGS)
		return DAT_ERROR(DAT_INVALID_PARAMETER, args->flags);
	return DAT_SUCCESS;
}

/*
 * Polled receives may still be held until another thread posts the outcome of the attempt to
 * connect: a receive that follows them is held with them.
 */
bool
dapl_dto_flushes_here(struct dapl_ep *ep, struct dapl_wr_ring *ring, struct dapl_evd *evd)
{
	if (ep->state != DAT_EP_STATE_DISCONNECTED)
		return false;
	/* Between queue pairs: dat_ep_reset() is at work, or could not make a new one. */
	if (!ep->qp)
		return true;
	if (ep->concluding && ring == &ep->rings.recvs)
		return false;
	(void)evd_refresh(dapl_evd_ref(evd));
	return dapl_wr_ring_idle(ring);
}

DAT_RETURN
dapl_dto_post_event(
    struct dapl_ep *ep, struct dapl_evd *evd, const DAT_EVENT *event, bool unsignalled)
{
	const struct evd_order order = { .endpoint = ep->self, .unsignalled = unsignalled };
	const int r = dapl_evd_post(evd, EVD_STREAM_COMPLETION, event, &order);

	if (r == 0)
		return DAT_SUCCESS;
	return DAT_ERROR(
	    DAT_INSUFFICIENT_RESOURCES, r == -ENOMEM ? DAT_RESOURCE_MEMORY : DAT_RESOURCE_TEVD);
}

static DAT_RETURN
dto_flush(struct dapl_ep *ep, const struct dapl_dto *d, struct dapl_evd *evd)
    REQUIRES(dapl_locks.object) NO_CORE_LOCK
{
	DAT_EVENT event = { .event_number = DAT_DTO_COMPLETION_EVENT };
	DAT_DTO_COMPLETION_EVENT_DATA *dto = &event.event_data.dto_completion_event_data;

	dto->ep_handle = ep->self;
	dto->user_cookie = d->cookie;
	dto->status = DAT_DTO_ERR_FLUSHED;
	dto->operation = (DAT_DTOS)d->operation;
	if (dapl_ib_event_is_due(d->operation))
		dapl_ib_event_extend(&event, 0);
	return dapl_dto_post_event(ep, evd, &event, false);
}

static void
dto_remember(struct dapl_wr_entry *entry, const struct dapl_dto *d, int operation, uint64_t length)
{
	entry->cookie = d->cookie;
	entry->length = (uint32_t)length;
	entry->operation = (uint8_t)operation;
	entry->plain =
	    !(d->flags & (DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_UNSIGNALLED_FLAG)) &&
	    !dapl_ib_event_is_due(operation);
	if (entry->plain)
		return;
	entry->suppressed =
	    d->flags & DAT_COMPLETION_SUPPRESS_FLAG ? DAPL_WR_ON_SUCCESS : DAPL_WR_NEVER;
	entry->unsignalled = d->flags & DAT_COMPLETION_UNSIGNALLED_FLAG;
	entry->rmr = DAT_HANDLE_NULL;
}

DAT_RETURN
dapl_dto_post_recv(struct dapl_ep *ep, const struct dapl_dto *d)
{
	struct ibv_sge sge[DAPL_IA_MAX_IOV];
	struct ibv_recv_wr wr = { .sg_list = sge }, *bad;
	struct dapl_wr_entry *entry;
	uint32_t place;
	uint64_t total;
	int state, r;

	if (dapl_dto_flushes_here(ep, &ep->rings.recvs, ep->parts.recv))
		return dto_flush(ep, d, ep->parts.recv);
	entry = dapl_wr_ring_next(&ep->rings.recvs, &place);
	if (!entry)
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	wr.num_sge = dapl_sge_fill(sge, d->segments, d->iov, UINT64_MAX, &total);
	dto_remember(
	    entry, d, dapl_ep_is_datagram(ep) ? DAT_IB_DTO_RECV_UD : DAT_DTO_RECEIVE, total);
	wr.wr_id = dapl_ep_wr_id(ep, DAPL_WR_RECV, place);
	dapl_wr_ring_publish(&ep->rings.recvs, place);
	state = dapl_post_begin();
	r = ibv_post_recv(ep->qp, &wr, &bad);
	dapl_post_end(state);
	if (r) {
		dapl_wr_ring_retract(&ep->rings.recvs, place);
		return dapl_err_post("ibv_post_recv", r);
	}
	/*
	 * soft-RoCE flushes receives when the queue pair enters the error state, and does not
	 * notice one that is posted later.
	 */
	if (ep->state == DAT_EP_STATE_DISCONNECTED)
		dapl_ep_qp_fail(ep->qp);
	dapl_ep_tally(&ep->counts.posted[DAT_DTO_RECEIVE], total);
	return DAT_SUCCESS;
}

static bool
dto_is_atomic(const struct dapl_dto *d)
{
	return d->operation == DAT_IB_DTO_FETCH_ADD || d->operation == DAT_IB_DTO_CMP_SWAP;
}

/*
 * The request is always signalled: suppressed successes are dropped when they are
 * polled, so that the send queue never fills with requests that cannot be reaped.
 */
DAT_RETURN
dapl_dto_post_request(struct dapl_ep *ep, const struct dapl_dto *d, uint64_t limit)
{
	static const enum ibv_wr_opcode opcodes[] = {
		[DAT_DTO_SEND] = IBV_WR_SEND,
		[DAT_DTO_RDMA_WRITE] = IBV_WR_RDMA_WRITE,
		[DAT_DTO_RDMA_READ] = IBV_WR_RDMA_READ,
		[DAT_IB_DTO_RDMA_WRITE_IMMED] = IBV_WR_RDMA_WRITE_WITH_IMM,
		[DAT_IB_DTO_FETCH_ADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
		[DAT_IB_DTO_CMP_SWAP] = IBV_WR_ATOMIC_CMP_AND_SWP,
		[DAT_IB_DTO_SEND_UD] = IBV_WR_SEND,
	};
	struct ibv_sge sge[DAPL_IA_MAX_IOV];
	struct ibv_send_wr wr = { .sg_list = sge, .opcode = opcodes[d->operation] }, *bad;
	struct dapl_wr_entry *entry;
	uint32_t place;
	uint64_t total;
	int state, r;

	if (dapl_ep_is_datagram(ep) != (d->to != NULL))
		return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	if (dapl_dto_flushes_here(ep, &ep->rings.requests, ep->parts.request))
		return dto_flush(ep, d, ep->parts.request);
	wr.num_sge = dapl_sge_fill(sge, d->segments, d->iov, limit, &total);
	/*
	 * The endpoint's own max_message_size and max_rdma_size are no limits but hints: programs
	 * in the field give small ones and transfer more.
	 */
	if (total > (d->to ? dapl_ia_max_datagram(dapl_ia_of(&ep->obj)) :
			     dapl_ia_max_message(dapl_ia_of(&ep->obj))))
		return DAT_ERROR(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE);
	entry = dapl_wr_ring_next(&ep->rings.requests, &place);
	if (!entry) {
		/* A consumer that suppresses all events never asks for one: poll here. */
		(void)evd_refresh(dapl_evd_ref(ep->parts.request));
		entry = dapl_wr_ring_next(&ep->rings.requests, &place);
	}
	if (!entry)
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	dto_remember(entry, d, d->operation, total);
	wr.wr_id = dapl_ep_wr_id(ep, DAPL_WR_REQUEST, place);
	wr.send_flags = IBV_SEND_SIGNALED;
	/* Only these take a receive at the other end. */
	if (d->flags & DAT_COMPLETION_SOLICITED_WAIT_FLAG &&
	    (d->operation == DAT_DTO_SEND || d->operation == DAT_IB_DTO_RDMA_WRITE_IMMED || d->to))
		wr.send_flags |= IBV_SEND_SOLICITED;
	if (d->flags & DAT_COMPLETION_BARRIER_FENCE_FLAG && !d->to)
		wr.send_flags |= IBV_SEND_FENCE;
	if (d->invalidates) {
		wr.opcode = IBV_WR_SEND_WITH_INV;
		wr.invalidate_rkey = d->region;
		wr.send_flags |= IBV_SEND_FENCE; /* earlier reads may use the region */
	} else if (d->to) {
		wr.wr.ud.ah = d->to->ah;
		wr.wr.ud.remote_qpn = d->to->qpn;
		wr.wr.ud.remote_qkey = dapl_ah_find(&ep->ahs, d->to->ah)->qkey;
	} else if (d->remote && dto_is_atomic(d)) {
		wr.wr.atomic.remote_addr = d->remote->virtual_address;
		wr.wr.atomic.rkey = d->remote->rmr_context;
		wr.wr.atomic.compare_add = d->compare_add;
		wr.wr.atomic.swap = d->swap;
	} else if (d->remote) {
		wr.imm_data = d->immediate; /* in the byte order of this host, as other providers */
		wr.wr.rdma.remote_addr = d->remote->virtual_address;
		wr.wr.rdma.rkey = d->remote->rmr_context;
	}
	dapl_wr_ring_publish(&ep->rings.requests, place);
	state = dapl_post_begin();
	r = ibv_post_send(ep->qp, &wr, &bad);
	dapl_post_end(state);
	if (r) {
		dapl_wr_ring_retract(&ep->rings.requests, place);
		return dapl_err_post("ibv_post_send", r);
	}
	dapl_ep_tally(&ep->counts.posted[d->operation], total);
	return DAT_SUCCESS;
}

static uint64_t
dto_local_length(const struct dapl_dto *d)
{
	uint64_t total = 0;

	for (DAT_COUNT i = 0; i < d->segments; i++)
		total += d->iov[i].segment_length;
	return total;
}

/*
 * Whether what is read fits here, and what is written fits there.  *limit: the bytes of the local
 * segments that take part.
 */
static bool
dto_fits(const struct dapl_dto *d, uint64_t *limit)
{
	const uint64_t here = dto_local_length(d), there = d->remote->segment_length;

	*limit = UINT64_MAX;
	if (dto_is_atomic(d)) {
		*limit = sizeof(uint64_t);
		return here >= sizeof(uint64_t) && there >= sizeof(uint64_t);
	}
	if (d->operation != DAT_DTO_RDMA_READ)
		return here <= there;
	*limit = there;
	return there <= here;
}

DAT_RETURN
dapl_dto_post_rdma(DAT_EP_HANDLE handle, const struct dapl_dto *d, const struct dapl_dto_args *args)
{
	const bool writes =
	    d->operation == DAT_DTO_RDMA_WRITE || d->operation == DAT_IB_DTO_RDMA_WRITE_IMMED;
	struct dapl_ep *ep;
	DAT_RETURN ret;
	uint64_t limit = 0;

	ep = dapl_dto_lock(handle, DAPL_EP_REQUEST, &ret);
	if (!ep)
		return ret;
	ret = dapl_dto_check(
	    d, writes ? ep->attr.max_rdma_write_iov : ep->attr.max_rdma_read_iov, args);
	if (ret == DAT_SUCCESS && !d->remote)
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, args->remote);
	/* Of an endpoint for datagrams no length is good: dapl_dto_post_request() refuses it. */
	if (ret == DAT_SUCCESS && !dapl_ep_is_datagram(ep) && !dto_fits(d, &limit))
		ret = DAT_ERROR(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE);
	if (ret == DAT_SUCCESS)
		ret = dapl_dto_post_request(ep, d, limit);
	dapl_object_unlock(&ep->obj);
	return ret;
}

DAT_RETURN
dapl_dto_post_datagram(
    DAT_EP_HANDLE handle, const struct dapl_dto *d, const struct dapl_dto_args *args)
{
	struct dapl_ep *ep;
	DAT_RETURN ret;

	ep = dapl_dto_lock(handle, DAPL_EP_REQUEST, &ret);
	if (!ep)
		return ret;
	ret = dapl_dto_check(d, ep->attr.max_request_iov, args);
	/* A connected endpoint has no address handles: the code says that first. */
	if (ret == DAT_SUCCESS && !dapl_ep_is_datagram(ep))
		ret = DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	if (ret == DAT_SUCCESS && (!d->to || !dapl_ah_find(&ep->ahs, d->to->ah)))
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, args->ah);
	if (ret == DAT_SUCCESS)
		ret = dapl_dto_post_request(ep, d, UINT64_MAX);
	dapl_object_unlock(&ep->obj);
	return ret;
}
