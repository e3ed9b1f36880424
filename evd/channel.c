/* SPDX-License-Identifier: BSD-3-Clause */
#include "evd/channel.h"

#include "evd/rearm.h"
#include "evd/run.h"

/* Counts a notification for a sink that polls later, and wakes it. */
static void
evd_count_notified(struct evd *evd) REQUIRES(core_locks.trigger)
{
	evd_note_notified(evd);
	evd_attend(evd, EVD_IS_NOTIFIED);
	evd_wake_sink(evd);
}

/* The EVD with its lock held, or NULL: then nothing is left to do for the notification. */
static inline __attribute__((always_inline)) struct evd *
evd_enter_notified(struct evd_ref ref) TRY_ACQUIRE(core_locks.trigger)
{
	struct evd *evd = ref.evd;

	evd_lock(evd);
	if (evd->serial != ref.serial) {
		evd_unlock(evd);
		return NULL;
	}
	if (!evd->alive) {
		/*
		 * The EVD is being destroyed, and the thread that destroys it waits for this
		 * acknowledgement.
		 */
		const struct evd_source_ops *ops = evd->cfg.ops;
		void *source = evd->cfg.source;

		evd_unlock(evd);
		ops->ack(source, 1);
		return NULL;
	}
	return evd;
}

void
evd_notified(struct evd_ref ref)
{
	struct evd *evd = evd_enter_notified(ref);

	if (!evd)
		return;
	evd_count_notified(evd);
	evd_unlock(evd);
}

void
evd_notified_to_report(struct evd_ref ref)
{
	struct evd *evd = evd_enter_notified(ref);

	if (!evd)
		return;
	if (evd_sink(evd) == EVD_SINK_CNO && evd->job_state == EVD_JOB_IDLE) {
		evd_note_notified(evd);
		evd_attend(evd, EVD_IS_NOTIFIED);
		evd_job(evd, EVD_JOB_TAKE);
		evd_run_report(evd);
	} else {
		evd_count_notified(evd);
	}
	evd_leave(evd);
}

void
evd_report_again(struct evd_ref ref)
{
	struct evd *evd = evd_enter(ref);

	if (!evd)
		return;
	if (evd_sink(evd) == EVD_SINK_CNO && evd_queue_has_signalled(&evd->queue, 1)) {
		evd_attend(evd, EVD_HAS_REPORTED);
		evd->listener->notify(evd->listener, evd);
	}
	evd_unlock(evd);
}

void
evd_channel_lost(struct evd_ref ref)
{
	struct evd *evd = evd_enter(ref);

	if (!evd)
		return;
	evd_lose_channel(evd);
	evd_unlock(evd);
}

/* ---- the private channel, as a source of the loop ---- */

static void
evd_channel_readable(void *arg, uint64_t serial)
{
	const struct evd_ref ref = { arg, serial };
	struct evd *evd = evd_enter(ref);
	int r;

	if (!evd)
		return;
	evd->pins++;
	evd_unlock(evd);
	r = evd->cfg.ops->read(evd->cfg.source);
	evd_lock(evd);
	if (r == 1)
		evd_count_notified(evd);
	else if (r < 0)
		evd_lose_channel(evd);
	evd->pins--;
	evd_leave(evd);
}

int
evd_list_new_channel(struct evd *evd)
{
	int r;

	r = loop_add(evd->cfg.loop, evd->cfg.channel_fd, evd_channel_readable, evd, evd->serial,
	    &evd->channel);
	if (r == 0) {
		evd->channel_watched = true;
		evd_set_bare(evd);
	}
	return r;
}

/* ---- the shared channel, read by the thread that leads ---- */

static int
channel_read_lead(void *arg)
{
	struct lead *lead = arg;
	struct evd_ref ref;
	int r = lead->read(lead->arg, &ref);

	if (r == 1)
		evd_notified_to_report(ref);
	return r;
}

/* A channel that cannot be read may stay readable.  The loop handles that. */
bool
lead_read(struct lead *lead)
{
	if (loop_read_some(&lead->pace, channel_read_lead, lead) >= 0)
		return true;
	lead_give_up(lead);
	return false;
}

void
lead_read_all(struct lead *lead)
{
	int n = 0, r;

	do
		r = channel_read_lead(lead);
	while (r == 1 && ++n < LOOP_READS);
	if (r < 0)
		lead_give_up(lead);
}
