/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trigger -- what happens under the trigger lock: what the taker is and wants, look, kick
 *
 * Private to evd/.  Every function here expects the trigger lock to be held and returns with it
 * held unless it says otherwise.  doc/architecture.md tells the whole protocol; in one breath:
 *
 *   look      poll until wanted or the device queue is empty; not wanted and a taker stands: arm if
 *             not armed, in this same section, and poll again
 *   kick      waiter: wake it, whatever the job's state is; upcall or CNO: wake the job (see job.h);
 *             no taker: nothing
 *
 *   I1  taker present and the job idle (lock free)  =>  armed, and not wanted or the one notification
 *       is on its way
 *   I3  from an arm until its notification was read the device is not armed again; but a request for
 *       solicited completions may be widened to all, and a poll follows
 */
#ifndef REARM_EVD_TRIGGER_H
#define REARM_EVD_TRIGGER_H

#include "evd/evd.h"

enum evd_sink { EVD_SINK_NONE, EVD_SINK_CNO, EVD_SINK_UPCALL, EVD_SINK_WAITER };

static inline enum evd_sink
evd_sink(const struct evd *evd)
{
	if (evd->waiting)
		return EVD_SINK_WAITER;
	if (evd_policy_calls(evd->policy))
		return EVD_SINK_UPCALL;
	if (evd->listener && evd->enabled)
		return EVD_SINK_CNO;
	return EVD_SINK_NONE;
}

/*
 * Every entry from outside.  The EVD with its lock held, or NULL: it was freed, and what lives in the
 * slot now is another one.
 */
static inline struct evd *
evd_enter(struct evd_ref ref)
{
	os_lock(&ref.evd->lock);
	if (ref.evd->alive && ref.evd->serial == ref.serial)
		return ref.evd;
	os_unlock(&ref.evd->lock);
	return NULL;
}

/* Whose threads run the EVD under the policy in force. */
static inline struct loop *
evd_serving_loop(const struct evd *evd)
{
	return evd->policy == DAT_UPCALL_MANY && evd->cfg.pool ? evd->cfg.pool : evd->cfg.loop;
}

bool evd_wanted(const struct evd *evd);

/* What happened to what the EVD owes its taker. */
static inline void
evd_attend(struct evd *evd, enum evd_attention_event event)
{
	evd->attention = evd_attention_next(evd->attention, event);
}

/* Locked.  A stash full of quiet completions counts as work: nothing can enter before one is taken. */
void evd_attend_unsignalled(struct evd *evd);

/* What happened to its job. */
static inline void
evd_job(struct evd *evd, enum evd_job_event event)
{
	const struct evd_job_rule *rule = &evd_job_rules[evd->job_state][event];

	if (rule->action != EVD_JOB_NOTHING)
		evd_job_act(evd, rule);
	else
		evd->job_state = (enum evd_job_state)rule->next;
}

/*
 * Polls until `enough` items count, the device queue is empty or the stash is full.  0, -EIO: the
 * device failed, -EOVERFLOW: its queue is lost.  *added (may be NULL) counts what the device gave.
 */
int evd_poll(struct evd *evd, unsigned int enough, unsigned int *added);

/*
 * Arms unless armed, and polls again as evd_poll() does: what was queued before the arm raises no
 * notification.  The only place that arms.  0, -EIO or -EOVERFLOW.
 */
int evd_arm_and_repoll(struct evd *evd, unsigned int enough);

/* For an EVD that has a taker.  1 wanted, 0 not wanted and armed, -EIO, -EOVERFLOW. */
int evd_poll_and_arm(struct evd *evd);

void evd_wake_sink(struct evd *evd);

/* The part of a change of taker that wakes nobody: what is queued is news to the new taker, and the
 * private channel is read by whoever must read it. */
void evd_sink_settle(struct evd *evd);

/* Ends every change of taker: settle, and kick the new one. */
void evd_sink_changed(struct evd *evd);

/* Makes sure the loop can read the private channel of an EVD that is to get a taker on the loop. */
int evd_list_channel(struct evd *evd);

/*
 * For a taker that is notified rather than fed.  While the stash was full the device held
 * completions back, for which no notification will come.  Once the stash is empty the taker is to
 * look again.
 */
void evd_report_refill(struct evd *evd);

/* Removes the oldest item and builds its event; false when none counts. */
bool evd_take(struct evd *evd, DAT_EVENT *event, struct evd_effect *effect);

/* Runs the effect a taken completion asked for.  Not locked; the EVD is claimed or pinned. */
void evd_run_effect(struct evd *evd, const struct evd_effect *effect);

/*
 * Drops the lock at the end of a section that may have been the last thing a free waited for:
 * wakes the freeing thread, or destroys when the EVD was freed from inside its own upcall.
 * The EVD must not be touched afterwards.
 */
void evd_leave(struct evd *evd);

/* The same for a section that took an event: runs its effect, unlocked and pinned, in between. */
void evd_leave_with_effect(struct evd *evd, const struct evd_effect *effect);

/* run.c: the loop's side of an owned EVD. */
void evd_run(struct loop_job *job, uint64_t serial);

/* An upcall on a thread's stack. */
struct upcall_frame {
	struct upcall_frame *outer;
	struct evd *evd;
	bool exempt; /* called TEARDOWN or free of its own EVD: no inside caller waits for it */
};

/* The calling thread's upcall of this EVD, or NULL. */
struct upcall_frame *evd_frame(const struct evd *evd);

/* From now on inside callers of the EVD wait neither for this upcall nor its thread's others. */
void evd_frame_exempt(struct evd *evd, struct upcall_frame *frame);

/*
 * Waits until no upcall runs but the ones the calling thread is itself inside of (and those that
 * wait here as well, or whose threads close an adapter).  Drops and retakes the lock.
 */
void evd_await_upcalls(struct evd *evd);

/*
 * How many upcalls the calling thread does not wait for, because their threads close an adapter.  Such a
 * close may wait for the callback that this thread is in; for a thread that is in none, none waits.
 */
static inline int
evd_closers(const struct evd *evd)
{
	return os_in_callback() ? evd->closers : 0;
}

/* Upcalls run, and the calling thread waits for none of them. */
static inline bool
evd_only_closers(const struct evd *evd)
{
	return evd->in_progress > 0 && evd->in_progress == evd_closers(evd);
}

#endif
