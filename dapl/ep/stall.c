/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ep/stall.h"

#include "dapl/ep/ep.h"
#include "dapl/trace/debug.h"

/* The handle of the endpoint that has the queue pair now, or NULL. */
static DAT_EP_HANDLE
stall_find(unsigned int qp_num) DAPL_NO_OBJECT_LOCK
{
	DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
	struct dapl_ep *ep;

	for (uint32_t i = 0; !handle && (ep = dapl_slab_at(&dapl_ep_slab, i)); i++) {
		dapl_object_lock(&ep->obj);
		if (dapl_object_is_alive(&ep->obj) && ep->qp && ep->qp->qp_num == qp_num)
			handle = ep->self;
		dapl_object_unlock(&ep->obj);
	}
	return handle;
}

void
dapl_stall_tell(unsigned int qp_num)
{
	const DAT_EP_HANDLE handle = stall_find(qp_num);

	if (handle)
		dapl_debug_error(
		    "a request of the endpoint %p has waited for 2 s: the other end has posted "
		    "no receive for it (dat_ep_post_recv)",
		    (void *)handle);
}
