/* SPDX-License-Identifier: BSD-3-Clause */
/* async_evd -- which EVD receives the asynchronous events of an adapter */
#include "dapl/evd/evd_object.h"
#include "dapl/ia/ia.h"
#include "dapl/trace/err.h"

/*
 * Takes a reference to the EVD for asynchronous events of another adapter.  NULL if the handle is
 * no such EVD, or belongs to another device.  The other adapter may be closing.  It exists as long
 * as the EVD does, so its device is compared under the lock of the EVD; later the slot may have
 * another adapter.
 */
static struct dapl_evd *
async_evd_get(const struct dapl_ia *ia, DAT_EVD_HANDLE given) DAPL_NO_OBJECT_LOCK
{
	struct dapl_evd *evd = dapl_object_lock_handle(given, DAPL_KIND_EVD);
	bool fits;

	if (!evd)
		return NULL;
	fits = (evd->flags & DAT_EVD_ASYNC_FLAG) && dapl_ia_of(&evd->obj)->verbs == ia->verbs;
	if (fits)
		evd->obj.refs++;
	dapl_object_unlock(&evd->obj);
	return fits ? evd : NULL;
}

/* Takes over, or makes, the EVD of asynchronous events.  A DAT_RETURN: each case has its own. */
DAT_RETURN
dapl_ia_attach_async(struct dapl_ia *ia, DAT_COUNT qlen, DAT_EVD_HANDLE given)
{
	struct dapl_evd_plan plan = {
		.qlen = qlen, .flags = DAT_EVD_ASYNC_FLAG, .private_channel = true
	};
	struct dapl_evd *evd;
	DAT_RETURN ret;
	int r;

	ia->async = NULL;
	ia->async_ours = false;
	ia->async_elsewhere = given == DAT_EVD_ASYNC_EXISTS;
	if (ia->async_elsewhere)
		return DAT_SUCCESS;
	if (given == DAT_HANDLE_NULL) {
		ret = dapl_evd_check_length(ia, qlen);
		if (ret != DAT_SUCCESS)
			return ret;
		r = dapl_evd_create_object(ia, &plan, &evd);
		if (r)
			return dapl_err_resource(NULL, r, DAT_RESOURCE_MEMORY);
		dapl_object_lock(&evd->obj);
		evd->obj.refs++;
		dapl_object_unlock(&evd->obj);
		ia->async_ours = true;
		ia->async = evd;
		return DAT_SUCCESS;
	}
	evd = async_evd_get(ia, given);
	if (!evd)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_ASYNC);
	ia->async = evd;
	return DAT_SUCCESS;
}

void
dapl_ia_detach_async(struct dapl_ia *ia)
{
	struct dapl_evd *evd;

	dapl_ia_lock(ia);
	evd = ia->async;
	ia->async = NULL;
	dapl_ia_unlock(ia);
	if (evd)
		dapl_evd_put(evd);
}

static bool
async_evd_detach_of(struct dapl_ia *ia, void *owner)
    REQUIRES(dapl_locks.adapters) DAPL_NO_ADAPTER_LOCK
{
	bool uses;

	dapl_ia_lock(ia);
	uses = ia->async && dapl_ia_of(&ia->async->obj) == owner;
	dapl_ia_unlock(ia);
	if (uses)
		dapl_ia_detach_async(ia);
	return uses;
}

void
dapl_ia_detach_async_elsewhere(struct dapl_ia *ia)
{
	while (dapl_ia_find(async_evd_detach_of, ia))
		;
}
