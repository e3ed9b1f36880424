/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of consumer notification objects: each calls the provider of its handle. */
#include "dat/handle.h"

DAT_RETURN DAT_API
dat_cno_create(DAT_IA_HANDLE ia, DAT_OS_WAIT_PROXY_AGENT agent, DAT_CNO_HANDLE *cno)
{
	return IA_CALL(ia, cno_create_func, agent, cno);
}

DAT_RETURN DAT_API
dat_cno_fd_create(DAT_IA_HANDLE ia, DAT_FD *fd, DAT_CNO_HANDLE *cno)
{
	return IA_CALL(ia, cno_fd_create_func, fd, cno);
}

DAT_RETURN DAT_API
dat_cno_query(DAT_CNO_HANDLE cno, DAT_CNO_PARAM_MASK mask, DAT_CNO_PARAM *param)
{
	return HANDLE_CALL(cno, DAT_INVALID_HANDLE_CNO, cno_query_func, cno, mask, param);
}

DAT_RETURN DAT_API
dat_cno_modify_agent(DAT_CNO_HANDLE cno, DAT_OS_WAIT_PROXY_AGENT agent)
{
	return HANDLE_CALL(cno, DAT_INVALID_HANDLE_CNO, cno_modify_agent_func, cno, agent);
}

DAT_RETURN DAT_API
dat_cno_wait(DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout, DAT_EVD_HANDLE *evd)
{
	return HANDLE_CALL(cno, DAT_INVALID_HANDLE_CNO, cno_wait_func, cno, timeout, evd);
}

DAT_RETURN DAT_API
dat_cno_trigger(DAT_CNO_HANDLE cno, DAT_EVD_HANDLE *evd)
{
	return HANDLE_CALL(cno, DAT_INVALID_HANDLE_CNO, cno_trigger_func, cno, evd);
}

DAT_RETURN DAT_API
dat_cno_free(DAT_CNO_HANDLE cno)
{
	return HANDLE_CALL(cno, DAT_INVALID_HANDLE_CNO, cno_free_func, cno);
}
