/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rearm -- poll, arm, poll again: one notification of the device becomes a promise that lasts
 *
 * The device raises one notification for each request (arm), for a completion that enters its queue
 * after the request.  A sink stays interested until the consumer changes it.  The race between the
 * two:
 *
 *     a thread with the trigger lock          the device
 *     ------------------------------          ----------
 *     polls: the queue is empty
 *                                             a completion enters; the queue is not armed,
 *                                             so it raises no notification
 *     arms
 *     drops the lock, and sleeps              nothing reports the completion
 *
 * It is closed by one more poll, in the same lock section, behind the arm:
 *
 *     arms                                    what enters from now on raises the notification
 *     polls again                             what entered before is found
 *
 * Three invariants follow.  The models and the schedule explorer (test/proof/) check them.
 *
 *   I1  If an EVD has a sink, its job is idle and its lock is free, then it is armed.  If the
 *       device then has a completion that the sink wants, the notification was raised, and no
 *       thread has read it yet.
 *   I2  Every event leaves the EVD exactly once, in the order of its stream and of its endpoint.
 *   I3  From an arm until its notification was read the device is not armed again.  One exception:
 *       a request for solicited completions may be widened to all, and a poll follows.
 *
 * No file but this one and rearm.c calls the functions of the device for poll and arm.  What the
 * others use:
 *
 *   evd_poll()            Polls until enough is queued, or the device queue is empty.
 *   evd_rearm()           Arms the device unless it is armed, and polls again, in the same section.
 *   evd_note_notified()   A notification was read: the device is armed no longer.
 *
 * evd_poll_and_arm(), for a policy, evd_poll_to_report(), for a CNO, and the waits are made of
 * these.
 */
#ifndef REARM_EVD_REARM_H
#define REARM_EVD_REARM_H

#include "evd/probe.h"
#include "evd/sink.h"

/* ---- poll ---- */

/*
 * The EVD has a device.  Polls once: 1; 0 if the device queue is empty or the ring is full; or an
 * error as evd_poll().
 */
int evd_poll_once(struct evd *evd) REQUIRES(core_locks.trigger);

/*
 * Polls until `enough` signalled events are queued (UINT_MAX: all), the device queue is empty or
 * the ring is full.  0; -EIO: the device could not be polled, or completed more receives than were
 * posted.  The caller reports the error, once, and calls evd_error_returned(): the next poll may
 * succeed, and then the queue works.
 */
static inline int
evd_poll(struct evd *evd, unsigned int enough) REQUIRES(core_locks.trigger)
{
	int r = evd->cfg.ops != NULL;

	while (r > 0 && !evd_queue_has_signalled(&evd->queue, enough))
		r = evd_poll_once(evd);
	return r < 0 ? r : 0;
}

/*
 * The same for an EVD that has a device, and nothing that can be taken: one poll is usually enough.
 */
static inline int
evd_poll_at_once(struct evd *evd, unsigned int enough) REQUIRES(core_locks.trigger)
{
	const int r = evd_poll_once(evd);

	return r > 0 ? evd_poll(evd, enough) : r;
}

/*
 * Polls until the device queue is empty or the ring is full, for a caller that serves no sink.
 * Errors as evd_poll(), but not for receives that were not posted: the next poll for a sink reports
 * these.
 */
int evd_poll_for_source(struct evd *evd) REQUIRES(core_locks.trigger);

/*
 * Two ends of evd_poll_into(), not inline: the first is for an EVD without evd->poll_into; the
 * second for a poll after which not all completions are taken.
 */
unsigned int evd_poll_first(struct evd *evd, int *result) REQUIRES(core_locks.trigger);
unsigned int evd_polled_into(struct evd *evd, const struct evd_batch *batch, int n,
    unsigned int made, int *result) REQUIRES(core_locks.trigger);

/*
 * Nothing is queued, and the EVD has evd->poll_into.  Polls, and takes up to `most` events at once.
 * Returns how many are in `events`, if these are all that the poll has found; then it counts them,
 * and the poll.  Otherwise -1: *n and *made are what the source returned, and evd_polled_into()
 * follows.
 */
static inline __attribute__((always_inline)) int
evd_poll_at_most(struct evd *evd, void *events, unsigned int most, struct evd_batch *batch, int *n,
    unsigned int *made) REQUIRES(core_locks.trigger)
{
	/*
	 * What is taken at once need not be queued: so several are polled only as far as they are
	 * taken.
	 */
	const unsigned int max = most == 1 || most > EVD_BATCH ? evd->batch : most;

	ASSUME(evd_queue_load(&evd->queue) == 0);
	*made = most;
	evd_queue_begin_first_batch(&evd->queue, max, batch);
	*n = evd->poll_into(evd->cfg.source, batch, events, made).value;
	REARM_PROBE_INT(poll, evd->cfg.handle, *n);
	if (*n <= 0 || *made != (unsigned int)*n)
		return -1;
	evd->taken += *made;
	evd->at_once.taken += *made;
	evd->at_once.found++;
	evd->drained = *made < batch->room;
	evd_announce(evd);
	return *n;
}

