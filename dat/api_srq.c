/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of shared receive queues: each calls the provider of its handle. */
#include "dat/handle.h"

DAT_RETURN DAT_API
dat_srq_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_SRQ_ATTR *attr, DAT_SRQ_HANDLE *srq)
{
	return IA_CALL(ia, srq_create_func, pz, attr, srq);
}

DAT_RETURN DAT_API
dat_srq_query(DAT_SRQ_HANDLE srq, DAT_SRQ_PARAM_MASK mask, DAT_SRQ_PARAM *param)
{
	return HANDLE_CALL(srq, DAT_INVALID_HANDLE_SRQ, srq_query_func, srq, mask, param);
}

DAT_RETURN DAT_API
dat_srq_post_recv(
    DAT_SRQ_HANDLE srq, DAT_COUNT segments, DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie)
{
	return HANDLE_CALL(
	    srq, DAT_INVALID_HANDLE_SRQ, srq_post_recv_func, srq, segments, iov, cookie);
}

DAT_RETURN DAT_API
dat_srq_resize(DAT_SRQ_HANDLE srq, DAT_COUNT max_recv_dtos)
{
	return HANDLE_CALL(srq, DAT_INVALID_HANDLE_SRQ, srq_resize_func, srq, max_recv_dtos);
}

DAT_RETURN DAT_API
dat_srq_set_lw(DAT_SRQ_HANDLE srq, DAT_COUNT low_watermark)
{
	return HANDLE_CALL(srq, DAT_INVALID_HANDLE_SRQ, srq_set_lw_func, srq, low_watermark);
}

DAT_RETURN DAT_API
dat_srq_free(DAT_SRQ_HANDLE srq)
{
	return HANDLE_CALL(srq, DAT_INVALID_HANDLE_SRQ, srq_free_func, srq);
}
