/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_api_cno.h -- consumer notification objects: one place to wait for many EVDs
 */
#include <dat2/udat.h>

#ifndef _DAT_API_CNO_H_
#define _DAT_API_CNO_H_

#ifdef __cplusplus
extern "C" {
#endif

DAT_RETURN DAT_API dat_cno_create(DAT_IA_HANDLE ia, DAT_OS_WAIT_PROXY_AGENT agent,
			    DAT_CNO_HANDLE *cno);

DAT_RETURN DAT_API dat_cno_fd_create(DAT_IA_HANDLE ia, DAT_FD *fd, DAT_CNO_HANDLE *cno);

DAT_RETURN DAT_API dat_cno_query(DAT_CNO_HANDLE cno, DAT_CNO_PARAM_MASK mask,
			    DAT_CNO_PARAM *param);

DAT_RETURN DAT_API dat_cno_modify_agent(DAT_CNO_HANDLE cno, DAT_OS_WAIT_PROXY_AGENT agent);

DAT_RETURN DAT_API dat_cno_wait(DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout, DAT_EVD_HANDLE *evd);

DAT_RETURN DAT_API dat_cno_trigger(DAT_CNO_HANDLE cno, DAT_EVD_HANDLE *evd);

DAT_RETURN DAT_API dat_cno_free(DAT_CNO_HANDLE cno);

#ifdef __cplusplus
}
#endif

#endif
