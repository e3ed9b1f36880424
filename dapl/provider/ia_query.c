/* SPDX-License-Identifier: BSD-3-Clause */
/* ia_query -- dat_ia_query() */
#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/evd/evd_object.h"
#include "dapl/ia/ia.h"

/*
 * Two adapters are related when one can take over the connections of the other.  No adapter here
 * can.
 */
DAT_RETURN
dapl_ia_ha_related(DAT_IA_HANDLE ia, const DAT_NAME_PTR name, DAT_BOOLEAN *answer)
{
	DAPL_UNCANCELLED;

	if (!dapl_handle_is(ia, DAPL_KIND_IA))
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	if (!name)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if (!answer)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	*answer = DAT_FALSE;
	return DAT_SUCCESS;
}

DAT_RETURN
dapl_ia_query(DAT_IA_HANDLE ia_handle, DAT_EVD_HANDLE *async_evd, DAT_IA_ATTR_MASK ia_mask,
    DAT_IA_ATTR *ia_attr, DAT_PROVIDER_ATTR_MASK provider_mask, DAT_PROVIDER_ATTR *provider_attr)
{
	DAPL_UNCANCELLED;
	DAT_RETURN ret = DAT_SUCCESS;
	struct dapl_ia *ia;

	ia = dapl_ia_lock_handle(ia_handle);
	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	if (ia_mask & ~(DAT_IA_ATTR_MASK)DAT_IA_FIELD_ALL) {
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	} else if (ia_mask && !ia_attr) {
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	} else if (provider_mask & ~(DAT_PROVIDER_ATTR_MASK)DAT_PROVIDER_FIELD_ALL) {
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
	} else if (provider_mask && !provider_attr) {
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
	} else {
		if (async_evd)
			*async_evd = ia->async_elsewhere ? DAT_EVD_OUT_OF_SCOPE :
				     ia->async		 ? (DAT_EVD_HANDLE)ia->async->obj.handle :
							   DAT_HANDLE_NULL;
		if (ia_mask)
			dapl_ia_get_attr(ia, ia_attr);
		if (provider_mask)
			dapl_ia_get_provider_attr(ia, provider_attr);
	}
	dapl_ia_unlock(ia);
	return ret;
}
