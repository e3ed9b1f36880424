/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * redirect -- uses every macro by which providers and registries reach a provider's table
 *
 * Only compiled: with our headers, and with those of the system if it has any.
 */
#include <netinet/in.h>
#include <stdarg.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

DAT_RETURN
redirect_ia_query(DAT_IA_HANDLE ia, DAT_EVD_HANDLE *async_evd, DAT_IA_ATTR_MASK ia_mask,
    DAT_IA_ATTR *ia_attr, DAT_PROVIDER_ATTR_MASK provider_mask, DAT_PROVIDER_ATTR *provider_attr)
{
	return DAT_IA_QUERY(ia, async_evd, ia_mask, ia_attr, provider_mask, provider_attr);
}

DAT_RETURN
redirect_set_consumer_context(DAT_HANDLE handle, DAT_CONTEXT context)
{
	return DAT_SET_CONSUMER_CONTEXT(handle, context);
}

DAT_RETURN
redirect_get_consumer_context(DAT_HANDLE handle, DAT_CONTEXT *context)
{
	return DAT_GET_CONSUMER_CONTEXT(handle, context);
}

DAT_RETURN
redirect_get_handle_type(DAT_HANDLE handle, DAT_HANDLE_TYPE *type)
{
	return DAT_GET_HANDLE_TYPE(handle, type);
}

DAT_RETURN
redirect_cr_query(DAT_CR_HANDLE cr, DAT_CR_PARAM_MASK mask, DAT_CR_PARAM *param)
{
	return DAT_CR_QUERY(cr, mask, param);
}

DAT_RETURN
redirect_cr_accept(DAT_CR_HANDLE cr, DAT_EP_HANDLE ep, DAT_COUNT size, const DAT_PVOID data)
{
	return DAT_CR_ACCEPT(cr, ep, size, data);
}

DAT_RETURN
redirect_cr_reject(DAT_CR_HANDLE cr, DAT_COUNT size, const DAT_PVOID data)
{
	return DAT_CR_REJECT(cr, size, data);
}

DAT_RETURN
redirect_cr_handoff(DAT_CR_HANDLE cr, DAT_CONN_QUAL qual)
{
	return DAT_CR_HANDOFF(cr, qual);
}

DAT_RETURN
redirect_evd_resize(DAT_EVD_HANDLE evd, DAT_COUNT min_qlen)
{
	return DAT_EVD_RESIZE(evd, min_qlen);
}

DAT_RETURN
redirect_evd_post_se(DAT_EVD_HANDLE evd, const DAT_EVENT *event)
{
	return DAT_EVD_POST_SE(evd, event);
}

DAT_RETURN
redirect_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
	return DAT_EVD_DEQUEUE(evd, event);
}

DAT_RETURN
redirect_evd_query(DAT_EVD_HANDLE evd, DAT_EVD_PARAM_MASK mask, DAT_EVD_PARAM *param)
{
	return DAT_EVD_QUERY(evd, mask, param);
}

DAT_RETURN
redirect_evd_free(DAT_EVD_HANDLE evd)
{
	return DAT_EVD_FREE(evd);
}

DAT_RETURN
redirect_ep_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd,
    DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd, const DAT_EP_ATTR *attr,
    DAT_EP_HANDLE *ep)
{
	return DAT_EP_CREATE(ia, pz, recv_evd, request_evd, connect_evd, attr, ep);
}

DAT_RETURN
redirect_ep_create_with_srq(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd,
    DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd, DAT_SRQ_HANDLE srq,
    const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep)
{
	return DAT_EP_CREATE_WITH_SRQ(ia, pz, recv_evd, request_evd, connect_evd, srq, attr, ep);
}

DAT_RETURN
redirect_ep_query(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask, DAT_EP_PARAM *param)
{
	return DAT_EP_QUERY(ep, mask, param);
}

DAT_RETURN
redirect_ep_modify(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM *param)
{
	return DAT_EP_MODIFY(ep, mask, param);
}

DAT_RETURN
redirect_ep_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qual,
    DAT_TIMEOUT timeout, DAT_COUNT size, const DAT_PVOID data, DAT_QOS qos, DAT_CONNECT_FLAGS flags)
{
	return DAT_EP_CONNECT(ep, address, qual, timeout, size, data, qos, flags);
}

