/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trigger -- the protocol under the trigger lock: which sink the EVD has, poll and arm, wake
 *
 * Private to evd/.  doc/architecture.md describes the whole protocol.  Its two steps are:
 *
 *   poll_and_arm  Poll until the sink wants an event or the device queue is empty.  If nothing is
 *                 wanted and there is a sink, arm the device unless it is armed, in the same lock
 *                 section, and poll again.
 *   wake_sink     Waiter: wake its thread, whatever the state of the job.  Upcall or CNO: queue the
 *                 job (see job.h).  No sink: nothing.
 *
 * They keep two invariants:
 *
 *   I1  If an EVD has a sink, its job is idle and its lock is free, then it is armed.  If the
 *       device then has a completion that the sink wants, the notification was raised, and no
 *       thread has read it yet.
 *   I3  From an arm until its notification was read the device is not armed again.  One exception:
 *       a request for solicited completions may be widened to all, and a poll follows.
 */
#ifndef REARM_EVD_TRIGGER_H
#define REARM_EVD_TRIGGER_H

#include "evd/evd.h"
#include "evd/probe.h"

static inline void
evd_lock(struct evd *evd) ACQUIRE(core_locks.trigger) UNCHECKED
{
	os_lock(&evd->lock);
}

static inline void
evd_unlock(struct evd *evd) RELEASE(core_locks.trigger) UNCHECKED
{
	os_unlock(&evd->lock);
}

/* As evd_lock(), but may fail while another thread has the lock. */
static inline bool
evd_trylock(struct evd *evd) TRY_ACQUIRE(core_locks.trigger) UNCHECKED
{
	return os_trylock(&evd->lock);
}

/* After a change of `alive` or `waiting`. */
static inline void
evd_set_direct(struct evd *evd) REQUIRES(core_locks.trigger)
{
	evd->direct = evd->alive && !evd->waiting ? evd->serial : EVD_NOT_DIRECT;
}

/*
 * After a change of what it depends on.  An EVD is bare if it has a device, and waiting threads are the
 * only sink that it has or ever had: there is no upcall policy and no CNO, and the loop does not read a
 * private channel for it.  Waits must be allowed: it is waitable, was not freed, does not close and has
 * not overflowed.  Then a wait begins and ends without a change of sink that must be settled.
 */
static inline void
evd_set_bare(struct evd *evd) REQUIRES(core_locks.trigger)
{
	evd->bare = evd->alive && !evd->closing && evd->waitable && !evd->overflowed &&
		    evd->cfg.ops && evd->policy == DAT_UPCALL_DISABLE && !evd->listener &&
		    !evd->channel.id;
}

/* Which sink the EVD has now.  A waiter comes before an upcall policy, a policy before a CNO. */
enum evd_sink { EVD_SINK_NONE, EVD_SINK_CNO, EVD_SINK_UPCALL, EVD_SINK_WAITER };

static inline enum evd_sink
evd_sink(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	if (evd->waiting)
		return EVD_SINK_WAITER;
	if (evd_policy_calls(evd->policy))
		return EVD_SINK_UPCALL;
	if (evd->listener && evd->enabled)
		return EVD_SINK_CNO;
	return EVD_SINK_NONE;
}

/* Whether the slot has this EVD, and it was not freed. */
static inline bool
evd_is(struct evd_ref ref) REQUIRES(core_locks.trigger)
{
	return ref.evd->alive && ref.evd->serial == ref.serial;
}

/*
 * Every call from outside begins here.  Returns the EVD with its lock held, or NULL if the EVD was
 * freed; the slot may hold another EVD by then.
 */
static inline struct evd *
evd_enter(struct evd_ref ref) TRY_ACQUIRE(core_locks.trigger)
{
	evd_lock(ref.evd);
	if (evd_is(ref))
		return ref.evd;
	evd_unlock(ref.evd);
	return NULL;
}

/* The loop or pool that runs the job under the current policy. */
static inline struct loop *
evd_serving_loop(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	return evd->policy == DAT_UPCALL_MANY && evd->cfg.pool ? evd->cfg.pool : evd->cfg.loop;
}

