/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stub_slots -- a function for every slot of the provider table, which records its call
 */
#include "stub_provider.h"

#define SLOT(name, parameters, ...) \
	static DAT_RETURN slot_##name parameters \
	{ \
		NOTE(#name, __VA_ARGS__); \
		return DAT_SUCCESS; \
	}

SLOT(set_consumer_context, (DAT_HANDLE handle, DAT_CONTEXT context), NOTE_POINTER(handle),
    context.as_64)
SLOT(get_consumer_context, (DAT_HANDLE handle, DAT_CONTEXT *context), NOTE_POINTER(handle),
    NOTE_POINTER(context))
SLOT(get_handle_type, (DAT_HANDLE handle, DAT_HANDLE_TYPE *type), NOTE_POINTER(handle),
    NOTE_POINTER(type))
SLOT(cno_create, (DAT_IA_HANDLE ia, DAT_OS_WAIT_PROXY_AGENT agent, DAT_CNO_HANDLE *cno),
    NOTE_POINTER(ia), NOTE_POINTER(agent.instance_data), NOTE_POINTER(cno))
SLOT(cno_modify_agent, (DAT_CNO_HANDLE cno, DAT_OS_WAIT_PROXY_AGENT agent), NOTE_POINTER(cno),
    NOTE_POINTER(agent.instance_data))
SLOT(cno_query, (DAT_CNO_HANDLE cno, DAT_CNO_PARAM_MASK mask, DAT_CNO_PARAM *param),
    NOTE_POINTER(cno), (DAT_UINT64)mask, NOTE_POINTER(param))
SLOT(cno_free, (DAT_CNO_HANDLE cno), NOTE_POINTER(cno))
SLOT(cno_wait, (DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout, DAT_EVD_HANDLE *evd), NOTE_POINTER(cno),
    (DAT_UINT64)timeout, NOTE_POINTER(evd))
SLOT(cr_query, (DAT_CR_HANDLE cr, DAT_CR_PARAM_MASK mask, DAT_CR_PARAM *param), NOTE_POINTER(cr),
    (DAT_UINT64)mask, NOTE_POINTER(param))
SLOT(cr_accept, (DAT_CR_HANDLE cr, DAT_EP_HANDLE ep, DAT_COUNT size, const DAT_PVOID data),
    NOTE_POINTER(cr), NOTE_POINTER(ep), (DAT_UINT64)size, NOTE_POINTER(data))
SLOT(cr_reject, (DAT_CR_HANDLE cr, DAT_COUNT size, const DAT_PVOID data), NOTE_POINTER(cr),
    (DAT_UINT64)size, NOTE_POINTER(data))
SLOT(cr_handoff, (DAT_CR_HANDLE cr, DAT_CONN_QUAL qual), NOTE_POINTER(cr), (DAT_UINT64)qual)
SLOT(evd_create,
    (DAT_IA_HANDLE ia, DAT_COUNT min_qlen, DAT_CNO_HANDLE cno, DAT_EVD_FLAGS flags,
	DAT_EVD_HANDLE *evd),
    NOTE_POINTER(ia), (DAT_UINT64)min_qlen, NOTE_POINTER(cno), (DAT_UINT64)flags, NOTE_POINTER(evd))
SLOT(evd_query, (DAT_EVD_HANDLE evd, DAT_EVD_PARAM_MASK mask, DAT_EVD_PARAM *param),
    NOTE_POINTER(evd), (DAT_UINT64)mask, NOTE_POINTER(param))
SLOT(evd_modify_cno, (DAT_EVD_HANDLE evd, DAT_CNO_HANDLE cno), NOTE_POINTER(evd), NOTE_POINTER(cno))
SLOT(evd_enable, (DAT_EVD_HANDLE evd), NOTE_POINTER(evd))
SLOT(evd_disable, (DAT_EVD_HANDLE evd), NOTE_POINTER(evd))
SLOT(evd_wait,
    (DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold, DAT_EVENT *event,
	DAT_COUNT *more),
    NOTE_POINTER(evd), (DAT_UINT64)timeout, (DAT_UINT64)threshold, NOTE_POINTER(event),
    NOTE_POINTER(more))
SLOT(evd_resize, (DAT_EVD_HANDLE evd, DAT_COUNT min_qlen), NOTE_POINTER(evd), (DAT_UINT64)min_qlen)
SLOT(evd_post_se, (DAT_EVD_HANDLE evd, const DAT_EVENT *event), NOTE_POINTER(evd),
    NOTE_POINTER(event))
SLOT(evd_dequeue, (DAT_EVD_HANDLE evd, DAT_EVENT *event), NOTE_POINTER(evd), NOTE_POINTER(event))
SLOT(evd_free, (DAT_EVD_HANDLE evd), NOTE_POINTER(evd))
SLOT(ep_create,
    (DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd, DAT_EVD_HANDLE request_evd,
	DAT_EVD_HANDLE connect_evd, const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep),
    NOTE_POINTER(ia), NOTE_POINTER(pz), NOTE_POINTER(recv_evd), NOTE_POINTER(request_evd),
    NOTE_POINTER(connect_evd), NOTE_POINTER(attr), NOTE_POINTER(ep))
SLOT(ep_query, (DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask, DAT_EP_PARAM *param), NOTE_POINTER(ep),
    (DAT_UINT64)mask, NOTE_POINTER(param))
SLOT(ep_modify, (DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM *param),
    NOTE_POINTER(ep), (DAT_UINT64)mask, NOTE_POINTER(param))
SLOT(ep_connect,
    (DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qual, DAT_TIMEOUT timeout,
	DAT_COUNT size, const DAT_PVOID data, DAT_QOS qos, DAT_CONNECT_FLAGS flags),
    NOTE_POINTER(ep), NOTE_POINTER(address), (DAT_UINT64)qual, (DAT_UINT64)timeout,
    (DAT_UINT64)size, NOTE_POINTER(data), (DAT_UINT64)qos, (DAT_UINT64)flags)
SLOT(ep_dup_connect,
    (DAT_EP_HANDLE ep, DAT_EP_HANDLE dup, DAT_TIMEOUT timeout, DAT_COUNT size, const DAT_PVOID data,
	DAT_QOS qos),
    NOTE_POINTER(ep), NOTE_POINTER(dup), (DAT_UINT64)timeout, (DAT_UINT64)size, NOTE_POINTER(data),
    (DAT_UINT64)qos)
SLOT(ep_disconnect, (DAT_EP_HANDLE ep, DAT_CLOSE_FLAGS flags), NOTE_POINTER(ep), (DAT_UINT64)flags)
SLOT(ep_post_send,
    (DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie,
	DAT_COMPLETION_FLAGS flags),
    NOTE_POINTER(ep), (DAT_UINT64)segments, NOTE_POINTER(iov), cookie.as_64, (DAT_UINT64)flags)
SLOT(ep_post_recv,
    (DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie,
	DAT_COMPLETION_FLAGS flags),
    NOTE_POINTER(ep), (DAT_UINT64)segments, NOTE_POINTER(iov), cookie.as_64, (DAT_UINT64)flags)
SLOT(ep_post_rdma_read,
    (DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie,
	const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags),
    NOTE_POINTER(ep), (DAT_UINT64)segments, NOTE_POINTER(iov), cookie.as_64, NOTE_POINTER(remote),
    (DAT_UINT64)flags)
SLOT(ep_post_rdma_write,
    (DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie,
	const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags),
    NOTE_POINTER(ep), (DAT_UINT64)segments, NOTE_POINTER(iov), cookie.as_64, NOTE_POINTER(remote),
    (DAT_UINT64)flags)
SLOT(ep_get_status,
    (DAT_EP_HANDLE ep, DAT_EP_STATE *state, DAT_BOOLEAN *recv_idle, DAT_BOOLEAN *request_idle),
    NOTE_POINTER(ep), NOTE_POINTER(state), NOTE_POINTER(recv_idle), NOTE_POINTER(request_idle))
SLOT(ep_free, (DAT_EP_HANDLE ep), NOTE_POINTER(ep))
SLOT(lmr_create,
    (DAT_IA_HANDLE ia, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region, DAT_VLEN length,
	DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type, DAT_LMR_HANDLE *lmr,
	DAT_LMR_CONTEXT *lmr_context, DAT_RMR_CONTEXT *rmr_context, DAT_VLEN *registered_length,
	DAT_VADDR *registered_address),
    NOTE_POINTER(ia), (DAT_UINT64)type, NOTE_POINTER(region.for_va), (DAT_UINT64)length,
    NOTE_POINTER(pz), (DAT_UINT64)privileges, (DAT_UINT64)va_type, NOTE_POINTER(lmr),
    NOTE_POINTER(lmr_context), NOTE_POINTER(rmr_context), NOTE_POINTER(registered_length),
    NOTE_POINTER(registered_address))
SLOT(lmr_query, (DAT_LMR_HANDLE lmr, DAT_LMR_PARAM_MASK mask, DAT_LMR_PARAM *param),
    NOTE_POINTER(lmr), (DAT_UINT64)mask, NOTE_POINTER(param))
SLOT(lmr_free, (DAT_LMR_HANDLE lmr), NOTE_POINTER(lmr))
SLOT(rmr_create, (DAT_PZ_HANDLE pz, DAT_RMR_HANDLE *rmr), NOTE_POINTER(pz), NOTE_POINTER(rmr))
SLOT(rmr_query, (DAT_RMR_HANDLE rmr, DAT_RMR_PARAM_MASK mask, DAT_RMR_PARAM *param),
    NOTE_POINTER(rmr), (DAT_UINT64)mask, NOTE_POINTER(param))
SLOT(rmr_bind,
    (DAT_RMR_HANDLE rmr, DAT_LMR_HANDLE lmr, const DAT_LMR_TRIPLET *range,
	DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type, DAT_EP_HANDLE ep, DAT_RMR_COOKIE cookie,
	DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT *context),
    NOTE_POINTER(rmr), NOTE_POINTER(lmr), NOTE_POINTER(range), (DAT_UINT64)privileges,
    (DAT_UINT64)va_type, NOTE_POINTER(ep), cookie.as_64, (DAT_UINT64)flags, NOTE_POINTER(context))
SLOT(rmr_free, (DAT_RMR_HANDLE rmr), NOTE_POINTER(rmr))
SLOT(psp_create,
    (DAT_IA_HANDLE ia, DAT_CONN_QUAL qual, DAT_EVD_HANDLE evd, DAT_PSP_FLAGS flags,
	DAT_PSP_HANDLE *psp),
    NOTE_POINTER(ia), (DAT_UINT64)qual, NOTE_POINTER(evd), (DAT_UINT64)flags, NOTE_POINTER(psp))
SLOT(psp_query, (DAT_PSP_HANDLE psp, DAT_PSP_PARAM_MASK mask, DAT_PSP_PARAM *param),
    NOTE_POINTER(psp), (DAT_UINT64)mask, NOTE_POINTER(param))
SLOT(psp_free, (DAT_PSP_HANDLE psp), NOTE_POINTER(psp))
SLOT(rsp_create,
    (DAT_IA_HANDLE ia, DAT_CONN_QUAL qual, DAT_EP_HANDLE ep, DAT_EVD_HANDLE evd,
	DAT_RSP_HANDLE *rsp),
    NOTE_POINTER(ia), (DAT_UINT64)qual, NOTE_POINTER(ep), NOTE_POINTER(evd), NOTE_POINTER(rsp))
SLOT(rsp_query, (DAT_RSP_HANDLE rsp, DAT_RSP_PARAM_MASK mask, DAT_RSP_PARAM *param),
    NOTE_POINTER(rsp), (DAT_UINT64)mask, NOTE_POINTER(param))
SLOT(rsp_free, (DAT_RSP_HANDLE rsp), NOTE_POINTER(rsp))
SLOT(pz_create, (DAT_IA_HANDLE ia, DAT_PZ_HANDLE *pz), NOTE_POINTER(ia), NOTE_POINTER(pz))
SLOT(pz_query, (DAT_PZ_HANDLE pz, DAT_PZ_PARAM_MASK mask, DAT_PZ_PARAM *param), NOTE_POINTER(pz),
    (DAT_UINT64)mask, NOTE_POINTER(param))
SLOT(pz_free, (DAT_PZ_HANDLE pz), NOTE_POINTER(pz))
SLOT(psp_create_any,
    (DAT_IA_HANDLE ia, DAT_CONN_QUAL *qual, DAT_EVD_HANDLE evd, DAT_PSP_FLAGS flags,
	DAT_PSP_HANDLE *psp),
    NOTE_POINTER(ia), NOTE_POINTER(qual), NOTE_POINTER(evd), (DAT_UINT64)flags, NOTE_POINTER(psp))
SLOT(ep_reset, (DAT_EP_HANDLE ep), NOTE_POINTER(ep))
SLOT(evd_set_unwaitable, (DAT_EVD_HANDLE evd), NOTE_POINTER(evd))
SLOT(evd_clear_unwaitable, (DAT_EVD_HANDLE evd), NOTE_POINTER(evd))
SLOT(lmr_sync_rdma_read, (DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET *segments, DAT_VLEN count),
    NOTE_POINTER(ia), NOTE_POINTER(segments), (DAT_UINT64)count)
SLOT(lmr_sync_rdma_write, (DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET *segments, DAT_VLEN count),
    NOTE_POINTER(ia), NOTE_POINTER(segments), (DAT_UINT64)count)
SLOT(ep_create_with_srq,
    (DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd, DAT_EVD_HANDLE request_evd,
	DAT_EVD_HANDLE connect_evd, DAT_SRQ_HANDLE srq, const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep),
    NOTE_POINTER(ia), NOTE_POINTER(pz), NOTE_POINTER(recv_evd), NOTE_POINTER(request_evd),
    NOTE_POINTER(connect_evd), NOTE_POINTER(srq), NOTE_POINTER(attr), NOTE_POINTER(ep))
SLOT(ep_recv_query, (DAT_EP_HANDLE ep, DAT_COUNT *allocated, DAT_COUNT *span), NOTE_POINTER(ep),
    NOTE_POINTER(allocated), NOTE_POINTER(span))
SLOT(ep_set_watermark, (DAT_EP_HANDLE ep, DAT_COUNT soft, DAT_COUNT hard), NOTE_POINTER(ep),
    (DAT_UINT64)soft, (DAT_UINT64)hard)
SLOT(srq_create, (DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_SRQ_ATTR *attr, DAT_SRQ_HANDLE *srq),
    NOTE_POINTER(ia), NOTE_POINTER(pz), NOTE_POINTER(attr), NOTE_POINTER(srq))
SLOT(srq_free, (DAT_SRQ_HANDLE srq), NOTE_POINTER(srq))
SLOT(srq_post_recv,
    (DAT_SRQ_HANDLE srq, DAT_COUNT segments, DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie),
    NOTE_POINTER(srq), (DAT_UINT64)segments, NOTE_POINTER(iov), cookie.as_64)
SLOT(srq_query, (DAT_SRQ_HANDLE srq, DAT_SRQ_PARAM_MASK mask, DAT_SRQ_PARAM *param),
    NOTE_POINTER(srq), (DAT_UINT64)mask, NOTE_POINTER(param))
SLOT(srq_resize, (DAT_SRQ_HANDLE srq, DAT_COUNT max_recv_dtos), NOTE_POINTER(srq),
    (DAT_UINT64)max_recv_dtos)
SLOT(srq_set_lw, (DAT_SRQ_HANDLE srq, DAT_COUNT low_watermark), NOTE_POINTER(srq),
    (DAT_UINT64)low_watermark)
SLOT(csp_create,
    (DAT_IA_HANDLE ia, DAT_COMM *comm, DAT_IA_ADDRESS_PTR address, DAT_EVD_HANDLE evd,
	DAT_CSP_HANDLE *csp),
    NOTE_POINTER(ia), NOTE_POINTER(comm), NOTE_POINTER(address), NOTE_POINTER(evd),
    NOTE_POINTER(csp))
SLOT(csp_query, (DAT_CSP_HANDLE csp, DAT_CSP_PARAM_MASK mask, DAT_CSP_PARAM *param),
    NOTE_POINTER(csp), (DAT_UINT64)mask, NOTE_POINTER(param))
SLOT(csp_free, (DAT_CSP_HANDLE csp), NOTE_POINTER(csp))
SLOT(ep_common_connect,
    (DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address, DAT_TIMEOUT timeout, DAT_COUNT size,
	const DAT_PVOID data),
    NOTE_POINTER(ep), NOTE_POINTER(address), (DAT_UINT64)timeout, (DAT_UINT64)size,
    NOTE_POINTER(data))
SLOT(
    rmr_create_for_ep, (DAT_PZ_HANDLE pz, DAT_RMR_HANDLE *rmr), NOTE_POINTER(pz), NOTE_POINTER(rmr))
SLOT(ep_post_send_with_invalidate,
    (DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie,
	DAT_COMPLETION_FLAGS flags, DAT_BOOLEAN invalidate, DAT_RMR_CONTEXT context),
    NOTE_POINTER(ep), (DAT_UINT64)segments, NOTE_POINTER(iov), cookie.as_64, (DAT_UINT64)flags,
    (DAT_UINT64)invalidate, (DAT_UINT64)context)
SLOT(ep_post_rdma_read_to_rmr,
    (DAT_EP_HANDLE ep, const DAT_RMR_TRIPLET *local, DAT_DTO_COOKIE cookie,
	const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags),
    NOTE_POINTER(ep), NOTE_POINTER(local), cookie.as_64, NOTE_POINTER(remote), (DAT_UINT64)flags)
SLOT(cno_fd_create, (DAT_IA_HANDLE ia, DAT_FD *fd, DAT_CNO_HANDLE *cno), NOTE_POINTER(ia),
    NOTE_POINTER(fd), NOTE_POINTER(cno))
SLOT(cno_trigger, (DAT_CNO_HANDLE cno, DAT_EVD_HANDLE *evd), NOTE_POINTER(cno), NOTE_POINTER(evd))

void
stub_fill_slots(DAT_PROVIDER *table)
{
	table->set_consumer_context_func = slot_set_consumer_context;
	table->get_consumer_context_func = slot_get_consumer_context;
	table->get_handle_type_func = slot_get_handle_type;
	table->cno_create_func = slot_cno_create;
	table->cno_modify_agent_func = slot_cno_modify_agent;
	table->cno_query_func = slot_cno_query;
	table->cno_free_func = slot_cno_free;
	table->cno_wait_func = slot_cno_wait;
	table->cr_query_func = slot_cr_query;
	table->cr_accept_func = slot_cr_accept;
	table->cr_reject_func = slot_cr_reject;
	table->cr_handoff_func = slot_cr_handoff;
	table->evd_create_func = slot_evd_create;
	table->evd_query_func = slot_evd_query;
	table->evd_modify_cno_func = slot_evd_modify_cno;
	table->evd_enable_func = slot_evd_enable;
	table->evd_disable_func = slot_evd_disable;
	table->evd_wait_func = slot_evd_wait;
	table->evd_resize_func = slot_evd_resize;
	table->evd_post_se_func = slot_evd_post_se;
	table->evd_dequeue_func = slot_evd_dequeue;
	table->evd_free_func = slot_evd_free;
	table->ep_create_func = slot_ep_create;
	table->ep_query_func = slot_ep_query;
	table->ep_modify_func = slot_ep_modify;
	table->ep_connect_func = slot_ep_connect;
	table->ep_dup_connect_func = slot_ep_dup_connect;
	table->ep_disconnect_func = slot_ep_disconnect;
	table->ep_post_send_func = slot_ep_post_send;
	table->ep_post_recv_func = slot_ep_post_recv;
	table->ep_post_rdma_read_func = slot_ep_post_rdma_read;
	table->ep_post_rdma_write_func = slot_ep_post_rdma_write;
	table->ep_get_status_func = slot_ep_get_status;
	table->ep_free_func = slot_ep_free;
	table->lmr_create_func = slot_lmr_create;
	table->lmr_query_func = slot_lmr_query;
	table->lmr_free_func = slot_lmr_free;
	table->rmr_create_func = slot_rmr_create;
	table->rmr_query_func = slot_rmr_query;
	table->rmr_bind_func = slot_rmr_bind;
	table->rmr_free_func = slot_rmr_free;
	table->psp_create_func = slot_psp_create;
	table->psp_query_func = slot_psp_query;
	table->psp_free_func = slot_psp_free;
	table->rsp_create_func = slot_rsp_create;
	table->rsp_query_func = slot_rsp_query;
	table->rsp_free_func = slot_rsp_free;
	table->pz_create_func = slot_pz_create;
	table->pz_query_func = slot_pz_query;
	table->pz_free_func = slot_pz_free;
	table->psp_create_any_func = slot_psp_create_any;
	table->ep_reset_func = slot_ep_reset;
	table->evd_set_unwaitable_func = slot_evd_set_unwaitable;
	table->evd_clear_unwaitable_func = slot_evd_clear_unwaitable;
	table->lmr_sync_rdma_read_func = slot_lmr_sync_rdma_read;
	table->lmr_sync_rdma_write_func = slot_lmr_sync_rdma_write;
	table->ep_create_with_srq_func = slot_ep_create_with_srq;
	table->ep_recv_query_func = slot_ep_recv_query;
	table->ep_set_watermark_func = slot_ep_set_watermark;
	table->srq_create_func = slot_srq_create;
	table->srq_free_func = slot_srq_free;
	table->srq_post_recv_func = slot_srq_post_recv;
	table->srq_query_func = slot_srq_query;
	table->srq_resize_func = slot_srq_resize;
	table->srq_set_lw_func = slot_srq_set_lw;
	table->csp_create_func = slot_csp_create;
	table->csp_query_func = slot_csp_query;
	table->csp_free_func = slot_csp_free;
	table->ep_common_connect_func = slot_ep_common_connect;
	table->rmr_create_for_ep_func = slot_rmr_create_for_ep;
	table->ep_post_send_with_invalidate_func = slot_ep_post_send_with_invalidate;
	table->ep_post_rdma_read_to_rmr_func = slot_ep_post_rdma_read_to_rmr;
	table->cno_fd_create_func = slot_cno_fd_create;
	table->cno_trigger_func = slot_cno_trigger;
}
