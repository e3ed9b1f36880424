/* SPDX-License-Identifier: BSD-3-Clause */
/* life -- an EVD is created in its slot, and freed */
#include "evd/frame.h"
#include "evd/rearm.h"
#include "evd/run.h"

void
evd_slot_init(struct evd *evd)
{
	*evd = (struct evd){ .alive = false };
	os_mutex_init(&evd->lock);
	evd_lock(evd);
	evd_set_direct(evd);
	evd_unlock(evd);
}

int
evd_create(struct evd *evd, const struct evd_config *config)
{
	struct evd_queue queue;
	int r;

	ASSUME(config->event_size <= EVD_EVENT_MOST && config->event_size % sizeof(uint64_t) == 0);
	r = evd_queue_init(&queue, (unsigned int)config->qlen,
	    config->posted_on_demand ? 0 : (unsigned int)config->qlen, config->event_size,
	    config->ops != NULL);
	if (r)
		return r;
	evd_lock(evd);
	/* Clear all members of the EVD that was in the slot before. */
	os_clear_from(evd, serial);
	evd->serial = config->serial;
	evd->cfg = *config;
	evd_set_batch(evd);
	evd->queue = queue;
	if (config->ops)
		evd_end_refusal(evd);
	evd->job = (struct loop_job){ .run = evd_run, .serial = config->serial };
	evd->threshold = 1;
	evd->spin.most_ns = config->spin_ns;
	evd->waitable = evd->enabled = true;
	evd->policy = EVD_POLICY_DISABLE;
	evd->listener_cookie = NULL;
	evd->alive = true;
	evd_set_direct(evd);
	evd_set_bare(evd);
	evd_unlock(evd);
	return 0;
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
	evd_acknowledge(evd);
	evd->policy = EVD_POLICY_TEARDOWN;
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
	/* evd_leave() destroys the EVD at once if no thread is inside */
	evd->free_on_return = true;
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
