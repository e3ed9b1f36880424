/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * evd_call -- the calls that act on a living EVD
 *
 * They call the dispatcher directly. Its lock is the only one on this path, and it compares the
 * serial number. Members of the DAT object that were read before are valid if the numbers are
 * equal.  A member that decides the result by itself is read under the lock of the object.
 */
#include <string.h>

#include "evd/fast.h"

#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/evd/cno.h"
#include "dapl/trace/err.h"
#include "dapl/evd/evd_object.h"
#include "dapl/object/registry.h"
#include "dapl/ia/ia.h"
#include "dapl/state/upcall.h"

#define BAD_EVD DAT_ERROR(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE)

/* The EVD of a handle as the dispatcher knows it; ref->evd is NULL for a bad handle. */
static struct dapl_evd *
dapl_evd_find(DAT_EVD_HANDLE handle, struct evd_ref *ref)
{
	struct dapl_evd *evd = dapl_handle_object(handle, DAPL_KIND_EVD, &ref->serial);

	ref->evd = evd ? &evd->core : NULL;
	return evd;
}

DAT_RETURN
dapl_evd_post_se(DAT_EVD_HANDLE handle, const DAT_EVENT *event)
{
	struct evd_ref ref;
	struct dapl_evd *evd = dapl_evd_find(handle, &ref);
	DAT_EVENT *place;

	if (!evd)
		return BAD_EVD;
	if (!atomic_load_explicit(&evd->software, memory_order_relaxed))
		return evd_is_alive(ref) ? DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1) :
					   BAD_EVD;
	if (!event || event->event_number != DAT_SOFTWARE_EVENT)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if (!evd_enter(ref))
		return BAD_EVD;
	place = evd_enter_software(ref.evd);
	if (!place) {
		evd_unlock(ref.evd);
		return DAT_ERROR(DAT_QUEUE_FULL, DAT_NO_SUBTYPE);
	}
	place->event_number = DAT_SOFTWARE_EVENT;
	place->evd_handle = handle;
	place->event_data.software_event_data.pointer =
	    event->event_data.software_event_data.pointer;
	evd_entered_software(ref.evd);
	return DAT_SUCCESS;
}

DAT_RETURN
dapl_evd_query(DAT_EVD_HANDLE handle, DAT_EVD_PARAM_MASK mask, DAT_EVD_PARAM *param)
{
	DAPL_UNCANCELLED;
	struct dapl_evd *evd = dapl_object_lock_handle(handle, DAPL_KIND_EVD);
	struct evd_status status;
	enum dapl_evd_notice notice;
	DAT_IA_HANDLE ia_self;
	DAT_EVD_FLAGS flags;
	struct evd_ref ref;
	unsigned int state;
	DAT_RETURN ret;

	if (!evd)
		return BAD_EVD;
	ref = dapl_evd_ref(evd);
	ia_self = dapl_ia_of(&evd->obj)->self;
	flags = evd->flags;
	notice = evd->notice;
	dapl_object_unlock(&evd->obj);
	ret = dapl_err_query(!(mask & ~DAT_EVD_FIELD_ALL), param);
	if (ret != DAT_SUCCESS)
		return ret;
	if (evd_query(ref, &status))
		return BAD_EVD;
	state = status.enabled ? DAT_EVD_STATE_ENABLED : DAT_EVD_STATE_DISABLED;
	state |= status.waitable ? DAT_EVD_STATE_WAITABLE : DAT_EVD_STATE_UNWAITABLE;
	state |= notice * DAT_EVD_STATE_CONFIG_NOTIFY;
	*param = (DAT_EVD_PARAM){
		.ia_handle = dapl_registry_ia_handle(ia_self),
		.evd_qlen = status.qlen,
		.evd_state = (DAT_EVD_STATE)state,
		.cno_handle = status.cno,
		.evd_flags = flags,
	};
	return DAT_SUCCESS;
}

static DAT_RETURN
dapl_evd_done(int r)
{
	return r ? BAD_EVD : DAT_SUCCESS;
}

DAT_RETURN
dapl_evd_enable(DAT_EVD_HANDLE handle)
{
	DAPL_UNCANCELLED;
	struct evd_ref ref;

	return dapl_evd_done(dapl_evd_find(handle, &ref) ? evd_set_enabled(ref, true) : -ENODEV);
}

DAT_RETURN
dapl_evd_disable(DAT_EVD_HANDLE handle)
{
	DAPL_UNCANCELLED;
	struct evd_ref ref;

	return dapl_evd_done(dapl_evd_find(handle, &ref) ? evd_set_enabled(ref, false) : -ENODEV);
}

DAT_RETURN
dapl_evd_set_unwaitable(DAT_EVD_HANDLE handle)
{
	DAPL_UNCANCELLED;
	struct evd_ref ref;

	return dapl_evd_done(dapl_evd_find(handle, &ref) ? evd_set_waitable(ref, false) : -ENODEV);
}

DAT_RETURN
dapl_evd_clear_unwaitable(DAT_EVD_HANDLE handle)
{
	DAPL_UNCANCELLED;
	struct evd_ref ref;

	return dapl_evd_done(dapl_evd_find(handle, &ref) ? evd_set_waitable(ref, true) : -ENODEV);
}

