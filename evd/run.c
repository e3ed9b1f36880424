/* SPDX-License-Identifier: BSD-3-Clause */
/* run -- a thread of a loop runs the job of an EVD */
#include "evd/trigger.h"

#define FAULT_DELAY_MIN_NS 1000000u
#define FAULT_DELAY_MAX_NS 1000000000u

/*
 * Under MANY another thread may claim the next event during the upcall that begins now: the job is
 * queued for it.  If there is no other event the device is armed here, and no other thread is
 * needed.
 */
static void
evd_share_job(struct evd *evd) REQUIRES(core_locks.trigger)
{
	if (evd_poll_and_arm(evd) == 0) {
		evd->backoff_ns = 0;
		evd_job(evd, EVD_JOB_REST);
	} else {
		evd_job(evd, EVD_JOB_CALL_MANY); /* also after an error, which a run handles */
	}
}

/*
 * After an upcall.  If no other thread has taken the job from the list of this thread's loop, this
 * thread goes on with it.
 */
static bool
evd_take_back_job(struct evd *evd) REQUIRES(core_locks.trigger)
{
	if (evd->job_state != EVD_JOB_READY || evd->job.on != loop_current() ||
	    !loop_unready(&evd->job))
		return false;
	evd_job(evd, EVD_JOB_BEGIN);
	return true;
}

/*
 * Claims one event and makes the upcall.  The claim (take the event, count the upcall) is in the
 * section that saw the event wanted, so no upcall starts after a DISABLE or TEARDOWN took the lock.
 * Returns true if this thread continues with the EVD.
 */
static bool
evd_make_upcall(struct evd *evd) REQUIRES(core_locks.trigger)
{
	struct os_self *self = os_self();
	struct upcall_frame frame = { .outer = self->upcall, .evd = evd };
	const DAT_UPCALL_OBJECT object = evd->object;
	const bool many = evd->policy == DAT_UPCALL_MANY;
	const bool notify = evd->policy == DAT_UPCALL_NORIFY;
	struct evd_effect effect = { 0 };
	DAT_EVENT event;
	bool more, own;

	ASSUME(evd->alive && evd_sink(evd) == EVD_SINK_UPCALL && evd_wanted(evd));
	if (notify)
		evd_attend(evd, EVD_HAS_REPORTED);
	else
		(void)evd_take(evd, &event, &effect);
	more = evd_queue_count(&evd->queue) > 0;
	evd->in_progress++;
	evd->counters.upcalls++;
	if (many)
		evd_share_job(evd);
	else
		evd_job(evd, EVD_JOB_CALL_ONE);
	evd_unlock(evd);

	evd_run_effect(evd, &effect);
	self->upcall = &frame;
	if (evd->cfg.call)
		evd->cfg.call(
		    &object, evd->cfg.handle, notify ? NULL : &event, more ? DAT_TRUE : DAT_FALSE);
	else
		object.upcall_func(
		    object.instance_data, notify ? NULL : &event, more ? DAT_TRUE : DAT_FALSE);
	self->upcall = frame.outer;

	evd_lock(evd);
	evd->in_progress--;
	if (frame.exempt)
		evd->exempt--;
	park_list_wake_all(&evd->teardowns);
	/* Only an upcall that was claimed while no other was in progress can keep the job. */
	own = !many && evd->job_state == EVD_JOB_CALLING;
	if (own) {
		evd_job(evd, EVD_JOB_RETURN);
		return true;
	}
	/* A policy that makes one upcall at a time has waited for the last one of MANY. */
	if (evd->in_progress == 0 && evd->policy != DAT_UPCALL_MANY)
		evd_wake_sink(evd);
	return evd_take_back_job(evd);
}

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

void
evd_run(struct loop_job *job, uint64_t serial)
{
	struct evd *evd = evd_of_job(job);
	int passes = 0;
	uint64_t begun;
	enum evd_sink sink;
	int r;

	evd_lock(evd);
	if (evd->serial != serial) {
		evd_unlock(evd);
		return;
	}
	evd_job(evd, EVD_JOB_BEGIN);
	begun = evd->taken;
	for (;;) {
		sink = evd_sink(evd);
		if (!evd->alive || sink == EVD_SINK_WAITER || sink == EVD_SINK_NONE) {
			evd_job(evd, EVD_JOB_REST); /* in the section that saw it, so a later wake
						       starts a new run */
			break;
		}
		if (passes++ == EVD_BUDGET || evd->taken - begun >= EVD_BUDGET) {
			evd_job(evd, EVD_JOB_YIELD);
			break;
		}
		r = evd_poll_and_arm(evd);
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
		if (sink == EVD_SINK_CNO) {
			evd_attend(evd, EVD_HAS_REPORTED);
			evd->listener->notify(evd->listener, evd);
		} else if (loop_current() != evd_serving_loop(evd)) {
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
		} else if (!evd_make_upcall(evd)) {
			break;
		}
	}
	os_self()->spent += evd->taken - begun;
	evd_leave(evd);
}
