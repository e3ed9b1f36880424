/* SPDX-License-Identifier: BSD-3-Clause */
/* policy -- when upcalls may start, and how to be sure that none runs */
#include "evd/channel.h"
#include "evd/frame.h"
#include "evd/rearm.h"

/* Whether there is a function, and the policy can call it.  `upcall` NULL: what is installed. */
static bool
policy_has_function(const struct evd *evd, enum evd_policy policy, const struct evd_upcall *upcall)
    REQUIRES(core_locks.trigger)
{
	void (*const function)(void) = (upcall ? upcall : &evd->upcall)->function;

	return function && !(policy == EVD_POLICY_NOTIFY && function == evd->cfg.wants_events);
}

/* Not inline, as most calls keep what is installed. */
static __attribute__((noinline)) void
policy_install(struct evd *evd, const struct evd_upcall *upcall) REQUIRES(core_locks.trigger)
{
	evd->upcall = *upcall;
	evd_set_batch(evd);
}

/*
 * Polls, arms, polls again and counts, in one lock section.  A completion that arrived before the
 * arm is counted, one that arrives after it raises a notification.  There is no gap.
 *
 * The first poll only avoids an arm with completions in the device queue, which some devices answer
 * with a notification.  It is not made if the last one found all: the consumer has dequeued until
 * the queue was empty.
 */
static int
policy_enable_locked(struct evd *evd, enum evd_policy policy, const struct evd_upcall *upcall,
    enum evd_pending pending) REQUIRES(core_locks.trigger)
{
	const bool polls = !evd->drained;
	bool queued;
	int r;

	if (!policy_has_function(evd, policy, upcall))
		return -EFAULT;
	if (evd->waiting)
		return -EBUSY;
	r = evd_list_channel(evd);
	if (r < 0)
		return r;
	if (polls)
		r = evd_poll(evd, 1);
	if (r == 0)
		r = evd_arm_and_repoll(evd, 1, polls);
	if (r < 0) {
		evd_error_returned(evd);
		return r;
	}
	evd->backoff_ns = 0; /* the device works: the next failure is a new one */
	queued = evd_queue_count(&evd->queue) > 0;
	if (queued && pending == EVD_PENDING_REFUSE)
		return -EAGAIN;
	if (evd->tearing)
		return 0; /* a TEARDOWN that waits comes after this call and undoes it */
	if (upcall)
		policy_install(evd, upcall);
	evd->policy = policy;
	evd->bare = false; /* as evd_set_bare() decides for a policy that makes upcalls */
	evd_sink_settle(evd);
	if (queued)
		evd_wake_sink(evd);
	return 0;
}

/*
 * A consumer may call this and policy_disable() with every event.  They are not inline, so that the
 * calls that lead here need no stack frame.
 */
static __attribute__((noinline)) int
policy_enable(struct evd_ref ref, enum evd_policy policy, const struct evd_upcall *upcall,
    enum evd_pending pending)
{
	struct evd *evd = evd_enter(ref);
	int r;

	if (!evd)
		return -ENODEV;
	r = policy_enable_locked(evd, policy, upcall, pending);
	REARM_PROBE_INTS(policy, evd->cfg.handle, policy, r);
	evd_leave(evd);
	return r;
}

static void
policy_tear_down(struct evd *evd) REQUIRES(core_locks.trigger)
{
	evd_set_bare(evd);
	evd_await_upcalls(evd);
}

/* Leaves `bare` to the next wait (evd_wait_over()). */
static __attribute__((noinline)) int
policy_disable(struct evd_ref ref, enum evd_policy policy, const struct evd_upcall *upcall)
{
	struct evd *evd = evd_enter(ref);

	if (!evd)
		return -ENODEV;
	REARM_PROBE_INTS(policy, evd->cfg.handle, policy, 0);
	if (upcall)
		policy_install(evd, upcall);
	evd->policy = policy;
	evd_sink_settle_less(evd);
	if (evd->waiting || evd->listener)
		evd_wake_sink(evd);
	if (policy == EVD_POLICY_TEARDOWN)
		policy_tear_down(evd);
	evd_leave(evd);
	return 0;
}

static inline int
policy_modify(struct evd_ref ref, enum evd_policy policy, const struct evd_upcall *upcall,
    enum evd_pending pending)
{
	if (!evd_policy_is_valid(policy))
		return -EINVAL;
	if (pending != EVD_PENDING_REFUSE && pending != EVD_PENDING_CALL)
		return -ERANGE;
	return evd_policy_calls(policy) ? policy_enable(ref, policy, upcall, pending) :
					  policy_disable(ref, policy, upcall);
}

/* One that installs a function: not inline, because the usual calls keep what they have. */
static __attribute__((noinline)) int
policy_modify_with(struct evd_ref ref, enum evd_policy policy, const struct evd_upcall *upcall,
    enum evd_pending pending)
{
	return policy_modify(ref, policy, upcall, pending);
}

int
evd_modify_upcall(struct evd_ref ref, enum evd_policy policy, const struct evd_upcall *upcall,
    enum evd_pending pending)
{
	return upcall ? policy_modify_with(ref, policy, upcall, pending) :
			policy_modify(ref, policy, NULL, pending);
}
