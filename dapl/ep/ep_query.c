/* SPDX-License-Identifier: BSD-3-Clause */
/* ep_query -- the calls that return the parameters and the status of an endpoint */
#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/ep/ep.h"
#include "dapl/object/registry.h"
#include "dapl/trace/err.h"

DAT_RETURN
dapl_ep_query(DAT_EP_HANDLE handle, DAT_EP_PARAM_MASK mask, DAT_EP_PARAM *param)
{
	DAPL_UNCANCELLED;
	struct dapl_ep *ep = dapl_object_lock_handle(handle, DAPL_KIND_EP);
	DAT_EP_PARAM p;
	DAT_RETURN ret;
	struct dapl_ia *ia;

	if (!ep)
		return DAPL_EP_BAD_HANDLE;
	ia = dapl_ia_of(&ep->obj);
	p = (DAT_EP_PARAM){
		.ep_state = ep->state,
		.comm = { .domain = ia->address.ss_family, .type = SOCK_STREAM },
		.local_ia_address_ptr = (DAT_IA_ADDRESS_PTR)&ia->address,
		.remote_port_qual = ep->remote_qual,
		.pz_handle = dapl_ep_pz_handle(ep->parts.pz),
		.recv_evd_handle = dapl_ep_evd_handle(ep->parts.recv),
		.request_evd_handle = dapl_ep_evd_handle(ep->parts.request),
		.connect_evd_handle = dapl_ep_evd_handle(ep->parts.connect),
		.srq_handle = dapl_ep_srq_handle(ep->parts.srq),
		.ep_attr = ep->attr,
	};
	/*
	 * The port is read only when the endpoint is connected: earlier, another thread may be
	 * choosing it.
	 */
	if (ep->conn &&
	    (ep->state == DAT_EP_STATE_CONNECTED || ep->state == DAT_EP_STATE_DISCONNECT_PENDING))
		p.local_port_qual = ntohs(rdma_get_src_port(ep->conn->id));
	if (ep->remote.ss_family != AF_UNSPEC)
		p.remote_ia_address_ptr = (DAT_IA_ADDRESS_PTR)&ep->remote;
	dapl_object_unlock(&ep->obj);
	ret = dapl_err_query(!(mask & ~DAT_EP_FIELD_ALL), param);
	if (ret != DAT_SUCCESS)
		return ret;
	p.ia_handle = dapl_registry_ia_handle(ia->self);
	*param = p;
	return DAT_SUCCESS;
}

DAT_RETURN
dapl_ep_get_status(
    DAT_EP_HANDLE handle, DAT_EP_STATE *state, DAT_BOOLEAN *recv_idle, DAT_BOOLEAN *request_idle)
{
	DAPL_UNCANCELLED;
	struct dapl_ep *ep = dapl_object_lock_handle(handle, DAPL_KIND_EP);
	bool polls;

	if (!ep)
		return DAPL_EP_BAD_HANDLE;
	/*
	 * A request whose completion was not polled yet is complete.  An endpoint without a queue
	 * pair has no requests, and another thread may be changing its parts.
	 */
	polls = (recv_idle || request_idle) && ep->qp;
	if (polls) {
		dapl_ep_get_pin(ep);
		dapl_object_unlock(&ep->obj);
		dapl_ep_refresh(ep);
		dapl_object_lock(&ep->obj);
	}
	if (state)
		*state = ep->state;
	if (recv_idle)
		*recv_idle = dapl_wr_ring_idle(&ep->rings.recvs) ? DAT_TRUE : DAT_FALSE;
	if (request_idle)
		*request_idle = dapl_wr_ring_idle(&ep->rings.requests) ? DAT_TRUE : DAT_FALSE;
	dapl_object_unlock(&ep->obj);
	if (polls)
		dapl_ep_put_pin(ep);
	return DAT_SUCCESS;
}

/*
 * A receive of the endpoint's own queue belongs to it from the post to the completion.  The device
 * does not report how many buffers of a shared receive queue a queue pair has taken.
 */
DAT_RETURN
dapl_ep_recv_query(DAT_EP_HANDLE handle, DAT_COUNT *allocated, DAT_COUNT *span)
{
	DAPL_UNCANCELLED;
	struct dapl_ep *ep = dapl_object_lock_handle(handle, DAPL_KIND_EP);
	DAT_COUNT posted;
	bool shared;

	if (!ep)
		return DAPL_EP_BAD_HANDLE;
	shared = ep->parts.srq != NULL;
	posted = (DAT_COUNT)dapl_wr_ring_outstanding(&ep->rings.recvs);
	dapl_object_unlock(&ep->obj);
	if (shared)
		return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	if (allocated)
		*allocated = posted;
	if (span)
		*span = posted;
	return DAT_SUCCESS;
}

/* No device counts, or limits, the buffers that a queue pair takes. */
DAT_RETURN
dapl_ep_set_watermark(DAT_EP_HANDLE handle, DAT_COUNT soft, DAT_COUNT hard)
{
	DAPL_UNCANCELLED;

	if (!dapl_handle_is(handle, DAPL_KIND_EP))
		return DAPL_EP_BAD_HANDLE;
	if (soft < 0 && soft != DAT_WATERMARK_INFINITE)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if (hard < 0 && hard != DAT_WATERMARK_INFINITE)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	/* Without limits there is nothing to do. */
	if (soft == DAT_WATERMARK_INFINITE && hard == DAT_WATERMARK_INFINITE)
		return DAT_SUCCESS;
	return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
}
