/* SPDX-License-Identifier: BSD-3-Clause */
/* wait -- a thread of the consumer takes events, at once or after it slept */
#include "evd/fast.h"

static inline void
evd_end_block(struct evd *evd) REQUIRES(core_locks.trigger)
{
	evd->waiting = false;
	evd->waiter = NULL;
	evd_set_direct(evd);
}

/* The thread of a wait was cancelled in its sleep: as at the end of a wait without an event. */
static void
evd_wait_left(void *arg) NO_CORE_LOCK
{
	struct evd *evd = arg;

	evd_lock(evd);
	evd->pins--;
	evd_end_block(evd);
	evd_wait_over(evd, true);
	evd_leave(evd);
}

/*
 * Sleeps, and reads one notification of the private channel.  The pin keeps evd_free() from closing
 * the channel meanwhile, and from destroying the EVD before the notification is counted.  The sink
 * is this thread, which polls next, so the notification wakes no other.
 */
static inline int
evd_sleep_and_read(struct evd *evd, struct park *park, uint64_t deadline, bool *notified)
    REQUIRES(core_locks.trigger)
{
	const struct evd_source_ops *ops = evd->cfg.ops;
	int fd = evd->channel_watched ? -1 : evd->cfg.channel_fd;
	bool readable;
	int r, got = 0;

	evd->calls.sleeps++;
	evd->pins++;
	evd_unlock(evd);
	r = park_sleep_or_leave(park, deadline, fd, &readable, evd_wait_left, evd);
	if (readable)
		got = ops->read(evd->cfg.source);
	evd_lock(evd);
	evd->pins--;
	*notified = got == 1;
	if (*notified)
		evd_note_notified(evd);
	else if (got < 0)
		evd_lose_channel(evd);
	return r;
}

static int
evd_sleep(struct evd *evd, struct park *park, uint64_t deadline) REQUIRES(core_locks.trigger)
{
	bool notified;
	const int r = evd_sleep_and_read(evd, park, deadline, &notified);

	if (notified)
		evd_attend(evd, EVD_IS_NOTIFIED);
	return r;
}

/* True if as many events are queued as the waiter waits for. */
static inline bool
evd_has_enough(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	return evd_queue_signalled(&evd->queue) >= (unsigned int)evd->threshold;
}

/*
 * After a poll in the same lock section: arms, and polls unless that can be left out.  1: enough
 * events are queued; 0: the device is armed; -EIO.
 */
static int
evd_arm_to_wait(struct evd *evd) REQUIRES(core_locks.trigger)
{
	const uint64_t arms = evd->counters.arms;
	int r;

	evd_attend(evd, EVD_IS_POLLED);
	r = evd_arm_and_repoll(evd, (unsigned int)evd->threshold, true);
	evd->calls.wait_arms += evd->counters.arms - arms;
	return r < 0 ? r : evd_has_enough(evd);
}

/* The same after a sleep that a notification may have ended: polls, and arms if more are needed. */
static int
evd_poll_to_wait(struct evd *evd) REQUIRES(core_locks.trigger)
{
	const bool notified = evd_is_notified(evd->attention);
	const uint64_t polled = evd->queue.polled;
	int r;

	evd_attend(evd, EVD_IS_POLLED);
	r = evd_poll(evd, (unsigned int)evd->threshold);
	if (r == 0 && evd_has_enough(evd))
		return 1;
	if (notified && r == 0 && evd->queue.polled == polled && evd_queue_count(&evd->queue) == 0)
		evd_note_spurious(evd);
	return r < 0 ? r : evd_arm_to_wait(evd);
}

/*
 * Whether the wait is over, after a poll that returned `r` with the EVD armed: 0, -errno, or 1 if
 * it goes on.
 */
static inline int
evd_decide(const struct evd *evd, int r) REQUIRES(core_locks.trigger)
{
	if (r > 0)
		return 0;
	if (evd->overflowed)
		return -EOVERFLOW;
	return r < 0 ? r : 1;
}

/*
 * The waiter does not own the job.  It polls and arms under the lock, sleeps, and polls again.  The
 * wake-up descriptor is reset before the poll, so a wake-up after the poll is not lost.  The time
 * is read before the poll, so the last poll is not before the deadline.
 *
 * `r` is the result of evd_sleep(), which was called when the device had been armed.
 */
static int
evd_wait_on(struct evd *evd, struct park *park, uint64_t deadline, int r)
    REQUIRES(core_locks.trigger)
{
	bool expired, interrupted;

	for (;;) {
		interrupted = r == -EINTR;
		if (r < 0 && r != -ETIMEDOUT && !interrupted)
			return r;
		park_reset(park);
		expired = deadline != PARK_FOREVER && os_clock_ns() >= deadline;
		if (!evd->alive || evd->closing)
			return -ECANCELED;
		r = evd_decide(evd, evd_poll_to_wait(evd));
		if (r <= 0)
			return r;
		if (evd->made_unwaitable)
			return -EPERM;
		if (expired)
			return -ETIMEDOUT;
		if (interrupted)
			return -EINTR;
		r = evd_sleep(evd, park, deadline);
	}
}

