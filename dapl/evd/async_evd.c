/* SPDX-License-Identifier: BSD-3-Clause */
/* async_evd -- which EVD receives the asynchronous events of an adapter */
#include "dapl/evd/evd.h"
#include "dapl/ia/ia.h"
#include "dapl/trace/err.h"

/*
 * Holds another adapter's EVD of asynchronous events; NULL if it is not one, or not of the same device.
 * That adapter may be closing.  It lasts as long as the EVD lives, which the EVD's lock shows; later its
 * slot may serve an adapter of another device.
 */
static struct dapl_evd *
hold_async(const struct ia *ia, DAT_EVD_HANDLE given)
{
	struct dapl_evd *evd = object_lock(given, KIND_EVD);
	bool fits;

	if (!evd)
		return NULL;
	fits = (evd->flags & DAT_EVD_ASYNC_FLAG) && ia_of(&evd->obj)->verbs == ia->verbs;
	if (fits)
		evd->obj.refs++;
	os_unlock(&evd->obj.lock);
	return fits ? evd : NULL;
}

/* Takes over, or makes, the EVD of asynchronous events.  A DAT_RETURN: each case has its own. */
DAT_RETURN
ia_attach_async(struct ia *ia, DAT_COUNT qlen, DAT_EVD_HANDLE given)
{
	struct evd_plan plan = {
		.qlen = qlen, .flags = DAT_EVD_ASYNC_FLAG, .private_channel = true
	};
	struct dapl_evd *evd;
	int r;

	ia->async = NULL;
	ia->async_ours = false;
	ia->async_elsewhere = given == DAT_EVD_ASYNC_EXISTS;
	if (ia->async_elsewhere)
		return DAT_SUCCESS;
	if (given == DAT_HANDLE_NULL) {
		r = evd_object_create(ia, &plan, &evd);
		if (r)
			return err_resource(r, DAT_RESOURCE_MEMORY);
		os_lock(&evd->obj.lock);
		evd->obj.refs++;
		os_unlock(&evd->obj.lock);
		ia->async_ours = true;
		ia->async = evd;
		return DAT_SUCCESS;
	}
	evd = hold_async(ia, given);
	if (!evd)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_ASYNC);
	ia->async = evd;
	return DAT_SUCCESS;
}

void
ia_detach_async(struct ia *ia)
{
	struct dapl_evd *evd;

	os_lock(&ia->obj.lock);
	evd = ia->async;
	ia->async = NULL;
	os_unlock(&ia->obj.lock);
	if (evd)
		evd_release(evd);
}

/* The caller holds the lock of the list. */
static bool
detach_of(struct ia *ia, void *owner)
{
	bool uses;

	os_lock(&ia->obj.lock);
	uses = ia->async && ia_of(&ia->async->obj) == owner;
	os_unlock(&ia->obj.lock);
	if (uses)
		ia_detach_async(ia);
	return uses;
}

void
ia_withdraw_async(struct ia *ia)
{
	while (ia_find(detach_of, ia))
		;
}
