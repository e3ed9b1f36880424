/* SPDX-License-Identifier: BSD-3-Clause */
/* ep_parts -- what an endpoint is made of: protection zone, EVDs, rings */
#include "dapl/ep/ep.h"

void
dapl_ep_parts_put(const struct dapl_ep_parts *parts)
{
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
		dapl_evd_put(evd);
		evd = NULL;
	}
	*out = evd;
	return evd != NULL;
}

DAT_RETURN_SUBTYPE
dapl_ep_parts_get(struct dapl_ia *ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv, DAT_EVD_HANDLE request,
    DAT_EVD_HANDLE connect, struct dapl_ep_parts *parts)
{
	DAT_RETURN_SUBTYPE bad = DAT_NO_SUBTYPE;

	*parts = (struct dapl_ep_parts){ NULL, NULL, NULL, NULL };
	if (pz != DAT_HANDLE_NULL)
		parts->pz = dapl_object_get(pz, DAPL_KIND_PZ, &ia->parent);
	if (pz != DAT_HANDLE_NULL && !parts->pz)
		bad = DAT_INVALID_HANDLE_PZ;
	else if (!ep_parts_hold_evd(&ia->parent, recv, DAT_EVD_DTO_FLAG, &parts->recv))
		bad = DAT_INVALID_HANDLE_EVD_RECV;
	else if (!ep_parts_hold_evd(&ia->parent, request, DAT_EVD_DTO_FLAG, &parts->request))
		bad = DAT_INVALID_HANDLE_EVD_REQUEST;
	/*
	 * Existing programs use the connection EVD of one adapter for endpoints of all.  That
	 * works, because the device does not use this EVD.
	 */
	else if (!ep_parts_hold_evd(NULL, connect, DAT_EVD_CONNECTION_FLAG, &parts->connect))
		bad = DAT_INVALID_HANDLE_EVD_CONN;
	if (bad != DAT_NO_SUBTYPE)
		dapl_ep_parts_put(parts);
	return bad;
}

void
dapl_ep_parts_get_room(const struct dapl_ep_parts *parts, const DAT_EP_ATTR *attr)
{
	if (parts->recv)
		dapl_evd_cq_get_room(parts->recv, attr->max_recv_dtos);
	if (parts->request)
		dapl_evd_cq_get_room(parts->request, attr->max_request_dtos);
}

void
dapl_ep_parts_put_room(const struct dapl_ep_parts *parts, const DAT_EP_ATTR *attr)
{
	if (parts->recv)
		dapl_evd_cq_put_room(parts->recv, attr->max_recv_dtos);
	if (parts->request)
		dapl_evd_cq_put_room(parts->request, attr->max_request_dtos);
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

int
dapl_ep_rings_create(
    struct dapl_ep_rings *rings, const struct dapl_ep_parts *parts, const DAT_EP_ATTR *attr)
{
	int r;

	rings->merged = parts->recv && parts->recv == parts->connect;
	r = dapl_wr_ring_create(&rings->requests, attr->max_request_dtos);
	if (r)
		return r;
	r = dapl_wr_ring_create(&rings->recvs, attr->max_recv_dtos);
	if (r)
		goto free_requests;
	if (rings->merged) {
		r = evd_hold_init(
		    &rings->hold, sizeof(struct ibv_wc), (unsigned int)attr->max_recv_dtos);
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
