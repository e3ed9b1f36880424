/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ep_modify -- dat_ep_modify(): new attributes, and other parts, for an endpoint
 *
 * Attributes that matter only when a connection is made change at once.  Protection zone, EVDs and
 * depths belong to the queue pair.  To change them the endpoint gets a new queue pair, which is
 * possible while no receive is posted.  An endpoint that the provider made gets its first queue
 * pair together with the protection zone.
 */
#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/ep/ep.h"
#include "dapl/trace/err.h"

#define EVDS \
	(DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_REQUEST_EVD_HANDLE | \
	    DAT_EP_FIELD_CONNECT_EVD_HANDLE)
#define PARTS (DAT_EP_FIELD_PZ_HANDLE | EVDS)

/* Adapter, state and addresses never change; there are no watermarks and no named attributes. */
#define MODIFIABLE \
	(PARTS | (DAT_EP_FIELD_EP_ATTR_ALL & ~(DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW | \
						 DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR | \
						 DAT_EP_FIELD_EP_ATTR_TRANSPORT_SPECIFIC_ATTR | \
						 DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR | \
						 DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR)))

/* Copies the members that the mask selects. */
static void
ep_modify_take_attr(DAT_EP_ATTR *to, const DAT_EP_ATTR *from, DAT_EP_PARAM_MASK mask)
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

/*
 * The completion flags belong to the EVDs and not to the queue pair; the EVDs change in the same
 * way.
 */
static bool
ep_modify_same_queue_pair(const DAT_EP_ATTR *a, const DAT_EP_ATTR *b)
{
	return a->max_recv_dtos == b->max_recv_dtos && a->max_request_dtos == b->max_request_dtos &&
	       a->max_recv_iov == b->max_recv_iov && a->max_request_iov == b->max_request_iov &&
	       a->max_rdma_read_iov == b->max_rdma_read_iov &&
	       a->max_rdma_write_iov == b->max_rdma_write_iov &&
	       a->recv_completion_flags == b->recv_completion_flags &&
	       a->request_completion_flags == b->request_completion_flags;
}

static enum dapl_ep_call
ep_modify_call_of(DAT_EP_PARAM_MASK mask)
{
	return mask & DAT_EP_FIELD_PZ_HANDLE ? DAPL_EP_MODIFY_PZ : DAPL_EP_MODIFY;
}

/* The handles of the parts that the caller wants for the endpoint. */
struct wanted {
	enum dapl_ep_call call;
	struct dapl_ep_part_handles part;
};

static struct wanted
ep_modify_wanted_parts(const struct dapl_ep *ep, const DAT_EP_PARAM *param, DAT_EP_PARAM_MASK mask)
    REQUIRES(dapl_locks.object)
{
	const struct dapl_ep_parts *now = &ep->parts;
	struct wanted w = {
		.part = {
			.pz = dapl_ep_pz_handle(now->pz),
			.recv = dapl_ep_evd_handle(now->recv),
			.request = dapl_ep_evd_handle(now->request),
			.connect = dapl_ep_evd_handle(now->connect),
			.srq = dapl_ep_srq_handle(now->srq),
		},
	};

	w.call = ep_modify_call_of(mask);
	if (w.call == DAPL_EP_MODIFY_PZ)
		w.part.pz = param->pz_handle;
	if (mask & DAT_EP_FIELD_RECV_EVD_HANDLE)
		w.part.recv = param->recv_evd_handle;
	if (mask & DAT_EP_FIELD_REQUEST_EVD_HANDLE)
		w.part.request = param->request_evd_handle;
	if (mask & DAT_EP_FIELD_CONNECT_EVD_HANDLE)
		w.part.connect = param->connect_evd_handle;
	return w;
}

/* What the endpoint is made of after the call. */
struct made {
	enum dapl_ep_call call;
	struct dapl_ep_parts parts;
	struct dapl_ep_rings rings;
	DAT_EP_ATTR attr;
	struct ibv_qp *qp;
};

/* Exchanges the contents of `made` for what the endpoint was made of. */
static void
ep_modify_install(struct dapl_ep *ep, struct made *made) DAPL_NO_OBJECT_LOCK
{
	struct made was = { .parts = ep->parts, .attr = ep->attr };

	dapl_object_lock(&ep->obj);
	dapl_ep_end_generation(ep);
	was.rings = ep->rings;
	ep->rings = made->rings;
	ep->parts = made->parts;
	ep->attr = made->attr;
	ep->qp = made->qp;
	dapl_ep_advance(ep, made->call);
	dapl_object_unlock(&ep->obj);
	*made = was;
}

/*
 * The shared receive queue stays the same.  Its members stay locked: nothing fails after the old
 * queue pair has ended.
 */
static int
ep_modify_exchange_shared(struct dapl_ep *ep, struct made *made, struct ibv_qp *was) DAPL_NO_LOCK
{
	struct dapl_srq *srq = ep->parts.srq;
	int r = 0;

	dapl_srq_lock_members(srq);
	if (made->rings.merged)
		r = dapl_srq_lengthen_hold(srq, made->parts.recv, &made->rings.hold);
	if (!r) {
		dapl_ep_qp_end_shared(ep, was);
		ep_modify_install(ep, made);
		r = dapl_ep_qp_attach_shared(ep, dapl_ep_generation(ep), &ep->parts, ep->qp);
	}
	dapl_srq_unlock_members(srq);
	return r;
}

static int
ep_modify_exchange(struct dapl_ep *ep, struct made *made, struct ibv_qp *was) DAPL_NO_LOCK
{
	if (ep->parts.srq)
		return ep_modify_exchange_shared(ep, made, was);
	dapl_ep_qp_end(ep, was);
	ep_modify_install(ep, made);
	return 0;
}

