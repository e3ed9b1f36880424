/* SPDX-License-Identifier: BSD-3-Clause */
#include "evd/sink.h"

#include "evd/lead.h"

/* Selects the event for the job table: the kind of work decides what it must wait for. */
static enum evd_job_event
evd_wake_event(const struct evd *evd, enum evd_sink sink) REQUIRES(core_locks.trigger)
{
	const enum evd_job_state state = evd->job_state;
	const bool queued =
	    state == EVD_JOB_READY || state == EVD_JOB_DEFERRED || state == EVD_JOB_BACKOFF;

	/* All threads of the loop that the job is queued on may be blocked in upcalls. */
	if (queued && evd->job.on != evd_serving_loop(evd))
		return EVD_JOB_MOVE;
	if (sink == EVD_SINK_CNO)
		return EVD_JOB_WAKE_CNO;
	return evd->policy == EVD_POLICY_MANY ? EVD_JOB_WAKE_MANY : EVD_JOB_WAKE_ONE;
}

/* For an EVD whose job is not IDLE. */
static __attribute__((noinline)) void
evd_wake_busy(struct evd *evd, enum evd_sink sink) REQUIRES(core_locks.trigger)
{
	evd->counters.busy_skips++;
	evd_job(evd, evd_wake_event(evd, sink));
}

void
evd_wake_sink(struct evd *evd)
{
	const enum evd_sink sink = evd_sink(evd);

	switch (sink) {
	case EVD_SINK_WAITER:
		park_wake(evd->waiter);
		break;
	case EVD_SINK_UPCALL:
	case EVD_SINK_CNO:
		if (!evd->alive)
			break;
		if (evd->job_state != EVD_JOB_IDLE)
			evd_wake_busy(evd, sink);
		else /* whatever the kind of work */
			evd_job_queue(evd, &evd_job_rules[EVD_JOB_IDLE][EVD_JOB_WAKE_ONE]);
		break;
	case EVD_SINK_NONE:
		break;
	}
}

void
evd_lose_channel(struct evd *evd)
{
	loop_forget(evd->cfg.loop, &evd->channel);
	evd->cfg.channel_fd = -1;
	evd->channel_watched = false;
	evd->channel_lost = evd->unarmable = true;
	evd->armed = EVD_UNARMED; /* the notification that was requested will not be read */
	evd->changes++;
	evd_set_bare(evd);
	evd_wake_sink(evd);
}

void
evd_settle_channel(struct evd *evd)
{
	const enum evd_sink sink = evd_sink(evd);
	const bool watch = sink != EVD_SINK_WAITER;

	/* A consumer that disables its policy often enables it again soon: nothing changes. */
	if (sink != EVD_SINK_NONE && watch != evd->channel_watched) {
		loop_watch(evd->cfg.loop, &evd->channel, watch);
		evd->channel_watched = watch;
	}
}

void
evd_settle_lead(struct evd *evd)
{
	const enum evd_sink sink = evd_sink(evd);

	if (sink == EVD_SINK_UPCALL || sink == EVD_SINK_WAITER)
		lead_give_up(evd->cfg.lead);
}

void
evd_report_refill(struct evd *evd)
{
	if (evd_is_full(evd->attention) && evd->queue.ring_count == 0) {
		evd_attend(evd, EVD_HAS_ROOM);
		evd_wake_sink(evd);
	}
}