static int
evd_check_wait(const struct evd *evd, int threshold) REQUIRES(core_locks.trigger)
{
	if (evd->closing)
		return -ENODEV;
	if (threshold < 1 || threshold > evd->cfg.qlen)
		return -EINVAL;
	if (evd->waiting)
		return -EBUSY;
	if (evd_policy_calls(evd->policy))
		return -EACCES;
	if (!evd->waitable)
		return -EPERM;
	return 0;
}

static uint64_t
evd_deadline(uint32_t timeout)
{
	if (timeout == EVD_FOREVER)
		return PARK_FOREVER;
	return os_clock_ns() + (uint64_t)timeout * OS_NS_PER_US;
}

/* Makes the thread the sink.  If another sink may end by this, evd_sink_settle() follows. */
static inline void
evd_begin_block(struct evd *evd, struct park *park, int threshold) REQUIRES(core_locks.trigger)
{
	evd->waiting = true;
	evd->waiter = park;
	evd_set_direct(evd);
	evd->made_unwaitable = false;
	evd->threshold = threshold;
}

/*
 * Polls for a while before the first sleep.  The thread is the sink, but drops the lock after each
 * poll.  True if enough events are queued.  It ends early if the wait has another reason to end,
 * and at the first error: evd_wait_on() finds out about both.  A thread that wakes the waiter need
 * not be seen here, because what it did is.
 */
static bool
evd_spin(struct evd *evd, uint64_t deadline) REQUIRES(core_locks.trigger)
{
	struct spin_run run;
	bool served = false;

	spin_start(&run, &evd->spin, deadline);
	while (evd->alive && !evd->closing && !evd->made_unwaitable && !evd->overflowed) {
		evd_attend(evd, EVD_IS_POLLED);
		if (evd_poll(evd, (unsigned int)evd->threshold) < 0)
			break;
		served = evd_has_enough(evd);
		if (served || !spin_goes_on(&run))
			break;
		evd_unlock(evd);
		spin_pause();
		evd_lock(evd);
	}
	spin_ended(&evd->spin, served);
	return served;
}

/*
 * Goes on with a wait that spins.  If that was in vain it polls once more, as after a sleep, and
 * then arms.
 */
static int
evd_block_spinning(struct evd *evd, struct park *park, uint64_t deadline)
    REQUIRES(core_locks.trigger)
{
	int r = 0;

	if (evd_spin(evd, deadline)) {
		evd->slept_waits = 0;
	} else {
		evd->slept_waits++;
		r = evd_wait_on(evd, park, deadline, 0);
	}
	evd_end_block(evd);
	return r;
}

/* Goes on with a wait that has polled and armed; `r` is the result of evd_arm_to_wait(). */
static int
evd_block_on(struct evd *evd, struct park *park, uint64_t deadline, int r)
    REQUIRES(core_locks.trigger)
{
	r = evd_decide(evd, r);
	if (r > 0) {
		evd->slept_waits++;
		r = evd_wait_on(evd, park, deadline, evd_sleep(evd, park, deadline));
	} else {
		evd->slept_waits = 0;
	}
	evd_end_block(evd);
	return r;
}

/*
 * Blocks until the threshold is reached or the wait must end.  The same lock section has polled, so
 * it begins with the arm.
 */
static int
evd_block(struct evd *evd, int threshold, uint32_t timeout) REQUIRES(core_locks.trigger)
{
	const uint64_t deadline = evd_deadline(timeout);
	struct park *park = park_self();

	if (!park)
		return -errno;
	evd_begin_block(evd, park, threshold);
	evd_sink_settle(evd);
	if (spin_begins(&evd->spin))
		return evd_block_spinning(evd, park, deadline);
	park_reset(park);
	return evd_block_on(evd, park, deadline, evd_arm_to_wait(evd));
}

/*
 * A wait polls first: if it finds its events it need not arm.  A consumer that is faster than its
 * events sleeps in every wait, and that poll finds nothing.  After some such waits in a row a wait
 * is *usual* if it is for one event, nothing is queued, and the EVD is bare.  It arms first, and
 * the poll that follows the arm is the first one.  If that poll finds events after all, the arm was
 * for nothing: its notification will end a later sleep too early.  Hence the number of waits, which
 * keeps these cases rare.
 */
