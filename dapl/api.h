/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api -- the functions of the provider's table
 *
 * Each has the signature of the public function with the same stem.  These, and nothing below
 * them, build DAT_RETURNs.
 */
#ifndef REARM_DAPL_API_H
#define REARM_DAPL_API_H

#include <dat2/udat.h>
#include <dat2/dat_registry.h>
#include <dat2/dat_upcall.h>

#include "dapl/object/lock.h"

/* clang-format off */
#define DAPL_API_FUNCTIONS(F) \
	F(ia_query) F(ia_close) F(set_consumer_context) F(get_consumer_context) \
	F(get_handle_type) F(cno_create) F(cno_modify_agent) F(cno_query) F(cno_free) F(cno_wait) \
	F(cr_query) F(cr_accept) F(cr_reject) F(cr_handoff) F(evd_create) F(evd_query) \
	F(evd_modify_cno) F(evd_enable) F(evd_disable) F(evd_wait) F(evd_resize) F(evd_post_se) \
	F(evd_dequeue) F(evd_free) F(ep_create) F(ep_query) F(ep_modify) F(ep_connect) \
	F(ep_dup_connect) F(ep_disconnect) F(ep_post_send) F(ep_post_recv) F(ep_post_rdma_read) \
	F(ep_post_rdma_write) F(ep_get_status) F(ep_free) F(lmr_create) F(lmr_query) F(lmr_free) \
	F(rmr_create) F(rmr_query) F(rmr_bind) F(rmr_free) F(psp_create) F(psp_query) F(psp_free) \
	F(rsp_create) F(rsp_query) F(rsp_free) F(pz_create) F(pz_query) F(pz_free) \
	F(psp_create_any) F(ep_reset) F(evd_set_unwaitable) F(evd_clear_unwaitable) \
	F(lmr_sync_rdma_read) F(lmr_sync_rdma_write) F(ep_create_with_srq) F(ep_recv_query) \
	F(ep_set_watermark) F(srq_create) F(srq_free) F(srq_post_recv) F(srq_query) F(srq_resize) \
	F(srq_set_lw) F(csp_create) F(csp_query) F(csp_free) F(ep_common_connect) \
	F(rmr_create_for_ep) F(ep_post_send_with_invalidate) F(ep_post_rdma_read_to_rmr) \
	F(cno_fd_create) F(cno_trigger)
/* clang-format on */

#define DAPL_API_DECLARE(stem) extern __typeof__(dat_##stem) dapl_##stem DAPL_NO_LOCK;
DAPL_API_FUNCTIONS(DAPL_API_DECLARE)
#undef DAPL_API_DECLARE

/*
 * The signatures of these functions differ from the public ones.  The ia_open function of every
 * provider calls dapl_ia_open().
 */
struct dapl_provider;
DAT_RETURN dapl_ia_open(struct dapl_provider *provider, DAT_COUNT qlen, DAT_EVD_HANDLE *async_evd,
    DAT_IA_HANDLE *ia) DAPL_NO_LOCK;
DAT_RETURN dapl_ia_ha_related(
    DAT_IA_HANDLE ia, const DAT_NAME_PTR name, DAT_BOOLEAN *answer) DAPL_NO_LOCK;
DAT_RETURN dapl_handle_extendedop(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args) DAPL_NO_LOCK;

/* These functions implement the operations of dat_upcall.h. */
DAT_RETURN dapl_evd_kcreate(DAT_IA_HANDLE ia, DAT_COUNT min_qlen, DAT_UPCALL_POLICY policy,
    const DAT_UPCALL_OBJECT *upcall, DAT_EVD_FLAGS flags, DAT_EVD_HANDLE *evd) DAPL_NO_LOCK;
DAT_RETURN dapl_evd_modify_upcall(DAT_EVD_HANDLE evd, DAT_UPCALL_POLICY policy,
    const DAT_UPCALL_OBJECT *upcall, DAT_UPCALL_FLAG flag) DAPL_NO_LOCK;
DAT_RETURN dapl_evd_modify_upcall_array(DAT_EVD_HANDLE evd, DAT_UPCALL_POLICY policy,
    const DAT_UPCALL_ARRAY_OBJECT *upcall, DAT_UPCALL_FLAG flag) DAPL_NO_LOCK;
DAT_RETURN dapl_evd_dequeue_n(
    DAT_EVD_HANDLE evd, DAT_COUNT max_events, DAT_EVENT *events, DAT_COUNT *n_events) DAPL_NO_LOCK;
DAT_RETURN dapl_evd_query_upcall_counters(
    DAT_EVD_HANDLE evd, struct dat_rearm_evd_counters *counters, DAT_UINT32 size) DAPL_NO_LOCK;
DAT_RETURN dapl_cno_trywait(DAT_CNO_HANDLE cno, DAT_EVD_HANDLE *evd) DAPL_NO_LOCK;
/* The operations without a public function. */
DAT_RETURN dapl_extension_op(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args) DAPL_NO_LOCK;

#endif
