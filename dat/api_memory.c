/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of protection zones and memory regions: each calls the provider of its handle. */
#include "dat/handle.h"

DAT_RETURN DAT_API
dat_pz_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE *pz)
{
	return IA_CALL(ia, pz_create_func, pz);
}

DAT_RETURN DAT_API
dat_pz_query(DAT_PZ_HANDLE pz, DAT_PZ_PARAM_MASK mask, DAT_PZ_PARAM *param)
{
	return HANDLE_CALL(pz, DAT_INVALID_HANDLE_PZ, pz_query_func, pz, mask, param);
}

DAT_RETURN DAT_API
dat_pz_free(DAT_PZ_HANDLE pz)
{
	return HANDLE_CALL(pz, DAT_INVALID_HANDLE_PZ, pz_free_func, pz);
}

DAT_RETURN DAT_API
dat_lmr_create(DAT_IA_HANDLE ia, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region, DAT_VLEN length,
    DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type, DAT_LMR_HANDLE *lmr,
    DAT_LMR_CONTEXT *lmr_context, DAT_RMR_CONTEXT *rmr_context, DAT_VLEN *registered_length,
    DAT_VADDR *registered_address)
{
	return IA_CALL(ia, lmr_create_func, type, region, length, pz, privileges, va_type, lmr,
	    lmr_context, rmr_context, registered_length, registered_address);
}

DAT_RETURN DAT_API
dat_lmr_query(DAT_LMR_HANDLE lmr, DAT_LMR_PARAM_MASK mask, DAT_LMR_PARAM *param)
{
	return HANDLE_CALL(lmr, DAT_INVALID_HANDLE_LMR, lmr_query_func, lmr, mask, param);
}

DAT_RETURN DAT_API
dat_lmr_sync_rdma_read(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET *segments, DAT_VLEN count)
{
	return IA_CALL(ia, lmr_sync_rdma_read_func, segments, count);
}

DAT_RETURN DAT_API
dat_lmr_sync_rdma_write(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET *segments, DAT_VLEN count)
{
	return IA_CALL(ia, lmr_sync_rdma_write_func, segments, count);
}

DAT_RETURN DAT_API
dat_lmr_free(DAT_LMR_HANDLE lmr)
{
	return HANDLE_CALL(lmr, DAT_INVALID_HANDLE_LMR, lmr_free_func, lmr);
}

DAT_RETURN DAT_API
dat_rmr_create(DAT_PZ_HANDLE pz, DAT_RMR_HANDLE *rmr)
{
	return HANDLE_CALL(pz, DAT_INVALID_HANDLE_PZ, rmr_create_func, pz, rmr);
}

DAT_RETURN DAT_API
dat_rmr_create_for_ep(DAT_PZ_HANDLE pz, DAT_RMR_HANDLE *rmr)
{
	return HANDLE_CALL(pz, DAT_INVALID_HANDLE_PZ, rmr_create_for_ep_func, pz, rmr);
}

DAT_RETURN DAT_API
dat_rmr_query(DAT_RMR_HANDLE rmr, DAT_RMR_PARAM_MASK mask, DAT_RMR_PARAM *param)
{
	return HANDLE_CALL(rmr, DAT_INVALID_HANDLE_RMR, rmr_query_func, rmr, mask, param);
}

DAT_RETURN DAT_API
dat_rmr_bind(DAT_RMR_HANDLE rmr, DAT_LMR_HANDLE lmr, const DAT_LMR_TRIPLET *range,
    DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type, DAT_EP_HANDLE ep, DAT_RMR_COOKIE cookie,
    DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT *context)
{
	return HANDLE_CALL(rmr, DAT_INVALID_HANDLE_RMR, rmr_bind_func, rmr, lmr, range, privileges,
	    va_type, ep, cookie, flags, context);
}

DAT_RETURN DAT_API
dat_rmr_free(DAT_RMR_HANDLE rmr)
{
	return HANDLE_CALL(rmr, DAT_INVALID_HANDLE_RMR, rmr_free_func, rmr);
}
