/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of service points and connection requests: each calls the provider of its handle. */
#include "dat/handle.h"

DAT_RETURN DAT_API
dat_psp_create(DAT_IA_HANDLE ia, DAT_CONN_QUAL qual, DAT_EVD_HANDLE evd, DAT_PSP_FLAGS flags,
    DAT_PSP_HANDLE *psp)
{
	return IA_CALL(ia, psp_create_func, qual, evd, flags, psp);
}

DAT_RETURN DAT_API
dat_psp_create_any(DAT_IA_HANDLE ia, DAT_CONN_QUAL *qual, DAT_EVD_HANDLE evd, DAT_PSP_FLAGS flags,
    DAT_PSP_HANDLE *psp)
{
	return IA_CALL(ia, psp_create_any_func, qual, evd, flags, psp);
}

DAT_RETURN DAT_API
dat_psp_query(DAT_PSP_HANDLE psp, DAT_PSP_PARAM_MASK mask, DAT_PSP_PARAM *param)
{
	return HANDLE_CALL(psp, DAT_INVALID_HANDLE_PSP, psp_query_func, psp, mask, param);
}

DAT_RETURN DAT_API
dat_psp_free(DAT_PSP_HANDLE psp)
{
	return HANDLE_CALL(psp, DAT_INVALID_HANDLE_PSP, psp_free_func, psp);
}

DAT_RETURN DAT_API
dat_rsp_create(
    DAT_IA_HANDLE ia, DAT_CONN_QUAL qual, DAT_EP_HANDLE ep, DAT_EVD_HANDLE evd, DAT_RSP_HANDLE *rsp)
{
	return IA_CALL(ia, rsp_create_func, qual, ep, evd, rsp);
}

DAT_RETURN DAT_API
dat_rsp_query(DAT_RSP_HANDLE rsp, DAT_RSP_PARAM_MASK mask, DAT_RSP_PARAM *param)
{
	return HANDLE_CALL(rsp, DAT_INVALID_HANDLE_RSP, rsp_query_func, rsp, mask, param);
}

DAT_RETURN DAT_API
dat_rsp_free(DAT_RSP_HANDLE rsp)
{
	return HANDLE_CALL(rsp, DAT_INVALID_HANDLE_RSP, rsp_free_func, rsp);
}

DAT_RETURN DAT_API
dat_csp_create(DAT_IA_HANDLE ia, DAT_COMM *comm, DAT_IA_ADDRESS_PTR address, DAT_EVD_HANDLE evd,
    DAT_CSP_HANDLE *csp)
{
	return IA_CALL(ia, csp_create_func, comm, address, evd, csp);
}

DAT_RETURN DAT_API
dat_csp_query(DAT_CSP_HANDLE csp, DAT_CSP_PARAM_MASK mask, DAT_CSP_PARAM *param)
{
	return HANDLE_CALL(csp, DAT_INVALID_HANDLE_CSP, csp_query_func, csp, mask, param);
}

DAT_RETURN DAT_API
dat_csp_free(DAT_CSP_HANDLE csp)
{
	return HANDLE_CALL(csp, DAT_INVALID_HANDLE_CSP, csp_free_func, csp);
}

DAT_RETURN DAT_API
dat_cr_query(DAT_CR_HANDLE cr, DAT_CR_PARAM_MASK mask, DAT_CR_PARAM *param)
{
	return HANDLE_CALL(cr, DAT_INVALID_HANDLE_CR, cr_query_func, cr, mask, param);
}

DAT_RETURN DAT_API
dat_cr_accept(DAT_CR_HANDLE cr, DAT_EP_HANDLE ep, DAT_COUNT size, const DAT_PVOID data)
{
	return HANDLE_CALL(cr, DAT_INVALID_HANDLE_CR, cr_accept_func, cr, ep, size, data);
}

DAT_RETURN DAT_API
dat_cr_reject(DAT_CR_HANDLE cr, DAT_COUNT size, const DAT_PVOID data)
{
	return HANDLE_CALL(cr, DAT_INVALID_HANDLE_CR, cr_reject_func, cr, size, data);
}

DAT_RETURN DAT_API
dat_cr_handoff(DAT_CR_HANDLE cr, DAT_CONN_QUAL qual)
{
	return HANDLE_CALL(cr, DAT_INVALID_HANDLE_CR, cr_handoff_func, cr, qual);
}
