/* SPDX-License-Identifier: BSD-3-Clause */
/* cr_answer -- the calls on a connection request: query, accept, reject */
#include <string.h>

#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/cm/connect.h"
#include "dapl/cm/cr.h"
#include "dapl/ia/ia_count.h"
#include "dapl/trace/err.h"
#include "dapl/trace/shortage.h"

#define BAD_CR DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR)

DAT_RETURN
dapl_cr_query(DAT_CR_HANDLE handle, DAT_CR_PARAM_MASK mask, DAT_CR_PARAM *param)
{
	DAPL_UNCANCELLED;
	struct dapl_cr *cr = dapl_object_lock_handle(handle, DAPL_KIND_CR);
	DAT_RETURN ret;

	if (!cr)
		return BAD_CR;
	ret = dapl_err_query(!(mask & ~DAT_CR_FIELD_ALL), param);
	if (ret == DAT_SUCCESS)
		*param = (DAT_CR_PARAM){
			.remote_ia_address_ptr = (DAT_IA_ADDRESS_PTR)&cr->remote,
			.remote_port_qual = dapl_address_port(&cr->remote),
			.private_data_size = cr->size,
			.private_data = cr->size ? cr->data : NULL,
			.local_ep_handle = cr->own,
		};
	dapl_object_unlock(&cr->obj);
	return ret;
}

static DAT_RETURN
cr_may_accept(const struct dapl_ep *ep, const struct dapl_cr *cr) REQUIRES(dapl_locks.object)
{
	if (dapl_ia_of(&ep->obj) != dapl_ia_of(&cr->obj))
		return DAPL_EP_BAD_HANDLE;
	if (cr->datagram != dapl_ep_is_datagram(ep))
		return DAPL_EP_BAD_HANDLE;
	if (cr->datagram)
		return dapl_lookup_may_start(ep);
	if (!dapl_ep_allows(ep, cr->own ? DAPL_EP_ACCEPT_OWN : DAPL_EP_ACCEPT))
		return dapl_ep_state_error(ep);
	if (!ep->parts.connect || !ep->qp)
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_NOTREADY);
	return DAT_SUCCESS;
}

/*
 * Gives the id to the endpoint, with the queue pair that is to be connected. The peer
 * may withdraw the request meanwhile: librdmacm then moves the queue pair of the id to the
 * error state when it reads the event, and so does the endpoint that gets the event.
 */
static void
cr_hand_over(struct dapl_cr *cr, struct dapl_conn *conn, struct dapl_ep *ep)
    REQUIRES(dapl_locks.object) EXCLUDES(dapl_locks.cm) NO_CORE_LOCK
{
	dapl_ia_cm_lock(dapl_ia_of(&ep->obj));
	conn->id->qp = ep->qp;
	dapl_ia_cm_unlock(dapl_ia_of(&ep->obj));
	dapl_ep_advance(ep, cr->own ? DAPL_EP_ACCEPT_OWN : DAPL_EP_ACCEPT);
	ep->conn = conn;
	atomic_store_explicit(&ep->active, false, memory_order_release);
	ep->remote = cr->remote;
	ep->remote_qual = dapl_address_port(&cr->remote);
	if (ep->rings.merged)
		evd_hold_begin(dapl_evd_ref(ep->parts.connect), &ep->rings.hold);
	dapl_ep_get_pin(ep);
	atomic_store_explicit(&conn->owner, &ep->obj, memory_order_release);
}

/*
 * For a request of a datagram endpoint, detached, and a pinned endpoint.  There is no connection:
 * the other end gets the number of the queue pair, and this end an address handle made of its card.
 */
static DAT_RETURN
cr_accept_datagram(struct dapl_cr *cr, struct dapl_conn *conn, struct dapl_ep *ep, uint32_t qpn,
    DAT_COUNT size, const void *data) DAPL_NO_LOCK
{
	struct rdma_conn_param param = {
		.private_data = data,
		.private_data_len = (uint8_t)size,
		.qp_num = qpn,
	};
	struct dapl_ia *ia = dapl_ia_of(&ep->obj);
	struct ibv_ah_attr attr;
	struct dapl_ah *ah = NULL;
	int r;

	r = dapl_card_address(ia, conn->id, &cr->card, &attr);
	if (!r) {
		ah = dapl_ah_create(ep->parts.pz->pd, &attr, ntohl(cr->card.qpn), RDMA_UDP_QKEY,
		    (const struct sockaddr *)&cr->remote);
		r = ah ? 0 : dapl_shortage_of_device("ibv_create_ah");
	}
	if (r) {
		dapl_cr_attach_conn(cr, conn);
		dapl_ep_put_pin(ep);
		return dapl_err_perhaps("dat_cr_accept", r, DAT_RESOURCE_MEMORY);
	}
	if (rdma_accept(conn->id, &param)) {
		(void)rdma_reject(conn->id, NULL, 0);
		dapl_ah_free(ah);
		dapl_lookup_fail(ep, false, NULL, 0);
	} else {
		dapl_lookup_succeed(ep, ah, DAT_IB_UD_PASSIVE_REMOTE_AH);
	}
	dapl_ia_count(ia, DCNT_IA_SP_CR_ACCEPTED);
	dapl_conn_close(conn);
	dapl_cr_free_detached(cr); /* last, as `data` may be in it */
	dapl_ep_put_pin(ep);
	return DAT_SUCCESS;
}

