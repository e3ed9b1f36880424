/* SPDX-License-Identifier: BSD-3-Clause */
/* srq -- creating, freeing and querying a shared receive queue, and posting to it */
#include "dapl/srq/srq.h"

#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/evd/wr_id.h"
#include "dapl/ia/ia.h"
#include "dapl/memory/sge.h"
#include "dapl/object/registry.h"
#include "dapl/srq/srq_entry.h"
#include "dapl/trace/err.h"
#include "dapl/trace/shortage.h"

/* Reports of a queue that may be unread at a time: of the watermark, and of a failure. */
#define SRQ_REPORTS 2

#define BAD_SRQ DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ)

static void
srq_prepare(void *slot)
{
	struct dapl_srq *srq = slot;

	dapl_object_prepare(&srq->obj, DAPL_KIND_SRQ);
	os_mutex_init(&srq->membership);
	os_mutex_init(&srq->lock);
}

struct dapl_slab dapl_srq_slab = DAPL_SLAB_INITIALIZER(struct dapl_srq, srq_prepare);

struct dapl_srq *
dapl_srq_get(DAT_SRQ_HANDLE handle, const struct dapl_parent *parent)
{
	return dapl_object_get(handle, DAPL_KIND_SRQ, parent);
}

void
dapl_srq_put(struct dapl_srq *srq)
{
	dapl_object_put(&srq->obj);
}

DAT_COUNT
dapl_srq_depth(struct dapl_srq *srq)
{
	DAT_COUNT depth;

	dapl_srq_lock(srq);
	depth = srq->depth;
	dapl_srq_unlock(srq);
	return depth;
}

/* ---- create and free ---- */

static int
srq_open_device(struct dapl_srq *srq, const DAT_SRQ_ATTR *attr)
{
	struct ibv_srq_init_attr init = {
		.srq_context = srq,
		.attr = {
			.max_wr = (uint32_t)attr->max_recv_dtos,
			.max_sge = attr->max_recv_iov > 0 ? (uint32_t)attr->max_recv_iov : 1,
		},
	};
	int r;

	errno = 0;
	srq->ibv = ibv_create_srq(srq->pz->pd, &init);
	if (!srq->ibv)
		return dapl_shortage_of_device("ibv_create_srq");
	/*
	 * The watermark is set when so many buffers are posted; whether the device has one shows
	 * now.
	 */
	r = attr->low_watermark ? dapl_srq_set_limit(srq, 0) : 0;
	if (r)
		(void)ibv_destroy_srq(srq->ibv);
	return r;
}

static int
srq_create(struct dapl_ia *ia, struct dapl_pz *pz, const DAT_SRQ_ATTR *attr, struct dapl_srq **out)
{
	struct dapl_srq *srq = dapl_slab_alloc(&dapl_srq_slab);
	int r;

	if (!srq)
		return -ENOMEM;
	r = dapl_srq_entries_create(srq, attr->max_recv_dtos);
	if (r)
		goto free_slot;
	srq->pz = pz;
	srq->max_recv_iov = attr->max_recv_iov;
	srq->low_watermark = attr->low_watermark;
	srq->watched = false;
	srq->failed = false;
	srq->unarmed = attr->low_watermark != 0;
	r = dapl_object_create(&srq->obj, &ia->parent, &ia->provider->table);
	if (r)
		goto free_entries;
	dapl_srq_entries_name(srq, srq->obj.serial);
	r = srq_open_device(srq, attr);
	if (r)
		goto discard;
	r = dapl_ia_get_report_room(ia, SRQ_REPORTS, &srq->async);
	if (r)
		goto destroy;
	r = dapl_object_attach(&srq->obj);
	if (r)
		goto put_room;
	*out = srq;
	return 0;

put_room:
	dapl_ia_put_report_room(&srq->async, SRQ_REPORTS);
destroy:
	(void)ibv_destroy_srq(srq->ibv);
discard:
	dapl_object_free_unattached(&srq->obj);
free_entries:
	dapl_srq_entries_free(srq);
free_slot:
	dapl_slab_free(&dapl_srq_slab, srq);
	return r;
}

static bool
srq_accepts(const struct dapl_ia *ia, const DAT_SRQ_ATTR *attr)
{
	return attr && attr->max_recv_dtos > 0 && attr->max_recv_dtos <= dapl_ia_max_srq_wr(ia) &&
	       attr->max_recv_iov >= 0 && attr->max_recv_iov <= dapl_ia_max_srq_iov(ia) &&
	       attr->low_watermark >= 0 && attr->low_watermark <= attr->max_recv_dtos;
}

DAT_RETURN
dapl_srq_create(
    DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle, DAT_SRQ_ATTR *attr, DAT_SRQ_HANDLE *handle)
{
	DAPL_UNCANCELLED;
	struct dapl_ia *ia = dapl_ia_enter(ia_handle);
	struct dapl_pz *pz = NULL;
	struct dapl_srq *srq;
	DAT_RETURN ret;
	int r;

	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	pz = dapl_object_get(pz_handle, DAPL_KIND_PZ, &ia->parent);
	if (!pz)
		ret = DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
	else if (!dapl_ia_max_srq_wr(ia))
		ret = DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	else if (!srq_accepts(ia, attr))
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	else if (!handle)
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	else {
		r = srq_create(ia, pz, attr, &srq);
		ret = r ? dapl_err_perhaps("dat_srq_create", r, DAT_RESOURCE_SRQ) : DAT_SUCCESS;
		if (!r)
			*handle = srq->obj.handle;
	}
	if (pz && ret != DAT_SUCCESS)
		dapl_object_put(&pz->obj);
	dapl_ia_leave(ia);
	return ret;
}

