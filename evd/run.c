/* SPDX-License-Identifier: BSD-3-Clause */
/* run -- a thread of a loop runs the job of an EVD */
#include "evd/trigger.h"

#define FAULT_DELAY_MIN_NS 1000000u
#define FAULT_DELAY_MAX_NS 1000000000u

/*
 * The device could not be armed or polled.  Reports that once, keeps the EVD, and tries again after
 * increasing delays.
 */
static void
evd_back_off(struct evd *evd, int error) REQUIRES(core_locks.trigger)
{
	if (!evd->backoff_ns) {
		evd->backoff_ns = FAULT_DELAY_MIN_NS;
		evd_unlock(evd);
		evd->cfg.fault(evd, error);
		evd_lock(evd);
	} else {
		evd->backoff_ns *= 2;
		if (evd->backoff_ns > FAULT_DELAY_MAX_NS)
			evd->backoff_ns = FAULT_DELAY_MAX_NS;
	}
	if (!evd->alive)
		evd_job(evd, EVD_JOB_REST);
	else if (evd_wanted(evd))
		evd_job(evd, EVD_JOB_YIELD); /* an event came while the lock was dropped */
	else
		evd_job(evd, EVD_JOB_FAIL);
}

/*
 * One report stands for all events that are queued.  So all are polled first, and the device is armed:
 * the poll after the arm is then the last one.
 */
void
evd_run_report(struct evd *evd)
{
	const int r = evd_poll_to_report(evd);

	if (evd_is_unseen(evd->attention)) {
		evd_attend(evd, EVD_HAS_REPORTED);
		evd->listener->notify(evd->listener, evd);
	}
	if (r < 0) {
		evd_back_off(evd, r);
		return;
	}
	evd->backoff_ns = 0;
	evd_job(evd, EVD_JOB_REST);
}

/* Whether upcalls can get their events without the queue (evd_make_array_upcalls()). */
static bool
evd_may_call_at_once(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	return evd_policy_calls(evd->policy) && evd->policy != DAT_UPCALL_NORIFY &&
	       (evd->policy == DAT_UPCALL_MANY || evd->in_progress == 0) &&
	       evd_may_poll_into(evd) && loop_current() == evd_serving_loop(evd) &&
	       !loop_is_pumping();
}

void
evd_run(struct loop_job *job, uint64_t serial)
{
	struct evd *evd = evd_of_job(job);
	int passes = 0;
	uint64_t begun;
	enum evd_upcalls upcalls;
	bool polled = false;
	enum evd_sink sink;
	int r;

	evd_lock(evd);
	if (evd->serial != serial) {
		evd_unlock(evd);
		return;
	}
	evd_job(evd, EVD_JOB_BEGIN);
	begun = evd_taken(evd);
	for (;;) {
		sink = evd_sink(evd);
		if (!evd->alive || sink == EVD_SINK_WAITER || sink == EVD_SINK_NONE) {
			evd_job(evd, EVD_JOB_REST); /* in the section that saw it, so a later wake
						       starts a new run */
			break;
		}
		if (sink == EVD_SINK_CNO) {
			evd_run_report(evd);
			break;
		}
		if (passes++ == EVD_BUDGET || evd_taken(evd) - begun >= EVD_BUDGET) {
			evd_job(evd, EVD_JOB_YIELD);
			break;
		}
		if (!polled && evd->array.upcall_func && evd_may_call_at_once(evd)) {
			upcalls = evd_make_array_upcalls(evd, begun + EVD_BUDGET);
			if (upcalls == EVD_UPCALLS_LEFT_JOB)
				break;
			if (upcalls == EVD_UPCALLS_HAVE_JOB)
				continue;
			polled = upcalls == EVD_UPCALLS_SAW_EMPTY;
		}
		r = evd_poll_and_arm(evd, polled);
		polled = false;
		if (r < 0) {
			evd_back_off(evd, r);
			break;
		}
		if (r == 0) {
			/*
			 * Only a successful poll and arm end an episode of failures.  A queued
			 * event, perhaps the report of the failure itself, does not.
			 */
			evd->backoff_ns = 0;
			evd_job(
			    evd, EVD_JOB_REST); /* the check and the change are in one section */
			break;
		}
		if (loop_current() != evd_serving_loop(evd)) {
			/*
			 * The policy changed after the job was queued.  Upcalls of MANY may wait
			 * for each other; on the thread of the loop they would stop it from reading
			 * its sources.
			 */
			evd_job(evd, EVD_JOB_YIELD);
			break;
		} else if (loop_is_pumping()) {
			evd_job(evd, EVD_JOB_DEFER); /* no upcall from inside another callback */
			break;
		} else {
			ASSUME(evd->alive && evd_wanted(evd));
			upcalls =
			    (evd->array.upcall_func ? evd_make_array_upcalls : evd_make_upcalls)(
				evd, begun + EVD_BUDGET);
			if (upcalls == EVD_UPCALLS_LEFT_JOB)
				break;
			polled = upcalls == EVD_UPCALLS_SAW_EMPTY;
		}
	}
	os_self()->spent += evd_taken(evd) - begun;
	evd_leave(evd);
}