DAT_RETURN
dapl_cr_accept(DAT_CR_HANDLE handle, DAT_EP_HANDLE ep_handle, DAT_COUNT size, const DAT_PVOID data)
{
	DAPL_UNCANCELLED;
	struct rdma_conn_param param;
	struct dapl_conn *conn;
	DAT_RETURN ret;
	struct dapl_cr *cr;
	struct dapl_ep *ep;
	uint32_t qpn;
	bool gone;

	if (!dapl_handle_is(handle, DAPL_KIND_CR))
		return BAD_CR;
	if (size < 0 || size > DAPL_IA_MAX_PRIVATE_DATA)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	if (size > 0 && !data)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	cr = dapl_cr_detach_conn(handle, &conn);
	if (!cr)
		return BAD_CR;
	/*
	 * If the request has an endpoint already, the caller may pass this one or none, and no
	 * other.
	 */
	if (cr->own && ep_handle == DAT_HANDLE_NULL)
		ep_handle = cr->own;
	if (cr->own && ep_handle != cr->own)
		ep_handle = DAT_HANDLE_NULL;
	ep = dapl_object_lock_handle(ep_handle, DAPL_KIND_EP);
	if (!ep) {
		dapl_cr_attach_conn(cr, conn);
		return DAPL_EP_BAD_HANDLE;
	}
	ret = cr_may_accept(ep, cr);
	if (ret == DAT_SUCCESS && cr->datagram) {
		qpn = ep->qp->qp_num;
		dapl_ep_get_pin(ep);
		dapl_object_unlock(&ep->obj);
		return cr_accept_datagram(cr, conn, ep, qpn, size, data);
	}
	if (ret == DAT_SUCCESS)
		cr_hand_over(cr, conn, ep);
	dapl_object_unlock(&ep->obj);
	if (ret != DAT_SUCCESS) {
		dapl_cr_attach_conn(cr, conn);
		return ret;
	}
	dapl_connect_param(ep, cr->responder, cr->initiator, &param);
	param.private_data = data;
	param.private_data_len = (uint8_t)size;
	dapl_object_lock(&cr->obj);
	gone = cr->gone;
	dapl_object_unlock(&cr->obj);

	if (gone || rdma_accept(conn->id, &param)) {
		/* The peer waits for an answer. */
		(void)rdma_reject(conn->id, NULL, 0);
		dapl_ep_happened(ep, conn, DAPL_EP_HAS_FAILED, NULL, 0);
	} else {
		dapl_ia_count(dapl_ia_of(&ep->obj), DCNT_IA_CM_REP_TX);
	}
	dapl_ia_count(dapl_ia_of(&ep->obj), DCNT_IA_SP_CR_ACCEPTED);
	/* last, because `data` may point to the private data of the CR */
	dapl_cr_free_detached(cr);
	dapl_ep_put_pin(ep);
	return DAT_SUCCESS;
}

DAT_RETURN
dapl_cr_reject(DAT_CR_HANDLE handle, DAT_COUNT size, const DAT_PVOID data)
{
	DAPL_UNCANCELLED;
	uint8_t text[sizeof(uint32_t) + DAPL_IA_MAX_PRIVATE_DATA];
	const uint32_t version = htonl(DAPL_CR_REJECT_VERSION);
	struct dapl_conn *conn;
	struct dapl_cr *cr;

	if (!dapl_handle_is(handle, DAPL_KIND_CR))
		return BAD_CR;
	if (size < 0 || size > DAPL_IA_MAX_PRIVATE_DATA)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if (size > 0 && !data)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	cr = dapl_cr_detach_conn(handle, &conn);
	if (!cr)
		return BAD_CR;
	memcpy(text, &version, sizeof version);
	if (size)
		memcpy(text + sizeof version, data, (size_t)size);
	if (rdma_reject(conn->id, text, (uint8_t)(sizeof version + (size_t)size)) == 0)
		dapl_ia_count(dapl_ia_of(&cr->obj), DCNT_IA_CM_USER_REJ_TX);
	dapl_ia_count(dapl_ia_of(&cr->obj), DCNT_IA_SP_CR_REJECTED);
	dapl_conn_close(conn);
	if (cr->own)
		dapl_ep_detach_request(cr->own);
	dapl_cr_free_detached(cr);
	return DAT_SUCCESS;
}
