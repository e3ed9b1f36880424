/* SPDX-License-Identifier: BSD-3-Clause */
#include "evd/run.h"

#include "evd/frame.h"
#include "evd/take.h"
#include "evd/upcall.h"

#define FAULT_DELAY_MIN_NS 1000000u
#define FAULT_DELAY_MAX_NS 1000000000u

/*
 * Reports a failure.  The front end may call the consumer, who may free the EVD there, or tear it
 * down.  So the report is an upcall in progress: these calls do not wait for it if they are made
 * inside of it, and do if they are made elsewhere.
 */
static void
evd_report_fault(struct evd *evd, int error) REQUIRES(core_locks.trigger)
{
	struct os_self *self = os_self();
	struct upcall_frame frame = { .outer = self->upcall, .evd = evd };

	evd->in_progress++;
	self->upcall = &frame;
	evd_unlock(evd);
	evd->cfg.fault(evd, error);
	evd_lock(evd);
	self->upcall = frame.outer;
	evd->in_progress--;
	if (frame.exempt)
		evd->exempt--;
	park_list_wake_all(&evd->teardowns);
}

/*
 * The device could not be armed or polled.  Reports that once, keeps the EVD, and tries again after
 * increasing delays.
 */
static void
evd_back_off(struct evd *evd, int error) REQUIRES(core_locks.trigger)
{
	if (!evd->backoff_ns && evd->cfg.fault_calls && loop_is_pumping()) {
		evd_job(evd, EVD_JOB_DEFER); /* no call from inside another callback */
		return;
	}
	evd_error_returned(evd);
	if (!evd->backoff_ns) {
		evd->backoff_ns = FAULT_DELAY_MIN_NS;
		evd_report_fault(evd, error);
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
 * One report stands for all events that are queued.  So all are polled first, and the device is
 * armed: the poll after the arm is then the last one.
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
	evd_rest(evd);
}

/*
 * For an EVD whose sink is an upcall policy: whether this thread may make upcalls as soon as it
 * finds events.
 */
static inline bool
evd_may_call_at_once(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	return evd->policy != EVD_POLICY_NOTIFY &&
	       (evd->in_progress == 0 || evd->policy == EVD_POLICY_MANY) &&
	       loop_current() == evd_serving_loop(evd) && !loop_is_pumping();
}

/* The events of a run at most. */
static inline unsigned int
evd_budget(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	return evd->upcall.most > 1 ? EVD_BUDGET_ARRAY : EVD_BUDGET;
}

/*
 * After an upcall that has enabled the policy again: nothing is left to do for any sink, and the
 * device is armed.  It is as if evd_poll_and_arm() had returned 0.
 */
static inline bool
evd_is_at_rest(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	return evd->attention == EVD_SEEN && evd_is_watched(evd);
}

void
evd_run(struct loop_job *job, uint64_t serial)
{
	struct evd *evd = evd_of_job(job);
	int passes = 0, upcalls = EVD_UPCALLS_HAVE_JOB, r;
	uint64_t begun;
	enum evd_sink sink;

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
		if (passes++ == EVD_BUDGET || evd_taken(evd) - begun >= evd_budget(evd)) {
			evd_job(evd, EVD_JOB_YIELD);
			break;
		}
		if (upcalls != EVD_UPCALLS_HAVE_JOB || !evd_may_call_at_once(evd)) {
			r = evd_poll_and_arm(evd, upcalls == EVD_UPCALLS_SAW_EMPTY);
			if (r < 0) {
				evd_back_off(evd, r);
				break;
			}
			if (r == 0) {
				evd_rest(evd);
				break;
			}
			if (loop_current() != evd_serving_loop(evd)) {
				/*
				 * The policy changed after the job was queued.  Upcalls of MANY may
				 * wait for each other; on the thread of the loop they would stop it
				 * from reading its sources.
				 */
				evd_job(evd, EVD_JOB_YIELD);
				break;
			}
			if (loop_is_pumping()) {
				evd_job(evd,
				    EVD_JOB_DEFER); /* no upcall from inside another callback */
				break;
			}
		}
		upcalls = evd->upcall.most ? evd_make_array_upcalls(evd, begun + evd_budget(evd)) :
					     evd_make_upcalls(evd, begun + EVD_BUDGET);
		if (upcalls < 0) {
			evd_back_off(evd, upcalls);
			break;
		}
		if (upcalls == EVD_UPCALLS_LEFT_JOB)
			break;
		if (evd_is_at_rest(evd)) {
			evd_rest(evd);
			break;
		}
	}
	os_self()->spent += evd_taken(evd) - begun;
	evd_leave(evd);
}
