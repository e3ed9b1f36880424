/* SPDX-License-Identifier: BSD-3-Clause */
/* evd_count -- the counters of an EVD in the InfiniBand extension */
#include "dapl/evd/evd_object.h"

bool
dapl_evd_counts_copy(DAT_EVD_HANDLE handle, int which, DAT_UINT64 *out, bool reset)
{
	struct dapl_evd *evd = dapl_object_lock_handle(handle, DAPL_KIND_EVD);
	struct evd_counters events;
	struct evd_calls calls;
	bool ok;

	if (!evd)
		return false;
	ok = !evd_query_counters(dapl_evd_ref(evd), &events) &&
	     !evd_query_calls(dapl_evd_ref(evd), &calls);
	if (ok) {
		const uint64_t now[DCNT_EVD_ALL_COUNTERS] = {
			[DCNT_EVD_WAIT] = calls.waits,
			[DCNT_EVD_WAIT_BLOCKED] = calls.sleeps,
			[DCNT_EVD_WAIT_NOTIFY] = calls.wait_arms,
			[DCNT_EVD_DEQUEUE] = calls.dequeues,
			[DCNT_EVD_DEQUEUE_FOUND] = calls.dequeued,
			[DCNT_EVD_DEQUEUE_NOT_FOUND] = calls.dequeues - calls.dequeued,
			[DCNT_EVD_DEQUEUE_POLL] = calls.dequeue_polls,
			[DCNT_EVD_DEQUEUE_POLL_FOUND] = calls.dequeue_polls_found,
			[DCNT_EVD_CONN_CALLBACK] = events.connections,
			[DCNT_EVD_DTO_CALLBACK] = events.notifications,
		};

		dapl_counter_copy(now, evd->base, DCNT_EVD_ALL_COUNTERS, which, out, reset);
	}
	dapl_object_unlock(&evd->obj);
	return ok;
}
