/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of event dispatchers: each calls the provider of its handle. */
#include "dat/handle.h"

DAT_RETURN DAT_API
dat_evd_create(DAT_IA_HANDLE ia, DAT_COUNT min_qlen, DAT_CNO_HANDLE cno, DAT_EVD_FLAGS flags,
    DAT_EVD_HANDLE *evd)
{
	return IA_CALL(ia, evd_create_func, min_qlen, cno, flags, evd);
}

DAT_RETURN DAT_API
dat_evd_query(DAT_EVD_HANDLE evd, DAT_EVD_PARAM_MASK mask, DAT_EVD_PARAM *param)
{
	return HANDLE_CALL(evd, DAT_INVALID_HANDLE_EVD_REQUEST, evd_query_func, evd, mask, param);
}

static __attribute__((noinline)) DAT_RETURN
evd_wait_any(
    DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold, DAT_EVENT *event, DAT_COUNT *more)
{
	return HANDLE_CALL_ANY(evd, DAT_INVALID_HANDLE_EVD_REQUEST, evd_wait_func, evd, timeout,
	    threshold, event, more);
}

DAT_RETURN DAT_API
dat_evd_wait(
    DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold, DAT_EVENT *event, DAT_COUNT *more)
{
	return HANDLE_CALL_OR(
	    evd, evd_wait_any, evd_wait_func, evd, timeout, threshold, event, more);
}

DAT_RETURN DAT_API
dat_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
	return HANDLE_CALL(evd, DAT_INVALID_HANDLE_EVD_REQUEST, evd_dequeue_func, evd, event);
}

DAT_RETURN DAT_API
dat_evd_post_se(DAT_EVD_HANDLE evd, const DAT_EVENT *event)
{
	return HANDLE_CALL(evd, DAT_INVALID_HANDLE_EVD_REQUEST, evd_post_se_func, evd, event);
}

DAT_RETURN DAT_API
dat_evd_resize(DAT_EVD_HANDLE evd, DAT_COUNT min_qlen)
{
	return HANDLE_CALL(evd, DAT_INVALID_HANDLE_EVD_REQUEST, evd_resize_func, evd, min_qlen);
}

DAT_RETURN DAT_API
dat_evd_modify_cno(DAT_EVD_HANDLE evd, DAT_CNO_HANDLE cno)
{
	return HANDLE_CALL(evd, DAT_INVALID_HANDLE_EVD_REQUEST, evd_modify_cno_func, evd, cno);
}

DAT_RETURN DAT_API
dat_evd_enable(DAT_EVD_HANDLE evd)
{
	return HANDLE_CALL(evd, DAT_INVALID_HANDLE_EVD_REQUEST, evd_enable_func, evd);
}

DAT_RETURN DAT_API
dat_evd_disable(DAT_EVD_HANDLE evd)
{
	return HANDLE_CALL(evd, DAT_INVALID_HANDLE_EVD_REQUEST, evd_disable_func, evd);
}

DAT_RETURN DAT_API
dat_evd_set_unwaitable(DAT_EVD_HANDLE evd)
{
	return HANDLE_CALL(evd, DAT_INVALID_HANDLE_EVD_REQUEST, evd_set_unwaitable_func, evd);
}

DAT_RETURN DAT_API
dat_evd_clear_unwaitable(DAT_EVD_HANDLE evd)
{
	return HANDLE_CALL(evd, DAT_INVALID_HANDLE_EVD_REQUEST, evd_clear_unwaitable_func, evd);
}

DAT_RETURN DAT_API
dat_evd_free(DAT_EVD_HANDLE evd)
{
	return HANDLE_CALL(evd, DAT_INVALID_HANDLE_EVD_REQUEST, evd_free_func, evd);
}
