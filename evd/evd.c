/* SPDX-License-Identifier: BSD-3-Clause */
/* evd -- lifetime and settings of an EVD */
#include "evd/trigger.h"

void
evd_slot_init(struct evd *evd)
{
	*evd = (struct evd){ .alive = false, .direct = EVD_NOT_DIRECT };
	os_mutex_init(&evd->lock);
}

int
evd_create(struct evd *evd, const struct evd_config *config)
{
	struct evd_queue queue;
	int r;

	r = evd_queue_init(&queue, (unsigned int)config->qlen,
	    config->posted_on_demand ? 0 : (unsigned int)config->qlen, config->ops != NULL);
	if (r)
		return r;
	evd_lock(evd);
	/* Clear all members of the EVD that was in the slot before. */
	os_clear_from(evd, serial);
	evd->serial = config->serial;
	evd->cfg = *config;
	evd->queue = queue;
	if (config->ops)
		evd_end_refusal(evd);
	evd->job = (struct loop_job){ .run = evd_run, .serial = config->serial };
	evd->threshold = 1;
	evd->spin.most_ns = config->spin_ns;
	evd->waitable = evd->enabled = true;
	evd->policy = DAT_UPCALL_DISABLE;
	evd->listener_cookie = DAT_HANDLE_NULL;
	evd->alive = true;
	evd_set_direct(evd);
	evd_set_bare(evd);
	evd_unlock(evd);
	return 0;
}

/* No thread uses the EVD and its job is not queued, so destroyed() may run. */
static bool
evd_quiescent(const struct evd *evd) REQUIRES(core_locks.trigger)
{
	return evd->in_progress == 0 && evd->job_state == EVD_JOB_IDLE && evd->pins == 0 &&
	       !evd->waiting && evd->tearing == 0;
}

/*
 * No thread is inside and none can enter; only notifications that were not read may still name the
 * EVD.
 */
static void
evd_destroy(struct evd *evd)
{
	struct evd_queue queue;
	unsigned int unacked;

	evd_lock(evd);
	ASSUME(!evd->alive && evd_quiescent(evd));
	unacked = evd->unacked;
	evd->unacked = 0;
	queue = evd->queue;
	evd->queue = (struct evd_queue){ 0 };
	evd_unlock(evd);

	evd_queue_fini(&queue);
	if (unacked)
		evd->cfg.ops->ack(evd->cfg.source, unacked);
	evd->cfg.destroyed(evd);
}

void
evd_leave_freed(struct evd *evd)
{
	bool last;

	park_list_wake_all(&evd->teardowns);
	last = evd->free_on_return && evd_quiescent(evd);
	if (last)
		evd->free_on_return = false;
	evd_unlock(evd);
	if (last)
		evd_destroy(evd);
}

void
evd_leave_with_effect(struct evd *evd, const struct evd_effect *effect)
{
	if (effect->code) {
		evd->pins++;
		evd_unlock(evd);
		evd_run_effect(evd, effect);
		evd_lock(evd);
		evd->pins--;
	}
	evd_leave(evd);
}

static bool
evd_may_be_freed(void *arg) REQUIRES(core_locks.trigger)
{
	const struct evd *evd = arg;

	return evd_quiescent(evd) || evd_only_closers(evd);
}

/* Locked. */
static void
evd_mark_dead(struct evd *evd) REQUIRES(core_locks.trigger)
{
	evd->alive = false;
	evd->changes++;
	evd_set_direct(evd);
	evd_set_bare(evd);
	evd->freed = true;
	evd->policy = DAT_UPCALL_TEARDOWN;
	if (evd->listener)
		evd->listener->detach(evd->listener, evd);
	evd->listener = NULL;
	park_wake(evd->waiter);
	park_list_wake_all(&evd->teardowns);
	/*
	 * No thread reads the channel of a freed EVD.  While it is readable, it would keep the loop
	 * busy.
	 */
	if (evd->channel.id)
		loop_forget(evd->cfg.loop, &evd->channel);
	/*
	 * A queued job is removed without waiting: this call may come from the loop thread that
	 * would run it.
	 */
	evd_job(evd, EVD_JOB_CANCEL);
}

int
evd_free(struct evd_ref ref)
{
	struct evd *evd = evd_enter(ref);
	struct upcall_frame *frame;

	if (!evd)
		return -ENODEV;
	evd_mark_dead(evd);
	frame = evd_frame(evd);
	if (frame)
		evd_frame_exempt(evd, frame);
	else
		park_list_await(&evd->teardowns, &evd->lock, evd_may_be_freed, evd);
	evd->free_on_return =
	    true; /* evd_leave() destroys the EVD at once if no thread is inside */
	evd_leave(evd);
	return 0;
}

int
evd_free_nowait(struct evd_ref ref)
{
	struct evd *evd = evd_enter(ref);

	if (!evd)
		return -ENODEV;
	evd_mark_dead(evd);
	evd->free_on_return = true;
	evd_leave(evd);
	return 0;
}

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
 * The sink changed only if the CNO is one: upcalls go before it.  Under NOTIFY the queued events would be reported to the
 * same upcalls again, without end if an upcall does this.
 */
static void
evd_cno_changed(struct evd *evd) REQUIRES(core_locks.trigger)
{
	if (evd_sink(evd) != EVD_SINK_UPCALL)
		evd_sink_changed(evd);
}

int
evd_set_listener(struct evd_ref ref, struct evd_listener *listener, DAT_CNO_HANDLE cookie)
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
		.cno = evd->listener_cookie,
		.policy = evd->policy,
		.queued = (int)evd_queue_count(&evd->queue),
	};
	evd_unlock(evd);
	return 0;
}

int
evd_query_counters(struct evd_ref ref, struct dat_rearm_evd_counters *counters)
{
	struct evd *evd = evd_enter(ref);

	if (!evd)
		return -ENODEV;
	*counters = evd->counters;
	counters->max_depth = evd->queue.max_depth;
	evd_unlock(evd);
	return 0;
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
