/* SPDX-License-Identifier: BSD-3-Clause */
/* cr_handoff -- passing a connection request to another service point of its adapter */
#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/cm/cr.h"
#include "dapl/cm/sp.h"
#include "dapl/ia/ia.h"
#include "dapl/trace/err.h"

#include <errno.h>

#define CALL "dat_cr_handoff"
#define BAD_CR DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR)
#define NO_LISTENER DAT_ERROR(DAT_CONN_QUAL_UNAVAILABLE, DAT_NO_SUBTYPE)

/*
 * The request reaches the other service point as one that arrives there: it gets a new handle, and
 * an endpoint if the service point has one for it.  An endpoint that it brought from the first
 * service point is released.  `conn` was detached from `cr`, and is left to the caller if this
 * fails.
 */
static DAT_RETURN
cr_move_to(struct dapl_cr *cr, struct dapl_conn *conn, DAT_CONN_QUAL qual) DAPL_NO_LOCK
{
	struct dapl_ia *ia = dapl_ia_of(&cr->obj);
	DAT_EP_HANDLE own = DAT_HANDLE_NULL;
	struct dapl_conn *listener;
	DAT_CR_HANDLE handle;
	uint32_t generation;
	struct dapl_sp *sp;
	int r;

	sp = dapl_sp_find(ia, qual, &listener, &generation);
	r = sp ? dapl_sp_get_ep(ia, sp, listener, generation, (const struct sockaddr *)&cr->remote,
		     cr->datagram, &own) :
		 -ESRCH;
	if (r == -ESRCH)
		return NO_LISTENER;
	if (r)
		return dapl_err_resource(CALL, r, DAT_RESOURCE_MEMORY);
	r = dapl_cr_move(cr, conn, own, &handle);
	if (r) {
		if (own)
			dapl_sp_put_ep(sp, listener, generation, own);
		return dapl_err_resource(CALL, r, DAT_RESOURCE_MEMORY);
	}
	/* If the EVD there is full the request is refused, as if it had arrived there. */
	if (!dapl_cr_post_event(ia, sp, listener, generation, handle, cr->datagram) && own)
		dapl_sp_put_ep(sp, listener, generation, own);
	return DAT_SUCCESS;
}

DAT_RETURN
dapl_cr_handoff(DAT_CR_HANDLE handle, DAT_CONN_QUAL qual)
{
	DAPL_UNCANCELLED;
	struct dapl_conn *conn;
	DAT_RETURN ret;
	struct dapl_cr *cr;

	cr = dapl_cr_detach_conn(handle, &conn);
	if (!cr)
		return BAD_CR;
	ret = cr_move_to(cr, conn, qual);
	if (ret != DAT_SUCCESS) {
		dapl_cr_attach_conn(cr, conn);
		return ret;
	}
	if (cr->own)
		dapl_ep_detach_request(cr->own);
	dapl_cr_free_detached(cr);
	return DAT_SUCCESS;
}
