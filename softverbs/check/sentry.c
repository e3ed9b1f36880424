/* SPDX-License-Identifier: BSD-3-Clause */
#include "sentry.h"
#include "outstanding.h"
#include "pending.h"
#include "report.h"
#include "settings.h"
#include "suspicion.h"
#include "tally.h"
#include "view.h"
#include "softverbs/device/last.h"
#include "softverbs/device/runtime.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define TICK (50 * SOFT_MILLISECOND)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool started; /* guarded by the lock */

static void
sentry_report(
    struct soft_check_queue *queue, const struct soft_suspicion *suspicion) SOFT_NO_CHECK_LOCK
{
	const struct soft_check_view *view = queue->view;
	const struct soft_check_state *state = &view->state;
	char sleeper[96] = "no thread waits for its channel";

	if (suspicion->sleeper)
		snprintf(sleeper, sizeof sleeper, "thread %d sleeps in %s on its channel",
		    (int)suspicion->sleeper, suspicion->call);
	else if (view->asks)
		snprintf(sleeper, sizeof sleeper, "%s",
		    "the program asks for events of its channel, which does not block");
	soft_check_queue_lock(queue);
	switch (suspicion->kind) {
	case SOFT_NEVER_ACKNOWLEDGED:
		soft_report(suspicion->kind, queue, state,
		    "ibv_destroy_cq() still waits: %u events were read, %u "
		    "acknowledged%s.",
		    view->events_read, view->events_acknowledged,
		    view->events_read == view->events_acknowledged ?
			", and an asynchronous event was not" :
			"");
		break;
	case SOFT_CONNECTION_ENDED:
		soft_report(suspicion->kind, queue, state,
		    "%s, and the peer has disconnected. %u requests are outstanding that will not "
		    "complete: nothing flushes them. The event DISCONNECTED %s.",
		    sleeper, view->gone,
		    view->unread_end ? "was not read" : "was read, and nothing was done about it");
		break;
	case SOFT_ARM_ERROR_IGNORED:
		soft_report(suspicion->kind, queue, state,
		    "ibv_req_notify_cq() failed, and %s. No event will wake it.", sleeper);
		break;
	case SOFT_EVENT_UNREAD:
		soft_report(suspicion->kind, queue, state,
		    "%u completions can be polled and their event was raised, but it is not read; "
		    "%s.",
		    state->visible, sleeper);
		break;
	case SOFT_UNSOLICITED:
		soft_report(suspicion->kind, queue, state,
		    "%u completions can be polled, messages among them, and none is solicited. The "
		    "queue is armed for "
		    "solicited completions alone, and %s.",
		    state->visible, sleeper);
		break;
	case SOFT_NOT_LOOKED_AT_AGAIN:
		if (soft_check_queue_is_bounded(queue)) {
			soft_report(suspicion->kind, queue, state,
			    "%u completions are left that could be polled already when the queue "
			    "was armed. The last "
			    "poll found %d, as many as it asked for, so it did not empty the "
			    "queue; no event is due for "
			    "those that are left, and %s.",
			    state->visible, queue->found, sleeper);
			break;
		}
		soft_report(suspicion->kind, queue, state,
		    "%u completions could be polled already when the queue was armed. They were "
		    "not polled after that, "
		    "no event is due for them, and %s.",
		    state->visible, sleeper);
		break;
	case SOFT_SLEEPS_UNARMED:
		if (!state->visible) {
			soft_report(suspicion->kind, queue, state,
			    "%u sends and %u receives are outstanding, and %s, of which no queue "
			    "is "
			    "armed%s. No event will wake it when they complete.",
			    view->sends, view->receives, sleeper,
			    view->was_armed ? "" : "; this one never was");
			break;
		}
		if (soft_check_view_wakes(view)) {
			soft_report(suspicion->kind, queue, state,
			    "%u completions can be polled, and %s; this queue of it was never "
			    "armed. "
			    "No event comes for them.",
			    state->visible, sleeper);
			break;
		}
		soft_report(suspicion->kind, queue, state,
		    "%u completions can be polled, and %s, of which no queue is armed%s. No event "
		    "will wake it.",
		    state->visible, sleeper, view->was_armed ? "" : "; this one never was");
		break;
	default:
		soft_report(suspicion->kind, queue, state,
		    "%u completions can be polled, the queue was armed before and is not armed "
		    "now, no event is due, "
		    "and no thread polls; %s.",
		    state->visible, sleeper);
		break;
	}
	soft_check_queue_unlock(queue);
}

/* The thread that should look at the queue sleeps for a time, and has not come back yet. */
static bool
sentry_expects(struct soft_check_view *view, const struct soft_suspicion *suspicion)
{
	if (!suspicion->napper)
		return false;
	if (!view->napper) {
		view->napper = suspicion->napper;
		view->naps = suspicion->naps;
	}
	return view->napper == suspicion->napper && view->naps == suspicion->naps;
}

