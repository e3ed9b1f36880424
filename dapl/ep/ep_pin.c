/* SPDX-License-Identifier: BSD-3-Clause */
/* dapl_ep_pin -- threads that use an endpoint without its lock */
#include "dapl/ep/ep.h"

void
dapl_ep_unpin(struct dapl_ep *ep)
{
	struct dapl_conn *doomed = NULL;

	os_lock(&ep->obj.lock);
	if (ep->pins == 1) {
		doomed = ep->doomed;
		ep->doomed = NULL;
	}
	if (doomed) {
		os_unlock(&ep->obj.lock);
		dapl_conn_close(doomed);
		os_lock(&ep->obj.lock);
	}
	if (--ep->pins == 0)
		park_list_wake_all(&ep->unpinned);
	os_unlock(&ep->obj.lock);
}

void
dapl_ep_await_pins(struct dapl_ep *ep)
{
	dapl_object_await_none(&ep->obj, &ep->unpinned, &ep->pins);
}
