/* SPDX-License-Identifier: BSD-3-Clause */
#include "suspicion.h"

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
	return view->state.visible || view->sends || view->receives ||
	       suspicion_failed_to_arm(view);
}

/* The destroy waits for acknowledgements, and its thread sleeps. */
static enum soft_strength
suspicion_destroying(const struct soft_check_view *view, const struct soft_sleepers *sleepers)
{
	return soft_sleepers_asleep(sleepers, view->destroying) ? SOFT_STRONG : SOFT_INNOCENT;
}

/* What it is worth that the threads do what they do, if one of them waits for the channel. */
static enum soft_strength
suspicion_with_sleeper(const struct soft_sleepers *sleepers)
{
	return sleepers->running ? SOFT_WEAK : SOFT_STRONG;
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

/* An event is there that no thread reads. */
static enum soft_strength
suspicion_unread(
    const struct soft_check_view *view, const struct soft_sleepers *sleepers, bool sleeper)
{
	if (sleeper)
		return suspicion_with_sleeper(sleepers);
	/* Programs that poll a queue now and then may have armed it; they have polled it before. */
	if (sleepers->running || view->state.flushed || (!view->events_read && view->polled))
		return SOFT_INNOCENT;
	return SOFT_WEAK;
}

/*
 * A thread waits for the channel, and nothing can be polled yet.  Receives are outstanding all the time, and another
 * thread may arm the queue, or poll it, when it likes: they count only if there is no such thread.
 */
static enum soft_strength
suspicion_outstanding(const struct soft_check_view *view, const struct soft_sleepers *sleepers)
{
	if (soft_sleepers_are_stuck(sleepers, view->fd))
		return SOFT_STRONG;
	return view->sends ? SOFT_WEAK : SOFT_INNOCENT;
}

struct soft_suspicion
soft_suspect(const struct soft_check_view *view, const struct soft_sleepers *sleepers)
{
	const struct soft_check_state *state = &view->state;
	struct soft_suspicion result = { SOFT_INNOCENT, SOFT_STRANDED, 0, "" };
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
		if (sleeper && !soft_check_view_wakes(view))
			result.strength = suspicion_with_sleeper(sleepers);
		return result;
	}
	if (state->unread) {
		result.kind = SOFT_EVENT_UNREAD;
		result.strength = suspicion_unread(view, sleepers, sleeper);
		return result;
	}
	if (!state->visible) {
		result.kind = SOFT_SLEEPS_UNARMED;
		if (sleeper && !soft_check_view_wakes(view))
			result.strength = suspicion_outstanding(view, sleepers);
		return result;
	}
	/* Those that came after the request would have raised an event. */
	if (state->armed == SOFT_ARMED_SOLICITED && !state->solicited)
		return result;
	if (state->armed != SOFT_UNARMED)
		result.kind = SOFT_NOT_LOOKED_AT_AGAIN;
	else if (sleeper && !soft_check_view_wakes(view))
		result.kind = SOFT_SLEEPS_UNARMED;
	else if (!view->was_armed)
		return result;
	result.strength =
	    sleeper ? suspicion_with_sleeper(sleepers) : suspicion_without_sleeper(view, sleepers);
	return result;
}
