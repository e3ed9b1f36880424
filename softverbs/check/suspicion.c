/* SPDX-License-Identifier: BSD-3-Clause */
#include "suspicion.h"
#include "settings.h"

/* A weak suspicion must last so many times as long as a strong one. */
#define WEAK_FACTOR 5

bool
soft_suspicion_lasts(struct soft_lasting *lasting, enum soft_strength strength, uint64_t passed)
{
	if (strength == SOFT_INNOCENT)
		return false;
	lasting->all += passed;
	if (strength == SOFT_STRONG)
		lasting->strong += passed;
	return lasting->strong >= soft_check_settings.stranded_after ||
	       lasting->all >= WEAK_FACTOR * soft_check_settings.stranded_after;
}

enum soft_strength
soft_suspicion_of_call(const struct soft_sleepers *sleepers, pid_t thread)
{
	const struct soft_sleeper *own = NULL;

	for (size_t i = 0; i < sleepers->count; i++)
		if (sleepers->threads[i].thread == thread)
			own = &sleepers->threads[i];
	if (!own || !soft_sleepers_asleep(sleepers, thread))
		return SOFT_INNOCENT;
	if (!sleepers->known || soft_sleepers_others_come_back(sleepers, own))
		return SOFT_WEAK;
	/* One that spins on another queue may do so in the handler of the event. */
	for (size_t i = 0; i < sleepers->count; i++)
		if (!sleepers->threads[i].asleep)
			return SOFT_WEAK;
	return SOFT_STRONG;
}

/* Nothing of the queue is on its way. */
static bool
suspicion_is_settled(const struct soft_check_state *state)
{
	return !state->held && !state->due;
}

static bool
suspicion_failed_to_arm(const struct soft_check_view *view)
{
	return view->arm_failed && view->state.armed == SOFT_UNARMED && !view->state.unread;
}

bool
soft_suspicion_is_possible(const struct soft_check_view *view)
{
	if (!view->exists)
		return false;
	if (view->destroying)
		return true;
	if (view->fd < 0 || !suspicion_is_settled(&view->state))
		return false;
	if (view->state.visible || view->gone || suspicion_failed_to_arm(view))
		return true;
	return view->state.armed == SOFT_UNARMED && (view->sends || view->receives);
}

/*
 * The destroy waits for acknowledgements.  Those that are too many have been
 * reported.
 */
static enum soft_strength
suspicion_destroying(const struct soft_check_view *view, const struct soft_sleepers *sleepers)
{
	if (view->events_acknowledged > view->events_read)
		return SOFT_INNOCENT;
	return soft_suspicion_of_call(sleepers, view->destroying);
}

/* A thread sleeps on the channel, or the program asks for events without sleeping. */
static bool
suspicion_waits(const struct soft_check_view *view, const struct soft_sleeper *sleeper)
{
	return sleeper || view->asks;
}

/* What it is worth that the threads do what they do, if one of them waits for the channel. */
static enum soft_strength
suspicion_with_waiter(const struct soft_check_view *view, const struct soft_sleepers *sleepers,
    const struct soft_sleeper *sleeper)
{
	if (!sleeper || sleepers->busy)
		return SOFT_WEAK;
	/*
	 * A thread that reads events may have left this one to another thread, which polls and arms
	 * when it comes to it; or the queue has always been that of another thread.
	 */
	if ((view->taken || (view->keeper && view->keeper != sleeper->thread)) &&
	    soft_sleepers_others_come_back(sleepers, sleeper))
		return SOFT_WEAK;
	return SOFT_STRONG;
}

/* The same if none waits for it. */
static enum soft_strength
suspicion_without_sleeper(const struct soft_check_view *view, const struct soft_sleepers *sleepers)
{
	/* A program that has read no event of the queue does not depend on them. */
	if (!view->events_read || view->state.flushed)
		return SOFT_INNOCENT;
	if (sleepers->running || sleepers->timed || sleepers->outside || !sleepers->known)
		return SOFT_WEAK;
	return SOFT_STRONG;
}

/* A thread waits for the channel of another queue. */
static bool
suspicion_waits_elsewhere(const struct soft_check_view *view, const struct soft_sleepers *sleepers)
{
	const struct soft_check_view *other;
	const char *call;

	for (const struct soft_check_queue *queue = soft_check_queues(); queue;
	     queue = queue->next) {
		other = queue->view;
		if (other && other->exists && other->channel && other->channel != view->channel &&
		    soft_sleepers_on(sleepers, other->fd, &call))
			return true;
	}
	return false;
}

/* An event is there that no thread reads. */
static enum soft_strength
suspicion_unread(const struct soft_check_view *view, const struct soft_sleepers *sleepers,
    const struct soft_sleeper *sleeper)
{
	if (sleeper)
		return suspicion_with_waiter(view, sleepers, sleeper);
	if (view->state.flushed)
		return SOFT_INNOCENT;
	/* Nothing has ever looked at it, or what should do so waits for something else. */
	if ((!view->events_read && !view->polled) || suspicion_waits_elsewhere(view, sleepers))
		return SOFT_WEAK;
	/* Programs that poll a queue now and then may have armed it; they have polled it before. */
	return sleepers->running || !view->events_read ? SOFT_INNOCENT : SOFT_WEAK;
}

/*
 * A thread waits for the channel, and nothing can be polled yet.  Receives are outstanding all the
 * time, and another thread may arm the queue, or poll it, when it likes: they count only if there
 * is no such thread.
 */
