/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_api_sp.h -- service points, which listen, and the connection requests they deliver
 */
#include <dat2/udat.h>

#ifndef _DAT_API_SP_H_
#define _DAT_API_SP_H_

#ifdef __cplusplus
extern "C" {
#endif

DAT_RETURN DAT_API dat_psp_create(DAT_IA_HANDLE ia, DAT_CONN_QUAL qual, DAT_EVD_HANDLE evd,
			    DAT_PSP_FLAGS flags, DAT_PSP_HANDLE *psp);

DAT_RETURN DAT_API dat_psp_create_any(DAT_IA_HANDLE ia, DAT_CONN_QUAL *qual, DAT_EVD_HANDLE evd,
			    DAT_PSP_FLAGS flags, DAT_PSP_HANDLE *psp);

DAT_RETURN DAT_API dat_psp_query(DAT_PSP_HANDLE psp, DAT_PSP_PARAM_MASK mask,
			    DAT_PSP_PARAM *param);

DAT_RETURN DAT_API dat_psp_free(DAT_PSP_HANDLE psp);

DAT_RETURN DAT_API dat_rsp_create(DAT_IA_HANDLE ia, DAT_CONN_QUAL qual, DAT_EP_HANDLE ep,
			    DAT_EVD_HANDLE evd, DAT_RSP_HANDLE *rsp);

DAT_RETURN DAT_API dat_rsp_query(DAT_RSP_HANDLE rsp, DAT_RSP_PARAM_MASK mask,
			    DAT_RSP_PARAM *param);

DAT_RETURN DAT_API dat_rsp_free(DAT_RSP_HANDLE rsp);

DAT_RETURN DAT_API dat_csp_create(DAT_IA_HANDLE ia, DAT_COMM *comm, DAT_IA_ADDRESS_PTR address,
			    DAT_EVD_HANDLE evd, DAT_CSP_HANDLE *csp);

DAT_RETURN DAT_API dat_csp_query(DAT_CSP_HANDLE csp, DAT_CSP_PARAM_MASK mask,
			    DAT_CSP_PARAM *param);

DAT_RETURN DAT_API dat_csp_free(DAT_CSP_HANDLE csp);

DAT_RETURN DAT_API dat_cr_query(DAT_CR_HANDLE cr, DAT_CR_PARAM_MASK mask, DAT_CR_PARAM *param);

DAT_RETURN DAT_API dat_cr_accept(DAT_CR_HANDLE cr, DAT_EP_HANDLE ep, DAT_COUNT size,
			    const DAT_PVOID data);

DAT_RETURN DAT_API dat_cr_reject(DAT_CR_HANDLE cr, DAT_COUNT size, const DAT_PVOID data);

DAT_RETURN DAT_API dat_cr_handoff(DAT_CR_HANDLE cr, DAT_CONN_QUAL qual);

#ifdef __cplusplus
}
#endif

#endif
