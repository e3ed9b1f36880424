/* SPDX-License-Identifier: BSD-3-Clause */
/* counters -- what a queue has done, for the program */
#include "rearm/internal.h"

REARM_API int
rearm_queue_counters(struct rearm_queue *queue, struct rearm_counters *counters, size_t size)
{
	struct rearm_counters all;
	struct evd_stats_row row;

	if (!counters)
		return -EINVAL;
	if (evd_stats_fill(rearm_queue_ref(queue), &row))
		return -ENODEV;
	all = (struct rearm_counters){
		.events = row.dto_events,
		.callbacks = row.upcalls,
		.notifications = row.notifications,
		.spurious = row.spurious,
		.arms = row.arms,
		.arm_failures = row.arm_failures,
		.races = row.races,
		.polls = row.polls,
		.polls_found = row.polls_found,
		.waits = row.waits,
		.sleeps = row.sleeps,
		.takes = row.dequeues,
		.takes_found = row.dequeued,
		.depth = row.depth,
		.max_depth = row.max_depth,
	};
	memset(counters, 0, size);
	memcpy(counters, &all, size < sizeof all ? size : sizeof all);
	return 0;
}
