/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "evd/trigger.h"

/* clang-format off */
#define STAY(state) { EVD_JOB_NOTHING, EVD_JOB_##state }
#define GO(action, state) { EVD_JOB_##action, EVD_JOB_##state }
#define NEVER { EVD_JOB_IMPOSSIBLE, EVD_JOB_IDLE }
/* clang-format on */

/*
 * RUNNING has no mark for work that arrives meanwhile: a run goes IDLE only in the section in which
 * it saw that nothing is wanted.
 *
 * CALLING: the thread continues with the EVD when its upcall has returned.  Work for a CNO, or for
 * upcalls that may run at the same time, does not wait for that.  The job is queued for another
 * thread, and the caller finds on its return that the job is in another state.
 */
const struct evd_job_rule evd_job_rules[EVD_JOB_STATES][16] = {
	[EVD_JOB_IDLE] = {
		[EVD_JOB_WAKE_ONE] = GO(QUEUE, READY),
		[EVD_JOB_WAKE_MANY] = GO(QUEUE, READY),
		[EVD_JOB_WAKE_CNO] = GO(QUEUE, READY),
		[EVD_JOB_MOVE] = NEVER,
		[EVD_JOB_TAKE] = STAY(RUNNING),
		[EVD_JOB_BEGIN] = NEVER,
		[EVD_JOB_CALL_ONE] = NEVER,
		[EVD_JOB_CALL_MANY] = NEVER,
		[EVD_JOB_RETURN] = NEVER,
		[EVD_JOB_YIELD] = NEVER,
		[EVD_JOB_DEFER] = NEVER,
		[EVD_JOB_FAIL] = NEVER,
		[EVD_JOB_REST] = NEVER,
		[EVD_JOB_CANCEL] = STAY(IDLE),
	},
	[EVD_JOB_READY] = {
		[EVD_JOB_WAKE_ONE] = STAY(READY),
		[EVD_JOB_WAKE_MANY] = STAY(READY),
		[EVD_JOB_WAKE_CNO] = STAY(READY),
		[EVD_JOB_MOVE] = GO(REQUEUE, READY),
		[EVD_JOB_TAKE] = NEVER,
		[EVD_JOB_BEGIN] = STAY(RUNNING),
		[EVD_JOB_CALL_ONE] = NEVER,
		[EVD_JOB_CALL_MANY] = NEVER,
		[EVD_JOB_RETURN] = NEVER,
		[EVD_JOB_YIELD] = NEVER,
		[EVD_JOB_DEFER] = NEVER,
		[EVD_JOB_FAIL] = NEVER,
		[EVD_JOB_REST] = NEVER,
		[EVD_JOB_CANCEL] = GO(UNQUEUE, IDLE),
	},
	[EVD_JOB_DEFERRED] = {
		[EVD_JOB_WAKE_ONE] = STAY(DEFERRED),
		[EVD_JOB_WAKE_MANY] = STAY(DEFERRED),
		[EVD_JOB_WAKE_CNO] = GO(HASTEN, READY),
		[EVD_JOB_MOVE] = GO(REQUEUE, READY),
		[EVD_JOB_TAKE] = NEVER,
		[EVD_JOB_BEGIN] = STAY(RUNNING),
		[EVD_JOB_CALL_ONE] = NEVER,
		[EVD_JOB_CALL_MANY] = NEVER,
		[EVD_JOB_RETURN] = NEVER,
		[EVD_JOB_YIELD] = NEVER,
		[EVD_JOB_DEFER] = NEVER,
		[EVD_JOB_FAIL] = NEVER,
		[EVD_JOB_REST] = NEVER,
		[EVD_JOB_CANCEL] = GO(UNQUEUE, IDLE),
	},
	[EVD_JOB_BACKOFF] = {
		[EVD_JOB_WAKE_ONE] = GO(HASTEN, READY),
		[EVD_JOB_WAKE_MANY] = GO(HASTEN, READY),
		[EVD_JOB_WAKE_CNO] = GO(HASTEN, READY),
		[EVD_JOB_MOVE] = GO(REQUEUE, READY),
		[EVD_JOB_TAKE] = NEVER,
		[EVD_JOB_BEGIN] = STAY(RUNNING),
		[EVD_JOB_CALL_ONE] = NEVER,
		[EVD_JOB_CALL_MANY] = NEVER,
		[EVD_JOB_RETURN] = NEVER,
		[EVD_JOB_YIELD] = NEVER,
		[EVD_JOB_DEFER] = NEVER,
		[EVD_JOB_FAIL] = NEVER,
		[EVD_JOB_REST] = NEVER,
		[EVD_JOB_CANCEL] = GO(UNQUEUE, IDLE),
	},
	[EVD_JOB_RUNNING] = {
		[EVD_JOB_WAKE_ONE] = STAY(RUNNING),
		[EVD_JOB_WAKE_MANY] = STAY(RUNNING),
		[EVD_JOB_WAKE_CNO] = STAY(RUNNING),
		[EVD_JOB_MOVE] = NEVER,
		[EVD_JOB_TAKE] = NEVER,
		[EVD_JOB_BEGIN] = NEVER,
		[EVD_JOB_CALL_ONE] = STAY(CALLING),
		[EVD_JOB_CALL_MANY] = GO(QUEUE, READY),
		[EVD_JOB_RETURN] = NEVER,
		[EVD_JOB_YIELD] = GO(QUEUE, READY),
		[EVD_JOB_DEFER] = GO(QUEUE_DEFERRED, DEFERRED),
		[EVD_JOB_FAIL] = GO(DELAY, BACKOFF),
		[EVD_JOB_REST] = STAY(IDLE),
		[EVD_JOB_CANCEL] = STAY(RUNNING),
	},
	[EVD_JOB_CALLING] = {
		[EVD_JOB_WAKE_ONE] = STAY(CALLING),
		[EVD_JOB_WAKE_MANY] = GO(QUEUE, READY),
		[EVD_JOB_WAKE_CNO] = GO(QUEUE, READY),
		[EVD_JOB_MOVE] = NEVER,
		[EVD_JOB_TAKE] = NEVER,
		[EVD_JOB_BEGIN] = NEVER,
		[EVD_JOB_CALL_ONE] = NEVER,
		[EVD_JOB_CALL_MANY] = NEVER,
		[EVD_JOB_RETURN] = STAY(RUNNING),
		[EVD_JOB_YIELD] = NEVER,
		[EVD_JOB_DEFER] = NEVER,
		[EVD_JOB_FAIL] = NEVER,
		[EVD_JOB_REST] = NEVER,
		[EVD_JOB_CANCEL] = STAY(CALLING),
	},
};

void
evd_job_queue(struct evd *evd, const struct evd_job_rule *rule)
{
	evd->job_state = (enum evd_job_state)rule->next;
	loop_ready(evd_serving_loop(evd), &evd->job);
}

void
evd_job_act(struct evd *evd, const struct evd_job_rule *rule)
{
	switch ((enum evd_job_action)rule->action) {
	case EVD_JOB_IMPOSSIBLE:
		abort();
	case EVD_JOB_NOTHING:
		break;
	case EVD_JOB_QUEUE:
		evd_job_queue(evd, rule);
		return;
	case EVD_JOB_REQUEUE:
		if (loop_unready(&evd->job))
			loop_ready(evd_serving_loop(evd), &evd->job);
		break;
	case EVD_JOB_HASTEN:
		loop_hasten(&evd->job);
		break;
	case EVD_JOB_QUEUE_DEFERRED:
		loop_defer(evd_serving_loop(evd), &evd->job);
		break;
	case EVD_JOB_DELAY:
		loop_ready_later(evd->cfg.loop, &evd->job, evd->backoff_ns);
		break;
	case EVD_JOB_UNQUEUE:
		if (!loop_unready(&evd->job))
			return;
		break;
	}
	evd->job_state = (enum evd_job_state)rule->next;
}
