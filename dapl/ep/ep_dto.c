/* SPDX-License-Identifier: BSD-3-Clause */
/* ep_dto -- posting data transfers */
#include "dapl/api.h"
#include "dapl/ep/ep.h"
#include "dapl/trace/err.h"

/* What the calls share, gathered from their arguments. */
struct dto {
	DAT_COUNT segments;
	const DAT_LMR_TRIPLET *iov;
	DAT_DTO_COOKIE cookie;
	DAT_COMPLETION_FLAGS flags;
	DAT_DTOS operation;
	const DAT_RMR_TRIPLET *remote; /* of the RDMA operations */
};

/* The locked endpoint, or NULL with the reason. */
static struct dapl_ep *
dto_lock(DAT_EP_HANDLE handle, enum dapl_ep_call call, DAT_RETURN *ret)
    TRY_ACQUIRE(dapl_locks.object) DAPL_NO_LOCK
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
	else if (!ep->qp) /* between queue pairs */
		*ret = DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_DISCONNECTED);
	else
		return ep;
	dapl_object_unlock(&ep->obj);
	return NULL;
}

static DAT_RETURN
dto_check(const struct dto *d, DAT_COUNT max_segments)
{
	if (d->segments < 0 || d->segments > max_segments)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if (d->segments > 0 && !d->iov)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	if (d->flags & ~DAPL_IA_COMPLETION_FLAGS)
		return DAT_ERROR(
		    DAT_INVALID_PARAMETER, d->remote ? DAT_INVALID_ARG6 : DAT_INVALID_ARG5);
	return DAT_SUCCESS;
}

/*
 * Copies the segments, at most `limit` bytes of them: the length of a DAT read is that of the
 * remote triplet, the length of a verbs read that of the local segments.
 */
static int
dto_gather(const struct dto *d, uint64_t limit, struct ibv_sge *sge, uint64_t *total)
{
	int n = 0;

	*total = 0;
	for (DAT_COUNT i = 0; i < d->segments && *total < limit; i++) {
		uint64_t length = d->iov[i].segment_length;

		if (length == 0)
			continue; /* verbs read a length of zero as 2^31 */
		if (length > limit - *total)
			length = limit - *total;
		sge[n++] = (struct ibv_sge){
			.addr = d->iov[i].virtual_address,
			.length = (uint32_t)length,
			.lkey = d->iov[i].lmr_context,
		};
		*total += length;
	}
	return n;
}

/*
 * Some devices ignore requests that are posted to a queue pair in the error state. When such a
 * queue pair has flushed everything, new requests are flushed here; before that they go to the
 * device to keep their order. Polled receives may still be held until another thread posts the
 * outcome of the attempt to connect: a receive that follows them is held with them.
 */
static bool
dto_flushes_here(struct dapl_ep *ep, struct dapl_wr_ring *ring, struct dapl_evd *evd)
    REQUIRES(dapl_locks.object) NO_CORE_LOCK
{
	if (ep->state != DAT_EP_STATE_DISCONNECTED)
		return false;
	if (ep->concluding && ring == &ep->rings.recvs)
		return false;
	(void)evd_refresh(dapl_evd_ref(evd));
	return dapl_wr_ring_idle(ring);
}

static DAT_RETURN
dto_flush(struct dapl_ep *ep, const struct dto *d, struct dapl_evd *evd)
    REQUIRES(dapl_locks.object) NO_CORE_LOCK
{
	const struct evd_order order = { .endpoint = ep->self };
	const DAT_EVENT event = {
		.event_number = DAT_DTO_COMPLETION_EVENT,
		.event_data.dto_completion_event_data = {
			.ep_handle = ep->self,
			.user_cookie = d->cookie,
			.status = DAT_DTO_ERR_FLUSHED,
			.operation = d->operation,
		},
	};

	return evd_post_ordered(dapl_evd_ref(evd), EVD_STREAM_DTO, &event, &order) ?
		   DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD) :
		   DAT_SUCCESS;
}

