/* SPDX-License-Identifier: BSD-3-Clause */
#include "timewait.h"
#include "event.h"
#include "id.h"
#include "softverbs/device/settings.h"
#include "softverbs/device/timer.h"
#include "softverbs/fault/fault.h"

#define TIME (4096ull << SOFT_CM_ACK_TIMEOUT)

static void timewait_end(struct soft_timer *timer);

static TAILQ_HEAD(ending, soft_id) ending = TAILQ_HEAD_INITIALIZER(ending);
static struct soft_timer timer = { .fn = timewait_end };

static void
timewait_start_timer(void) REQUIRES(soft_locks.cm)
{
	const struct soft_id *first = TAILQ_FIRST(&ending);

	if (first)
		soft_timer_start(&timer, first->timewait_until);
}

static void
timewait_end(struct soft_timer *unused) SOFT_NO_CM_LOCK
{
	const uint64_t now = soft_now();
	struct soft_id *id;

	(void)unused;
	soft_cm_lock();
	while ((id = TAILQ_FIRST(&ending)) && id->timewait_until <= now) {
		soft_timewait_stop(id);
		soft_event_post(id, &id->timewait_exit, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	}
	timewait_start_timer();
	soft_cm_unlock();
}

/* A rule may have another time. */
static uint64_t
timewait_time(struct soft_id *id) REQUIRES(soft_locks.cm)
{
	struct soft_rule rule;

	if (__builtin_expect(soft_faults_have_incidents, false) &&
	    soft_fault_happens(SOFT_INCIDENT_TIMEWAIT_EXIT, soft_id_context(id), 0, &rule))
		return rule.time;
	return soft_settings_scale_time(TIME);
}

/* Most ids wait equally long, so the place is at the end, unless the time factor has changed. */
void
soft_timewait_start(struct soft_id *id)
{
	struct soft_id *before = TAILQ_LAST(&ending, ending);

	id->timewait_until = soft_now() + timewait_time(id);
	while (before && before->timewait_until > id->timewait_until)
		before = TAILQ_PREV(before, ending, timewait_link);
	if (before)
		TAILQ_INSERT_AFTER(&ending, before, id, timewait_link);
	else
		TAILQ_INSERT_HEAD(&ending, id, timewait_link);
	timewait_start_timer();
}

void
soft_timewait_stop(struct soft_id *id)
{
	if (id->timewait_until)
		TAILQ_REMOVE(&ending, id, timewait_link);
	id->timewait_until = 0;
}

void
soft_timewait_reset(void)
{
	TAILQ_INIT(&ending);
	soft_timer_init(&timer, timewait_end);
}
