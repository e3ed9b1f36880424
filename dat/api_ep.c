/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of endpoints: each calls the provider of its handle. */
#include "dat/handle.h"

DAT_RETURN DAT_API
dat_ep_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd,
    DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd, const DAT_EP_ATTR *attr,
    DAT_EP_HANDLE *ep)
{
	return IA_CALL(ia, ep_create_func, pz, recv_evd, request_evd, connect_evd, attr, ep);
}

DAT_RETURN DAT_API
dat_ep_create_with_srq(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd,
    DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd, DAT_SRQ_HANDLE srq,
    const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep)
{
	return IA_CALL(
	    ia, ep_create_with_srq_func, pz, recv_evd, request_evd, connect_evd, srq, attr, ep);
}

DAT_RETURN DAT_API
dat_ep_query(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask, DAT_EP_PARAM *param)
{
	return HANDLE_CALL(ep, DAT_INVALID_HANDLE_EP, ep_query_func, ep, mask, param);
}

DAT_RETURN DAT_API
dat_ep_modify(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM *param)
{
	return HANDLE_CALL(ep, DAT_INVALID_HANDLE_EP, ep_modify_func, ep, mask, param);
}

DAT_RETURN DAT_API
dat_ep_get_status(
    DAT_EP_HANDLE ep, DAT_EP_STATE *state, DAT_BOOLEAN *recv_idle, DAT_BOOLEAN *request_idle)
{
	return HANDLE_CALL(
	    ep, DAT_INVALID_HANDLE_EP, ep_get_status_func, ep, state, recv_idle, request_idle);
}

DAT_RETURN DAT_API
dat_ep_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qual,
    DAT_TIMEOUT timeout, DAT_COUNT size, const DAT_PVOID data, DAT_QOS qos, DAT_CONNECT_FLAGS flags)
{
	return HANDLE_CALL(ep, DAT_INVALID_HANDLE_EP, ep_connect_func, ep, address, qual, timeout,
	    size, data, qos, flags);
}

DAT_RETURN DAT_API
dat_ep_common_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address, DAT_TIMEOUT timeout,
    DAT_COUNT size, const DAT_PVOID data)
{
	return HANDLE_CALL(
	    ep, DAT_INVALID_HANDLE_EP, ep_common_connect_func, ep, address, timeout, size, data);
}

DAT_RETURN DAT_API
dat_ep_dup_connect(DAT_EP_HANDLE ep, DAT_EP_HANDLE dup, DAT_TIMEOUT timeout, DAT_COUNT size,
    const DAT_PVOID data, DAT_QOS qos)
{
	return HANDLE_CALL(
	    ep, DAT_INVALID_HANDLE_EP, ep_dup_connect_func, ep, dup, timeout, size, data, qos);
}

DAT_RETURN DAT_API
dat_ep_disconnect(DAT_EP_HANDLE ep, DAT_CLOSE_FLAGS flags)
{
	return HANDLE_CALL(ep, DAT_INVALID_HANDLE_EP, ep_disconnect_func, ep, flags);
}

DAT_RETURN DAT_API
dat_ep_reset(DAT_EP_HANDLE ep)
{
	return HANDLE_CALL(ep, DAT_INVALID_HANDLE_EP, ep_reset_func, ep);
}

DAT_RETURN DAT_API
dat_ep_free(DAT_EP_HANDLE ep)
{
	return HANDLE_CALL(ep, DAT_INVALID_HANDLE_EP, ep_free_func, ep);
}

static __attribute__((noinline)) DAT_RETURN
ep_post_send_any(DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie,
    DAT_COMPLETION_FLAGS flags)
{
	return HANDLE_CALL_ANY(
	    ep, DAT_INVALID_HANDLE_EP, ep_post_send_func, ep, segments, iov, cookie, flags);
}

DAT_RETURN DAT_API
dat_ep_post_send(DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie,
    DAT_COMPLETION_FLAGS flags)
{
	return HANDLE_CALL_OR(
	    ep, ep_post_send_any, ep_post_send_func, ep, segments, iov, cookie, flags);
}

DAT_RETURN DAT_API
dat_ep_post_send_with_invalidate(DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags, DAT_BOOLEAN invalidate,
    DAT_RMR_CONTEXT context)
{
	return HANDLE_CALL(ep, DAT_INVALID_HANDLE_EP, ep_post_send_with_invalidate_func, ep,
	    segments, iov, cookie, flags, invalidate, context);
}

static __attribute__((noinline)) DAT_RETURN
ep_post_recv_any(DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie,
    DAT_COMPLETION_FLAGS flags)
{
	return HANDLE_CALL_ANY(
	    ep, DAT_INVALID_HANDLE_EP, ep_post_recv_func, ep, segments, iov, cookie, flags);
}

DAT_RETURN DAT_API
dat_ep_post_recv(DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie,
    DAT_COMPLETION_FLAGS flags)
{
	return HANDLE_CALL_OR(
	    ep, ep_post_recv_any, ep_post_recv_func, ep, segments, iov, cookie, flags);
}

DAT_RETURN DAT_API
dat_ep_post_rdma_read(DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
	return HANDLE_CALL(ep, DAT_INVALID_HANDLE_EP, ep_post_rdma_read_func, ep, segments, iov,
	    cookie, remote, flags);
}

DAT_RETURN DAT_API
dat_ep_post_rdma_read_to_rmr(DAT_EP_HANDLE ep, const DAT_RMR_TRIPLET *local, DAT_DTO_COOKIE cookie,
    const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
	return HANDLE_CALL(ep, DAT_INVALID_HANDLE_EP, ep_post_rdma_read_to_rmr_func, ep, local,
	    cookie, remote, flags);
}

DAT_RETURN DAT_API
dat_ep_post_rdma_write(DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
	return HANDLE_CALL(ep, DAT_INVALID_HANDLE_EP, ep_post_rdma_write_func, ep, segments, iov,
	    cookie, remote, flags);
}

DAT_RETURN DAT_API
dat_ep_recv_query(DAT_EP_HANDLE ep, DAT_COUNT *allocated, DAT_COUNT *span)
{
	return HANDLE_CALL(ep, DAT_INVALID_HANDLE_EP, ep_recv_query_func, ep, allocated, span);
}

DAT_RETURN DAT_API
dat_ep_set_watermark(DAT_EP_HANDLE ep, DAT_COUNT soft, DAT_COUNT hard)
{
	return HANDLE_CALL(ep, DAT_INVALID_HANDLE_EP, ep_set_watermark_func, ep, soft, hard);
}
