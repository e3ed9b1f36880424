/* SPDX-License-Identifier: BSD-3-Clause */
/* ep_parts -- what an endpoint is made of: protection zone, EVDs, rings */
#include "dapl/ep/ep.h"

void
ep_parts_release(const struct ep_parts *parts)
{
	if (parts->connect)
		evd_release(parts->connect);
	if (parts->request)
		evd_release(parts->request);
	if (parts->recv)
		evd_release(parts->recv);
	if (parts->pz)
		object_drop(&parts->pz->obj);
}

/* `parent` NULL: the EVD may be of another IA. */
static bool
hold_evd(const struct parent *parent, DAT_EVD_HANDLE handle, DAT_EVD_FLAGS stream, struct dapl_evd **out)
{
	struct dapl_evd *evd;

	if (handle == DAT_HANDLE_NULL)
		return true;
	evd = object_hold(handle, KIND_EVD, parent);
	if (evd && !(evd->flags & stream)) {
		evd_release(evd);
		evd = NULL;
	}
	*out = evd;
	return evd != NULL;
}

DAT_RETURN_SUBTYPE
ep_parts_hold(struct ia *ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv, DAT_EVD_HANDLE request,
    DAT_EVD_HANDLE connect, struct ep_parts *parts)
{
	DAT_RETURN_SUBTYPE bad = DAT_NO_SUBTYPE;

	*parts = (struct ep_parts){ NULL, NULL, NULL, NULL };
	if (pz != DAT_HANDLE_NULL)
		parts->pz = object_hold(pz, KIND_PZ, &ia->parent);
	if (pz != DAT_HANDLE_NULL && !parts->pz)
		bad = DAT_INVALID_HANDLE_PZ;
	else if (!hold_evd(&ia->parent, recv, DAT_EVD_DTO_FLAG, &parts->recv))
		bad = DAT_INVALID_HANDLE_EVD_RECV;
	else if (!hold_evd(&ia->parent, request, DAT_EVD_DTO_FLAG, &parts->request))
		bad = DAT_INVALID_HANDLE_EVD_REQUEST;
	/* Programs hand one adapter's connection EVD to endpoints of all; no device is involved. */
	else if (!hold_evd(NULL, connect, DAT_EVD_CONNECTION_FLAG, &parts->connect))
		bad = DAT_INVALID_HANDLE_EVD_CONN;
	if (bad != DAT_NO_SUBTYPE)
		ep_parts_release(parts);
	return bad;
}

void
ep_parts_promise(const struct ep_parts *parts, const DAT_EP_ATTR *attr)
{
	if (parts->recv)
		evd_cq_promise(parts->recv, attr->max_recv_dtos);
	if (parts->request)
		evd_cq_promise(parts->request, attr->max_request_dtos);
}

void
ep_parts_reclaim(const struct ep_parts *parts, const DAT_EP_ATTR *attr)
{
	if (parts->recv)
		evd_cq_reclaim(parts->recv, attr->max_recv_dtos);
	if (parts->request)
		evd_cq_reclaim(parts->request, attr->max_request_dtos);
}

void
ep_parts_join(const struct ep_parts *parts, const DAT_EP_ATTR *attr)
{
	if (parts->recv)
		evd_notice_join(parts->recv, attr->recv_completion_flags);
	if (parts->request)
		evd_notice_join(parts->request, attr->request_completion_flags);
}

void
ep_parts_leave(const struct ep_parts *parts, const DAT_EP_ATTR *attr)
{
	if (parts->recv)
		evd_notice_leave(parts->recv, attr->recv_completion_flags);
	if (parts->request)
		evd_notice_leave(parts->request, attr->request_completion_flags);
}

int
ep_rings_create(struct ep_rings *rings, const struct ep_parts *parts, const DAT_EP_ATTR *attr)
{
	int r;

	rings->merged = parts->recv && parts->recv == parts->connect;
	r = wr_ring_init(&rings->requests, attr->max_request_dtos);
	if (r)
		return r;
	r = wr_ring_init(&rings->recvs, attr->max_recv_dtos);
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
	wr_ring_fini(&rings->recvs);
free_requests:
	wr_ring_fini(&rings->requests);
	return r;
}

void
ep_rings_destroy(struct ep_rings *rings)
{
	if (rings->merged)
		evd_hold_fini(&rings->hold);
	wr_ring_fini(&rings->recvs);
	wr_ring_fini(&rings->requests);
}
