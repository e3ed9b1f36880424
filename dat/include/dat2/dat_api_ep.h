/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_api_ep.h -- endpoints: one queue pair and at most one connection each
 */
#include <dat2/udat.h>

#ifndef _DAT_API_EP_H_
#define _DAT_API_EP_H_

#ifdef __cplusplus
extern "C" {
#endif

DAT_RETURN DAT_API dat_ep_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd,
			    DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd,
			    const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep);

DAT_RETURN DAT_API dat_ep_create_with_srq(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
			    DAT_EVD_HANDLE recv_evd, DAT_EVD_HANDLE request_evd,
			    DAT_EVD_HANDLE connect_evd, DAT_SRQ_HANDLE srq,
			    const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep);

DAT_RETURN DAT_API dat_ep_query(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask, DAT_EP_PARAM *param);

DAT_RETURN DAT_API dat_ep_modify(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask,
			    const DAT_EP_PARAM *param);

DAT_RETURN DAT_API dat_ep_get_status(DAT_EP_HANDLE ep, DAT_EP_STATE *state,
			    DAT_BOOLEAN *recv_idle, DAT_BOOLEAN *request_idle);

DAT_RETURN DAT_API dat_ep_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address,
			    DAT_CONN_QUAL qual, DAT_TIMEOUT timeout, DAT_COUNT size,
			    const DAT_PVOID data, DAT_QOS qos, DAT_CONNECT_FLAGS flags);

DAT_RETURN DAT_API dat_ep_common_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address,
			    DAT_TIMEOUT timeout, DAT_COUNT size, const DAT_PVOID data);

DAT_RETURN DAT_API dat_ep_dup_connect(DAT_EP_HANDLE ep, DAT_EP_HANDLE dup, DAT_TIMEOUT timeout,
			    DAT_COUNT size, const DAT_PVOID data, DAT_QOS qos);

DAT_RETURN DAT_API dat_ep_disconnect(DAT_EP_HANDLE ep, DAT_CLOSE_FLAGS flags);

DAT_RETURN DAT_API dat_ep_reset(DAT_EP_HANDLE ep);

DAT_RETURN DAT_API dat_ep_free(DAT_EP_HANDLE ep);

DAT_RETURN DAT_API dat_ep_post_send(DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
			    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags);

DAT_RETURN DAT_API dat_ep_post_send_with_invalidate(DAT_EP_HANDLE ep, DAT_COUNT segments,
			    DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie,
			    DAT_COMPLETION_FLAGS flags, DAT_BOOLEAN invalidate,
			    DAT_RMR_CONTEXT context);

DAT_RETURN DAT_API dat_ep_post_recv(DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
			    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags);

DAT_RETURN DAT_API dat_ep_post_rdma_read(DAT_EP_HANDLE ep, DAT_COUNT segments,
			    DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie,
			    const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags);

DAT_RETURN DAT_API dat_ep_post_rdma_read_to_rmr(DAT_EP_HANDLE ep, const DAT_RMR_TRIPLET *local,
			    DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote,
			    DAT_COMPLETION_FLAGS flags);

DAT_RETURN DAT_API dat_ep_post_rdma_write(DAT_EP_HANDLE ep, DAT_COUNT segments,
			    DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie,
			    const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags);

DAT_RETURN DAT_API dat_ep_recv_query(DAT_EP_HANDLE ep, DAT_COUNT *allocated, DAT_COUNT *span);

DAT_RETURN DAT_API dat_ep_set_watermark(DAT_EP_HANDLE ep, DAT_COUNT soft, DAT_COUNT hard);

#ifdef __cplusplus
}
#endif

#endif
