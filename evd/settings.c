/* SPDX-License-Identifier: BSD-3-Clause */
/* settings -- what the owner of an EVD changes and asks, but for its policy and its length */
#include "evd/channel.h"
#include "evd/sink.h"

void
evd_set_pool(struct evd_ref ref, struct loop *pool)
{
	struct evd *evd = evd_enter(ref);

	if (!evd)
		return;
	evd->cfg.pool = pool;
	evd_unlock(evd);
}

/*
 * The sink changed only if the CNO is one: upcalls go before it.  Under NOTIFY the queued events
 * would be reported to the same upcalls again, without end if an upcall does this.
 */
static void
evd_cno_changed(struct evd *evd) REQUIRES(core_locks.trigger)
{
	if (evd_sink(evd) != EVD_SINK_UPCALL)
		evd_sink_changed(evd);
}

int
evd_set_listener(struct evd_ref ref, struct evd_listener *listener, void *cookie)
{
	struct evd *evd = evd_enter(ref);
	int r;

	if (!evd)
		return -ENODEV;
	r = listener ? evd_list_channel(evd) : 0;
	if (r)
		goto out;
	if (evd->listener)
		evd->listener->detach(evd->listener, evd);
	evd->listener = listener;
	evd->listener_cookie = cookie;
	evd_set_bare(evd);
	evd_cno_changed(evd);
out:
	evd_unlock(evd);
	return r;
}

int
evd_set_enabled(struct evd_ref ref, bool enabled)
{
	struct evd *evd = evd_enter(ref);

	if (!evd)
		return -ENODEV;
	if (evd->enabled != enabled) {
		evd->enabled = enabled;
		evd_cno_changed(evd);
	}
	evd_unlock(evd);
	return 0;
}

int
evd_set_waitable(struct evd_ref ref, bool waitable)
{
	struct evd *evd = evd_enter(ref);

	if (!evd)
		return -ENODEV;
	evd->waitable = waitable;
	evd_set_bare(evd);
	if (!waitable) {
		evd->made_unwaitable = true;
		park_wake(evd->waiter);
	}
	evd_unlock(evd);
	return 0;
}

int
evd_set_solicited(struct evd_ref ref, bool solicited_only)
{
	struct evd *evd = evd_enter(ref);

	if (!evd)
		return -ENODEV;
	evd->solicited_only = solicited_only;
	/* The wake-up leads to a poll and an arm, which widens a request that is too narrow now. */
	if (evd->armed == EVD_ARMED_SOLICITED && !solicited_only)
		evd_wake_sink(evd);
	evd_unlock(evd);
	return 0;
}

bool
evd_is_alive(struct evd_ref ref)
{
	struct evd *evd = evd_enter(ref);

	if (evd)
		evd_unlock(evd);
	return evd != NULL;
}

int
evd_query(struct evd_ref ref, struct evd_status *status)
{
	struct evd *evd = evd_enter(ref);

	if (!evd)
		return -ENODEV;
	*status = (struct evd_status){
		.qlen = evd->cfg.qlen,
		.enabled = evd->enabled,
		.waitable = evd->waitable,
		.solicited_only = evd->solicited_only,
		.overflowed = evd->overflowed,
		.device_over = evd->device_over,
		.channel_lost = evd->channel_lost,
		.cno = evd->listener_cookie,
		.policy = evd->policy,
		.queued = (int)evd_queue_count(&evd->queue),
	};
	evd_unlock(evd);
	return 0;
}

int
evd_query_counters(struct evd_ref ref, struct evd_counters *counters)
{
	struct evd *evd = evd_enter(ref);

	if (!evd)
		return -ENODEV;
	*counters = evd->counters;
	counters->completions += evd->at_once.taken;
	counters->upcalls += evd->at_once.upcalls;
	counters->max_depth = evd->queue.max_depth;
	evd_unlock(evd);
	return 0;
}

static void
evd_add_at_once(struct evd_calls *calls, const struct evd_at_once *more)
{
	calls->dequeues += more->dequeues + more->looks;
	calls->dequeued += more->dequeues;
	calls->dequeue_polls += more->dequeues + more->looks;
	calls->dequeue_polls_found += more->dequeues;
	calls->polls += more->found + more->looks + more->upcalls;
	calls->polls_found += more->found + more->upcalls;
}

int
evd_query_calls(struct evd_ref ref, struct evd_calls *calls)
{
	struct evd *evd = evd_enter(ref);

	if (!evd)
		return -ENODEV;
	*calls = evd->calls;
	calls->spins = evd->spin.spins;
	calls->spins_served = evd->spin.served;
	evd_add_at_once(calls, &evd->at_once);
	calls->dequeues += evd->taken_directly;
	calls->dequeued += evd->taken_directly;
	evd_unlock(evd);
	return 0;
}

void
evd_copy(struct evd_ref ref, void *to, const void *from, size_t size)
{
	evd_lock(ref.evd);
	memcpy(to, from, size);
	evd_unlock(ref.evd);
}