static bool
srq_is_named(const void *posted, const void *handle)
{
	const DAT_EVENT *event = posted;

	return event->event_number == DAT_ASYNC_ERROR_EP_BROKEN &&
	       event->event_data.asynch_error_event_data.dat_handle == handle;
}

int
dapl_srq_free_by_handle(DAT_HANDLE handle)
{
	uint64_t serial;
	struct dapl_srq *srq = dapl_handle_object(handle, DAPL_KIND_SRQ, &serial);
	int r = srq ? dapl_object_free(&srq->obj, serial) : -ENODEV;

	if (r)
		return r;
	/* A call that has locked the members still uses the queue. */
	dapl_srq_lock_members(srq);
	r = ibv_destroy_srq(srq->ibv);
	dapl_srq_unlock_members(srq);
	dapl_ia_purge_reports(dapl_ia_of(&srq->obj), srq_is_named, handle);
	dapl_ia_put_report_room(&srq->async, SRQ_REPORTS);
	dapl_srq_entries_free(srq);
	dapl_object_put(&srq->pz->obj);
	dapl_object_detach(&srq->obj);
	/* A queue that stays may have events, which name the slot. */
	if (!r)
		dapl_slab_free(&dapl_srq_slab, srq);
	return 0;
}

DAT_RETURN
dapl_srq_free(DAT_SRQ_HANDLE handle)
{
	DAPL_UNCANCELLED;

	switch (dapl_srq_free_by_handle(handle)) {
	case 0:
		return DAT_SUCCESS;
	case -EBUSY:
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE);
	default:
		return BAD_SRQ;
	}
}

/* ---- query ---- */

DAT_RETURN
dapl_srq_query(DAT_SRQ_HANDLE handle, DAT_SRQ_PARAM_MASK mask, DAT_SRQ_PARAM *param)
{
	DAPL_UNCANCELLED;
	struct dapl_srq *srq = dapl_object_lock_handle(handle, DAPL_KIND_SRQ);
	DAT_SRQ_PARAM p = { 0 };
	struct dapl_ia *ia;
	DAT_RETURN ret;

	if (!srq)
		return BAD_SRQ;
	ia = dapl_ia_of(&srq->obj);
	p.srq_state = srq->failed ? DAT_SRQ_STATE_ERROR : DAT_SRQ_STATE_OPERATIONAL;
	p.pz_handle = dapl_object_handle(&srq->pz->obj);
	p.max_recv_iov = srq->max_recv_iov;
	p.low_watermark = srq->low_watermark;
	dapl_srq_lock(srq);
	p.max_recv_dtos = srq->depth;
	p.available_dto_count = srq->posted;
	p.outstanding_dto_count = srq->posted + srq->taken;
	dapl_srq_unlock(srq);
	dapl_object_unlock(&srq->obj);
	ret = dapl_err_query(!(mask & ~(DAT_SRQ_PARAM_MASK)DAT_SRQ_FIELD_ALL), param);
	if (ret != DAT_SUCCESS)
		return ret;
	p.ia_handle = dapl_registry_ia_handle(ia->self);
	*param = p;
	return DAT_SUCCESS;
}

/* ---- post ---- */

static DAT_RETURN
srq_check_post(const struct dapl_srq *srq, DAT_COUNT segments, const DAT_LMR_TRIPLET *iov)
    REQUIRES(dapl_locks.object)
{
	if (srq->failed)
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_ERROR);
	if (segments < 0 || segments > srq->max_recv_iov)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if (segments > 0 && !iov)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	return DAT_SUCCESS;
}

/*
 * The entry is posted before the device can complete the buffer.  *due: the caller must call
 * dapl_srq_arm().
 */
static DAT_RETURN
srq_post(struct dapl_srq *srq, struct ibv_recv_wr *wr, DAT_DTO_COOKIE cookie, bool *due)
    REQUIRES(dapl_locks.object) EXCLUDES(dapl_locks.srq)
{
	struct ibv_recv_wr *bad;
	uint32_t place;
	bool free;
	int state, r;

	dapl_srq_lock(srq);
	free = dapl_srq_entry_post(srq, cookie, &place);
	*due = free && dapl_srq_must_arm(srq);
	dapl_srq_unlock(srq);
	if (!free)
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	wr->wr_id =
	    dapl_wr_id(srq->obj.slot.index, (uint32_t)srq->obj.serial, DAPL_WR_SHARED, place);
	state = dapl_post_begin();
	r = ibv_post_srq_recv(srq->ibv, wr, &bad);
	dapl_post_end(state);
	if (!r)
		return DAT_SUCCESS;
	dapl_srq_lock(srq);
	dapl_srq_entry_retract(srq, place);
	dapl_srq_unlock(srq);
	return dapl_err_post("ibv_post_recv", r);
}

DAT_RETURN
dapl_srq_post_recv(
    DAT_SRQ_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie)
{
	struct dapl_srq *srq = dapl_object_lock_handle(handle, DAPL_KIND_SRQ);
	struct ibv_sge sge[DAPL_IA_MAX_IOV];
	struct ibv_recv_wr wr = { .sg_list = sge };
	bool due = false;
	DAT_RETURN ret;
	uint64_t total;

	if (!srq)
		return BAD_SRQ;
	ret = srq_check_post(srq, segments, iov);
	if (ret == DAT_SUCCESS) {
		wr.num_sge = dapl_sge_fill(sge, segments, iov, UINT64_MAX, &total);
		ret = srq_post(srq, &wr, cookie, &due);
	}
	dapl_object_unlock(&srq->obj);
	if (due)
		dapl_srq_arm(handle);
	return ret;
}