DAT_RETURN
redirect_ep_common_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address, DAT_TIMEOUT timeout,
    DAT_COUNT size, const DAT_PVOID data)
{
	return DAT_EP_COMMON_CONNECT(ep, address, timeout, size, data);
}

DAT_RETURN
redirect_ep_dup_connect(DAT_EP_HANDLE ep, DAT_EP_HANDLE dup, DAT_TIMEOUT timeout, DAT_COUNT size,
    const DAT_PVOID data, DAT_QOS qos)
{
	return DAT_EP_DUP_CONNECT(ep, dup, timeout, size, data, qos);
}

DAT_RETURN
redirect_ep_disconnect(DAT_EP_HANDLE ep, DAT_CLOSE_FLAGS flags)
{
	return DAT_EP_DISCONNECT(ep, flags);
}

DAT_RETURN
redirect_ep_post_send(DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags)
{
	return DAT_EP_POST_SEND(ep, segments, iov, cookie, flags);
}

DAT_RETURN
redirect_ep_post_send_with_invalidate(DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags, DAT_BOOLEAN invalidate,
    DAT_RMR_CONTEXT context)
{
	return DAT_EP_POST_SEND_WITH_INVALIDATE(
	    ep, segments, iov, cookie, flags, invalidate, context);
}

DAT_RETURN
redirect_ep_post_recv(DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags)
{
	return DAT_EP_POST_RECV(ep, segments, iov, cookie, flags);
}

DAT_RETURN
redirect_ep_post_rdma_read(DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
	return DAT_EP_POST_RDMA_READ(ep, segments, iov, cookie, remote, flags);
}

DAT_RETURN
redirect_ep_post_rdma_read_to_rmr(DAT_EP_HANDLE ep, const DAT_RMR_TRIPLET *local,
    DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
	return DAT_EP_POST_RDMA_READ_TO_RMR(ep, local, cookie, remote, flags);
}

DAT_RETURN
redirect_ep_post_rdma_write(DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
    DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags)
{
	return DAT_EP_POST_RDMA_WRITE(ep, segments, iov, cookie, remote, flags);
}

DAT_RETURN
redirect_ep_get_status(
    DAT_EP_HANDLE ep, DAT_EP_STATE *state, DAT_BOOLEAN *recv_idle, DAT_BOOLEAN *request_idle)
{
	return DAT_EP_GET_STATUS(ep, state, recv_idle, request_idle);
}

DAT_RETURN
redirect_ep_free(DAT_EP_HANDLE ep)
{
	return DAT_EP_FREE(ep);
}

DAT_RETURN
redirect_ep_reset(DAT_EP_HANDLE ep)
{
	return DAT_EP_RESET(ep);
}

DAT_RETURN
redirect_ep_recv_query(DAT_EP_HANDLE ep, DAT_COUNT *allocated, DAT_COUNT *span)
{
	return DAT_EP_RECV_QUERY(ep, allocated, span);
}

DAT_RETURN
redirect_ep_set_watermark(DAT_EP_HANDLE ep, DAT_COUNT soft, DAT_COUNT hard)
{
	return DAT_EP_SET_WATERMARK(ep, soft, hard);
}

DAT_RETURN
redirect_lmr_query(DAT_LMR_HANDLE lmr, DAT_LMR_PARAM_MASK mask, DAT_LMR_PARAM *param)
{
	return DAT_LMR_QUERY(lmr, mask, param);
}

DAT_RETURN
redirect_lmr_free(DAT_LMR_HANDLE lmr)
{
	return DAT_LMR_FREE(lmr);
}

DAT_RETURN
redirect_lmr_sync_rdma_read(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET *segments, DAT_VLEN count)
{
	return DAT_LMR_SYNC_RDMA_READ(ia, segments, count);
}

DAT_RETURN
redirect_lmr_sync_rdma_write(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET *segments, DAT_VLEN count)
{
	return DAT_LMR_SYNC_RDMA_WRITE(ia, segments, count);
}

DAT_RETURN
redirect_rmr_create(DAT_PZ_HANDLE pz, DAT_RMR_HANDLE *rmr)
{
	return DAT_RMR_CREATE(pz, rmr);
}

DAT_RETURN
redirect_rmr_create_for_ep(DAT_PZ_HANDLE pz, DAT_RMR_HANDLE *rmr)
{
	return DAT_RMR_CREATE_FOR_EP(pz, rmr);
}

