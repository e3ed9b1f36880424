/* SPDX-License-Identifier: BSD-3-Clause */
#include "evd/trigger.h"

/*
 * No thread is inside and none can enter; only notifications that were not read may still name the
 * EVD.
 */
static void
evd_destroy(struct evd *evd)
{
	struct evd_queue queue;

	evd_lock(evd);
	ASSUME(!evd->alive && !evd->unacked && evd_quiescent(evd));
	queue = evd->queue;
	evd->queue = (struct evd_queue){ 0 };
	evd_unlock(evd);

	evd_queue_fini(&queue);
	evd->cfg.destroyed(evd);
}

void
evd_leave_freed(struct evd *evd)
{
	bool last;

	park_list_wake_all(&evd->teardowns);
	last = evd->free_on_return && evd_quiescent(evd);
	if (last)
		evd->free_on_return = false;
	evd_unlock(evd);
	if (last)
		evd_destroy(evd);
}