/*
 * The same for the next upcall of a series, with a source that builds the event of each completion.
 * The events are at most as many as a batch.  Returns how many, and has counted the upcall; or 0 or
 * an error as evd_poll(): the device queue is empty, or failed.
 */
int evd_took_none(struct evd *evd, int n, unsigned int most) REQUIRES(core_locks.trigger);

static inline __attribute__((always_inline)) int
evd_take_for_upcall(struct evd *evd, void *events, unsigned int most) REQUIRES(core_locks.trigger)
{
	const int n = evd->cfg.ops->take(evd->cfg.source, events, most).value;

	ASSUME(evd_queue_load(&evd->queue) == 0);
	REARM_PROBE_INT(poll, evd->cfg.handle, n);
	if ((unsigned int)n - 1 >= most)
		return evd_took_none(evd, n, most);
	evd->taken += (unsigned int)n;
	evd->at_once.taken += (unsigned int)n;
	evd->at_once.upcalls++;
	evd->drained = (unsigned int)n < most;
	ASSUME(!evd_is_unannounced(evd));
	return n;
}

/*
 * Nothing is queued.  Polls, and takes the events at once if the source can do so.  Returns how
 * many are in `events`, at most `most`.  What could not be taken at once is queued after them.
 * *result: 1; 0 if the device queue was empty; or an error as evd_poll().
 */
static inline __attribute__((always_inline)) unsigned int
evd_poll_into(struct evd *evd, void *events, unsigned int most, int *result)
    REQUIRES(core_locks.trigger)
{
	struct evd_batch batch;
	unsigned int made;
	int n, taken;

	if (!evd->poll_into)
		return evd_poll_first(evd, result);
	taken = evd_poll_at_most(evd, events, most, &batch, &n, &made);
	if (taken < 0)
		return evd_polled_into(evd, &batch, n, made, result);
	*result = 1;
	return (unsigned int)taken;
}

/* After a change of the object for upcalls: how many completions a poll takes. */
static inline void
evd_set_batch(struct evd *evd) REQUIRES(core_locks.trigger)
{
	evd->batch =
	    evd->cfg.posted_on_demand && evd->upcall.most <= 1 ? EVD_BATCH_PLAIN : EVD_BATCH;
}

/* From now on a poll asks the source again: a refusal (evd->refused) is reported only once. */
void evd_end_refusal(struct evd *evd) REQUIRES(core_locks.trigger);

/* The caller reports an error of evd_poll(). */
static inline void
evd_error_returned(struct evd *evd) REQUIRES(core_locks.trigger)
{
	if (evd->refused)
		evd_end_refusal(evd);
}

/* ---- arm, and poll again ---- */

/*
 * Returns 1 if it armed the device, 0 if the device was armed or there is nothing to arm, -EIO.
 * *exact: this arm proved that the device queue was empty.  In every other case a poll in the same
 * lock section follows.
 */
static inline int
evd_arm(struct evd *evd, bool *exact) REQUIRES(core_locks.trigger)
{
	const struct evd_source_ops *ops = evd->cfg.ops;
	const enum evd_armed wish = evd->solicited_only ? EVD_ARMED_SOLICITED : EVD_ARMED_ALL;
	int n;

	*exact = false;
	if (!ops || evd->armed >= wish)
		return 0;
	if (evd->unarmable)
		return evd->device_over ? 0 : -EIO;
	/* I3: an armed queue is armed again only to widen the request. */
	ASSUME(evd->armed == EVD_UNARMED || wish == EVD_ARMED_ALL);
	n = ops->arm(evd->cfg.source, evd->solicited_only).value;
	if (n < 0) {
		evd->counters.arm_failures++;
		return -EIO;
	}
	evd->armed = wish;
	/* A series of upcalls, one at a time, takes for granted that this does not happen. */
	if (wish == EVD_ARMED_SOLICITED && evd->job_state == EVD_JOB_CALLING)
		evd->changes++;
	evd->counters.arms++;
	REARM_PROBE_INT(arm, evd->cfg.handle, wish);
	*exact = n == 0 && ops->exact_hint;
	return 1;
}

/*
 * Each completion that enters the device queue from now on raises the notification that was
 * requested.  No poll is needed until it was read.
 */
static inline void
evd_note_empty(struct evd *evd) REQUIRES(core_locks.trigger)
{
	if (evd->armed == EVD_ARMED_ALL)
		evd->armed = EVD_ARMED_EMPTY;
}

/*
 * True if nothing is queued, and a completion that the device queue has raised a notification that
 * was not read yet.  Then a poll is not needed.
 */
static inline bool
evd_is_watched(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	return evd->armed == EVD_ARMED_EMPTY && evd_queue_load(&evd->queue) == 0;
}

/* A poll after an arm has found completions. */
static inline void
evd_note_race(struct evd *evd) REQUIRES(core_locks.trigger)
{
	evd->counters.races_closed++;
	REARM_PROBE(race, evd->cfg.handle);
}

