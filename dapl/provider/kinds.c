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

#define KIND(name, destroy_fn) .kind = KIND_##name, .type = DAT_HANDLE_TYPE_##name, .destroy = (destroy_fn)

const struct kind_ops kind_table[] = {
	{ KIND(CR, cr_destroy) },
	{ KIND(PSP, psp_destroy) },
	{ KIND(RSP, rsp_destroy) },
	{ KIND(CSP, csp_destroy) },
	{ KIND(EP, ep_destroy) },
	{ KIND(LMR, lmr_destroy) },
	{
	    KIND(EVD, evd_destroy),
	    .closing = evd_object_closing,
	    .is_left = evd_object_is_left,
	    .await_others = evd_object_await_others,
	},
	{
	    KIND(CNO, cno_destroy),
	    .closing = cno_object_closing,
	    .is_left = cno_object_is_left,
	    .await_others = cno_object_await_others,
	},
	{ KIND(PZ, pz_destroy) },
	{ KIND(IA, NULL) },
};

DAT_RETURN
dapl_get_handle_type(DAT_HANDLE handle, DAT_HANDLE_TYPE *type)
{
	const struct kind_ops *ops = kind_table;
	struct object *obj = object_lock(handle, KIND_NONE);
	enum kind kind;

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
