/* SPDX-License-Identifier: BSD-3-Clause */
/* srq_depth -- the depth and the watermark of a shared receive queue, and its reports */
#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/ia/ia.h"
#include "dapl/srq/srq_entry.h"
#include "dapl/trace/err.h"
#include "dapl/trace/shortage.h"

#define BAD_SRQ DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ)

struct dapl_srq *
dapl_srq_lock_members_of(DAT_SRQ_HANDLE handle)
{
	uint64_t serial;
	struct dapl_srq *srq = dapl_handle_object(handle, DAPL_KIND_SRQ, &serial);
	bool good;

	if (!srq)
		return NULL;
	dapl_srq_lock_members(srq);
	dapl_object_lock(&srq->obj);
	good = dapl_object_is(&srq->obj, serial);
	dapl_object_unlock(&srq->obj);
	if (good)
		return srq;
	dapl_srq_unlock_members(srq);
	return NULL;
}

/* ---- depth ---- */

static int
srq_set_device_depth(struct dapl_srq *srq, DAT_COUNT depth)
{
	struct ibv_srq_attr attr = { .max_wr = (uint32_t)depth };
	int r;

	if (!dapl_ia_can_resize_srq(dapl_ia_of(&srq->obj)))
		return -EOPNOTSUPP;
	r = ibv_modify_srq(srq->ibv, &attr, IBV_SRQ_MAX_WR);
	return dapl_shortage_of_result("ibv_modify_srq", r);
}

/* Everything that the buffers need is there before more of them can be posted. */
static int
srq_lengthen(struct dapl_srq *srq, DAT_COUNT depth) REQUIRES(dapl_locks.members) DAPL_NO_LIST_LOCK
{
	const DAT_COUNT more = depth - srq->depth;
	int r;

	r = dapl_srq_lengthen_holds(srq, depth);
	if (r)
		return r;
	dapl_srq_get_room(srq, more);
	r = srq_set_device_depth(srq, depth);
	if (!r)
		r = dapl_srq_entries_resize(srq, depth);
	if (r)
		dapl_srq_put_room(srq, more);
	return r;
}

/* The device's queue may stay longer than it need be, but is never shorter than the entries. */
static int
srq_shorten(struct dapl_srq *srq, DAT_COUNT depth) REQUIRES(dapl_locks.members) DAPL_NO_LIST_LOCK
{
	const DAT_COUNT less = srq->depth - depth;
	int r = dapl_srq_entries_resize(srq, depth);

	if (r)
		return r;
	(void)srq_set_device_depth(srq, depth);
	dapl_srq_put_room(srq, less);
	return 0;
}

/* What is outstanding, and the watermark. */
static DAT_COUNT
srq_least_depth(struct dapl_srq *srq) REQUIRES(dapl_locks.members) DAPL_NO_OBJECT_LOCK
{
	DAT_COUNT least, watermark;

	dapl_object_lock(&srq->obj);
	watermark = srq->low_watermark;
	dapl_object_unlock(&srq->obj);
	dapl_srq_lock(srq);
	least = srq->posted + srq->taken;
	dapl_srq_unlock(srq);
	return least > watermark ? least : watermark;
}

DAT_RETURN
dapl_srq_resize(DAT_SRQ_HANDLE handle, DAT_COUNT depth)
{
	DAPL_UNCANCELLED;
	struct dapl_srq *srq = dapl_srq_lock_members_of(handle);
	DAT_RETURN ret = DAT_SUCCESS;
	int r = 0;

	if (!srq)
		return BAD_SRQ;
	if (depth <= 0 || depth > dapl_ia_max_srq_wr(dapl_ia_of(&srq->obj))) {
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	} else {
		if (depth < srq_least_depth(srq))
			ret = DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE);
		else if (depth > srq->depth)
			r = srq_lengthen(srq, depth);
		else if (depth < srq->depth)
			r = srq_shorten(srq, depth);
		if (r == -EBUSY)
			ret = DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE);
		else if (r)
			ret = dapl_err_perhaps("dat_srq_resize", r, DAT_RESOURCE_SRQ);
	}
	dapl_srq_unlock_members(srq);
	return ret;
}

/* ---- reports ---- */

static bool
srq_is_watermark_report(const void *posted, const void *handle)
{
	const DAT_EVENT *event = posted;
	const DAT_ASYNCH_ERROR_EVENT_DATA *data = &event->event_data.asynch_error_event_data;

	return event->event_number == DAT_ASYNC_ERROR_EP_BROKEN && data->dat_handle == handle &&
	       data->reason == DAT_SRQ_LOW_WATERMARK_EVENT;
}

/* Whether an event is to be reported: one of the watermark once each time that it is set. */
static bool
srq_take_report(struct dapl_srq *srq, DAT_COUNT reason) REQUIRES(dapl_locks.object)
{
	bool due = !srq->failed;

	if (reason == DAT_SRQ_TRANSFER_TO_ERROR) {
		srq->failed = true;
	} else {
		due = due && srq->watched;
		srq->watched = false;
	}
	return due;
}