static void
dto_remember(struct dapl_wr_entry *entry, const struct dto *d, uint64_t length)
{
	*entry = (struct dapl_wr_entry){
		.cookie = d->cookie,
		.length = (DAT_SEG_LENGTH)length,
		.operation = (uint8_t)d->operation,
		.suppressed = d->flags & DAT_COMPLETION_SUPPRESS_FLAG,
		.unsignalled = d->flags & DAT_COMPLETION_UNSIGNALLED_FLAG,
	};
}

/*
 * The request is always signalled: suppressed successes are dropped when they are
 * polled, so that the send queue never fills with requests that cannot be reaped.
 */
static DAT_RETURN
dto_post_request(struct dapl_ep *ep, const struct dto *d, uint64_t limit)
    REQUIRES(dapl_locks.object) NO_CORE_LOCK
{
	static const enum ibv_wr_opcode opcodes[] = {
		[DAT_DTO_SEND] = IBV_WR_SEND,
		[DAT_DTO_RDMA_WRITE] = IBV_WR_RDMA_WRITE,
		[DAT_DTO_RDMA_READ] = IBV_WR_RDMA_READ,
	};
	struct ibv_sge sge[DAPL_IA_MAX_IOV];
	struct ibv_send_wr wr = { .sg_list = sge, .opcode = opcodes[d->operation] }, *bad;
	struct dapl_wr_entry *entry;
	uint32_t place;
	uint64_t total;
	int r;

	if (dto_flushes_here(ep, &ep->rings.requests, ep->parts.request))
		return dto_flush(ep, d, ep->parts.request);
	wr.num_sge = dto_gather(d, limit, sge, &total);
	/*
	 * The attributes max_message_size and max_rdma_size of the endpoint are hints, not limits:
	 * existing programs set small values and transfer more.
	 */
	if (total > dapl_ia_max_message(dapl_ia_of(&ep->obj)))
		return DAT_ERROR(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE);
	entry = dapl_wr_ring_next(&ep->rings.requests, &place);
	if (!entry) {
		/*
		 * A consumer that suppresses all events never dequeues or waits, so no other call
		 * polls.
		 */
		(void)evd_refresh(dapl_evd_ref(ep->parts.request));
		entry = dapl_wr_ring_next(&ep->rings.requests, &place);
	}
	if (!entry)
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	dto_remember(entry, d, total);
	wr.wr_id = dapl_wr_id(ep->obj.slot.index, dapl_ep_generation(ep), false, place);
	wr.send_flags = IBV_SEND_SIGNALED;
	if (d->flags & DAT_COMPLETION_SOLICITED_WAIT_FLAG && d->operation == DAT_DTO_SEND)
		wr.send_flags |= IBV_SEND_SOLICITED;
	if (d->flags & DAT_COMPLETION_BARRIER_FENCE_FLAG)
		wr.send_flags |= IBV_SEND_FENCE;
	if (d->remote) {
		wr.wr.rdma.remote_addr = d->remote->virtual_address;
		wr.wr.rdma.rkey = d->remote->rmr_context;
	}
	dapl_wr_ring_publish(&ep->rings.requests, place);
	r = ibv_post_send(ep->qp, &wr, &bad);
	if (r) {
		dapl_wr_ring_retract(&ep->rings.requests, place);
		return dapl_err_post(r > 0 ? -r : r);
	}
	return DAT_SUCCESS;
}