DAT_RETURN
dapl_evd_modify_cno(DAT_EVD_HANDLE handle, DAT_CNO_HANDLE cno_handle)
{
	DAPL_UNCANCELLED;
	struct dapl_evd *evd = dapl_object_lock_handle(handle, DAPL_KIND_EVD);
	struct dapl_cno *cno = NULL, *old;
	struct evd_ref ref;
	struct dapl_ia *ia;
	int r;

	if (!evd)
		return BAD_EVD;
	ref = dapl_evd_ref(evd);
	ia = dapl_ia_of(&evd->obj);
	dapl_object_unlock(&evd->obj);
	if (cno_handle != DAT_HANDLE_NULL) {
		/*
		 * The IA may be closed, because it is only compared: an IA that is closed has freed
		 * the EVD.
		 */
		cno = dapl_cno_attach(cno_handle, ia);
		if (!cno)
			return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
	}
	/* Under this lock the listener and the reference to it change together. */
	dapl_object_lock(&evd->obj);
	old = cno;
	r = dapl_object_is(&evd->obj, ref.serial) ?
		evd_set_listener(ref, cno ? cno_listener(&cno->core) : NULL, cno_handle) :
		-ENODEV;
	if (!r) {
		old = evd->cno;
		evd->cno = cno;
	}
	dapl_object_unlock(&evd->obj);
	if (old)
		dapl_cno_detach(old);
	return r == -ENOMEM || r == -ENOSPC || r == -EMFILE || r == -ENFILE ?
		   dapl_err_resource("dat_evd_modify_cno", r, DAT_RESOURCE_MEMORY) :
		   dapl_evd_done(r);
}

DAT_RETURN
dapl_evd_resize(DAT_EVD_HANDLE handle, DAT_COUNT min_qlen)
{
	DAPL_UNCANCELLED;
	struct dapl_evd *evd = dapl_object_lock_handle(handle, DAPL_KIND_EVD);
	struct evd_status now;
	int r = 0;

	if (!evd)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	if (min_qlen <= 0 || min_qlen > dapl_ia_of(&evd->obj)->device.max_cqe) {
		dapl_object_unlock(&evd->obj);
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	}
	/* Under this lock the EVD cannot be freed, and no endpoint can add requests to it. */
	if (evd_query(dapl_evd_ref(evd), &now) || now.qlen != min_qlen) {
		r = dapl_evd_cq_deepen(evd, min_qlen);
		if (!r)
			r = evd_resize(dapl_evd_ref(evd), (unsigned int)min_qlen);
		if (!r)
			dapl_evd_cq_shorten(evd, min_qlen);
	}
	dapl_object_unlock(&evd->obj);
	return dapl_err_evd_resize(r);
}

/* Not inline: MANY is not usual. */
static __attribute__((noinline)) DAT_RETURN
dapl_evd_set_many(const char *call, DAT_EVD_HANDLE handle, struct evd_ref ref,
    const struct evd_upcall *upcall, DAT_UPCALL_FLAG flag)
{
	DAPL_UNCANCELLED;
	int r = dapl_evd_give_pool(handle);

	if (r == -ENODEV)
		return BAD_EVD;
	if (r)
		return dapl_err_resource(call, r, DAT_RESOURCE_MEMORY);
	r = evd_modify_upcall(ref, EVD_POLICY_MANY, upcall, dapl_pending(flag));
	return dapl_err_evd_modify_upcall(call, r);
}

/* For another object, of either kind, or MANY.  An object is not read if the handle is invalid. */
static __attribute__((noinline)) DAT_RETURN
dapl_evd_modify(const char *call, DAT_EVD_HANDLE handle, DAT_UPCALL_POLICY policy,
    const DAT_UPCALL_OBJECT *single, const DAT_UPCALL_ARRAY_OBJECT *array, DAT_UPCALL_FLAG flag)
{
	struct evd_upcall object, *upcall = single || array ? &object : NULL;
	struct evd_ref ref;

	if (!dapl_evd_find(handle, &ref))
		return BAD_EVD;
	if (upcall)
		object = single ? dapl_upcall(single) : dapl_upcall_array(array);
	if (policy == DAT_UPCALL_MANY)
		return dapl_evd_set_many(call, handle, ref, upcall, flag);
	return dapl_err_evd_modify_upcall(
	    call, evd_modify_upcall(ref, dapl_policy(policy), upcall, dapl_pending(flag)));
}

DAT_RETURN
dapl_evd_modify_upcall(DAT_EVD_HANDLE handle, DAT_UPCALL_POLICY policy,
    const DAT_UPCALL_OBJECT *upcall, DAT_UPCALL_FLAG flag)
{
	struct evd_ref ref;
	int r;

	if (upcall || policy == DAT_UPCALL_MANY)
		return dapl_evd_modify("dat_evd_modify_upcall", handle, policy, upcall, NULL, flag);
	if (!dapl_evd_find(handle, &ref))
		return BAD_EVD;
	r = evd_modify_upcall(ref, dapl_policy(policy), NULL, dapl_pending(flag));
	return r ? dapl_err_evd_modify_upcall("dat_evd_modify_upcall", r) : (DAT_RETURN)DAT_SUCCESS;
}

DAT_RETURN
dapl_evd_modify_upcall_array(DAT_EVD_HANDLE handle, DAT_UPCALL_POLICY policy,
    const DAT_UPCALL_ARRAY_OBJECT *upcall, DAT_UPCALL_FLAG flag)
{
	return dapl_evd_modify("dat_evd_modify_upcall_array", handle, policy, NULL, upcall, flag);
}

DAT_RETURN
dapl_evd_query_upcall_counters(
    DAT_EVD_HANDLE handle, struct dat_rearm_evd_counters *counters, DAT_UINT32 size)
{
	DAPL_UNCANCELLED;
	struct evd_counters now;
	struct evd_ref ref;

	if (!dapl_evd_find(handle, &ref))
		return BAD_EVD;
	if (!counters)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if (evd_query_counters(ref, &now))
		return BAD_EVD;
	/*
	 * The program may be older or newer than this library: it gets the counters that both
	 * know.
	 */
	memset(counters, 0, size);
	memcpy(counters, &now, size < sizeof now ? size : sizeof now);
	return DAT_SUCCESS;
}