/* The endpoint is pinned and has no queue pair; `was` is its previous one. */
static int
ep_modify_rebuild(struct dapl_ep *ep, enum dapl_ep_call call, const struct dapl_ep_parts *parts,
    const DAT_EP_ATTR *attr, struct ibv_qp *was) DAPL_NO_LOCK
{
	struct made made = { .call = call, .parts = *parts, .attr = *attr };
	int r;

	r = dapl_ep_rings_create(&made.rings, parts, attr);
	if (r)
		return r;
	dapl_ep_parts_get_room(parts, attr);
	if (parts->pz)
		r = dapl_ep_qp_create(ep, dapl_ep_generation(ep) + 1, parts, attr, &made.qp);
	if (r)
		goto put_room;
	r = ep_modify_exchange(ep, &made, was);
	if (r)
		goto free_qp;
	dapl_ep_rings_free(&made.rings);
	dapl_ep_parts_put_room(&made.parts, &made.attr);
	dapl_ep_parts_detach(&made.parts, &made.attr);
	dapl_ep_parts_put(&made.parts);
	return 0;

free_qp:
	dapl_ep_qp_free(made.qp);
put_room:
	dapl_ep_parts_put_room(parts, attr);
	dapl_ep_rings_free(&made.rings);
	return r;
}

/*
 * The parts are got without the lock, because a thread never holds the locks of two objects.
 */
static DAT_RETURN
ep_modify_change(struct dapl_ep *ep, const struct wanted *w, const DAT_EP_ATTR *attr)
    RELEASE(dapl_locks.object)
{
	struct dapl_ia *ia = dapl_ia_of(&ep->obj);
	struct ibv_qp *qp = ep->qp;
	DAT_RETURN_SUBTYPE bad = DAT_INVALID_HANDLE_PZ;
	struct dapl_ep_parts parts;
	int r = -EINVAL;

	ep->qp = NULL;
	dapl_ep_get_pin(ep);
	dapl_object_unlock(&ep->obj);
	if (w->call != DAPL_EP_MODIFY_PZ || w->part.pz != DAT_HANDLE_NULL)
		bad = dapl_ep_parts_get(ia, &w->part, &parts);
	if (bad == DAT_NO_SUBTYPE) {
		dapl_ep_parts_attach(&parts, attr);
		r = ep_modify_rebuild(ep, w->call, &parts, attr, qp);
		if (r) {
			dapl_ep_parts_detach(&parts, attr);
			dapl_ep_parts_put(&parts);
		}
	}
	if (r) {
		dapl_object_lock(&ep->obj);
		ep->qp = qp;
		dapl_object_unlock(&ep->obj);
	}
	dapl_ep_put_pin(ep);
	if (bad != DAT_NO_SUBTYPE)
		return DAT_ERROR(DAT_INVALID_HANDLE, bad);
	return r ? dapl_err_resource("dat_ep_modify", r, DAT_RESOURCE_TEP) : DAT_SUCCESS;
}

/* DAT_SUCCESS if the arguments are valid and the state allows the change, else the error. */
static DAT_RETURN
ep_modify_may_modify(const struct dapl_ep *ep, DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM *param)
    REQUIRES(dapl_locks.object)
{
	DAT_RETURN ret = dapl_err_query(!(mask & ~DAT_EP_FIELD_ALL), param);

	if (ret != DAT_SUCCESS)
		return ret;
	if (mask & ~MODIFIABLE)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if (!dapl_ep_allows(ep, ep_modify_call_of(mask)))
		return dapl_ep_state_error(ep);
	/* The other end would get the number of the queue pair that the endpoint has now. */
	if (ep->lookups)
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_ACTCONNPENDING);
	return DAT_SUCCESS;
}

DAT_RETURN
dapl_ep_modify(DAT_EP_HANDLE handle, DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM *param)
{
	DAPL_UNCANCELLED;
	struct dapl_ep *ep = dapl_object_lock_handle(handle, DAPL_KIND_EP);
	struct wanted wanted;
	DAT_EP_ATTR attr;
	DAT_RETURN ret;
	uint64_t serial;

	if (!ep)
		return DAPL_EP_BAD_HANDLE;
	serial = ep->obj.serial;
	ret = ep_modify_may_modify(ep, mask, param);
	if (ret != DAT_SUCCESS)
		goto unlock;
	/* Another thread may be changing the endpoint; the state may change during the wait. */
	dapl_ep_await_pins(ep);
	ret = dapl_object_is(&ep->obj, serial) ? ep_modify_may_modify(ep, mask, param) :
						 DAPL_EP_BAD_HANDLE;
	if (ret != DAT_SUCCESS)
		goto unlock;
	attr = ep->attr;
	ep_modify_take_attr(&attr, &param->ep_attr, mask);
	if (attr.service_type != ep->attr.service_type ||
	    !dapl_ep_attr_accept(dapl_ia_of(&ep->obj), &attr, &attr)) {
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	} else if (!(mask & PARTS) && ep_modify_same_queue_pair(&attr, &ep->attr)) {
		ep->attr = attr;
	} else if (!dapl_wr_ring_idle(&ep->rings.recvs)) {
		ret = DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_NOTREADY);
	} else {
		wanted = ep_modify_wanted_parts(ep, param, mask);
		return ep_modify_change(ep, &wanted, &attr);
	}
unlock:
	dapl_object_unlock(&ep->obj);
	return ret;
}
