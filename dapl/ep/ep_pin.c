/* SPDX-License-Identifier: BSD-3-Clause */
/* ep_pin -- threads that use an endpoint without its lock */
#include "dapl/ep/ep.h"

void
ep_unpin(struct ep *ep)
{
	struct conn *doomed = NULL;

	os_lock(&ep->obj.lock);
	if (ep->pins == 1) {
		doomed = ep->doomed;
		ep->doomed = NULL;
	}
	if (doomed) {
		os_unlock(&ep->obj.lock);
		conn_close(doomed);
		os_lock(&ep->obj.lock);
	}
	if (--ep->pins == 0)
		park_list_wake_all(&ep->unpinned);
	os_unlock(&ep->obj.lock);
}

void
ep_await_pins(struct ep *ep)
{
	object_await_none(&ep->obj, &ep->unpinned, &ep->pins);
}
