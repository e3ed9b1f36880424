/* SPDX-License-Identifier: BSD-3-Clause */
/* upcall -- claims events, and calls the function of the consumer with them */
#include "evd/trigger.h"

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

/* Not locked; `event` is NULL under NOTIFY. */
static void
evd_call(struct evd *evd, const DAT_UPCALL_OBJECT *object, const DAT_EVENT *event, bool more)
{
	if (__builtin_expect(evd->cfg.call != NULL, 0))
		evd->cfg.call(object, evd->cfg.handle, event, more ? DAT_TRUE : DAT_FALSE);
	else
		object->upcall_func(object->instance_data, event, more ? DAT_TRUE : DAT_FALSE);
}

/*
 * Makes upcalls one after the other, the first for an event that is wanted.  Each has its claim (take
 * the event, count the upcall) in the section that saw the event wanted, so no upcall starts after a
 * DISABLE or TEARDOWN took the lock.  Returns true if this thread continues with the EVD.
 *
 * Between two upcalls nothing is decided anew if nothing that the decisions depend on has changed
 * (evd->changes), and the next event is a completion that wakes the sink.  The next upcall takes the
 * place of the last one in `in_progress`.  The job need not change: under SINGLE it is CALLING, as it
 * would be after the next claim, and under MANY the thread that has the job by then needs no word of a
 * claim.
 */
__attribute__((noinline)) bool
evd_make_upcalls(struct evd *evd, uint64_t most)
{
	struct os_self *self = os_self();
	struct upcall_frame frame = { .outer = self->upcall, .evd = evd };
	const DAT_UPCALL_OBJECT object = evd->object;
	const bool many = evd->policy == DAT_UPCALL_MANY;
	const bool notify = evd->policy == DAT_UPCALL_NORIFY;
	struct evd_queue *q = &evd->queue;
	const unsigned int changes = evd->changes;
	struct evd_effect effect = { 0 };
	DAT_EVENT event;
	const DAT_EVENT *const argument = notify ? NULL : &event;
	bool more;

	ASSUME(evd->alive && evd_sink(evd) == EVD_SINK_UPCALL && evd_wanted(evd));
	evd->in_progress++;
	if (notify) {
		evd_attend(evd, EVD_HAS_REPORTED);
		most = 1;
	} else {
		(void)evd_take(evd, &event, &effect);
	}
	more = evd_queue_count(q) > 0;
	if (many)
		evd_share_job(evd);
	else
		evd_job(evd, EVD_JOB_CALL_ONE);
	self->upcall = &frame;
	for (;;) {
		evd->counters.upcalls++;
		evd_unlock(evd);
		if (effect.code) {
			self->upcall = frame.outer; /* the effect is not part of the upcall */
			evd_run_effect(evd, &effect);
			effect.code = 0;
			self->upcall = &frame;
		}
		evd_call(evd, &object, argument, more);
		evd_lock(evd);
		if (evd->changes != changes || --most == 0 || !evd_queue_has_only_signalled(q))
			break;
		more = q->ring_count > 1;
		if (more) {
			evd_build_event(evd, &q->ring_first->record, &event, &effect);
			evd_queue_remove_one_of_several(q);
		} else {
			(void)evd_take(evd, &event, &effect);
		}
	}
	self->upcall = frame.outer;
	evd->in_progress--;
	if (frame.exempt)
		evd->exempt--;
	park_list_wake_all(&evd->teardowns);
	if (!many && evd->job_state == EVD_JOB_CALLING) {
		evd_job(evd, EVD_JOB_RETURN);
		return true;
	}
	/* A policy that makes one upcall at a time has waited for the last one of MANY. */
	if (evd->in_progress == 0 && evd->policy != DAT_UPCALL_MANY)
		evd_wake_sink(evd);
	return evd_take_back_job(evd);
}