/*
 * True if an upcall is wanted now, for an EVD whose policy makes upcalls.  One at a time, even while upcalls
 * of an earlier policy MANY still run; the return of the last one wakes the sink.
 */
static inline bool
evd_wants_upcall(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	if (evd->in_progress && evd->policy != DAT_UPCALL_MANY)
		return false;
	if (evd->policy == DAT_UPCALL_NORIFY)
		return evd_is_unseen(evd->attention);
	return evd_queue_has_signalled(&evd->queue, 1);
}

/* True if the sink wants an event or a report now. */
static inline bool
evd_wanted(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	switch (evd_sink(evd)) {
	case EVD_SINK_WAITER:
		return evd_queue_signalled(&evd->queue) >= (unsigned int)evd->threshold;
	case EVD_SINK_UPCALL:
		return evd_wants_upcall(evd);
	case EVD_SINK_CNO:
		return evd_is_unseen(evd->attention);
	case EVD_SINK_NONE:
		break;
	}
	return false;
}

/* Enters an event of the attention table (attention.h). */
static inline void
evd_attend(struct evd *evd, enum evd_attention_event event) REQUIRES(core_locks.trigger)
{
	evd->attention = evd_attention_next(evd->attention, event);
}

/*
 * Unsignalled completions that fill the ring count as events that wake the sink, because no other
 * completion can enter before one of them is taken.
 */
static inline void
evd_attend_unsignalled(struct evd *evd) REQUIRES(core_locks.trigger)
{
	const struct evd_queue *q = &evd->queue;

	if (q->unsignalled && q->ring_count >= q->qlen)
		evd_attend(evd, EVD_HAS_ENTERED);
}

/* Enters an event of the job table (job.h). */
static inline void
evd_job(struct evd *evd, enum evd_job_event event) REQUIRES(core_locks.trigger)
{
	const struct evd_job_rule *rule = &evd_job_rules[evd->job_state][event];

	if (rule->action != EVD_JOB_NOTHING)
		evd_job_act(evd, rule);
	else
		evd->job_state = (enum evd_job_state)rule->next;
}

/*
 * The EVD has a device.  Polls once: 1; 0 if the device queue is empty or the ring is full; or an error
 * as evd_poll().
 */
int evd_poll_once(struct evd *evd) REQUIRES(core_locks.trigger);

/* The caller reports an error of evd_poll(): a refusal (evd->refused) is reported only once. */
void evd_end_refusal(struct evd *evd) REQUIRES(core_locks.trigger);

static inline void
evd_error_returned(struct evd *evd) REQUIRES(core_locks.trigger)
{
	if (evd->refused)
		evd_end_refusal(evd);
}

/*
 * Nothing is wanted, and the device is armed; the caller has checked it in this section.  Only a successful
 * poll and arm end an episode of failures: a queued event, perhaps the report of the failure itself, does
 * not.
 */
static inline void
evd_rest(struct evd *evd) REQUIRES(core_locks.trigger)
{
	evd->backoff_ns = 0;
	evd_job(evd, EVD_JOB_REST);
}

/*
 * Polls until `enough` signalled events are queued, the device queue is empty or the ring is full.
 * 0; -EIO: the device failed, or completed more receives than were posted; -EOVERFLOW: its queue
 * overran.  A caller that reports the error calls evd_error_returned().
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
 * Returns 1 if it armed the device, 0 if the device was armed or there is nothing to arm, -EIO,
 * -EOVERFLOW.  *exact: this arm proved that the device queue was empty.  In every
 * other case a poll in the same lock section follows.
 */
static inline int
evd_arm(struct evd *evd, bool *exact) REQUIRES(core_locks.trigger)
{
	const struct evd_source_ops *ops = evd->cfg.ops;
	const enum evd_armed wish = evd->solicited_only ? EVD_ARMED_SOLICITED : EVD_ARMED_ALL;
	int n;

	*exact = false;
	if (!ops || evd->armed >= wish || evd->device_over)
		return 0;
	/* I3: an armed queue is armed again only to widen the request. */
	ASSUME(evd->armed == EVD_UNARMED || wish == EVD_ARMED_ALL);
	n = ops->arm(evd->cfg.source, evd->solicited_only).value;
	if (n < 0) {
		evd->counters.arm_failures++;
		return n == EVD_DEVICE_LOST ? -EOVERFLOW : -EIO;
	}
	evd->armed = wish;
	evd->counters.arms++;
	REARM_PROBE_INT(arm, evd->cfg.handle, wish);
	*exact = n == 0 && ops->exact_hint;
	return 1;
}

