/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_calls -- every call with a handle, with arguments that must not be dereferenced
 *
 * The n-th argument is n * 0x1100: the registry passes all but an IA handle on unchanged.
 */
#include "dat_calls.h"

#define FAKE(type, n) ((type)(uintptr_t)((n)*0x1100u))
#define CALL(name, ...) \
	static DAT_RETURN call_##name(DAT_HANDLE h) \
	{ \
		return dat_##name(__VA_ARGS__); \
	}

CALL(cno_create, h, (DAT_OS_WAIT_PROXY_AGENT){ .instance_data = FAKE(void *, 2) },
    FAKE(DAT_CNO_HANDLE *, 3))
CALL(cno_modify_agent, h, (DAT_OS_WAIT_PROXY_AGENT){ .instance_data = FAKE(void *, 2) })
CALL(cno_query, h, (DAT_CNO_PARAM_MASK)0x2200, FAKE(DAT_CNO_PARAM *, 3))
CALL(cno_free, h)
CALL(cno_wait, h, (DAT_TIMEOUT)0x2200, FAKE(DAT_EVD_HANDLE *, 3))
CALL(cr_query, h, (DAT_CR_PARAM_MASK)0x2200, FAKE(DAT_CR_PARAM *, 3))
CALL(cr_accept, h, FAKE(DAT_EP_HANDLE, 2), (DAT_COUNT)0x3300, FAKE(const DAT_PVOID, 4))
CALL(cr_reject, h, (DAT_COUNT)0x2200, FAKE(const DAT_PVOID, 3))
CALL(cr_handoff, h, (DAT_CONN_QUAL)0x2200)
CALL(evd_create, h, (DAT_COUNT)0x2200, FAKE(DAT_CNO_HANDLE, 3), (DAT_EVD_FLAGS)0x4400,
    FAKE(DAT_EVD_HANDLE *, 5))
CALL(evd_query, h, (DAT_EVD_PARAM_MASK)0x2200, FAKE(DAT_EVD_PARAM *, 3))
CALL(evd_modify_cno, h, FAKE(DAT_CNO_HANDLE, 2))
CALL(evd_enable, h)
CALL(evd_disable, h)
CALL(
    evd_wait, h, (DAT_TIMEOUT)0x2200, (DAT_COUNT)0x3300, FAKE(DAT_EVENT *, 4), FAKE(DAT_COUNT *, 5))
CALL(evd_resize, h, (DAT_COUNT)0x2200)
CALL(evd_post_se, h, FAKE(const DAT_EVENT *, 2))
CALL(evd_dequeue, h, FAKE(DAT_EVENT *, 2))
CALL(evd_free, h)
CALL(ep_create, h, FAKE(DAT_PZ_HANDLE, 2), FAKE(DAT_EVD_HANDLE, 3), FAKE(DAT_EVD_HANDLE, 4),
    FAKE(DAT_EVD_HANDLE, 5), FAKE(const DAT_EP_ATTR *, 6), FAKE(DAT_EP_HANDLE *, 7))
CALL(ep_query, h, (DAT_EP_PARAM_MASK)0x2200, FAKE(DAT_EP_PARAM *, 3))
CALL(ep_modify, h, (DAT_EP_PARAM_MASK)0x2200, FAKE(const DAT_EP_PARAM *, 3))
CALL(ep_connect, h, FAKE(DAT_IA_ADDRESS_PTR, 2), (DAT_CONN_QUAL)0x3300, (DAT_TIMEOUT)0x4400,
    (DAT_COUNT)0x5500, FAKE(const DAT_PVOID, 6), (DAT_QOS)0x7700, (DAT_CONNECT_FLAGS)0x8800)
CALL(ep_dup_connect, h, FAKE(DAT_EP_HANDLE, 2), (DAT_TIMEOUT)0x3300, (DAT_COUNT)0x4400,
    FAKE(const DAT_PVOID, 5), (DAT_QOS)0x6600)
CALL(ep_disconnect, h, (DAT_CLOSE_FLAGS)0x2200)
CALL(ep_post_send, h, (DAT_COUNT)0x2200, FAKE(DAT_LMR_TRIPLET *, 3),
    (DAT_DTO_COOKIE){ .as_64 = 0x4400 }, (DAT_COMPLETION_FLAGS)0x5500)
CALL(ep_post_recv, h, (DAT_COUNT)0x2200, FAKE(DAT_LMR_TRIPLET *, 3),
    (DAT_DTO_COOKIE){ .as_64 = 0x4400 }, (DAT_COMPLETION_FLAGS)0x5500)