static void
sentry_consider(struct soft_check_queue *queue, const struct soft_sleepers *sleepers,
    uint64_t passed) SOFT_NO_CHECK_LOCK
{
	struct soft_check_view *view = queue->view;
	const bool possible = sleepers && soft_suspicion_is_possible(view);
	struct soft_suspicion suspicion = { .kind = SOFT_STRANDED, .call = "" };

	if (possible)
		suspicion = soft_suspect(view, sleepers);
	/*
	 * At this moment.  A thread that wakes and sleeps again, or waits for a processor, without
	 * a call with the queue has not mended anything: the time until now counts.
	 */
	if (suspicion.strength == SOFT_INNOCENT) {
		if (!possible || view->since != view->activity)
			view->suspected = 0;
		return;
	}
	if (view->suspected != suspicion.kind + 1u || view->since != view->activity) {
		view->suspected = suspicion.kind + 1u;
		view->since = view->activity;
		view->lasting = (struct soft_lasting){ 0 };
		view->napper = 0;
		return;
	}
	if (sentry_expects(view, &suspicion))
		return;
	if (soft_suspicion_lasts(&view->lasting, suspicion.strength, passed))
		sentry_report(queue, &suspicion);
}

void
soft_sentry_look_at(struct soft_check_queue *queue)
{
	struct soft_check_state state;

	soft_check_queue_lock(queue);
	if (!queue->destroyed && queue->generation == soft_runtime_generation()) {
		state = soft_check_queue_look(queue);
		if (state.overrun)
			soft_report(SOFT_OVERRUN, queue, &state,
			    "A completion came when the queue was full, and was lost.");
		if (state.not_ready)
			soft_report(SOFT_RECEIVER_NOT_READY, queue, &state,
			    "The connection of queue pair %u failed: the peer had no receive for a "
			    "message.",
			    state.not_ready);
	}
	soft_check_queue_unlock(queue);
}

void
soft_sentry_look(void)
{
	for (struct soft_check_queue *queue = soft_check_queues(); queue; queue = queue->next)
		soft_sentry_look_at(queue);
}

/* The thread has polled since the last tick. */
static bool
sentry_polls(pid_t thread)
{
	for (const struct soft_check_queue *queue = soft_check_queues(); queue; queue = queue->next)
		if (queue->view && queue->view->exists && !queue->view->quiet &&
		    queue->view->polled == thread)
			return true;
	return false;
}

/*
 * No call has done anything since the last tick: threads that run may be such as spin, and wait for
 * others themselves.
 */
static void
sentry_excuse_spinners(struct soft_sleepers *sleepers)
{
	sleepers->busy = false;
	for (size_t i = 0; i < sleepers->count; i++)
		if (!sleepers->threads[i].asleep && !sentry_polls(sleepers->threads[i].thread))
			sleepers->busy = true;
}

/* The time since the last tick; a longer one was spent without the processor, or stopped. */
static uint64_t
sentry_tick(uint64_t *before, bool progress) SOFT_NO_CHECK_LOCK
{
	struct soft_sleepers sleepers, *known = NULL;
	const uint64_t now = soft_now();
	const uint64_t passed = now - *before < 2 * TICK ? now - *before : 2 * TICK;
	bool possible = false;

	*before = now;
	for (struct soft_check_queue *queue = soft_check_queues(); queue; queue = queue->next) {
		if (queue->destroyed && queue->view)
			queue->view->exists = false;
		if (!queue->destroyed)
			(void)soft_check_view_take(queue);
	}
	soft_check_count_outstanding();
	for (struct soft_check_queue *queue = soft_check_queues(); queue; queue = queue->next)
		possible |= queue->view && soft_suspicion_is_possible(queue->view);
	if (possible) {
		soft_sleepers_look(&sleepers);
		if (!progress)
			sentry_excuse_spinners(&sleepers);
		known = &sleepers;
	}
	for (struct soft_check_queue *queue = soft_check_queues(); queue; queue = queue->next)
		if (queue->view && queue->view->exists)
			sentry_consider(queue, known, passed);
	if (soft_pending_any()) {
		if (!known)
			soft_sleepers_look(&sleepers);
		known = &sleepers;
		soft_pending_look(known, passed);
	}
	if (known)
		soft_sleepers_free(&sleepers);
	soft_sentry_look();
	return passed;
}

static void *
sentry_run(void *unused) SOFT_NO_CHECK_LOCK
{
	const struct timespec tick = { .tv_nsec = TICK };
	uint64_t before = soft_now(), idle = 0;
	unsigned int progress = soft_check_progress, now, reports = 0;

	(void)unused;
	pthread_setname_np(pthread_self(), SOFT_SENTRY_NAME);
	soft_last_enter();
	for (;;) {
		nanosleep(&tick, NULL);
		soft_last_look();
		now = soft_check_progress;
		idle += sentry_tick(&before, now != progress);
		if (now != progress) {
			idle = 0;
			soft_tally->progress++;
		}
		progress = now;
		/* What was before a report does not count. */
		if (soft_reports() != reports) {
			reports = soft_reports();
			idle = 0;
		}
		if (soft_reports() && idle >= soft_check_settings.timeout) {
			soft_report_end(idle);
			_exit(SOFT_CHECK_EXIT);
		}
	}
	return NULL;
}

int
soft_sentry_start(void)
{
	sigset_t all, saved;
	pthread_t thread;
	int r = 0;

	pthread_mutex_lock(&lock);
	if (!started) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &saved);
		r = -pthread_create(&thread, NULL, sentry_run, NULL);
		pthread_sigmask(SIG_SETMASK, &saved, NULL);
		if (!r)
			pthread_detach(thread);
		started = !r;
	}
	pthread_mutex_unlock(&lock);
	return r;
}

void
soft_sentry_reset(void)
{
	pthread_mutex_init(&lock, NULL);
	started = false;
}