/*
 * Each completion that enters the device queue from now on raises the notification that was requested.
 * No poll is needed until it was read.
 */
static inline void
evd_note_empty(struct evd *evd) REQUIRES(core_locks.trigger)
{
	if (evd->armed == EVD_ARMED_ALL)
		evd->armed = EVD_ARMED_EMPTY;
}

/*
 * True if nothing is queued, and a completion that the device queue has raised a notification that was
 * not read yet.  Then a poll is not needed.
 */
static inline bool
evd_is_watched(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	return evd->armed == EVD_ARMED_EMPTY && evd_queue_load(&evd->queue) == 0;
}

/* The end of a poll of an armed device, which began when `before` completions had been polled. */
static inline void
evd_check_empty(struct evd *evd, uint64_t before) REQUIRES(core_locks.trigger)
{
	if (evd->queue.polled == before && evd_queue_load(&evd->queue) == 0)
		evd_note_empty(evd);
}

/*
 * Polls until the device queue is empty or the ring is full, for a caller that serves no sink.  Errors as
 * evd_poll(), but not for receives that were not posted: the next poll for a sink reports these.
 */
int evd_poll_for_source(struct evd *evd) REQUIRES(core_locks.trigger);

/* Polls a device that was armed before, as evd_poll() does. */
int evd_poll_armed(struct evd *evd, unsigned int enough) REQUIRES(core_locks.trigger);

/* A poll after an arm has found completions. */
static inline void
evd_note_race(struct evd *evd) REQUIRES(core_locks.trigger)
{
	evd->counters.races_closed++;
	REARM_PROBE(race, evd->cfg.handle);
}

/*
 * Arms the device unless it is armed, and polls as evd_poll() does: a completion that was queued
 * before the arm raises no notification.  0, -EIO or -EOVERFLOW.
 *
 * It does not poll if the arm showed that the device queue is empty, or if it had nothing to arm and
 * the caller has polled for `enough` in the same lock section (`polled`).
 */
static inline __attribute__((always_inline)) int
evd_arm_and_repoll(struct evd *evd, unsigned int enough, bool polled) REQUIRES(core_locks.trigger)
{
	uint64_t before;
	bool exact;
	int r = evd_arm(evd, &exact);

	if (r < 0)
		return r;
	/* The device was armed before the poll of the caller. */
	if (r == 0)
		return polled ? 0 : evd_poll_armed(evd, enough);
	/* Only the pass that armed may trust the hint that no completion was missed. */
	if (exact) {
		evd_note_empty(evd);
		return 0;
	}
	before = evd->queue.polled;
	r = evd_poll(evd, enough);
	if (evd->queue.polled != before)
		evd_note_race(evd);
	else if (r == 0)
		evd_check_empty(evd, before);
	return r;
}

/*
 * Counts a notification that was read; the device is no longer armed.  The EVD may have been freed
 * if the caller has pinned it: then the thread that destroys it acknowledges the notification.  The
 * caller polls in the same lock section, or enters EVD_IS_NOTIFIED.
 */
static inline void
evd_note_notified(struct evd *evd) REQUIRES(core_locks.trigger)
{
	REARM_PROBE(notify, evd->cfg.handle);
	evd->counters.notifications++;
	if (++evd->unacked == EVD_ACK_BATCH) {
		evd->cfg.ops->ack(evd->cfg.source, evd->unacked);
		evd->unacked = 0;
	}
	evd->armed = EVD_UNARMED;
	evd->changes++;
}

/* The same, for a caller that does not poll: enters EVD_IS_NOTIFIED, and wakes the sink. */
void evd_count_notified(struct evd *evd) REQUIRES(core_locks.trigger);