CALL(ep_post_rdma_read, h, (DAT_COUNT)0x2200, FAKE(DAT_LMR_TRIPLET *, 3),
    (DAT_DTO_COOKIE){ .as_64 = 0x4400 }, FAKE(const DAT_RMR_TRIPLET *, 5),
    (DAT_COMPLETION_FLAGS)0x6600)
CALL(ep_post_rdma_write, h, (DAT_COUNT)0x2200, FAKE(DAT_LMR_TRIPLET *, 3),
    (DAT_DTO_COOKIE){ .as_64 = 0x4400 }, FAKE(const DAT_RMR_TRIPLET *, 5),
    (DAT_COMPLETION_FLAGS)0x6600)
CALL(ep_get_status, h, FAKE(DAT_EP_STATE *, 2), FAKE(DAT_BOOLEAN *, 3), FAKE(DAT_BOOLEAN *, 4))
CALL(ep_free, h)
CALL(lmr_create, h, (DAT_MEM_TYPE)0x2200, (DAT_REGION_DESCRIPTION){ .for_va = FAKE(void *, 3) },
    (DAT_VLEN)0x4400, FAKE(DAT_PZ_HANDLE, 5), (DAT_MEM_PRIV_FLAGS)0x6600, (DAT_VA_TYPE)0x7700,
    FAKE(DAT_LMR_HANDLE *, 8), FAKE(DAT_LMR_CONTEXT *, 9), FAKE(DAT_RMR_CONTEXT *, 10),
    FAKE(DAT_VLEN *, 11), FAKE(DAT_VADDR *, 12))
CALL(lmr_query, h, (DAT_LMR_PARAM_MASK)0x2200, FAKE(DAT_LMR_PARAM *, 3))
CALL(lmr_free, h)
CALL(rmr_create, h, FAKE(DAT_RMR_HANDLE *, 2))
CALL(rmr_query, h, (DAT_RMR_PARAM_MASK)0x2200, FAKE(DAT_RMR_PARAM *, 3))
CALL(rmr_bind, h, FAKE(DAT_LMR_HANDLE, 2), FAKE(const DAT_LMR_TRIPLET *, 3),
    (DAT_MEM_PRIV_FLAGS)0x4400, (DAT_VA_TYPE)0x5500, FAKE(DAT_EP_HANDLE, 6),
    (DAT_RMR_COOKIE){ .as_64 = 0x7700 }, (DAT_COMPLETION_FLAGS)0x8800, FAKE(DAT_RMR_CONTEXT *, 9))
CALL(rmr_free, h)
CALL(psp_create, h, (DAT_CONN_QUAL)0x2200, FAKE(DAT_EVD_HANDLE, 3), (DAT_PSP_FLAGS)0x4400,
    FAKE(DAT_PSP_HANDLE *, 5))
CALL(psp_query, h, (DAT_PSP_PARAM_MASK)0x2200, FAKE(DAT_PSP_PARAM *, 3))
CALL(psp_free, h)
CALL(rsp_create, h, (DAT_CONN_QUAL)0x2200, FAKE(DAT_EP_HANDLE, 3), FAKE(DAT_EVD_HANDLE, 4),
    FAKE(DAT_RSP_HANDLE *, 5))
CALL(rsp_query, h, (DAT_RSP_PARAM_MASK)0x2200, FAKE(DAT_RSP_PARAM *, 3))
CALL(rsp_free, h)
CALL(pz_create, h, FAKE(DAT_PZ_HANDLE *, 2))
CALL(pz_query, h, (DAT_PZ_PARAM_MASK)0x2200, FAKE(DAT_PZ_PARAM *, 3))
CALL(pz_free, h)
CALL(psp_create_any, h, FAKE(DAT_CONN_QUAL *, 2), FAKE(DAT_EVD_HANDLE, 3), (DAT_PSP_FLAGS)0x4400,
    FAKE(DAT_PSP_HANDLE *, 5))
CALL(ep_reset, h)
CALL(evd_set_unwaitable, h)
CALL(evd_clear_unwaitable, h)
CALL(lmr_sync_rdma_read, h, FAKE(const DAT_LMR_TRIPLET *, 2), (DAT_VLEN)0x3300)
CALL(lmr_sync_rdma_write, h, FAKE(const DAT_LMR_TRIPLET *, 2), (DAT_VLEN)0x3300)
CALL(ep_create_with_srq, h, FAKE(DAT_PZ_HANDLE, 2), FAKE(DAT_EVD_HANDLE, 3),
    FAKE(DAT_EVD_HANDLE, 4), FAKE(DAT_EVD_HANDLE, 5), FAKE(DAT_SRQ_HANDLE, 6),
    FAKE(const DAT_EP_ATTR *, 7), FAKE(DAT_EP_HANDLE *, 8))
