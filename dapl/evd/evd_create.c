/* SPDX-License-Identifier: BSD-3-Clause */
/* evd_create -- the calls that create and free an EVD */
#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/evd/evd_object.h"
#include "dapl/ia/ia.h"
#include "dapl/state/upcall.h"
#include "dapl/trace/err.h"
#include "dapl/trace/hint.h"

DAT_RETURN
dapl_evd_check_length(const struct dapl_ia *ia, DAT_COUNT qlen)
{
	if (qlen <= ia->device.max_cqe)
		return DAT_SUCCESS;
	dapl_hint("the device has no longer queue than %d", ia->device.max_cqe);
	return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD);
}

/* The checks that evd_create and evd_kcreate share.  The numbers of their arguments differ. */
static DAT_RETURN
dapl_evd_check_create(
    const struct dapl_ia *ia, DAT_COUNT min_qlen, DAT_EVD_FLAGS flags, DAT_RETURN_SUBTYPE flags_arg)
{
	DAT_RETURN ret;

	if (min_qlen <= 0)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	ret = dapl_evd_check_length(ia, min_qlen);
	if (ret != DAT_SUCCESS)
		return ret;
	if (!flags || (flags & ~DAPL_EVD_FLAGS_KNOWN))
		return DAT_ERROR(DAT_INVALID_PARAMETER, flags_arg);
	return DAT_SUCCESS;
}

DAT_RETURN
dapl_evd_create(DAT_IA_HANDLE ia_handle, DAT_COUNT min_qlen, DAT_CNO_HANDLE cno,
    DAT_EVD_FLAGS flags, DAT_EVD_HANDLE *evd_handle)
{
	DAPL_UNCANCELLED;
	struct dapl_evd_plan plan = { .qlen = min_qlen, .flags = flags, .cno = cno };
	struct dapl_evd *evd;
	DAT_RETURN ret;
	struct dapl_ia *ia;
	int r;

	ia = dapl_ia_enter(ia_handle);
	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	ret = dapl_evd_check_create(ia, min_qlen, flags, DAT_INVALID_ARG4);
	if (ret == DAT_SUCCESS && !evd_handle)
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
	if (ret != DAT_SUCCESS)
		goto leave;
	plan.private_channel = cno == DAT_HANDLE_NULL;
	r = dapl_evd_create_object(ia, &plan, &evd);
	if (r)
		ret = r == -EBADF ? DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO) :
				    dapl_err_resource("dat_evd_create", r, DAT_RESOURCE_MEMORY);
	else
		*evd_handle = evd->obj.handle;
leave:
	dapl_ia_leave(ia);
	return ret;
}

DAT_RETURN
dapl_evd_kcreate(DAT_IA_HANDLE ia_handle, DAT_COUNT min_qlen, DAT_UPCALL_POLICY policy,
    const DAT_UPCALL_OBJECT *upcall, DAT_EVD_FLAGS flags, DAT_EVD_HANDLE *evd_handle)
{
	DAPL_UNCANCELLED;
	struct dapl_evd_plan plan = { .qlen = min_qlen, .flags = flags };
	DAT_EVD_HANDLE handle, before;
	struct evd_upcall object;
	struct dapl_evd *evd;
	struct evd_ref ref;
	DAT_RETURN ret;
	struct dapl_ia *ia;
	int r;

	ia = dapl_ia_enter(ia_handle);
	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	ret = dapl_evd_check_create(ia, min_qlen, flags, DAT_INVALID_ARG5);
	if (ret == DAT_SUCCESS && !evd_policy_is_valid(dapl_policy(policy)))
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	if (ret == DAT_SUCCESS && evd_policy_calls(dapl_policy(policy)) &&
	    (!upcall || !upcall->upcall_func))
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	if (ret == DAT_SUCCESS && !evd_handle)
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
	if (ret != DAT_SUCCESS)
		goto leave;
	r = dapl_evd_create_object(ia, &plan, &evd);
	if (r) {
		ret = dapl_err_resource("dat_evd_kcreate", r, DAT_RESOURCE_MEMORY);
		goto leave;
	}
	/* The consumer gets the handle before the first upcall can start. */
	handle = evd->obj.handle;
	ref = dapl_evd_ref(evd);
	before = *evd_handle;
	*evd_handle = handle;
	r = policy == DAT_UPCALL_MANY ? dapl_evd_give_pool(handle) : 0;
	if (r) {
		ret = dapl_err_resource("dat_evd_kcreate", r, DAT_RESOURCE_MEMORY);
	} else {
		if (upcall)
			object = dapl_upcall(upcall);
		r = evd_modify_upcall(
		    ref, dapl_policy(policy), upcall ? &object : NULL, EVD_PENDING_CALL);
		ret = dapl_err_evd_modify_upcall("dat_evd_kcreate", r);
	}
	if (r) {
		*evd_handle = before;
		(void)dapl_evd_free_object(evd, ref.serial);
	}
leave:
	dapl_ia_leave(ia);
	return ret;
}

DAT_RETURN
dapl_evd_free(DAT_EVD_HANDLE handle)
{
	DAPL_UNCANCELLED;
	uint64_t serial;
	struct dapl_evd *evd = dapl_handle_object(handle, DAPL_KIND_EVD, &serial);
	int r = evd ? dapl_evd_free_object(evd, serial) : -ENODEV;

	return dapl_err_free(r, DAT_INVALID_STATE_EVD_IN_USE, DAT_NO_SUBTYPE);
}