DAT_RETURN
dapl_ep_post_recv(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags)
{
	const struct dto d = {
		.segments = segments,
		.iov = iov,
		.cookie = cookie,
		.flags = flags,
		.operation = DAT_DTO_RECEIVE,
	};
	struct ibv_sge sge[DAPL_IA_MAX_IOV];
	struct ibv_recv_wr wr = { .sg_list = sge }, *bad;
	struct dapl_wr_entry *entry;
	uint32_t place;
	uint64_t total;
	DAT_RETURN ret;
	struct dapl_ep *ep;
	int r;

	ep = dto_lock(handle, DAPL_EP_RECV, &ret);
	if (!ep)
		return ret;
	ret = dto_check(&d, ep->attr.max_recv_iov);
	if (ret == DAT_SUCCESS && dto_flushes_here(ep, &ep->rings.recvs, ep->parts.recv)) {
		ret = dto_flush(ep, &d, ep->parts.recv);
		goto out;
	}
	if (ret != DAT_SUCCESS)
		goto out;
	entry = dapl_wr_ring_next(&ep->rings.recvs, &place);
	if (!entry) {
		ret = DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
		goto out;
	}
	wr.num_sge = dto_gather(&d, UINT64_MAX, sge, &total);
	dto_remember(entry, &d, total);
	wr.wr_id = dapl_wr_id(ep->obj.slot.index, dapl_ep_generation(ep), true, place);
	dapl_wr_ring_publish(&ep->rings.recvs, place);
	r = ibv_post_recv(ep->qp, &wr, &bad);
	if (r) {
		dapl_wr_ring_retract(&ep->rings.recvs, place);
		ret = dapl_err_post(r > 0 ? -r : r);
	}
out:
	dapl_object_unlock(&ep->obj);
	return ret;
}

DAT_RETURN
dapl_ep_post_send(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags)
{
	const struct dto d = {
		.segments = segments,
		.iov = iov,
		.cookie = cookie,
		.flags = flags,
		.operation = DAT_DTO_SEND,
	};
	DAT_RETURN ret;
	struct dapl_ep *ep;

	ep = dto_lock(handle, DAPL_EP_REQUEST, &ret);
	if (!ep)
		return ret;
	ret = dto_check(&d, ep->attr.max_request_iov);
	if (ret == DAT_SUCCESS)
		ret = dto_post_request(ep, &d, UINT64_MAX);
	dapl_object_unlock(&ep->obj);
	return ret;
}

static uint64_t
dto_local_length(const struct dto *d)
{
	uint64_t total = 0;

	for (DAT_COUNT i = 0; i < d->segments; i++)
		total += d->iov[i].segment_length;
	return total;
}

/* A read must fit into the local segments, a write into the remote memory. */
static DAT_RETURN
dto_post_rdma(DAT_EP_HANDLE handle, const struct dto *d) DAPL_NO_LOCK
{
	const bool read = d->operation == DAT_DTO_RDMA_READ;
	uint64_t here, there;
	DAT_RETURN ret;
	struct dapl_ep *ep;

	ep = dto_lock(handle, DAPL_EP_REQUEST, &ret);
	if (!ep)
		return ret;
	ret = dto_check(d, read ? ep->attr.max_rdma_read_iov : ep->attr.max_rdma_write_iov);
	if (ret == DAT_SUCCESS && !d->remote)
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
	if (ret != DAT_SUCCESS)
		goto out;
	here = dto_local_length(d);
	there = d->remote->segment_length;
	if (read ? there > here : here > there)
		ret = DAT_ERROR(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE);
	else
		ret = dto_post_request(ep, d, read ? there : UINT64_MAX);
out:
	dapl_object_unlock(&ep->obj);
	return ret;
}

DAT_RETURN
dapl_ep_post_rdma_write(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
	return dto_post_rdma(handle, &(const struct dto){
					 .segments = segments,
					 .iov = iov,
					 .cookie = cookie,
					 .flags = flags,
					 .operation = DAT_DTO_RDMA_WRITE,
					 .remote = remote,
				     });
}

DAT_RETURN
dapl_ep_post_rdma_read(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
	return dto_post_rdma(handle, &(const struct dto){
					 .segments = segments,
					 .iov = iov,
					 .cookie = cookie,
					 .flags = flags,
					 .operation = DAT_DTO_RDMA_READ,
					 .remote = remote,
				     });
}
