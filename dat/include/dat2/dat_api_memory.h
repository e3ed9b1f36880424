/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_api_memory.h -- protection zones, local and remote memory regions
 */
#include <dat2/udat.h>

#ifndef _DAT_API_MEMORY_H_
#define _DAT_API_MEMORY_H_

#ifdef __cplusplus
extern "C" {
#endif

DAT_RETURN DAT_API dat_pz_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE *pz);

DAT_RETURN DAT_API dat_pz_query(DAT_PZ_HANDLE pz, DAT_PZ_PARAM_MASK mask, DAT_PZ_PARAM *param);

DAT_RETURN DAT_API dat_pz_free(DAT_PZ_HANDLE pz);

DAT_RETURN DAT_API dat_lmr_create(DAT_IA_HANDLE ia, DAT_MEM_TYPE type,
			    DAT_REGION_DESCRIPTION region, DAT_VLEN length, DAT_PZ_HANDLE pz,
			    DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type,
			    DAT_LMR_HANDLE *lmr, DAT_LMR_CONTEXT *lmr_context,
			    DAT_RMR_CONTEXT *rmr_context, DAT_VLEN *registered_length,
			    DAT_VADDR *registered_address);

DAT_RETURN DAT_API dat_lmr_query(DAT_LMR_HANDLE lmr, DAT_LMR_PARAM_MASK mask,
			    DAT_LMR_PARAM *param);

DAT_RETURN DAT_API dat_lmr_sync_rdma_read(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET *segments,
			    DAT_VLEN count);

DAT_RETURN DAT_API dat_lmr_sync_rdma_write(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET *segments,
			    DAT_VLEN count);

DAT_RETURN DAT_API dat_lmr_free(DAT_LMR_HANDLE lmr);

DAT_RETURN DAT_API dat_rmr_create(DAT_PZ_HANDLE pz, DAT_RMR_HANDLE *rmr);

DAT_RETURN DAT_API dat_rmr_create_for_ep(DAT_PZ_HANDLE pz, DAT_RMR_HANDLE *rmr);

DAT_RETURN DAT_API dat_rmr_query(DAT_RMR_HANDLE rmr, DAT_RMR_PARAM_MASK mask,
			    DAT_RMR_PARAM *param);

DAT_RETURN DAT_API dat_rmr_bind(DAT_RMR_HANDLE rmr, DAT_LMR_HANDLE lmr,
			    const DAT_LMR_TRIPLET *range, DAT_MEM_PRIV_FLAGS privileges,
			    DAT_VA_TYPE va_type, DAT_EP_HANDLE ep, DAT_RMR_COOKIE cookie,
			    DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT *context);

DAT_RETURN DAT_API dat_rmr_free(DAT_RMR_HANDLE rmr);

#ifdef __cplusplus
}
#endif

#endif