CALL(ep_recv_query, h, FAKE(DAT_COUNT *, 2), FAKE(DAT_COUNT *, 3))
CALL(ep_set_watermark, h, (DAT_COUNT)0x2200, (DAT_COUNT)0x3300)
CALL(srq_create, h, FAKE(DAT_PZ_HANDLE, 2), FAKE(DAT_SRQ_ATTR *, 3), FAKE(DAT_SRQ_HANDLE *, 4))
CALL(srq_free, h)
CALL(srq_post_recv, h, (DAT_COUNT)0x2200, FAKE(DAT_LMR_TRIPLET *, 3),
    (DAT_DTO_COOKIE){ .as_64 = 0x4400 })
CALL(srq_query, h, (DAT_SRQ_PARAM_MASK)0x2200, FAKE(DAT_SRQ_PARAM *, 3))
CALL(srq_resize, h, (DAT_COUNT)0x2200)
CALL(srq_set_lw, h, (DAT_COUNT)0x2200)
CALL(csp_create, h, FAKE(DAT_COMM *, 2), FAKE(DAT_IA_ADDRESS_PTR, 3), FAKE(DAT_EVD_HANDLE, 4),
    FAKE(DAT_CSP_HANDLE *, 5))
CALL(csp_query, h, (DAT_CSP_PARAM_MASK)0x2200, FAKE(DAT_CSP_PARAM *, 3))
CALL(csp_free, h)
CALL(ep_common_connect, h, FAKE(DAT_IA_ADDRESS_PTR, 2), (DAT_TIMEOUT)0x3300, (DAT_COUNT)0x4400,
    FAKE(const DAT_PVOID, 5))
CALL(rmr_create_for_ep, h, FAKE(DAT_RMR_HANDLE *, 2))
CALL(ep_post_send_with_invalidate, h, (DAT_COUNT)0x2200, FAKE(DAT_LMR_TRIPLET *, 3),
    (DAT_DTO_COOKIE){ .as_64 = 0x4400 }, (DAT_COMPLETION_FLAGS)0x5500, (DAT_BOOLEAN)0x6600,
    (DAT_RMR_CONTEXT)0x7700)
CALL(ep_post_rdma_read_to_rmr, h, FAKE(const DAT_RMR_TRIPLET *, 2),
    (DAT_DTO_COOKIE){ .as_64 = 0x3300 }, FAKE(const DAT_RMR_TRIPLET *, 4),
    (DAT_COMPLETION_FLAGS)0x5500)
CALL(cno_fd_create, h, FAKE(DAT_FD *, 2), FAKE(DAT_CNO_HANDLE *, 3))
CALL(cno_trigger, h, FAKE(DAT_EVD_HANDLE *, 2))
CALL(set_consumer_context, h, (DAT_CONTEXT){ .as_64 = 0x2200 })
CALL(get_consumer_context, h, FAKE(DAT_CONTEXT *, 2))
CALL(get_handle_type, h, FAKE(DAT_HANDLE_TYPE *, 2))

