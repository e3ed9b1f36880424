/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_api_evd.h -- event dispatchers: one queue of events each, fed by one or more streams
 */
#include <dat2/udat.h>

#ifndef _DAT_API_EVD_H_
#define _DAT_API_EVD_H_

#ifdef __cplusplus
extern "C" {
#endif

DAT_RETURN DAT_API dat_evd_create(DAT_IA_HANDLE ia, DAT_COUNT min_qlen, DAT_CNO_HANDLE cno,
			    DAT_EVD_FLAGS flags, DAT_EVD_HANDLE *evd);

DAT_RETURN DAT_API dat_evd_query(DAT_EVD_HANDLE evd, DAT_EVD_PARAM_MASK mask,
			    DAT_EVD_PARAM *param);

DAT_RETURN DAT_API dat_evd_wait(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold,
			    DAT_EVENT *event, DAT_COUNT *more);

DAT_RETURN DAT_API dat_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event);

DAT_RETURN DAT_API dat_evd_post_se(DAT_EVD_HANDLE evd, const DAT_EVENT *event);

DAT_RETURN DAT_API dat_evd_resize(DAT_EVD_HANDLE evd, DAT_COUNT min_qlen);

DAT_RETURN DAT_API dat_evd_modify_cno(DAT_EVD_HANDLE evd, DAT_CNO_HANDLE cno);

DAT_RETURN DAT_API dat_evd_enable(DAT_EVD_HANDLE evd);

DAT_RETURN DAT_API dat_evd_disable(DAT_EVD_HANDLE evd);

DAT_RETURN DAT_API dat_evd_set_unwaitable(DAT_EVD_HANDLE evd);

DAT_RETURN DAT_API dat_evd_clear_unwaitable(DAT_EVD_HANDLE evd);

DAT_RETURN DAT_API dat_evd_free(DAT_EVD_HANDLE evd);

#ifdef __cplusplus
}
#endif

#endif