/* What a caller of evd_rearm() knows of the device queue. */
enum evd_look {
	EVD_LOOKED,	    /* it has polled for `enough` in this lock section */
	EVD_LOOKED_EARLIER, /* an earlier section has polled */
	/* none, but nothing is queued, and it is likely that a poll would find nothing */
	EVD_EXPECTS_NONE,
	EVD_LOOKS_AFTER /* none: the poll after the arm is the first one, and closes no race */
};

/*
 * Arms the device unless it is armed, and polls as evd_poll() does: a completion that was queued
 * before the arm raises no notification.  Whatever the sink is, this is the caller of evd_arm(),
 * whose result it returns.  *found: 1 if the device is armed, nothing is queued, and the device
 * queue was seen empty; 0, or an error as evd_poll().
 *
 * It does not poll if the arm failed, if it showed that the device queue is empty, or if it had
 * nothing to arm and the caller has polled.  A first poll is made in any case.
 */
static inline __attribute__((always_inline)) int
evd_rearm(struct evd *evd, unsigned int enough, enum evd_look look, int *found)
    REQUIRES(core_locks.trigger)
{
	uint64_t before;
	bool exact;
	const int armed = evd_arm(evd, &exact);

	*found = 0;
	if (look == EVD_LOOKS_AFTER) {
		*found = evd_poll(evd, enough);
		return armed;
	}
	/* If there was nothing to arm, the device was armed before the poll of the caller. */
	if (armed < 0 || (armed == 0 && look == EVD_LOOKED))
		return armed;
	/* Only the pass that armed may trust the hint that no completion was missed. */
	if (exact) {
		*found = 1;
		return armed;
	}
	before = evd->queue.polled;
	*found = look == EVD_EXPECTS_NONE ? evd_poll_at_once(evd, enough) : evd_poll(evd, enough);
	if (evd->queue.polled != before) {
		if (armed)
			evd_note_race(evd);
	} else if (*found == 0) {
		*found = evd_queue_load(&evd->queue) == 0;
	}
	return armed;
}

/*
 * The same for an upcall policy, or a thread that waits.  It remembers that the device queue was
 * seen empty.
 */
static inline __attribute__((always_inline)) int
evd_arm_and_repoll(struct evd *evd, unsigned int enough, bool polled) REQUIRES(core_locks.trigger)
{
	int found;
	const int armed = evd_rearm(evd, enough, polled ? EVD_LOOKED : EVD_LOOKED_EARLIER, &found);

	if (armed < 0)
		return armed;
	if (found <= 0)
		return found;
	evd_note_empty(evd);
	return 0;
}

/*
 * For an EVD whose sink is an upcall policy.  1: an upcall is wanted now; 0: none is, and the
 * device is armed; -EIO.  `found_empty`: a poll in the same lock section has found the
 * device queue empty; the function begins with the arm.
 */
int evd_poll_and_arm(struct evd *evd, bool found_empty) REQUIRES(core_locks.trigger);

/*
 * For an EVD whose sink is a CNO: polls all that fits into the queue, and arms; a poll follows the
 * arm.  0: what the device completes from now on raises a notification; -EIO.
 */
int evd_poll_to_report(struct evd *evd) REQUIRES(core_locks.trigger);

/*
 * Nothing is wanted, and the device is armed; the caller has checked it in this section.  Only a
 * successful poll and arm end an episode of failures: a queued event, perhaps the report of the
 * failure itself, does not.
 */
static inline void
evd_rest(struct evd *evd) REQUIRES(core_locks.trigger)
{
	evd->backoff_ns = 0;
	evd_job(evd, EVD_JOB_REST);
}

/* ---- notified ---- */

/*
 * Acknowledges what was read.  A free does so, too: inside an upcall the device queue is the
 * owner's again before the EVD is destroyed, and its destruction waits for this.
 */
static inline void
evd_acknowledge(struct evd *evd) REQUIRES(core_locks.trigger)
{
	const unsigned int unacked = evd->unacked;

	evd->unacked = 0;
	if (unacked)
		evd->cfg.ops->ack(evd->cfg.source, unacked);
}

/*
 * Counts a notification that was read; the device is no longer armed.  The EVD may have been freed
 * if the caller has pinned it: then it is acknowledged at once.  The caller polls in the same lock
 * section, or enters EVD_IS_NOTIFIED.
 */
static inline void
evd_note_notified(struct evd *evd) REQUIRES(core_locks.trigger)
{
	REARM_PROBE(notify, evd->cfg.handle);
	evd->counters.notifications++;
	if (++evd->unacked == EVD_ACK_BATCH || !evd->alive)
		evd_acknowledge(evd);
	evd->armed = EVD_UNARMED;
	evd->changes++;
}

/* A notification was read, and a poll after it found nothing. */
static inline void
evd_note_spurious(struct evd *evd) REQUIRES(core_locks.trigger)
{
	evd->counters.spurious_notifications++;
	REARM_PROBE(spurious, evd->cfg.handle);
}

#endif
