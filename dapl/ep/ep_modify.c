/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ep_modify -- dat_ep_modify(): new attributes, and other parts, for an endpoint
 *
 * What only matters when a connection is made changes at once.  Protection zone, EVDs and depths
 * are parts of the queue pair: the endpoint gets another, which it can while no receive is posted.
 * One that the provider made gets its first with the protection zone.
 */
#include "dapl/api.h"
#include "dapl/ep/ep.h"
#include "dapl/trace/err.h"

#define BAD_EP DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP)

#define EVDS \
	(DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_REQUEST_EVD_HANDLE | \
	    DAT_EP_FIELD_CONNECT_EVD_HANDLE)
#define PARTS (DAT_EP_FIELD_PZ_HANDLE | EVDS)

/* Adapter, state and addresses never change; there are no watermarks and no named attributes. */
#define MODIFIABLE \
	(PARTS | (DAT_EP_FIELD_EP_ATTR_ALL & \
		     ~(DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW | \
			 DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR | \
			 DAT_EP_FIELD_EP_ATTR_TRANSPORT_SPECIFIC_ATTR | \
			 DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR | \
			 DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR)))

/* Takes the asked members of `from`. */
static void
take_attr(DAT_EP_ATTR *to, const DAT_EP_ATTR *from, DAT_EP_PARAM_MASK mask)
{
#define TAKE(bit, member) \
	if (mask & DAT_EP_FIELD_EP_ATTR_##bit) \
	to->member = from->member
	TAKE(SERVICE_TYPE, service_type);
	TAKE(MAX_MESSAGE_SIZE, max_message_size);
	TAKE(MAX_RDMA_SIZE, max_rdma_size);
	TAKE(QOS, qos);
	TAKE(RECV_COMPLETION_FLAGS, recv_completion_flags);
	TAKE(REQUEST_COMPLETION_FLAGS, request_completion_flags);
	TAKE(MAX_RECV_DTOS, max_recv_dtos);
	TAKE(MAX_REQUEST_DTOS, max_request_dtos);
	TAKE(MAX_RECV_IOV, max_recv_iov);
	TAKE(MAX_REQUEST_IOV, max_request_iov);
	TAKE(MAX_RDMA_READ_IN, max_rdma_read_in);
	TAKE(MAX_RDMA_READ_OUT, max_rdma_read_out);
	TAKE(MAX_RDMA_READ_IOV, max_rdma_read_iov);
	TAKE(MAX_RDMA_WRITE_IOV, max_rdma_write_iov);
#undef TAKE
}

/* The completion flags are no part of it, but of the EVDs, which are changed in the same way. */
static bool
same_queue_pair(const DAT_EP_ATTR *a, const DAT_EP_ATTR *b)
{
	return a->max_recv_dtos == b->max_recv_dtos && a->max_request_dtos == b->max_request_dtos &&
	       a->max_recv_iov == b->max_recv_iov && a->max_request_iov == b->max_request_iov &&
	       a->max_rdma_read_iov == b->max_rdma_read_iov &&
	       a->max_rdma_write_iov == b->max_rdma_write_iov &&
	       a->recv_completion_flags == b->recv_completion_flags &&
	       a->request_completion_flags == b->request_completion_flags;
}

static enum ep_call
call_of(DAT_EP_PARAM_MASK mask)
{
	return mask & DAT_EP_FIELD_PZ_HANDLE ? EP_MODIFY_PZ : EP_MODIFY;
}

/* The parts that an endpoint is to have, by their handles. */
struct wanted {
	enum ep_call call;
	DAT_PZ_HANDLE pz;
	DAT_EVD_HANDLE recv, request, connect;
};

/* Locked. */
static struct wanted
wanted_parts(const struct ep *ep, const DAT_EP_PARAM *param, DAT_EP_PARAM_MASK mask)
{
	const struct ep_parts *now = &ep->parts;
	struct wanted w = {
		.pz = ep_pz_handle(now->pz),
		.recv = ep_evd_handle(now->recv),
		.request = ep_evd_handle(now->request),
		.connect = ep_evd_handle(now->connect),
	};

	w.call = call_of(mask);
	if (w.call == EP_MODIFY_PZ)
		w.pz = param->pz_handle;
	if (mask & DAT_EP_FIELD_RECV_EVD_HANDLE)
		w.recv = param->recv_evd_handle;
	if (mask & DAT_EP_FIELD_REQUEST_EVD_HANDLE)
		w.request = param->request_evd_handle;
	if (mask & DAT_EP_FIELD_CONNECT_EVD_HANDLE)
		w.connect = param->connect_evd_handle;
	return w;
}

/* Not locked, pinned, and without a queue pair: `was` is the one it had. */
static int
rebuild(struct ep *ep, enum ep_call call, const struct ep_parts *parts, const DAT_EP_ATTR *attr,
    struct ibv_qp *was)
{
	const struct ep_parts old_parts = ep->parts;
	const DAT_EP_ATTR old_attr = ep->attr;
	struct ep_rings rings, old_rings;
	struct ibv_qp *fresh = NULL;
	int r;

	r = ep_rings_create(&rings, parts, attr);
	if (r)
		return r;
	ep_parts_promise(parts, attr);
	if (parts->pz)
		r = ep_qp_create(ep, ep_generation(ep) + 1, parts, attr, &fresh);
	if (r) {
		ep_parts_reclaim(parts, attr);
		ep_rings_destroy(&rings);
		return r;
	}
	if (was)
		ep_qp_destroy(was);
	ep_purge_completions(ep);
	os_lock(&ep->obj.lock);
	atomic_fetch_add_explicit(&ep->generation, 1, memory_order_acq_rel);
	old_rings = ep->rings;
	ep->rings = rings;
	ep->parts = *parts;
	ep->attr = *attr;
	ep->qp = fresh;
	ep->state = ep_answer(ep->state, call)->next;
	os_unlock(&ep->obj.lock);
	ep_rings_destroy(&old_rings);
	ep_parts_reclaim(&old_parts, &old_attr);
	ep_parts_leave(&old_parts, &old_attr);
	ep_parts_release(&old_parts);
	return 0;
}

/*
 * Entered with the lock, left without it.  The parts are held without it: two locks of this rank
 * are never held at once.
 */
static DAT_RETURN
change(struct ep *ep, const struct wanted *w, const DAT_EP_ATTR *attr)
{
	struct ia *ia = ia_of(&ep->obj);
	struct ibv_qp *qp = ep->qp;
	DAT_RETURN_SUBTYPE bad = DAT_INVALID_HANDLE_PZ;
	struct ep_parts parts;
	int r = -EINVAL;

	ep->qp = NULL;
	ep_pin(ep);
	os_unlock(&ep->obj.lock);
	if (w->call != EP_MODIFY_PZ || w->pz != DAT_HANDLE_NULL)
		bad = ep_parts_hold(ia, w->pz, w->recv, w->request, w->connect, &parts);
	if (bad == DAT_NO_SUBTYPE) {
		ep_parts_join(&parts, attr);
		r = rebuild(ep, w->call, &parts, attr, qp);
		if (r) {
			ep_parts_leave(&parts, attr);
			ep_parts_release(&parts);
		}
	}
	if (r) {
		os_lock(&ep->obj.lock);
		ep->qp = qp;
		os_unlock(&ep->obj.lock);
	}
	ep_unpin(ep);
	if (bad != DAT_NO_SUBTYPE)
		return DAT_ERROR(DAT_INVALID_HANDLE, bad);
	return r ? err_resource(r, DAT_RESOURCE_TEP) : DAT_SUCCESS;
}

/* Locked.  Whether the endpoint may change in this way at all. */
static DAT_RETURN
may_modify(const struct ep *ep, DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM *param)
{
	DAT_RETURN ret = err_query(!(mask & ~DAT_EP_FIELD_ALL), param);

	if (ret != DAT_SUCCESS)
		return ret;
	if (mask & ~MODIFIABLE)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if (ep_may(ep->state, call_of(mask)) != EP_ALLOWED)
		return DAT_ERROR(DAT_INVALID_STATE, ep_state_subtype(ep->state));
	return DAT_SUCCESS;
}

DAT_RETURN
dapl_ep_modify(DAT_EP_HANDLE handle, DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM *param)
{
	struct ep *ep = object_lock(handle, KIND_EP);
	struct wanted wanted;
	DAT_EP_ATTR attr;
	DAT_RETURN ret;
	uint64_t serial;

	if (!ep)
		return BAD_EP;
	serial = ep->obj.serial;
	ret = may_modify(ep, mask, param);
	if (ret != DAT_SUCCESS)
		goto unlock;
	/* Another change may be under way, and while this one waits the state may change. */
	ep_await_pins(ep);
	ret = object_is(&ep->obj, serial) ? may_modify(ep, mask, param) : BAD_EP;
	if (ret != DAT_SUCCESS)
		goto unlock;
	attr = ep->attr;
	take_attr(&attr, &param->ep_attr, mask);
	if (!ep_attr_accept(ia_of(&ep->obj), &attr, &attr)) {
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	} else if (!(mask & PARTS) && same_queue_pair(&attr, &ep->attr)) {
		ep->attr = attr;
	} else if (!wr_ring_idle(&ep->rings.recvs)) {
		ret = DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_NOTREADY);
	} else {
		wanted = wanted_parts(ep, param, mask);
		return change(ep, &wanted, &attr);
	}
unlock:
	os_unlock(&ep->obj.lock);
	return ret;
}