DAT_RETURN
redirect_rmr_query(DAT_RMR_HANDLE rmr, DAT_RMR_PARAM_MASK mask, DAT_RMR_PARAM *param)
{
	return DAT_RMR_QUERY(rmr, mask, param);
}

DAT_RETURN
redirect_rmr_bind(DAT_RMR_HANDLE rmr, DAT_LMR_HANDLE lmr, const DAT_LMR_TRIPLET *range,
    DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type, DAT_EP_HANDLE ep, DAT_RMR_COOKIE cookie,
    DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT *context)
{
	return DAT_RMR_BIND(rmr, lmr, range, privileges, va_type, ep, cookie, flags, context);
}

DAT_RETURN
redirect_rmr_free(DAT_RMR_HANDLE rmr)
{
	return DAT_RMR_FREE(rmr);
}

DAT_RETURN
redirect_psp_create(DAT_IA_HANDLE ia, DAT_CONN_QUAL qual, DAT_EVD_HANDLE evd, DAT_PSP_FLAGS flags,
    DAT_PSP_HANDLE *psp)
{
	return DAT_PSP_CREATE(ia, qual, evd, flags, psp);
}

DAT_RETURN
redirect_psp_create_any(DAT_IA_HANDLE ia, DAT_CONN_QUAL *qual, DAT_EVD_HANDLE evd,
    DAT_PSP_FLAGS flags, DAT_PSP_HANDLE *psp)
{
	return DAT_PSP_CREATE_ANY(ia, qual, evd, flags, psp);
}

DAT_RETURN
redirect_psp_query(DAT_PSP_HANDLE psp, DAT_PSP_PARAM_MASK mask, DAT_PSP_PARAM *param)
{
	return DAT_PSP_QUERY(psp, mask, param);
}

DAT_RETURN
redirect_psp_free(DAT_PSP_HANDLE psp)
{
	return DAT_PSP_FREE(psp);
}

DAT_RETURN
redirect_rsp_create(
    DAT_IA_HANDLE ia, DAT_CONN_QUAL qual, DAT_EP_HANDLE ep, DAT_EVD_HANDLE evd, DAT_RSP_HANDLE *rsp)
{
	return DAT_RSP_CREATE(ia, qual, ep, evd, rsp);
}

DAT_RETURN
redirect_rsp_query(DAT_RSP_HANDLE rsp, DAT_RSP_PARAM_MASK mask, DAT_RSP_PARAM *param)
{
	return DAT_RSP_QUERY(rsp, mask, param);
}

DAT_RETURN
redirect_rsp_free(DAT_RSP_HANDLE rsp)
{
	return DAT_RSP_FREE(rsp);
}

DAT_RETURN
redirect_csp_create(DAT_IA_HANDLE ia, DAT_COMM *comm, DAT_IA_ADDRESS_PTR address,
    DAT_EVD_HANDLE evd, DAT_CSP_HANDLE *csp)
{
	return DAT_CSP_CREATE(ia, comm, address, evd, csp);
}

DAT_RETURN
redirect_csp_query(DAT_CSP_HANDLE csp, DAT_CSP_PARAM_MASK mask, DAT_CSP_PARAM *param)
{
	return DAT_CSP_QUERY(csp, mask, param);
}

DAT_RETURN
redirect_csp_free(DAT_CSP_HANDLE csp)
{
	return DAT_CSP_FREE(csp);
}

DAT_RETURN
redirect_pz_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE *pz)
{
	return DAT_PZ_CREATE(ia, pz);
}

DAT_RETURN
redirect_pz_query(DAT_PZ_HANDLE pz, DAT_PZ_PARAM_MASK mask, DAT_PZ_PARAM *param)
{
	return DAT_PZ_QUERY(pz, mask, param);
}

DAT_RETURN
redirect_pz_free(DAT_PZ_HANDLE pz)
{
	return DAT_PZ_FREE(pz);
}

DAT_RETURN
redirect_srq_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_SRQ_ATTR *attr, DAT_SRQ_HANDLE *srq)
{
	return DAT_SRQ_CREATE(ia, pz, attr, srq);
}

DAT_RETURN
redirect_srq_free(DAT_SRQ_HANDLE srq)
{
	return DAT_SRQ_FREE(srq);
}

DAT_RETURN
redirect_srq_post_recv(
    DAT_SRQ_HANDLE srq, DAT_COUNT segments, DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie)
{
	return DAT_SRQ_POST_RECV(srq, segments, iov, cookie);
}

