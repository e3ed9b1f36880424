/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * enter -- the short way into an EVD, for software events
 *
 * Inline, so that the event is written where it stays.  evd_post() does the same for any event.
 */
#ifndef REARM_EVD_ENTER_H
#define REARM_EVD_ENTER_H

#include "evd/trigger.h"

/* The place of one more software event, which the caller writes; NULL if there is no room. */
static inline DAT_EVENT *
evd_enter_software(struct evd *evd) REQUIRES(core_locks.trigger)
{
	if (evd_posted_count(&evd->queue.posted) == 0)
		evd->refusing = false;
	return evd_queue_post_free(&evd->queue);
}

/* It is written: wakes the sink, and drops the lock. */
static inline void
evd_entered_software(struct evd *evd) RELEASE(core_locks.trigger)
{
	evd->counters.software_events++;
	evd_attend(evd, EVD_HAS_ENTERED);
	if (evd_sink(evd) != EVD_SINK_NONE)
		evd_wake_sink(evd);
	evd_unlock(evd);
}

#endif
