/* SPDX-License-Identifier: BSD-3-Clause */
/* policy -- when upcalls may start, and how to be sure that none runs */
#include "evd/channel.h"
#include "evd/frame.h"
#include "evd/rearm.h"

/* What a call installs: one of them.  NULL in its place keeps what is installed. */
struct policy_object {
	const DAT_UPCALL_OBJECT *one;
	const DAT_UPCALL_ARRAY_OBJECT *array;
};

static bool
policy_has_function(const struct evd *evd, const struct policy_object *object)
    REQUIRES(core_locks.trigger)
{
	if (!object)
		return evd->object.upcall_func ||
		       (evd->array.upcall_func && evd->array.max_events > 0);
	if (object->one)
		return object->one->upcall_func;
	return object->array->upcall_func && object->array->max_events > 0;
}

static void
policy_install(struct evd *evd, const struct policy_object *object) REQUIRES(core_locks.trigger)
{
	evd->object = object->one ? *object->one : (DAT_UPCALL_OBJECT){ 0 };
	evd->array = object->array ? *object->array : (DAT_UPCALL_ARRAY_OBJECT){ 0 };
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
policy_enable_locked(struct evd *evd, DAT_UPCALL_POLICY policy, const struct policy_object *object,
    DAT_UPCALL_FLAG flag) REQUIRES(core_locks.trigger)
{
	const bool polls = !evd->drained;
	bool pending;
	int r;

	if (!policy_has_function(evd, object))
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
	pending = evd_queue_count(&evd->queue) > 0;
	if (pending && flag == DAT_UPCALL_INVOC_NEW)
		return -EAGAIN;
	if (evd->tearing)
		return 0; /* a TEARDOWN that waits comes after this call and undoes it */
	if (object)
		policy_install(evd, object);
	evd->policy = policy;
	evd_set_bare(evd);
	evd_sink_settle(evd);
	if (pending)
		evd_wake_sink(evd);
	return 0;
}

/*
 * A consumer may call this and policy_disable() with every event.  They are not inline, so that the
 * calls that lead here need no stack frame.
 */
static __attribute__((noinline)) int
policy_enable(struct evd_ref ref, DAT_UPCALL_POLICY policy, const struct policy_object *object,
    DAT_UPCALL_FLAG flag)
{
	struct evd *evd = evd_enter(ref);
	int r;

	if (!evd)
		return -ENODEV;
	r = policy_enable_locked(evd, policy, object, flag);
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
policy_disable(struct evd_ref ref, DAT_UPCALL_POLICY policy, const struct policy_object *object)
{
	struct evd *evd = evd_enter(ref);

	if (!evd)
		return -ENODEV;
	REARM_PROBE_INTS(policy, evd->cfg.handle, policy, 0);
	if (object)
		policy_install(evd, object);
	evd->policy = policy;
	evd_sink_settle_less(evd);
	if (evd->waiting || evd->listener)
		evd_wake_sink(evd);
	if (policy == DAT_UPCALL_TEARDOWN)
		policy_tear_down(evd);
	evd_leave(evd);
	return 0;
}

static inline int
policy_modify(struct evd_ref ref, DAT_UPCALL_POLICY policy, const struct policy_object *object,
    DAT_UPCALL_FLAG flag)
{
	if (!evd_policy_is_valid(policy))
		return -EINVAL;
	if (flag != DAT_UPCALL_INVOC_NEW && flag != DAT_UPCALL_INVOC_ANY)
		return -ERANGE;
	return evd_policy_calls(policy) ? policy_enable(ref, policy, object, flag) :
					  policy_disable(ref, policy, object);
}

/* For an object that is installed: not inline, because the usual calls keep the one they have. */
static __attribute__((noinline)) int
policy_modify_with(
    struct evd_ref ref, DAT_UPCALL_POLICY policy, struct policy_object object, DAT_UPCALL_FLAG flag)
{
	return policy_modify(ref, policy, &object, flag);
}

int
evd_modify_upcall(struct evd_ref ref, DAT_UPCALL_POLICY policy, const DAT_UPCALL_OBJECT *object,
    DAT_UPCALL_FLAG flag)
{
	if (object)
		return policy_modify_with(
		    ref, policy, (struct policy_object){ .one = object }, flag);
	return policy_modify(ref, policy, NULL, flag);
}

int
evd_modify_upcall_array(struct evd_ref ref, DAT_UPCALL_POLICY policy,
    const DAT_UPCALL_ARRAY_OBJECT *object, DAT_UPCALL_FLAG flag)
{
	if (object)
		return policy_modify_with(
		    ref, policy, (struct policy_object){ .array = object }, flag);
	return policy_modify(ref, policy, NULL, flag);
}