/* A notification was read, and a poll after it found nothing. */
static inline void
evd_note_spurious(struct evd *evd) REQUIRES(core_locks.trigger)
{
	evd->counters.spurious_notifications++;
	REARM_PROBE(spurious, evd->cfg.handle);
}

/*
 * For an EVD whose sink is an upcall policy.  1: an upcall is wanted now; 0: none is, and the device is
 * armed; -EIO, -EOVERFLOW.  `found_empty`: a poll in the same lock section has found the device queue
 * empty; the function begins with the arm.
 */
int evd_poll_and_arm(struct evd *evd, bool found_empty) REQUIRES(core_locks.trigger);

/*
 * For an EVD whose sink is a CNO: polls all that fits into the queue, and arms; a poll follows the arm.
 * 0: what the device completes from now on raises a notification; -EIO, -EOVERFLOW.
 */
int evd_poll_to_report(struct evd *evd) REQUIRES(core_locks.trigger);

void evd_wake_sink(struct evd *evd) REQUIRES(core_locks.trigger);

/*
 * True if neither a notification nor a run will report to the sink what a poll of another thread finds
 * now.  One of these holds:
 *   - the ring was full at the last poll;
 *   - the job waits for a delay, or for its thread;
 *   - the sink is an upcall policy, and the device is armed for solicited completions only.
 */
static inline bool
evd_is_unannounced(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	return evd_is_full(evd->attention) || evd->job_state == EVD_JOB_BACKOFF ||
	       evd->job_state == EVD_JOB_DEFERRED ||
	       (evd->armed == EVD_ARMED_SOLICITED && evd->job_state != EVD_JOB_RUNNING &&
		   evd_policy_calls(evd->policy));
}

/* A poll has found completions, or opened events. */
static inline void
evd_announce(struct evd *evd) REQUIRES(core_locks.trigger)
{
	if (evd_is_unannounced(evd)) {
		evd_attend(evd, EVD_HAS_ROOM);
		evd_wake_sink(evd);
	}
}

/*
 * Two ends of evd_poll_into(), not inline: the first is for an EVD without evd->poll_into; the second for a
 * poll after which not all completions are taken.
 */
unsigned int evd_poll_first(struct evd *evd, int *result) REQUIRES(core_locks.trigger);
unsigned int evd_polled_into(struct evd *evd, const struct evd_batch *batch, int n,
    unsigned int made, int *result) REQUIRES(core_locks.trigger);

/*
 * Nothing is queued.  Polls, and takes the events at once if the source can do so.  Returns how many are in
 * `events`, at most `most`.  What could not be taken at once is queued after them.  *result: 1; 0 if
 * the device queue was empty; or an error as evd_poll().
 */
static inline __attribute__((always_inline)) unsigned int
evd_poll_into(struct evd *evd, DAT_EVENT *events, unsigned int most, int *result)
    REQUIRES(core_locks.trigger)
{
	struct evd_batch batch;
	unsigned int made = most;
	int n;

	ASSUME(evd_queue_load(&evd->queue) == 0);
	if (!evd->poll_into)
		return evd_poll_first(evd, result);
	/* What is taken at once need not be queued: so several are polled only as far as they are taken. */
	if (most == 1 || most > EVD_BATCH)
		most = EVD_BATCH;
	evd_queue_begin_first_batch(&evd->queue, most, &batch);
	n = evd->poll_into(evd->cfg.source, &batch, events, &made).value;
	REARM_PROBE_INT(poll, evd->cfg.handle, n);
	evd->counters.dto_events += made;
	evd->taken += made;
	if (n <= 0 || made != (unsigned int)n)
		return evd_polled_into(evd, &batch, n, made, result);
	evd->calls.polls++;
	evd->calls.polls_found++;
	evd->queue.polled += made;
	evd->drained = made < batch.room;
	evd_announce(evd);
	*result = 1;
	return made;
}

/* The private channel cannot be read any more, and may poll as readable.  From now on no thread watches it. */
void evd_lose_channel(struct evd *evd) REQUIRES(core_locks.trigger);

/* Whether the loop watches the channel of an EVD that it has as a source. */
void evd_settle_channel(struct evd *evd) REQUIRES(core_locks.trigger);

