/* SPDX-License-Identifier: BSD-3-Clause */
/* counters -- what a queue has done, for the program */
#include "rearm/internal.h"

REARM_API int
rearm_queue_counters(struct rearm_queue *queue, struct rearm_counters *counters, size_t size)
{
	const struct evd_ref ref = rearm_queue_ref(queue);
	struct rearm_counters all;
	struct evd_status status;
	struct evd_counters c;
	struct evd_calls calls;

	if (!counters)
		return -EINVAL;
	if (evd_query(ref, &status) || evd_query_counters(ref, &c) || evd_query_calls(ref, &calls))
		return -ENODEV;
	all = (struct rearm_counters){
		.events = c.completions,
		.callbacks = c.upcalls,
		.notifications = c.notifications,
		.spurious = c.spurious_notifications,
		.arms = c.arms,
		.arm_failures = c.arm_failures,
		.races = c.races_closed,
		.polls = calls.polls,
		.polls_found = calls.polls_found,
		.waits = calls.waits,
		.sleeps = calls.sleeps,
		.takes = calls.dequeues,
		.takes_found = calls.dequeued,
		.depth = (uint64_t)status.queued,
		.max_depth = c.max_depth,
	};
	memset(counters, 0, size);
	memcpy(counters, &all, size < sizeof all ? size : sizeof all);
	return 0;
}