static inline bool
evd_is_usual_wait(struct evd_ref ref, int threshold) REQUIRES(core_locks.trigger)
{
	const struct evd *evd = ref.evd;

	/* A closed event counts as queued: it needs a poll to open. */
	return threshold == 1 && evd->direct == ref.serial && evd->bare &&
	       evd_queue_load(&evd->queue) == 0 && evd->slept_waits >= EVD_SLEPT_WAITS;
}

/*
 * evd_block() for the usual wait: the same steps, without those that change nothing.  No other sink
 * ends, so there is nothing to settle; a wait before this one has given the shared channel to the
 * loop (lead.h).  Up to the first sleep the lock section is the one that checked the EVD, so only
 * the poll can end the wait.  After the sleep there is usually one completion; if not, or if the
 * EVD is no longer bare, the general way goes on.
 */
static int
evd_block_usual(struct evd *evd, struct park *park, uint32_t timeout) REQUIRES(core_locks.trigger)
{
	const uint64_t deadline = evd_deadline(timeout);
	bool notified;
	int r, armed;

	if (!evd->cfg.ops)
		__builtin_unreachable(); /* it is bare */
	evd_begin_block(evd, park, 1);
	if (spin_begins(&evd->spin))
		return evd_block_spinning(evd, park, deadline);
	park_reset(park);
	armed = evd_rearm(evd, 1, EVD_EXPECTS_NONE, &r);
	if (armed < 0)
		r = armed;
	else
		evd->calls.wait_arms += (unsigned int)armed;
	if (r < 0 || evd->queue.ring_count > 0)
		return evd_block_on(evd, park, deadline, r < 0 ? r : evd_has_enough(evd));
	evd->slept_waits++;
	r = evd_sleep_and_read(evd, park, deadline, &notified);
	if (r == 0 && evd->bare) {
		park_reset(park);
		if (evd_poll_once(evd) >= 0 && evd_queue_has_signalled_record(&evd->queue)) {
			evd_attend(evd, EVD_IS_POLLED);
			if (!evd->alive)
				__builtin_unreachable(); /* it was bare in this section */
			evd_end_block(evd);
			return 0;
		}
	}
	if (notified)
		evd_attend(evd, EVD_IS_NOTIFIED);
	r = evd_wait_on(evd, park, deadline, r);
	evd_end_block(evd);
	return r;
}

int
evd_wait_begin(struct evd_ref ref, uint32_t timeout, int threshold, bool *blocked)
{
	struct evd *evd = ref.evd;
	int r;

	if (timeout != 0 && evd_is_usual_wait(ref, threshold) && os_self()->park) {
		evd->calls.waits++;
		*blocked = true;
		return evd_block_usual(evd, os_self()->park, timeout);
	}
	*blocked = false;
	if (!evd_is(ref))
		return -ENODEV;
	evd->calls.waits++;
	r = evd_check_wait(evd, threshold);
	if (r)
		return r;
	r = evd_poll(evd, (unsigned int)threshold);
	if (evd_queue_signalled(&evd->queue) >= (unsigned int)threshold) {
		evd->slept_waits = 0;
		return 0;
	}
	if (evd->overflowed)
		return -EOVERFLOW;
	if (r < 0)
		return r;
	if (timeout == 0)
		return evd->channel_lost ? -EIO : -ETIMEDOUT;
	*blocked = true;
	return evd_block(evd, threshold, timeout);
}

int
evd_wait_end(struct evd *evd, int r, bool blocked, void *event, int *nmore)
{
	struct evd_effect effect;

	effect.code = 0;
	if (r == 0)
		(void)evd_take(evd, event, &effect);
	else if (r == -EIO || r == -EOVERFLOW)
		evd_error_returned(evd);
	if (r == 0 || r == -ETIMEDOUT)
		*nmore = evd_known_more(evd);
	evd_wait_over(evd, blocked);
	evd_leave_with_effect(evd, &effect);
	return r;
}

int
evd_wait(struct evd_ref ref, uint32_t timeout, int threshold, void *event, int *nmore)
{
	bool blocked;
	int r;

	evd_lock(ref.evd);
	r = evd_wait_begin(ref, timeout, threshold, &blocked);
	return evd_wait_end(ref.evd, r, blocked, event, nmore);
}

int
evd_wait_several(
    struct evd_ref ref, uint32_t timeout, int threshold, unsigned int most, void *events)
{
	struct evd *evd = ref.evd;
	struct evd_effect effect;
	bool blocked;
	int r;

	evd_lock(evd);
	r = evd_wait_begin(ref, timeout, threshold, &blocked);
	effect.code = 0;
	if (r == 0)
		r = (int)evd_take_queued(evd, events, most, &effect);
	else if (r == -EIO || r == -EOVERFLOW)
		evd_error_returned(evd);
	evd_wait_over(evd, blocked);
	evd_leave_with_effect(evd, &effect);
	return r;
}