/* Gives the shared channel to the loop if the sink needs that. */
void evd_settle_lead(struct evd *evd) REQUIRES(core_locks.trigger);

/*
 * The part of a change of sink that wakes no thread.  Queued events count as not reported to the
 * new sink.  The loop starts to watch the private channel, or stops if the new sink reads the
 * channel itself.  Only for the end of a policy: then the new sink needs the loop for nothing that the
 * old one did not need it for.
 */
static inline void
evd_sink_settle_less(struct evd *evd) REQUIRES(core_locks.trigger)
{
	evd->changes++;
	if (evd->channel.id)
		evd_settle_channel(evd);
	evd_attend(
	    evd, evd_queue_has_signalled(&evd->queue, 1) ? EVD_CHANGES_QUEUED : EVD_CHANGES_EMPTY);
}

/* The same for any change: the loop gets the shared channel if the new sink needs that. */
static inline void
evd_sink_settle(struct evd *evd) REQUIRES(core_locks.trigger)
{
	if (evd->cfg.lead)
		evd_settle_lead(evd);
	evd_sink_settle_less(evd);
}

/* Called at the end of every change of sink: settles, and wakes the new sink. */
static inline void
evd_sink_changed(struct evd *evd) REQUIRES(core_locks.trigger)
{
	evd_sink_settle(evd);
	if (evd_sink(evd) != EVD_SINK_NONE)
		evd_wake_sink(evd);
}

/* Registers the private channel with the loop, for a sink that the loop serves. */
int evd_list_new_channel(struct evd *evd) REQUIRES(core_locks.trigger);

/* The same, unless there is none, or the loop has it. */
static inline int
evd_list_channel(struct evd *evd) REQUIRES(core_locks.trigger)
{
	return evd->cfg.channel_fd < 0 || evd->channel.id ? 0 : evd_list_new_channel(evd);
}

/*
 * For a sink that is notified (a CNO, a policy NOTIFY).  While the ring was full, the device kept
 * completions back that will raise no notification.  When the ring is empty the sink is woken to
 * poll.
 */
void evd_report_refill(struct evd *evd) REQUIRES(core_locks.trigger);

/* The events that were taken by any call. */
static inline uint64_t
evd_taken(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	return evd->taken + evd->taken_directly;
}

/* After a completion left the queue. */
static inline void
evd_check_refill(struct evd *evd) REQUIRES(core_locks.trigger)
{
	if (evd->queue.ring_count == 0)
		evd_report_refill(evd);
}

/* Builds the event of a record that leaves the queue. */
static inline void
evd_build_event(struct evd *evd, const struct evd_record *record, DAT_EVENT *event,
    struct evd_effect *effect) REQUIRES(core_locks.trigger)
{
	evd->cfg.ops->convert(evd->cfg.source, record, event, effect);
	event->evd_handle = evd->cfg.handle;
	evd->taken++;
}

/* The same for a record that has left it. */
static inline void
evd_convert_taken(struct evd *evd, const struct evd_record *record, DAT_EVENT *event,
    struct evd_effect *effect) REQUIRES(core_locks.trigger)
{
	evd_build_event(evd, record, event, effect);
	evd_check_refill(evd);
}

/* A software event has little to copy. */
static inline void
evd_copy_software(DAT_EVENT *event, const DAT_EVENT *posted)
{
	event->event_number = DAT_SOFTWARE_EVENT;
	event->evd_handle = posted->evd_handle;
	event->event_data.software_event_data = posted->event_data.software_event_data;
}

/* evd_take() for a queue that may have items of every kind. */
bool evd_take_oldest(struct evd *evd, DAT_EVENT *event, struct evd_effect *effect)
    REQUIRES(core_locks.trigger);

/* Removes the oldest item and builds its event; false if no item can be taken. */
static inline bool
evd_take(struct evd *evd, DAT_EVENT *event, struct evd_effect *effect) REQUIRES(core_locks.trigger)
{
	if (!evd_queue_begins_with_completion(&evd->queue))
		return evd_take_oldest(evd, event, effect);
	evd_convert_taken(evd, evd_queue_take_completion(&evd->queue), event, effect);
	return true;
}

