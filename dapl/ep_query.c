/* SPDX-License-Identifier: BSD-3-Clause */
/* ep_query -- what an endpoint is asked, and told to be */
#include "dapl/api.h"
#include "dapl/ep.h"
#include "dapl/err.h"

#define BAD_EP DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP)

DAT_RETURN
dapl_ep_query(DAT_EP_HANDLE handle, DAT_EP_PARAM_MASK mask, DAT_EP_PARAM *param)
{
	struct ep *ep = object_lock(handle, KIND_EP);
	DAT_EP_PARAM p = { 0 };
	struct ia *ia;

	if (!ep)
		return BAD_EP;
	ia = ep->obj.ia;
	p.ep_state = ep->state;
	p.comm.domain = ia->address.ss_family;
	p.comm.type = SOCK_STREAM;
	p.local_ia_address_ptr = (DAT_IA_ADDRESS_PTR)&ia->address;
	if (ep->conn)
		p.local_port_qual = ntohs(rdma_get_src_port(ep->conn->id));
	if (ep->remote.ss_family != AF_UNSPEC)
		p.remote_ia_address_ptr = (DAT_IA_ADDRESS_PTR)&ep->remote;
	p.remote_port_qual = ep->remote_qual;
	p.pz_handle = object_handle(&ep->pz->obj);
	p.recv_evd_handle = ep->recv_evd ? ep->recv_evd->core.cfg.handle : DAT_HANDLE_NULL;
	p.request_evd_handle = ep->request_evd ? ep->request_evd->core.cfg.handle : DAT_HANDLE_NULL;
	p.connect_evd_handle = ep->connect_evd ? ep->connect_evd->core.cfg.handle : DAT_HANDLE_NULL;
	p.srq_handle = DAT_HANDLE_NULL;
	p.ep_attr = ep->attr;
	os_unlock(&ep->obj.lock);
	if (mask & ~DAT_EP_FIELD_ALL)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if (!param)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	p.ia_handle = registry_ia_handle(ia->self);
	*param = p;
	return DAT_SUCCESS;
}

DAT_RETURN
dapl_ep_get_status(
    DAT_EP_HANDLE handle, DAT_EP_STATE *state, DAT_BOOLEAN *recv_idle, DAT_BOOLEAN *request_idle)
{
	struct ep *ep = object_lock(handle, KIND_EP);

	if (!ep)
		return BAD_EP;
	if (state)
		*state = ep->state;
	if (recv_idle)
		*recv_idle = wr_ring_idle(&ep->recvs) ? DAT_TRUE : DAT_FALSE;
	if (request_idle)
		*request_idle = wr_ring_idle(&ep->requests) ? DAT_TRUE : DAT_FALSE;
	os_unlock(&ep->obj.lock);
	return DAT_SUCCESS;
}

#define MODIFIABLE DAT_EP_FIELD_EP_ATTR_ALL

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

/* What is part of the queue pair or of a ring cannot change while the endpoint lives. */
static bool
same_queue_pair(const DAT_EP_ATTR *a, const DAT_EP_ATTR *b)
{
	return a->max_recv_dtos == b->max_recv_dtos && a->max_request_dtos == b->max_request_dtos &&
	       a->max_recv_iov == b->max_recv_iov && a->max_request_iov == b->max_request_iov &&
	       a->max_rdma_read_iov == b->max_rdma_read_iov &&
	       a->max_rdma_write_iov == b->max_rdma_write_iov;
}

DAT_RETURN
dapl_ep_modify(DAT_EP_HANDLE handle, DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM *param)
{
	struct ep *ep = object_lock(handle, KIND_EP);
	DAT_RETURN ret = DAT_SUCCESS;
	DAT_EP_ATTR attr;

	if (!ep)
		return BAD_EP;
	if (mask & ~DAT_EP_FIELD_ALL)
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	else if (!param)
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	else if (ep_may(ep->state, EP_MODIFY) != EP_ALLOWED)
		ret = DAT_ERROR(DAT_INVALID_STATE, ep_state_subtype(ep->state));
	else if (mask & ~MODIFIABLE)
		/* The IA, the state and the addresses never; PZ and EVDs are fixed at creation. */
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if (ret == DAT_SUCCESS) {
		attr = ep->attr;
		take_attr(&attr, &param->ep_attr, mask);
		if (!ep_attr_accept(ep->obj.ia, &attr, &attr) || !same_queue_pair(&attr, &ep->attr))
			ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
		else
			ep->attr = attr;
	}
	os_unlock(&ep->obj.lock);
	return ret;
}
