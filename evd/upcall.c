/* SPDX-License-Identifier: BSD-3-Clause */
#include "evd/upcall.h"

#include "evd/frame.h"
#include "evd/take.h"

/*
 * Under MANY another thread may claim the next event during the upcall that begins now: the job is
 * queued for it.  If there is no other event the device is armed here, and no other thread is
 * needed.
 */
static void
evd_share_job(struct evd *evd) REQUIRES(core_locks.trigger)
{
	if (evd_poll_and_arm(evd, false) == 0) {
		evd_rest(evd);
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
evd_call(struct evd *evd, void *instance, void (*function)(void), const void *event, int more)
{
	REARM_PROBE_PAIR(upcall_begin, evd->cfg.handle, function);
	evd->cfg.call(instance, event, more, function);
	REARM_PROBE(upcall_end, evd->cfg.handle);
}

/* An upcall was claimed: who runs the job meanwhile. */
static inline void
evd_begin_upcall(struct evd *evd, bool many) REQUIRES(core_locks.trigger)
{
	evd->in_progress++;
	if (many)
		evd_share_job(evd);
	else
		evd_job(evd, EVD_JOB_CALL_ONE);
}

/* The last upcall of a series has returned.  `found`: of a claim after it, or 1. */
static inline enum evd_upcalls
evd_end_upcalls(struct evd *evd, const struct upcall_frame *frame, bool many, int found)
    REQUIRES(core_locks.trigger)
{
	const enum evd_upcalls have = found == 0 ? EVD_UPCALLS_SAW_EMPTY : EVD_UPCALLS_HAVE_JOB;

	evd->in_progress--;
	if (frame->exempt)
		evd->exempt--;
	park_list_wake_all(&evd->teardowns);
	if (!many && evd->job_state == EVD_JOB_CALLING) {
		evd_job(evd, EVD_JOB_RETURN);
		return have;
	}
	/* A policy that makes one upcall at a time has waited for the last one of MANY. */
	if (evd->in_progress == 0 && evd->policy != EVD_POLICY_MANY)
		evd_wake_sink(evd);
	return evd_take_back_job(evd) ? have : EVD_UPCALLS_LEFT_JOB;
}

/* Not locked.  The effect of the event that an upcall will get; it is not part of the upcall. */
static void
evd_run_effect_before(struct evd *evd, struct evd_effect *effect, struct upcall_frame *frame)
{
	struct os_self *self = os_self();

	self->upcall = frame->outer;
	evd_run_effect(evd, effect);
	effect->code = 0;
	self->upcall = frame;
}

/* Claims what a poll has queued; `found` is of that poll. */
static inline unsigned int
evd_claim_found(struct evd *evd, void *events, unsigned int most, struct evd_effect *effect,
    int found) REQUIRES(core_locks.trigger)
{
	if (found > 0)
		evd_attend(evd, EVD_IS_POLLED);
	if (found < 0 || !evd_queue_has_signalled(&evd->queue, 1))
		return 0;
	return evd_take_queued(evd, events, most, effect);
}

/*
 * Claims up to `most` events for an upcall, and returns how many: those that are queued, or if
 * nothing is, those that a poll finds; then the queue is not involved.  *found: 0 if it has polled
 * and the device queue was empty; an error as evd_poll(); otherwise 1.
 */
static inline __attribute__((always_inline)) unsigned int
evd_claim(struct evd *evd, void *events, unsigned int most, struct evd_effect *effect, int *found)
    REQUIRES(core_locks.trigger)
{
	unsigned int n;

	*found = 1;
	if (evd_queue_load(&evd->queue) == 0) {
		n = evd_poll_into(evd, events, most, found);
		if (n)
			return n;
		return evd_claim_found(evd, events, most, effect, *found);
	}
	if (!evd_queue_has_signalled(&evd->queue, 1))
		return 0;
	return evd_take_queued(evd, events, most, effect);
}

/*
 * The same for the next upcall of a series, not inline.  After a poll that failed the run polls
 * again, and reports an error that lasts.
 */
static __attribute__((noinline)) unsigned int
evd_claim_next(struct evd *evd, void *events, unsigned int most, struct evd_effect *effect,
    int *found) REQUIRES(core_locks.trigger)
{
	return evd_claim(evd, events, most, effect, found);
}

/* No upcall was made, because evd_claim() found nothing. */
static int
evd_make_none(int found)
{
	if (found < 0)
		return found;
	return found ? EVD_UPCALLS_NONE : EVD_UPCALLS_SAW_EMPTY;
}

/*
 * Makes upcalls one after the other, the first for an event that is wanted.  Each has its claim
 * (take the event, count the upcall) in the section that saw the event wanted, so no upcall starts
 * after a DISABLE or TEARDOWN took the lock.
 *
 * Between two upcalls nothing is decided anew if nothing that the decisions depend on has changed
 * (evd->changes), and there is an event that wakes the sink.  The next upcall takes the place of
 * the last one in `in_progress`.  The job need not change: under SINGLE it is CALLING, as it would
 * be after the next claim.  Under MANY it is queued, or another thread has it or found nothing to
 * do; no thread depends on this claim.
 */
__attribute__((noinline)) int
evd_make_upcalls(struct evd *evd, uint64_t stop)
{
	struct os_self *self = os_self();
	struct upcall_frame frame = { .outer = self->upcall, .evd = evd };
	void *const instance = evd->upcall.instance;
	void (*const function)(void) = evd->upcall.function;
	const bool many = evd->policy == EVD_POLICY_MANY;
	const bool notify = evd->policy == EVD_POLICY_NOTIFY;
	struct evd_queue *q = &evd->queue;
	const unsigned int changes = evd->changes;
	struct evd_effect effect;
	_Alignas(uint64_t) char event[EVD_EVENT_MOST];
	const void *const argument = notify ? NULL : event;
	int found = 1;
	int more;

	effect.code = 0;
	if (notify) {
		evd_attend(evd, EVD_HAS_REPORTED);
		stop = 0;
	} else if (!evd_claim(evd, event, 1, &effect, &found)) {
		return evd_make_none(found);
	}
	evd_attend(evd, EVD_IS_POLLED);
	more = evd_queue_count(q) > 0;
	evd_begin_upcall(evd, many);
	self->upcall = &frame;
	for (;;) {
		evd->counters.upcalls++;
		evd_unlock(evd);
		if (effect.code)
			evd_run_effect_before(evd, &effect, &frame);
		evd_call(evd, instance, function, argument, more);
		evd_lock(evd);
		if (evd->changes != changes || evd_taken(evd) >= stop)
			break;
		if (q->ring_count > 1 && evd_queue_has_only_signalled(q)) {
			evd_build_event(evd, &q->ring_first->record, event, &effect);
			evd_queue_remove_one_of_several(q);
			more = 1;
		} else if (evd_queue_has_signalled(q, 1) ?
			       evd_take(evd, event, &effect) :
			       evd_claim_next(evd, event, 1, &effect, &found)) {
			more = evd_queue_count(q) > 0;
		} else {
			break;
		}
	}
	self->upcall = frame.outer;
	return evd_end_upcalls(evd, &frame, many, found);
}

/* Not locked; under NOTIFY there are no events. */
static void
evd_call_array(
    struct evd *evd, const struct evd_upcall *upcall, const void *events, unsigned int n, int more)
{
	REARM_PROBE_PAIR(upcall_begin, evd->cfg.handle, upcall->function);
	evd->cfg.call_array(upcall->instance, events, n, more, upcall);
	REARM_PROBE(upcall_end, evd->cfg.handle);
}

/*
 * Goes on with a series while each upcall gets the first of several completions that are queued.
 * As the next, but under MANY, too.  False: the series ends.
 */
static __attribute__((noinline)) bool
evd_call_queued(struct evd *evd, const struct evd_upcall *upcall, void *event,
    struct upcall_frame *frame, unsigned int changes, uint64_t stop) REQUIRES(core_locks.trigger)
{
	struct evd_queue *const q = &evd->queue;
	uint64_t left = stop - evd_taken(evd);
	struct evd_effect effect;
	evd_convert *convert;

	if (!evd->cfg.ops) /* there are posted events alone */
		return true;
	convert = evd->cfg.ops->convert;
	effect.code = 0;
	while (q->ring_count > 1 && evd_queue_has_only_signalled(q)) {
		convert(evd->cfg.source, &q->ring_first->record, event, &effect);
		evd->taken++;
		evd_queue_remove_one_of_several(q);
		evd->counters.upcalls++;
		evd_unlock(evd);
		if (effect.code)
			evd_run_effect_before(evd, &effect, frame);
		evd_call_array(evd, upcall, event, 1, 1);
		evd_lock(evd);
		if (evd->changes != changes || --left == 0)
			return false;
	}
	return true;
}

/*
 * Goes on with a series while each upcall gets what one poll finds.  An upcall has returned, and
 * nothing has changed since.  Returns 1 if the next claim is a general one, or the series ends; 0
 * or an error as evd_claim().
 *
 * Under a policy that makes one upcall at a time the job is CALLING until something changes, and
 * nothing that is queued is the device's to hold back: so a poll has nothing to announce.
 */
static __attribute__((noinline)) int
evd_call_series(struct evd *evd, const struct evd_upcall *upcall, void *events, unsigned int room,
    unsigned int changes, uint64_t stop) REQUIRES(core_locks.trigger)
{
	evd_call_array_function *const call = evd->cfg.call_array;
	int n;

	do {
		if (evd_queue_load(&evd->queue))
			return 1;
		n = evd_take_for_upcall(evd, events, room);
		if (n <= 0)
			return n;
		evd_unlock(evd);
		REARM_PROBE_PAIR(upcall_begin, evd->cfg.handle, upcall->function);
		call(upcall->instance, events, (unsigned int)n, 0, upcall);
		REARM_PROBE(upcall_end, evd->cfg.handle);
		evd_lock(evd);
	} while (evd->changes == changes && evd_taken(evd) < stop);
	return 1;
}

/* Whether the policy, the upcall and the source are such. */
static inline bool
evd_has_series(const struct evd *evd, unsigned int room, bool one_at_a_time)
    REQUIRES(core_locks.trigger)
{
	return one_at_a_time && room > 1 && evd->poll_into && evd->cfg.ops->take &&
	       room <= evd->queue.qlen && evd->armed != EVD_ARMED_SOLICITED &&
	       !evd_is_full(evd->attention);
}

/*
 * The same for an object whose function gets several events.  Each claim is for all events of an
 * upcall.
 */
__attribute__((noinline)) int
evd_make_array_upcalls(struct evd *evd, uint64_t stop)
{
	struct os_self *self = os_self();
	struct upcall_frame frame = { .outer = self->upcall, .evd = evd };
	const struct evd_upcall upcall = evd->upcall;
	const unsigned int room = upcall.most < EVD_BATCH ? upcall.most : EVD_BATCH;
	const bool many = evd->policy == EVD_POLICY_MANY;
	const bool notify = evd->policy == EVD_POLICY_NOTIFY;
	const unsigned int changes = evd->changes;
	struct evd_effect effect = { 0 };
	_Alignas(uint64_t) char events[EVD_BATCH * EVD_EVENT_MOST];
	unsigned int n = 0;
	int found = 1;
	int more;

	if (notify)
		evd_attend(evd, EVD_HAS_REPORTED);
	else if (!(n = evd_claim(evd, events, room, &effect, &found)))
		return evd_make_none(found);
	evd_attend(evd, EVD_IS_POLLED);
	more = evd_queue_count(&evd->queue) > 0;
	evd_begin_upcall(evd, many);
	self->upcall = &frame;
	for (;;) {
		evd->counters.upcalls++;
		evd_unlock(evd);
		if (effect.code)
			evd_run_effect_before(evd, &effect, &frame);
		evd_call_array(evd, &upcall, notify ? NULL : events, n, more);
		evd_lock(evd);
		if (evd->changes != changes || notify || evd_taken(evd) >= stop)
			break;
		if (evd_has_series(evd, room, !many && evd->job_state == EVD_JOB_CALLING)) {
			found = evd_call_series(evd, &upcall, events, room, changes, stop);
			if (found <= 0 || evd->changes != changes || evd_taken(evd) >= stop)
				break;
		}
		if (room == 1 && !evd_call_queued(evd, &upcall, events, &frame, changes, stop))
			break;
		n = evd_claim_next(evd, events, room, &effect, &found);
		if (n == 0)
			break;
		more = evd_queue_count(&evd->queue) > 0;
	}
	self->upcall = frame.outer;
	return evd_end_upcalls(evd, &frame, many, found);
}