DAT_RETURN
redirect_srq_query(DAT_SRQ_HANDLE srq, DAT_SRQ_PARAM_MASK mask, DAT_SRQ_PARAM *param)
{
	return DAT_SRQ_QUERY(srq, mask, param);
}

DAT_RETURN
redirect_srq_resize(DAT_SRQ_HANDLE srq, DAT_COUNT max_recv_dtos)
{
	return DAT_SRQ_RESIZE(srq, max_recv_dtos);
}

DAT_RETURN
redirect_srq_set_lw(DAT_SRQ_HANDLE srq, DAT_COUNT low_watermark)
{
	return DAT_SRQ_SET_LW(srq, low_watermark);
}

DAT_RETURN
redirect_lmr_create(DAT_IA_HANDLE ia, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region,
    DAT_VLEN length, DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type,
    DAT_LMR_HANDLE *lmr, DAT_LMR_CONTEXT *lmr_context, DAT_RMR_CONTEXT *rmr_context,
    DAT_VLEN *registered_length, DAT_VADDR *registered_address)
{
	return DAT_LMR_CREATE(ia, type, region, length, pz, privileges, va_type, lmr, lmr_context,
	    rmr_context, registered_length, registered_address);
}

DAT_RETURN
redirect_evd_create(DAT_IA_HANDLE ia, DAT_COUNT min_qlen, DAT_CNO_HANDLE cno, DAT_EVD_FLAGS flags,
    DAT_EVD_HANDLE *evd)
{
	return DAT_EVD_CREATE(ia, min_qlen, cno, flags, evd);
}

DAT_RETURN
redirect_evd_modify_cno(DAT_EVD_HANDLE evd, DAT_CNO_HANDLE cno)
{
	return DAT_EVD_MODIFY_CNO(evd, cno);
}

DAT_RETURN
redirect_evd_enable(DAT_EVD_HANDLE evd)
{
	return DAT_EVD_ENABLE(evd);
}

DAT_RETURN
redirect_evd_disable(DAT_EVD_HANDLE evd)
{
	return DAT_EVD_DISABLE(evd);
}

DAT_RETURN
redirect_evd_wait(
    DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold, DAT_EVENT *event, DAT_COUNT *more)
{
	return DAT_EVD_WAIT(evd, timeout, threshold, event, more);
}

DAT_RETURN
redirect_evd_set_unwaitable(DAT_EVD_HANDLE evd)
{
	return DAT_EVD_SET_UNWAITABLE(evd);
}

DAT_RETURN
redirect_evd_clear_unwaitable(DAT_EVD_HANDLE evd)
{
	return DAT_EVD_CLEAR_UNWAITABLE(evd);
}

DAT_RETURN
redirect_cno_create(DAT_IA_HANDLE ia, DAT_OS_WAIT_PROXY_AGENT agent, DAT_CNO_HANDLE *cno)
{
	return DAT_CNO_CREATE(ia, agent, cno);
}

DAT_RETURN
redirect_cno_fd_create(DAT_IA_HANDLE ia, DAT_FD *fd, DAT_CNO_HANDLE *cno)
{
	return DAT_CNO_FD_CREATE(ia, fd, cno);
}

DAT_RETURN
redirect_cno_trigger(DAT_CNO_HANDLE cno, DAT_EVD_HANDLE *evd)
{
	return DAT_CNO_TRIGGER(cno, evd);
}

DAT_RETURN
redirect_cno_modify_agent(DAT_CNO_HANDLE cno, DAT_OS_WAIT_PROXY_AGENT agent)
{
	return DAT_CNO_MODIFY_AGENT(cno, agent);
}

DAT_RETURN
redirect_cno_query(DAT_CNO_HANDLE cno, DAT_CNO_PARAM_MASK mask, DAT_CNO_PARAM *param)
{
	return DAT_CNO_QUERY(cno, mask, param);
}

DAT_RETURN
redirect_cno_free(DAT_CNO_HANDLE cno)
{
	return DAT_CNO_FREE(cno);
}

DAT_RETURN
redirect_cno_wait(DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout, DAT_EVD_HANDLE *evd)
{
	return DAT_CNO_WAIT(cno, timeout, evd);
}

DAT_RETURN
redirect_extendedop(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args)
{
	return DAT_HANDLE_EXTENDEDOP(handle, op, args);
}