static enum soft_strength
suspicion_outstanding(const struct soft_check_view *view, const struct soft_sleepers *sleepers)
{
	if (soft_sleepers_are_stuck(sleepers, view->fd))
		return SOFT_STRONG;
	return view->sends ? SOFT_WEAK : SOFT_INNOCENT;
}

/*
 * Completions can be polled and no event of the queue is due.  A queue that was never armed may be
 * meant to be polled now and then, as one that is armed for solicited completions: but not if it
 * has messages, and the program waits for the channel.
 */
static struct soft_suspicion
suspicion_visible(struct soft_suspicion result, const struct soft_check_view *view,
    const struct soft_sleepers *sleepers, const struct soft_sleeper *sleeper)
{
	const struct soft_check_state *state = &view->state;
	const bool waits = suspicion_waits(view, sleeper);

	if (state->armed == SOFT_ARMED_SOLICITED && !state->solicited) {
		/* Those that came after the request would have raised an event. */
		result.kind = SOFT_UNSOLICITED;
		result.strength = waits && state->received ? SOFT_WEAK : SOFT_INNOCENT;
		return result;
	}
	if (state->armed != SOFT_UNARMED) {
		result.kind = SOFT_NOT_LOOKED_AT_AGAIN;
	} else if (waits && !soft_check_view_wakes(view)) {
		result.kind = SOFT_SLEEPS_UNARMED;
	} else if (!view->was_armed) {
		result.kind = SOFT_SLEEPS_UNARMED;
		result.strength = waits && state->received ? SOFT_WEAK : SOFT_INNOCENT;
		return result;
	}
	result.strength = waits ? suspicion_with_waiter(view, sleepers, sleeper) :
				  suspicion_without_sleeper(view, sleepers);
	return result;
}

/*
 * Nothing can come to the channel any more: all that is outstanding on its queues is on connections
 * that have ended.  A shared receive queue serves other connections, too.
 */
static bool
suspicion_has_ended(const struct soft_check_view *view)
{
	const struct soft_check_view *other;

	if (!view->gone)
		return false;
	for (const struct soft_check_queue *queue = soft_check_queues(); queue;
	     queue = queue->next) {
		other = queue->view;
		if (!other || !other->exists || other->channel != view->channel)
			continue;
		if (!other->counted || other->sends + other->receives != other->gone)
			return false;
	}
	return true;
}

/*
 * A thread waits for the completions of connections that have ended.  A program that has read their
 * events may know, and wait for the next connection: for one that comes, or until a thread makes
 * it.
 */
static enum soft_strength
suspicion_ended(const struct soft_check_view *view, const struct soft_sleepers *sleepers)
{
	if (!view->unread_end && (view->listens || sleepers->running || sleepers->timed))
		return SOFT_INNOCENT;
	return soft_sleepers_are_stuck(sleepers, view->fd) ? SOFT_STRONG : SOFT_WEAK;
}

static struct soft_suspicion
suspicion_of(const struct soft_check_view *view, const struct soft_sleepers *sleepers)
{
	const struct soft_check_state *state = &view->state;
	struct soft_suspicion result = { .kind = SOFT_STRANDED, .call = "" };
	const struct soft_sleeper *sleeper;

	if (view->destroying) {
		result.kind = SOFT_NEVER_ACKNOWLEDGED;
		result.strength = suspicion_destroying(view, sleepers);
		return result;
	}
	sleeper = soft_sleepers_on(sleepers, view->fd, &result.call);
	if (sleeper)
		result.sleeper = sleeper->thread;
	if (suspicion_failed_to_arm(view)) {
		result.kind = SOFT_ARM_ERROR_IGNORED;
		if (suspicion_waits(view, sleeper) && !soft_check_view_wakes(view))
			result.strength = suspicion_with_waiter(view, sleepers, sleeper);
		return result;
	}
	if (state->unread) {
		result.kind = SOFT_EVENT_UNREAD;
		result.strength = suspicion_unread(view, sleepers, sleeper);
		return result;
	}
	if (!state->visible && state->armed != SOFT_UNARMED) {
		result.kind = SOFT_CONNECTION_ENDED;
		if (sleeper && suspicion_has_ended(view))
			result.strength = suspicion_ended(view, sleepers);
		return result;
	}
	if (!state->visible) {
		result.kind = SOFT_SLEEPS_UNARMED;
		if (suspicion_waits(view, sleeper) && !soft_check_view_wakes(view))
			result.strength = suspicion_outstanding(view, sleepers);
		return result;
	}
	return suspicion_visible(result, view, sleepers, sleeper);
}

/* The thread that will come back by itself, and is expected to look at the queue then. */
static const struct soft_sleeper *
suspicion_napper(const struct soft_check_view *view, const struct soft_sleepers *sleepers,
    const struct soft_suspicion *suspicion)
{
	if (view->destroying || (suspicion->sleeper && view->was_armed))
		return NULL;
	if (suspicion->sleeper)
		return soft_sleepers_napping(sleepers, suspicion->sleeper);
	return view->asks ? NULL : soft_sleepers_napping(sleepers, view->keeper);
}

struct soft_suspicion
soft_suspect(const struct soft_check_view *view, const struct soft_sleepers *sleepers)
{
	struct soft_suspicion result = suspicion_of(view, sleepers);
	const struct soft_sleeper *napper = suspicion_napper(view, sleepers, &result);

	if (result.strength == SOFT_INNOCENT || !napper)
		return result;
	result.strength = SOFT_WEAK;
	result.napper = napper->thread;
	result.naps = napper->naps;
	return result;
}
