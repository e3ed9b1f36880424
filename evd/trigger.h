/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trigger -- what happens under the trigger lock: who takes, what he wants, look, kick
 *
 * Private to evd/.  Every function here expects the trigger lock to be held and returns with it
 * held unless it says otherwise.  doc/architecture.md tells the whole protocol; in one breath:
 *
 *   look      poll until wanted or the device queue is empty; not wanted and a taker stands: arm if
 *             not armed, in this same section, and poll again
 *   kick      waiter: wake it, whatever the owner bit says; upcall or CNO: if IDLE, OWNED and onto
 *             a ready list; nobody: nothing
 *
 *   I1  taker present and not owned (lock free)  =>  armed, and not wanted or the one notification
 *       is on its way
 *   I3  from an arm until its notification was read the device is not armed again
 */
#ifndef REARM_EVD_TRIGGER_H
#define REARM_EVD_TRIGGER_H

#include "evd/evd.h"

/* Notifications acknowledged at a time: the device's acknowledge takes a lock of its own. */
#define EVD_ACK_BATCH 64

enum evd_taker { EVD_TAKER_NOBODY, EVD_TAKER_CNO, EVD_TAKER_UPCALL, EVD_TAKER_WAITER };

static inline enum evd_taker
evd_taker(const struct evd *evd)
{
	if (evd->waiting)
		return EVD_TAKER_WAITER;
	if (evd_policy_calls(evd->policy))
		return EVD_TAKER_UPCALL;
	if (evd->listener && evd->enabled)
		return EVD_TAKER_CNO;
	return EVD_TAKER_NOBODY;
}

/* Whose threads run the EVD under the policy in force. */
static inline struct loop *
evd_home(const struct evd *evd)
{
	return evd->policy == DAT_UPCALL_MANY && evd->cfg.crew ? evd->cfg.crew : evd->cfg.loop;
}

bool evd_wanted(const struct evd *evd);

/*
 * Polls until `enough` items count, the device queue is empty or the stash is full.  0 or -errno;
 * *added (may be NULL) counts what the device gave.
 */
int evd_poll(struct evd *evd, unsigned int enough, unsigned int *added);

/* Arms unless armed: 1 armed just now, 0 was armed (or there is no device), -errno; *exact: this
 * arm proved the device queue empty. */
int evd_arm(struct evd *evd, bool *exact);

/* For an EVD that has a taker.  1 wanted, 0 not wanted and armed, -errno. */
int evd_look(struct evd *evd);

void evd_kick(struct evd *evd);

/* The part of a change of taker that wakes nobody: what is queued is news to the new taker, and the
 * private channel is read by whoever must read it. */
void evd_taker_settle(struct evd *evd);

/* Ends every change of taker: settle, and kick the new one. */
void evd_taker_changed(struct evd *evd);

/* Makes sure the loop can read the private channel of an EVD that is to get a taker on the loop. */
int evd_list_channel(struct evd *evd);

/*
 * A taker that is told is owed a word about what the device held back while the stash was full,
 * once what it was told of has gone: there was no room to look, and no notification will come.
 */
void evd_see_again(struct evd *evd);

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
void evd_leave_taken(struct evd *evd, const struct evd_effect *effect);

/* run.c: the loop's side of an owned EVD. */
void evd_run(struct loop_job *job);

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
 * wait here as well).  Drops and retakes the lock.
 */
void evd_await_upcalls(struct evd *evd);

#endif