const struct dat_call dat_calls[] = {
	{ "cno_create", call_cno_create, DAT_INVALID_HANDLE_IA, true, "0x2200 0x3300" },
	{ "cno_modify_agent", call_cno_modify_agent, DAT_INVALID_HANDLE_CNO, false, "0x2200" },
	{ "cno_query", call_cno_query, DAT_INVALID_HANDLE_CNO, false, "0x2200 0x3300" },
	{ "cno_free", call_cno_free, DAT_INVALID_HANDLE_CNO, false, "" },
	{ "cno_wait", call_cno_wait, DAT_INVALID_HANDLE_CNO, false, "0x2200 0x3300" },
	{ "cr_query", call_cr_query, DAT_INVALID_HANDLE_CR, false, "0x2200 0x3300" },
	{ "cr_accept", call_cr_accept, DAT_INVALID_HANDLE_CR, false, "0x2200 0x3300 0x4400" },
	{ "cr_reject", call_cr_reject, DAT_INVALID_HANDLE_CR, false, "0x2200 0x3300" },
	{ "cr_handoff", call_cr_handoff, DAT_INVALID_HANDLE_CR, false, "0x2200" },
	{ "evd_create", call_evd_create, DAT_INVALID_HANDLE_IA, true,
	    "0x2200 0x3300 0x4400 0x5500" },
	{ "evd_query", call_evd_query, DAT_INVALID_HANDLE_EVD_REQUEST, false, "0x2200 0x3300" },
	{ "evd_modify_cno", call_evd_modify_cno, DAT_INVALID_HANDLE_EVD_REQUEST, false, "0x2200" },
	{ "evd_enable", call_evd_enable, DAT_INVALID_HANDLE_EVD_REQUEST, false, "" },
	{ "evd_disable", call_evd_disable, DAT_INVALID_HANDLE_EVD_REQUEST, false, "" },
	{ "evd_wait", call_evd_wait, DAT_INVALID_HANDLE_EVD_REQUEST, false,
	    "0x2200 0x3300 0x4400 0x5500" },
	{ "evd_resize", call_evd_resize, DAT_INVALID_HANDLE_EVD_REQUEST, false, "0x2200" },
	{ "evd_post_se", call_evd_post_se, DAT_INVALID_HANDLE_EVD_REQUEST, false, "0x2200" },
	{ "evd_dequeue", call_evd_dequeue, DAT_INVALID_HANDLE_EVD_REQUEST, false, "0x2200" },
	{ "evd_free", call_evd_free, DAT_INVALID_HANDLE_EVD_REQUEST, false, "" },
	{ "ep_create", call_ep_create, DAT_INVALID_HANDLE_IA, true,
	    "0x2200 0x3300 0x4400 0x5500 0x6600 0x7700" },
	{ "ep_query", call_ep_query, DAT_INVALID_HANDLE_EP, false, "0x2200 0x3300" },
	{ "ep_modify", call_ep_modify, DAT_INVALID_HANDLE_EP, false, "0x2200 0x3300" },
	{ "ep_connect", call_ep_connect, DAT_INVALID_HANDLE_EP, false,
	    "0x2200 0x3300 0x4400 0x5500 0x6600 0x7700 0x8800" },
	{ "ep_dup_connect", call_ep_dup_connect, DAT_INVALID_HANDLE_EP, false,
	    "0x2200 0x3300 0x4400 0x5500 0x6600" },
	{ "ep_disconnect", call_ep_disconnect, DAT_INVALID_HANDLE_EP, false, "0x2200" },
	{ "ep_post_send", call_ep_post_send, DAT_INVALID_HANDLE_EP, false,
	    "0x2200 0x3300 0x4400 0x5500" },
	{ "ep_post_recv", call_ep_post_recv, DAT_INVALID_HANDLE_EP, false,
	    "0x2200 0x3300 0x4400 0x5500" },
	{ "ep_post_rdma_read", call_ep_post_rdma_read, DAT_INVALID_HANDLE_EP, false,
	    "0x2200 0x3300 0x4400 0x5500 0x6600" },
	{ "ep_post_rdma_write", call_ep_post_rdma_write, DAT_INVALID_HANDLE_EP, false,
	    "0x2200 0x3300 0x4400 0x5500 0x6600" },
	{ "ep_get_status", call_ep_get_status, DAT_INVALID_HANDLE_EP, false,
	    "0x2200 0x3300 0x4400" },
	{ "ep_free", call_ep_free, DAT_INVALID_HANDLE_EP, false, "" },
	{ "lmr_create", call_lmr_create, DAT_INVALID_HANDLE_IA, true,
	    "0x2200 0x3300 0x4400 0x5500 0x6600 0x7700 0x8800 0x9900 0xaa00 0xbb00 0xcc00" },
	{ "lmr_query", call_lmr_query, DAT_INVALID_HANDLE_LMR, false, "0x2200 0x3300" },
	{ "lmr_free", call_lmr_free, DAT_INVALID_HANDLE_LMR, false, "" },
	{ "rmr_create", call_rmr_create, DAT_INVALID_HANDLE_PZ, false, "0x2200" },
	{ "rmr_query", call_rmr_query, DAT_INVALID_HANDLE_RMR, false, "0x2200 0x3300" },
	{ "rmr_bind", call_rmr_bind, DAT_INVALID_HANDLE_RMR, false,
	    "0x2200 0x3300 0x4400 0x5500 0x6600 0x7700 0x8800 0x9900" },
	{ "rmr_free", call_rmr_free, DAT_INVALID_HANDLE_RMR, false, "" },
	{ "psp_create", call_psp_create, DAT_INVALID_HANDLE_IA, true,
	    "0x2200 0x3300 0x4400 0x5500" },
	{ "psp_query", call_psp_query, DAT_INVALID_HANDLE_PSP, false, "0x2200 0x3300" },
	{ "psp_free", call_psp_free, DAT_INVALID_HANDLE_PSP, false, "" },
	{ "rsp_create", call_rsp_create, DAT_INVALID_HANDLE_IA, true,
	    "0x2200 0x3300 0x4400 0x5500" },
	{ "rsp_query", call_rsp_query, DAT_INVALID_HANDLE_RSP, false, "0x2200 0x3300" },
	{ "rsp_free", call_rsp_free, DAT_INVALID_HANDLE_RSP, false, "" },
	{ "pz_create", call_pz_create, DAT_INVALID_HANDLE_IA, true, "0x2200" },
	{ "pz_query", call_pz_query, DAT_INVALID_HANDLE_PZ, false, "0x2200 0x3300" },
	{ "pz_free", call_pz_free, DAT_INVALID_HANDLE_PZ, false, "" },
	{ "psp_create_any", call_psp_create_any, DAT_INVALID_HANDLE_IA, true,
	    "0x2200 0x3300 0x4400 0x5500" },
	{ "ep_reset", call_ep_reset, DAT_INVALID_HANDLE_EP, false, "" },
	{ "evd_set_unwaitable", call_evd_set_unwaitable, DAT_INVALID_HANDLE_EVD_REQUEST, false,
	    "" },
	{ "evd_clear_unwaitable", call_evd_clear_unwaitable, DAT_INVALID_HANDLE_EVD_REQUEST, false,
	    "" },
	{ "lmr_sync_rdma_read", call_lmr_sync_rdma_read, DAT_INVALID_HANDLE_IA, true,
	    "0x2200 0x3300" },
	{ "lmr_sync_rdma_write", call_lmr_sync_rdma_write, DAT_INVALID_HANDLE_IA, true,
	    "0x2200 0x3300" },
	{ "ep_create_with_srq", call_ep_create_with_srq, DAT_INVALID_HANDLE_IA, true,
	    "0x2200 0x3300 0x4400 0x5500 0x6600 0x7700 0x8800" },
	{ "ep_recv_query", call_ep_recv_query, DAT_INVALID_HANDLE_EP, false, "0x2200 0x3300" },
	{ "ep_set_watermark", call_ep_set_watermark, DAT_INVALID_HANDLE_EP, false,
	    "0x2200 0x3300" },
	{ "srq_create", call_srq_create, DAT_INVALID_HANDLE_IA, true, "0x2200 0x3300 0x4400" },
	{ "srq_free", call_srq_free, DAT_INVALID_HANDLE_SRQ, false, "" },
	{ "srq_post_recv", call_srq_post_recv, DAT_INVALID_HANDLE_SRQ, false,
	    "0x2200 0x3300 0x4400" },
	{ "srq_query", call_srq_query, DAT_INVALID_HANDLE_SRQ, false, "0x2200 0x3300" },
	{ "srq_resize", call_srq_resize, DAT_INVALID_HANDLE_SRQ, false, "0x2200" },
	{ "srq_set_lw", call_srq_set_lw, DAT_INVALID_HANDLE_SRQ, false, "0x2200" },
	{ "csp_create", call_csp_create, DAT_INVALID_HANDLE_IA, true,
	    "0x2200 0x3300 0x4400 0x5500" },
	{ "csp_query", call_csp_query, DAT_INVALID_HANDLE_CSP, false, "0x2200 0x3300" },
	{ "csp_free", call_csp_free, DAT_INVALID_HANDLE_CSP, false, "" },
	{ "ep_common_connect", call_ep_common_connect, DAT_INVALID_HANDLE_EP, false,
	    "0x2200 0x3300 0x4400 0x5500" },
	{ "rmr_create_for_ep", call_rmr_create_for_ep, DAT_INVALID_HANDLE_PZ, false, "0x2200" },
	{ "ep_post_send_with_invalidate", call_ep_post_send_with_invalidate, DAT_INVALID_HANDLE_EP,
	    false, "0x2200 0x3300 0x4400 0x5500 0x6600 0x7700" },
	{ "ep_post_rdma_read_to_rmr", call_ep_post_rdma_read_to_rmr, DAT_INVALID_HANDLE_EP, false,
	    "0x2200 0x3300 0x4400 0x5500" },
	{ "cno_fd_create", call_cno_fd_create, DAT_INVALID_HANDLE_IA, true, "0x2200 0x3300" },
	{ "cno_trigger", call_cno_trigger, DAT_INVALID_HANDLE_CNO, false, "0x2200" },
	{ "set_consumer_context", call_set_consumer_context, DAT_INVALID_HANDLE1, true, "0x2200" },
	{ "get_consumer_context", call_get_consumer_context, DAT_INVALID_HANDLE1, true, "0x2200" },
	{ "get_handle_type", call_get_handle_type, DAT_INVALID_HANDLE1, true, "0x2200" },
};

const int dat_calls_count = sizeof dat_calls / sizeof dat_calls[0];
