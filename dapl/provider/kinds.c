/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/provider/kinds.h"

#include "dapl/api.h"
#include "dapl/cm/cr.h"
#include "dapl/cm/sp.h"
#include "dapl/ep/ep.h"
#include "dapl/evd/cno.h"
#include "dapl/evd/evd.h"
#include "dapl/memory/lmr.h"
#include "dapl/memory/pz.h"

#define KIND(name, destroy_fn) \
	.kind = KIND_##name, .type = DAT_HANDLE_TYPE_##name, .destroy = (destroy_fn)

const struct dapl_kind_ops dapl_kind_table[] = {
	{ KIND(CR, dapl_cr_free_by_handle) },
	{ KIND(PSP, dapl_psp_free_by_handle) },
	{ KIND(RSP, dapl_rsp_free_by_handle) },
	{ KIND(CSP, dapl_csp_free_by_handle) },
	{ KIND(EP, dapl_ep_free_by_handle) },
	{ KIND(LMR, dapl_lmr_free_by_handle) },
	{
	    KIND(EVD, dapl_evd_free_by_handle),
	    .closing = dapl_evd_set_closing,
	    .is_left = dapl_evd_is_left,
	    .await_others = dapl_evd_await_others,
	},
	{
	    KIND(CNO, dapl_cno_free_by_handle),
	    .closing = dapl_cno_set_closing,
	    .is_left = dapl_cno_is_left,
	    .await_others = dapl_cno_await_others,
	},
	{ KIND(PZ, dapl_pz_free_by_handle) },
	{ KIND(IA, NULL) },
};

DAT_RETURN
dapl_get_handle_type(DAT_HANDLE handle, DAT_HANDLE_TYPE *type)
{
	const struct dapl_kind_ops *ops = dapl_kind_table;
	struct dapl_object *obj = dapl_object_lock(handle, KIND_NONE);
	enum dapl_kind kind;

	if (!obj)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	kind = obj->kind;
	os_unlock(&obj->lock);
	if (!type)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	while (ops->kind != kind)
		ops++;
	*type = ops->type;
	return DAT_SUCCESS;
}
