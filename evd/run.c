/* SPDX-License-Identifier: BSD-3-Clause */
/* run -- a loop's thread serves an EVD it owns */
#include "evd/trigger.h"

/*
 * Passes, and events taken, before the other EVDs of the loop and its sources get their turn.  An
 * upcall that drains its EVD takes many events in one pass: it spends the budget just the same.
 */
#define EVD_BUDGET 64

#define FAULT_DELAY_MIN_NS 1000000u
#define FAULT_DELAY_MAX_NS 1000000000u

/*
 * Claims one event and calls out.  The claim -- dequeue and in_progress++ -- is in the section that
 * saw the event wanted, so no upcall starts after a DISABLE or TEARDOWN held the lock.  Returns
 * whether this thread still owns the EVD.
 */
static bool
call_out(struct evd *evd)
{
	struct os_self *self = os_self();
	struct upcall_frame frame = { .outer = self->upcall, .evd = evd };
	const DAT_UPCALL_OBJECT object = evd->object;
	const bool many = evd->policy == DAT_UPCALL_MANY;
	const bool notify = evd->policy == DAT_UPCALL_NORIFY;
	struct evd_effect effect = { 0 };
	DAT_EVENT event;
	bool more, own;

	if (notify)
		evd->news = false;
	else
		(void)evd_take(evd, &event, &effect);
	more = evd_queue_count(&evd->queue) > 0;
	evd->in_progress++;
	evd->counters.upcalls++;
	/* Owned by nobody's stack from here on: the next thread may claim while this one calls. */
	if (many)
		loop_ready(evd_home(evd), &evd->job);
	else
		evd->caller = &frame; /* until a kick takes the EVD away: see hasten() */
	os_unlock(&evd->lock);

	evd_run_effect(evd, &effect);
	self->upcall = &frame;
	if (evd->cfg.call)
		evd->cfg.call(&object, evd->cfg.handle, notify ? NULL : &event,
		    more ? DAT_TRUE : DAT_FALSE);
	else
		object.upcall_func(object.instance_data, notify ? NULL : &event,
		    more ? DAT_TRUE : DAT_FALSE);
	self->upcall = frame.outer;

	os_lock(&evd->lock);
	evd->in_progress--;
	if (frame.exempt)
		evd->exempt--;
	park_list_wake_all(&evd->teardowns);
	own = evd->caller == &frame;
	if (own)
		evd->caller = NULL;
	else if (evd->in_progress == 0)
		evd_kick(evd);
	return own;
}

/* The device could not be armed or polled: say so once, keep the EVD, try again, ever later. */
static void
back_off(struct evd *evd, int error)
{
	if (!evd->fault_reported) {
		evd->fault_reported = true;
		os_unlock(&evd->lock);
		evd->cfg.fault(evd, error);
		os_lock(&evd->lock);
	}
	if (!evd->alive) {
		evd->owned = false;
		return;
	}
	if (evd_wanted(evd)) {
		loop_ready(evd_home(evd), &evd->job); /* it came while the lock was down */
		return;
	}
	evd->fault_delay = evd->fault_delay ? 2 * evd->fault_delay : FAULT_DELAY_MIN_NS;
	if (evd->fault_delay > FAULT_DELAY_MAX_NS)
		evd->fault_delay = FAULT_DELAY_MAX_NS;
	evd->put_off = true;
	loop_ready_later(evd->cfg.loop, &evd->job, evd->fault_delay);
}

void
evd_run(struct loop_job *job)
{
	struct evd *evd = evd_of_job(job);
	int passes = 0;
	uint64_t taken;
	enum evd_taker taker;
	int r;

	os_lock(&evd->lock);
	evd->put_off = false;
	taken = evd->taken;
	for (;;) {
		taker = evd_taker(evd);
		if (!evd->alive || taker == EVD_TAKER_WAITER || taker == EVD_TAKER_NOBODY) {
			evd->owned = false; /* in the section that saw it: a later kick starts anew */
			break;
		}
		if (passes++ == EVD_BUDGET || evd->taken - taken >= EVD_BUDGET) {
			loop_ready(evd_home(evd), job);
			break;
		}
		r = evd_look(evd);
		if (r < 0) {
			back_off(evd, r);
			break;
		}
		if (r == 0) {
			/* Polled and armed: only this ends an episode.  An event that is there
			 * anyway, the report of the fault itself perhaps, does not. */
			evd->fault_reported = false;
			evd->fault_delay = 0;
			evd->owned = false; /* the check and the store are one section */
			break;
		}
		if (taker == EVD_TAKER_CNO) {
			evd->news = false;
			evd->listener->told(evd->listener, evd);
		} else if (loop_current() != evd_home(evd)) {
			/* The policy changed since the kick.  Upcalls of MANY may block each other:
			 * on the loop's own thread that would keep the sources unread. */
			loop_ready(evd_home(evd), job);
			break;
		} else if (loop_pumping()) {
			evd->put_off = true;
			loop_put_off(evd_home(evd), job); /* no call-out from inside another one */
			break;
		} else if (!call_out(evd)) {
			break;
		}
	}
	evd_leave(evd);
}