/*
 * Takes what is queued, up to `most` events, until one has an effect.  Returns how many are in `events`.
 */
static inline unsigned int
evd_take_queued(struct evd *evd, DAT_EVENT *events, unsigned int most, struct evd_effect *effect)
    REQUIRES(core_locks.trigger)
{
	unsigned int n = 0;

	while (n < most && !effect->code && evd_take(evd, &events[n], effect))
		n++;
	return n;
}

/* Runs the effect of a completion that was taken.  The event is claimed, or the EVD pinned. */
void evd_run_effect(struct evd *evd, const struct evd_effect *effect) NO_CORE_LOCK;

/* The same for an EVD whose free has begun. */
void evd_leave_freed(struct evd *evd) RELEASE(core_locks.trigger);

/*
 * Drops the lock at the end of a section that may have been the last one a free waited for.  Wakes
 * the thread that frees, or destroys the EVD.  The caller must not access the EVD afterwards.
 */
static inline void
evd_leave(struct evd *evd) RELEASE(core_locks.trigger)
{
	if (evd->freed)
		evd_leave_freed(evd);
	else
		evd_unlock(evd);
}

/* The same for a section that took an event: runs the effect first, not locked and with the EVD
 * pinned. */
void evd_leave_with_effect(struct evd *evd, const struct evd_effect *effect)
    RELEASE(core_locks.trigger);

/* How a series of upcalls ended. */
enum evd_upcalls {
	EVD_UPCALLS_NONE,     /* none was made: a poll found no event that can be taken now */
	EVD_UPCALLS_HAVE_JOB, /* the calling thread still has the job */
	EVD_UPCALLS_SAW_EMPTY, /* the same, and in this lock section a poll found the device queue empty */
	EVD_UPCALLS_LEFT_JOB, /* the calling thread has the job no more */
};

/*
 * upcall.c: make upcalls for the events that are queued, or that a poll finds, until evd_taken() has reached
 * `stop`.  They drop and retake the lock.  Under NOTIFY an upcall must be wanted.  The second one is for
 * an EVD that has an object for several events.  They return enum evd_upcalls, or an error as evd_poll()
 * if no upcall was made because the poll for the first one failed.
 */
int evd_make_upcalls(struct evd *evd, uint64_t stop) REQUIRES(core_locks.trigger);
int evd_make_array_upcalls(struct evd *evd, uint64_t stop) REQUIRES(core_locks.trigger);

/* run.c: what a loop does with the job of an EVD. */
void evd_run(struct loop_job *job, uint64_t serial) NO_CORE_LOCK;

/*
 * The run of an EVD whose sink is a CNO; its job is RUNNING on this thread.  Drops the lock and takes
 * it again if the device fails.
 */
void evd_run_report(struct evd *evd) REQUIRES(core_locks.trigger);

/* An upcall in progress, on the stack of its thread. */
struct upcall_frame {
	struct upcall_frame *outer;
	struct evd *evd;
	bool exempt; /* called TEARDOWN or free for its own EVD: no call from inside waits for it */
};

/* The upcall of this EVD that the calling thread is inside, or NULL. */
struct upcall_frame *evd_frame(const struct evd *evd) REQUIRES(core_locks.trigger);

/*
 * From now on no call from inside an upcall of the EVD waits for this upcall, or for the other
 * upcalls of its thread.
 */
void evd_frame_exempt(struct evd *evd, struct upcall_frame *frame) REQUIRES(core_locks.trigger);

/*
 * Waits until no upcall runs, except those that the calling thread is inside, those that wait here
 * too, and those whose threads close an adapter.  Drops and retakes the lock.
 */
void evd_await_upcalls(struct evd *evd) REQUIRES(core_locks.trigger);

/*
 * The number of upcalls for which the calling thread does not wait, because their threads close an
 * adapter.  Such a close may wait for the callback that the calling thread is inside.  It never
 * waits for a thread that is inside no callback.
 */
static inline int
evd_closers(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	return os_in_callback() ? evd->closers : 0;
}

/* Upcalls run, and the calling thread waits for none of them. */
static inline bool
evd_only_closers(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	return evd->in_progress > 0 && evd->in_progress == evd_closers(evd);
}

#endif
