/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/provider/kinds.h"

#include "dapl/api.h"
#include "dapl/evd/cno.h"
#include "dapl/evd/evd_object.h"
#include "dapl/object/cancel.h"

#define KIND(name, stem) \
	.kind = DAPL_KIND_##name, .type = DAT_HANDLE_TYPE_##name, \
	.free = dapl_##stem##_free_by_handle

const struct dapl_kind_ops dapl_kind_table[] = {
	{ KIND(CR, cr) },
	{ KIND(PSP, psp) },
	{ KIND(RSP, rsp) },
	{ KIND(CSP, csp) },
	{ KIND(EP, ep) },
	{ KIND(RMR, rmr) },
	{ KIND(SRQ, srq) },
	{ KIND(LMR, lmr) },
	{
	    KIND(EVD, evd),
	    .closing = dapl_evd_set_closing,
	    .is_left = dapl_evd_is_left,
	    .await_others = dapl_evd_await_others,
	},
	{
	    KIND(CNO, cno),
	    .closing = dapl_cno_set_closing,
	    .is_left = dapl_cno_is_left,
	    .await_others = dapl_cno_await_others,
	},
	{ KIND(PZ, pz) },
	{ .kind = DAPL_KIND_IA, .type = DAT_HANDLE_TYPE_IA },
};

DAT_RETURN
dapl_get_handle_type(DAT_HANDLE handle, DAT_HANDLE_TYPE *type)
{
	DAPL_UNCANCELLED;
	const struct dapl_kind_ops *ops = dapl_kind_table;
	struct dapl_object *obj = dapl_object_lock_handle(handle, DAPL_KIND_NONE);
	enum dapl_kind kind;

	if (!obj)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	kind = obj->kind;
	dapl_object_unlock(obj);
	if (!type)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	while (ops->kind != kind)
		ops++;
	*type = ops->type;
	return DAT_SUCCESS;
}
