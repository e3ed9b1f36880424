/* SPDX-License-Identifier: BSD-3-Clause */
#include "view.h"

#include <stdlib.h>

/* A program that asked for an event so long ago does not ask any more. */
#define ASKED SOFT_SECOND

/* A program that asks for events and does other things in between still asks. */
static void
view_take_asked(struct soft_check_view *view, unsigned int asked)
{
	const uint64_t now = soft_now();

	if (asked != view->asked)
		view->asked_at = now;
	view->asked = asked;
	view->asks = view->asked_at && now - view->asked_at < ASKED;
}

static pid_t
view_keeper(const struct soft_check_queue *queue) REQUIRES(soft_check_locks.queue)
{
	const struct soft_site *last = &queue->polled;

	if (queue->armed.when > last->when)
		last = &queue->armed;
	return queue->event.when > last->when ? queue->event.thread : last->thread;
}

bool
soft_check_view_take(struct soft_check_queue *queue)
{
	struct soft_check_view *view = queue->view;
	unsigned int activity;

	if (!view)
		view = queue->view = calloc(1, sizeof *view);
	if (!view)
		return false;
	/* Before the state: a call that changes it meanwhile ends every suspicion. */
	activity = queue->activity;
	view->quiet = activity == view->activity;
	view->activity = activity;
	soft_check_queue_lock(queue);
	view->exists = !queue->destroyed;
	if (view->exists) {
		view->state = soft_check_queue_look(queue);
		view->was_armed = queue->was_armed;
		view->arm_failed = queue->arm_failed;
		view->polled = queue->polled.thread;
		view->keeper = view_keeper(queue);
		view->taken =
		    queue->event.when > queue->polled.when && queue->event.when > queue->armed.when;
		view->channel = queue->cq->channel;
		view->fd = view->channel ? view->channel->ibv.fd : -1;
		view->destroying = queue->destroying.thread;
		if (view->channel)
			view_take_asked(view, queue->cq->channel->asked);
	}
	view->events_read = queue->events_read;
	view->events_acknowledged = queue->events_acknowledged;
	soft_check_queue_unlock(queue);
	return true;
}

bool
soft_check_view_wakes(const struct soft_check_view *view)
{
	for (const struct soft_check_queue *queue = soft_check_queues(); queue;
	     queue = queue->next) {
		const struct soft_check_view *other = queue->view;

		if (other && other->exists && other->channel == view->channel &&
		    (other->state.armed != SOFT_UNARMED || other->state.unread || other->state.due))
			return true;
	}
	return false;
}
