/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_api_srq.h -- shared receive queues
 */
#include <dat2/udat.h>

#ifndef _DAT_API_SRQ_H_
#define _DAT_API_SRQ_H_

#ifdef __cplusplus
extern "C" {
#endif

DAT_RETURN DAT_API dat_srq_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_SRQ_ATTR *attr,
			    DAT_SRQ_HANDLE *srq);

DAT_RETURN DAT_API dat_srq_query(DAT_SRQ_HANDLE srq, DAT_SRQ_PARAM_MASK mask,
			    DAT_SRQ_PARAM *param);

DAT_RETURN DAT_API dat_srq_post_recv(DAT_SRQ_HANDLE srq, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
			    DAT_DTO_COOKIE cookie);

DAT_RETURN DAT_API dat_srq_resize(DAT_SRQ_HANDLE srq, DAT_COUNT max_recv_dtos);

DAT_RETURN DAT_API dat_srq_set_lw(DAT_SRQ_HANDLE srq, DAT_COUNT low_watermark);

DAT_RETURN DAT_API dat_srq_free(DAT_SRQ_HANDLE srq);

#ifdef __cplusplus
}
#endif

#endif
