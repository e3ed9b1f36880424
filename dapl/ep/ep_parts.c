/* SPDX-License-Identifier: BSD-3-Clause */
/* ep_parts -- what an endpoint is made of: protection zone, EVDs, rings */
#include "dapl/ep/ep.h"
#include "dapl/trace/hint.h"

void
dapl_ep_parts_put(const struct dapl_ep_parts *parts)
{
	if (parts->srq)
		dapl_srq_put(parts->srq);
	if (parts->connect)
		dapl_evd_put(parts->connect);
	if (parts->request)
		dapl_evd_put(parts->request);
	if (parts->recv)
		dapl_evd_put(parts->recv);
	if (parts->pz)
		dapl_object_put(&parts->pz->obj);
}

/* `parent` NULL: the EVD may be of another IA. */
static bool
ep_parts_hold_evd(const struct dapl_parent *parent, DAT_EVD_HANDLE handle, DAT_EVD_FLAGS stream,
    struct dapl_evd **out) DAPL_NO_OBJECT_LOCK
{
	struct dapl_evd *evd;

	if (handle == DAT_HANDLE_NULL)
		return true;
	evd = dapl_object_get(handle, DAPL_KIND_EVD, parent);
	if (evd && !(evd->flags & stream)) {
		dapl_hint("the EVD %p was created without %s", handle,
		    stream == DAT_EVD_CONNECTION_FLAG ? "DAT_EVD_CONNECTION_FLAG" :
							"DAT_EVD_DTO_FLAG");
		dapl_evd_put(evd);
		evd = NULL;
	}
	*out = evd;
	return evd != NULL;
}

DAT_RETURN_SUBTYPE
dapl_ep_parts_get(
    struct dapl_ia *ia, const struct dapl_ep_part_handles *handles, struct dapl_ep_parts *parts)
{
	DAT_RETURN_SUBTYPE bad = DAT_NO_SUBTYPE;

	*parts = (struct dapl_ep_parts){ .pz = NULL };
	if (handles->pz != DAT_HANDLE_NULL)
		parts->pz = dapl_object_get(handles->pz, DAPL_KIND_PZ, &ia->parent);
	if (handles->srq != DAT_HANDLE_NULL)
		parts->srq = dapl_srq_get(handles->srq, &ia->parent);
	if (handles->pz != DAT_HANDLE_NULL && !parts->pz)
		bad = DAT_INVALID_HANDLE_PZ;
	else if (!ep_parts_hold_evd(&ia->parent, handles->recv, DAT_EVD_DTO_FLAG, &parts->recv))
		bad = DAT_INVALID_HANDLE_EVD_RECV;
	/* Messages would take buffers, and no event would return them. */
	else if (parts->srq && !parts->recv)
		bad = DAT_INVALID_HANDLE_EVD_RECV;
	else if (!ep_parts_hold_evd(
		     &ia->parent, handles->request, DAT_EVD_DTO_FLAG, &parts->request))
		bad = DAT_INVALID_HANDLE_EVD_REQUEST;
	/*
	 * Existing programs use the connection EVD of one adapter for endpoints of all.  That
	 * works, because the device does not use this EVD.
	 */
	else if (!ep_parts_hold_evd(
		     NULL, handles->connect, DAT_EVD_CONNECTION_FLAG, &parts->connect))
		bad = DAT_INVALID_HANDLE_EVD_CONN;
	else if (handles->srq != DAT_HANDLE_NULL && !parts->srq)
		bad = DAT_INVALID_HANDLE_SRQ;
	if (bad != DAT_NO_SUBTYPE)
		dapl_ep_parts_put(parts);
	return bad;
}

int
dapl_ep_parts_spare(const struct dapl_ep_parts *parts, const DAT_EP_ATTR *attr)
{
	const struct dapl_ia *ia;

	if (!parts->request || !(parts->request->flags & DAT_EVD_RMR_BIND_FLAG))
		return 0;
	ia = dapl_ia_of(&parts->request->obj);
	return dapl_ia_has_windows_of_type_2(ia) && attr->max_request_dtos < ia->device.max_qp_wr;
}

/* The buffers of a shared receive queue have room already: see dapl_srq_attach(). */
void
dapl_ep_parts_get_room(const struct dapl_ep_parts *parts, const DAT_EP_ATTR *attr)
{
	if (parts->recv && !parts->srq)
		dapl_evd_cq_get_room(parts->recv, attr->max_recv_dtos);
	if (parts->request)
		dapl_evd_cq_get_room(
		    parts->request, attr->max_request_dtos + dapl_ep_parts_spare(parts, attr));
}

void
dapl_ep_parts_put_room(const struct dapl_ep_parts *parts, const DAT_EP_ATTR *attr)
{
	if (parts->recv && !parts->srq)
		dapl_evd_cq_put_room(parts->recv, attr->max_recv_dtos);
	if (parts->request)
		dapl_evd_cq_put_room(
		    parts->request, attr->max_request_dtos + dapl_ep_parts_spare(parts, attr));
}

void
dapl_ep_parts_attach(const struct dapl_ep_parts *parts, const DAT_EP_ATTR *attr)
{
	if (parts->recv)
		dapl_evd_notice_attach(parts->recv, attr->recv_completion_flags);
	if (parts->request)
		dapl_evd_notice_attach(parts->request, attr->request_completion_flags);
}

void
dapl_ep_parts_detach(const struct dapl_ep_parts *parts, const DAT_EP_ATTR *attr)
{
	if (parts->recv)
		dapl_evd_notice_detach(parts->recv, attr->recv_completion_flags);
	if (parts->request)
		dapl_evd_notice_detach(parts->request, attr->request_completion_flags);
}

/* Receives that may complete before ESTABLISHED. */
static DAT_COUNT
ep_parts_receives(const struct dapl_ep_parts *parts, const DAT_EP_ATTR *attr)
{
	return parts->srq ? dapl_srq_depth(parts->srq) : attr->max_recv_dtos;
}

int
dapl_ep_rings_create(
    struct dapl_ep_rings *rings, const struct dapl_ep_parts *parts, const DAT_EP_ATTR *attr)
{
	int r;

	rings->merged = parts->recv && parts->recv == parts->connect;
	dapl_invalidated_clear(&rings->invalidated);
	rings->bind = false;
	rings->hold = (struct evd_hold){ 0 };
	r = dapl_wr_ring_create(
	    &rings->requests, attr->max_request_dtos, dapl_ep_parts_spare(parts, attr));
	if (r)
		return r;
	r = dapl_wr_ring_create(&rings->recvs, parts->srq ? 0 : attr->max_recv_dtos, 0);
	if (r)
		goto free_requests;
	if (rings->merged) {
		r = evd_hold_init(&rings->hold, (unsigned int)ep_parts_receives(parts, attr));
		if (r)
			goto free_recvs;
	}
	return 0;

free_recvs:
	dapl_wr_ring_free(&rings->recvs);
free_requests:
	dapl_wr_ring_free(&rings->requests);
	return r;
}

void
dapl_ep_rings_free(struct dapl_ep_rings *rings)
{
	if (rings->merged)
		evd_hold_fini(&rings->hold);
	dapl_wr_ring_free(&rings->recvs);
	dapl_wr_ring_free(&rings->requests);
}
