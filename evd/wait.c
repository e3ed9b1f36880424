/* SPDX-License-Identifier: BSD-3-Clause */
/* wait -- a thread of the consumer takes events, at once or after it slept */
#include "evd/dequeue.h"

/* Polls for the dequeue of an empty queue. */
static int
evd_dequeue_poll(struct evd *evd) REQUIRES(core_locks.trigger)
{
	const uint64_t polls = evd->calls.polls, found = evd->calls.polls_found;
	const int r = evd_poll(evd, 1);

	evd->calls.dequeue_polls += evd->calls.polls - polls;
	evd->calls.dequeue_polls_found += evd->calls.polls_found - found;
	return r;
}

int
evd_dequeue_locked(struct evd_ref ref, DAT_EVENT *event)
{
	struct evd *evd = ref.evd;
	struct evd_effect effect;
	int r = 0;

	if (evd->direct != ref.serial) {
		r = evd_is(ref) ? -EBUSY : -ENODEV; /* a thread waits, or the EVD was freed */
		evd->calls.dequeues += r == -EBUSY;
		evd_unlock(evd);
		return r;
	}
	effect.code = 0;
	if (evd_queue_count(&evd->queue) == 0)
		r = evd_dequeue_poll(evd);
	evd->calls.dequeues++;
	if (evd_take(evd, event, &effect)) {
		evd->calls.dequeued++;
		r = 0;
	} else if (evd->overflowed) {
		r = -EOVERFLOW;
	} else if (r == 0) {
		r = -EAGAIN;
	}
	if (effect.code)
		evd_leave_with_effect(evd, &effect);
	else
		evd_unlock(evd); /* no free can have begun in this section */
	return r;
}

int
evd_dequeue(struct evd_ref ref, DAT_EVENT *event)
{
	evd_lock(ref.evd);
	return evd_dequeue_locked(ref, event);
}

/*
 * Sleeps, and reads one notification of the private channel.  The pin keeps evd_free() from closing
 * the channel meanwhile, and from destroying the EVD before the notification is counted.
 */
static int
evd_sleep(struct evd *evd, struct park *park, uint64_t deadline) REQUIRES(core_locks.trigger)
{
	const struct evd_source_ops *ops = evd->cfg.ops;
	int fd = evd->channel_watched ? -1 : evd->cfg.channel_fd;
	bool readable, notified;
	int r;

	evd->calls.sleeps++;
	evd->pins++;
	evd_unlock(evd);
	r = park_sleep(park, deadline, fd, &readable);
	notified = readable && ops->read(evd->cfg.source) == 1;
	evd_lock(evd);
	evd->pins--;
	if (notified)
		evd_count_notified(evd);
	return r;
}

/*
 * The waiter does not own the job.  It polls and arms under the lock, sleeps, and polls again.  The
 * wake-up descriptor is reset before the poll, so a wake-up after the poll is not lost.  The time
 * is read before the poll, so the last poll is not before the deadline.
 *
 * `polled`: the same lock section has polled already, so the first pass begins with the arm.
 */
static int
evd_wait_locked(struct evd *evd, struct park *park, uint64_t deadline, bool polled)
    REQUIRES(core_locks.trigger)
{
	bool expired = false, interrupted = false;
	int r;

	park_reset(park);
	r = evd_arm_to_wait(evd, polled);
	for (;;) {
		if (r > 0)
			return 0;
		if (evd->overflowed)
			return -EOVERFLOW;
		if (r < 0)
			return r;
		if (evd->made_unwaitable)
			return -EPERM;
		if (expired)
			return -ETIMEDOUT;
		if (interrupted)
			return -EINTR;
		r = evd_sleep(evd, park, deadline);
		interrupted = r == -EINTR;
		if (r < 0 && r != -ETIMEDOUT && !interrupted)
			return r;
		park_reset(park);
		expired = deadline != PARK_FOREVER && os_clock_ns() >= deadline;
		if (!evd->alive || evd->closing)
			return -ECANCELED;
		r = evd_poll_and_arm(evd);
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

/* Makes the thread the sink, until the threshold is reached or the wait must end. */
static int
evd_block(struct evd *evd, int threshold, DAT_TIMEOUT timeout, bool polled)
    REQUIRES(core_locks.trigger)
{
	const uint64_t arms = evd->counters.arms, sleeps = evd->calls.sleeps;
	struct park *park = park_self();
	uint64_t deadline = PARK_FOREVER;
	struct park_entry entry;
	int r;

	if (!park)
		return -errno;
	if (timeout != DAT_TIMEOUT_INFINITE)
		deadline = os_clock_ns() + (uint64_t)timeout * OS_NS_PER_US;
	evd->waiting = true;
	evd_set_direct(evd);
	evd->made_unwaitable = false;
	evd->threshold = threshold;
	evd_sink_settle(evd);
	park_list_add(&evd->waiters, &entry, park);
	r = evd_wait_locked(evd, park, deadline, polled);
	evd->calls.wait_arms += evd->counters.arms - arms;
	park_list_remove(&evd->waiters, &entry);
	evd->waiting = false;
	evd_set_direct(evd);
	evd->slept_waits = evd->calls.sleeps == sleeps ? 0 : evd->slept_waits + 1;
	return r;
}

/*
 * A wait usually polls first: if it finds its events it need not arm.  A consumer that is faster
 * than its events sleeps in every wait, and that poll finds nothing.  After some such waits in a row
 * the wait arms first, and the poll that follows an arm is the first one.  If that poll finds
 * events after all, the arm was for nothing: its notification will end a later sleep too early.
 * Hence the number of waits, which keeps these cases rare.  A closed event needs a poll to open.
 */
static bool
evd_arms_first(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	return evd->slept_waits >= EVD_SLEPT_WAITS && !evd->overflowed &&
	       !evd_queue_has_closed(&evd->queue);
}

int
evd_wait(struct evd_ref ref, DAT_TIMEOUT timeout, int threshold, DAT_EVENT *event, int *nmore)
{
	struct evd_effect effect = { 0 };
	struct evd *evd = evd_enter(ref);
	bool blocked = false, polled;
	int r;

	if (!evd)
		return -ENODEV;
	evd->calls.waits++;
	r = evd_check_wait(evd, threshold);
	if (r)
		goto out;

	polled = timeout == 0 || !evd_arms_first(evd);
	if (polled)
		r = evd_poll(evd, (unsigned int)threshold);
	if (evd_queue_signalled(&evd->queue) >= (unsigned int)threshold) {
		evd->slept_waits = 0;
		r = 0;
	} else if (evd->overflowed) {
		r = -EOVERFLOW;
	} else if (r == 0 && timeout == 0) {
		r = -ETIMEDOUT;
	} else if (r == 0) {
		blocked = true;
		r = evd_block(evd, threshold, timeout, polled);
	}
	if (r == 0)
		(void)evd_take(evd, event, &effect);
	/* Without another poll: the next wait or dequeue finds what the device has. */
	if (r == 0 || r == -ETIMEDOUT)
		*nmore = (int)evd_queue_count(&evd->queue);
	if (blocked && evd->alive)
		evd_sink_changed(evd);
out:
	evd_leave_with_effect(evd, &effect);
	return r;
}