/*
 * Reports an event of the queue.  A report of the watermark replaces one that was not read yet: the
 * EVD has room for one.  While the members are locked the queue is not destroyed: no event names a
 * queue that was freed.
 */
static void
srq_report(struct dapl_srq *srq, uint64_t serial, DAT_COUNT reason)
    REQUIRES(dapl_locks.members) DAPL_NO_LIST_LOCK
{
	DAT_SRQ_HANDLE handle = DAT_HANDLE_NULL;

	dapl_object_lock(&srq->obj);
	if (dapl_object_is(&srq->obj, serial) && srq_take_report(srq, reason))
		handle = dapl_object_handle(&srq->obj);
	dapl_object_unlock(&srq->obj);
	if (handle && reason == DAT_SRQ_LOW_WATERMARK_EVENT)
		dapl_ia_purge_reports(dapl_ia_of(&srq->obj), srq_is_watermark_report, handle);
	if (handle)
		dapl_ia_report(dapl_ia_of(&srq->obj), DAT_ASYNC_ERROR_EP_BROKEN, handle, reason);
}

/* ---- watermark ---- */

int
dapl_srq_set_limit(struct dapl_srq *srq, DAT_COUNT limit)
{
	struct ibv_srq_attr attr = { .srq_limit = (uint32_t)limit };
	const int r = ibv_modify_srq(srq->ibv, &attr, IBV_SRQ_LIMIT);

	return dapl_shortage_of_result("ibv_modify_srq", r);
}

/*
 * Sets the watermark in the device.  A device that finds fewer buffers reports that, and disarms
 * the limit.  Soft-RoCE does not look at them before a message takes another one, so the provider
 * reports it.  To both a buffer that a message is coming into is one that is left.
 */
static int
srq_watch(struct dapl_srq *srq, DAT_COUNT low_watermark)
    REQUIRES(dapl_locks.members) DAPL_NO_LIST_LOCK
{
	struct ibv_srq_attr attr;
	bool below;
	int r;

	r = dapl_srq_set_limit(srq, low_watermark);
	if (r)
		return r;
	dapl_object_lock(&srq->obj);
	srq->low_watermark = low_watermark;
	srq->watched = low_watermark > 0;
	dapl_srq_lock(srq);
	srq->unarmed = false;
	dapl_srq_unlock(srq);
	dapl_object_unlock(&srq->obj);

	dapl_srq_poll(srq);
	dapl_srq_lock(srq);
	below = srq->posted < low_watermark;
	dapl_srq_unlock(srq);
	if (below && ibv_query_srq(srq->ibv, &attr) == 0 && attr.srq_limit) {
		(void)dapl_srq_set_limit(srq, 0);
		srq_report(srq, srq->obj.serial, DAT_SRQ_LOW_WATERMARK_EVENT);
	}
	return 0;
}

DAT_RETURN
dapl_srq_set_lw(DAT_SRQ_HANDLE handle, DAT_COUNT low_watermark)
{
	DAPL_UNCANCELLED;
	struct dapl_srq *srq = dapl_srq_lock_members_of(handle);
	DAT_RETURN ret = DAT_SUCCESS;
	int r = 0;

	if (!srq)
		return BAD_SRQ;
	if (low_watermark < 0 || low_watermark > srq->depth) {
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	} else {
		r = srq_watch(srq, low_watermark);
		if (r)
			ret = dapl_err_perhaps("dat_srq_set_lw", r, DAT_RESOURCE_SRQ);
	}
	dapl_srq_unlock_members(srq);
	return ret;
}

bool
dapl_srq_must_arm(const struct dapl_srq *srq)
{
	return srq->unarmed && srq->posted >= srq->low_watermark;
}

void
dapl_srq_arm(DAT_SRQ_HANDLE handle)
{
	struct dapl_srq *srq = dapl_srq_lock_members_of(handle);
	DAT_COUNT low_watermark;
	bool due;

	if (!srq)
		return;
	dapl_object_lock(&srq->obj);
	dapl_srq_lock(srq);
	due = dapl_srq_must_arm(srq);
	dapl_srq_unlock(srq);
	low_watermark = srq->low_watermark;
	dapl_object_unlock(&srq->obj);
	if (due)
		(void)srq_watch(srq, low_watermark);
	dapl_srq_unlock_members(srq);
}

/* ---- asynchronous events ---- */

bool
dapl_srq_owns(const void *context)
{
	return dapl_slab_owns(&dapl_srq_slab, context);
}

void
dapl_srq_limit_reached(struct dapl_srq *srq, uint64_t serial)
{
	dapl_srq_lock_members(srq);
	srq_report(srq, serial, DAT_SRQ_LOW_WATERMARK_EVENT);
	dapl_srq_unlock_members(srq);
}

void
dapl_srq_failed(struct dapl_srq *srq, uint64_t serial)
{
	dapl_srq_lock_members(srq);
	srq_report(srq, serial, DAT_SRQ_TRANSFER_TO_ERROR);
	dapl_srq_unlock_members(srq);
}
