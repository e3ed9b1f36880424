/* SPDX-License-Identifier: BSD-3-Clause */
/* dapl_ep_get_pin -- threads that use an endpoint without its lock */
#include "dapl/ep/ep.h"

void
dapl_ep_put_pin(struct dapl_ep *ep)
{
	struct dapl_conn *doomed = NULL;

	dapl_object_lock(&ep->obj);
	if (ep->pins == 1) {
		doomed = ep->doomed;
		ep->doomed = NULL;
	}
	if (doomed) {
		dapl_object_unlock(&ep->obj);
		dapl_conn_close(doomed);
		dapl_object_lock(&ep->obj);
	}
	if (--ep->pins == 0)
		park_list_wake_all(&ep->unpinned);
	dapl_object_unlock(&ep->obj);
}

static bool
ep_has_no_pins(void *arg) REQUIRES(dapl_locks.object)
{
	const struct dapl_ep *ep = arg;

	return ep->pins == 0;
}

void
dapl_ep_await_pins(struct dapl_ep *ep)
{
	park_list_await(&ep->unpinned, &ep->obj.lock, ep_has_no_pins, ep);
}
