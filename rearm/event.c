/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * event -- asynchronous events, and those of the connection manager: a channel with a descriptor
 *
 * An event that was read and not acknowledged holds up the end of its object, and the program
 * cannot acknowledge what it has not got.  So no event waits in the queue of the dispatcher.  What
 * is queued there, and taken, is at most one *token*: the channel has an event.  The thread that
 * takes the token reads the event, and if that has gone meanwhile it gets none.  While there is a
 * token the source has no more; the descriptor is watched again when the event was read.
 *
 * The descriptor is readable as long as there are events.  To arm is to watch it for one shot, by
 * an epoll of its own; what has been reported once is not reported again before the next arm.
 */
#include <poll.h>

#include <rdma/rdma_cma.h>

#include "rearm/internal.h"

/* After an error the channel is not read for a while: the dispatcher sees it, and tries later. */
#define ERROR_NS 10000000u

/* In the place of an event, for the effect that reads it. */
struct taken {
	union rearm_event event;
	int64_t result; /* 1; 0 if there is none; -EIO */
};

_Static_assert(sizeof(struct taken) == REARM_EVENT_SIZE && sizeof(struct taken) % 8 == 0,
    "as the configuration of the queue has it");

static int
event_watch(const struct rearm_queue *queue)
{
	return os_epoll_ctl(
	    queue->events.epfd, EPOLL_CTL_MOD, queue->fd, EPOLLIN | EPOLLONESHOT, 0);
}

/* Also after an error, which a read then returns. */
static bool
event_is_there(const struct rearm_queue *queue)
{
	struct pollfd fd = { .fd = queue->fd, .events = POLLIN };

	return os_poll(&fd, 1, 0) > 0;
}

static struct evd_device_result
event_poll(void *source, struct evd_batch *batch)
{
	struct rearm_queue *queue = source;
	struct rearm_events *events = &queue->events;
	int n = 0;

	os_lock(&queue->events.lock);
	if (os_clock_ns() < events->failed_until) {
		n = -EIO;
	} else if (!events->token && event_is_there(queue)) {
		events->token = true;
		(void)evd_batch_record(batch);
		evd_batch_queue(batch);
		n = 1;
	}
	os_unlock(&queue->events.lock);
	return (struct evd_device_result){ n };
}

static struct evd_device_result
event_arm(void *source, bool solicited_only)
{
	struct rearm_queue *queue = source;
	int r = 0;

	(void)solicited_only;
	os_lock(&queue->events.lock);
	queue->events.arm_later = queue->events.token;
	if (!queue->events.token)
		r = event_watch(queue);
	os_unlock(&queue->events.lock);
	return (struct evd_device_result){ r };
}

/* A notification is no event: only the program acknowledges these. */
static void
event_ack(void *source, unsigned int n)
{
	(void)source;
	(void)n;
}

static int
event_notified(void *source)
{
	const struct rearm_queue *queue = source;
	struct epoll_event ready;

	return os_epoll_wait(queue->events.epfd, &ready, 1, 0);
}

static void
event_convert(void *source, const struct evd_record *record, void *event, struct evd_effect *effect)
{
	(void)source;
	(void)record;
	*effect = (struct evd_effect){ .code = 1, .object = event };
}

/* 1, 0, or -errno.  A thread that is cancelled does not end here. */
static int
event_read(const struct rearm_queue *queue, union rearm_event *event)
{
	REARM_UNCANCELLED;
	int r;

	do {
		errno = 0;
		r = queue->cm ? rdma_get_cm_event(queue->cm, &event->cm) :
				ibv_get_async_event(queue->context, &event->async);
	} while (r && errno == EINTR);
	r = r ? -errno : 1;
	return r == -EAGAIN ? 0 : r;
}

/* The thread that took the token reads the event, and the token goes. */
static void
event_effect(void *source, const struct evd_effect *effect)
{
	struct rearm_queue *queue = source;
	struct rearm_events *events = &queue->events;
	struct taken *taken = effect->object;

	taken->result = event_read(queue, &taken->event);
	os_lock(&queue->events.lock);
	events->token = false;
	if (taken->result < 0)
		events->failed_until = os_clock_ns() + ERROR_NS;
	if (events->arm_later)
		(void)event_watch(queue);
	events->arm_later = false;
	os_unlock(&queue->events.lock);
	if (taken->result < 0)
		taken->result = -EIO;
}

const struct evd_source_ops rearm_event_ops = {
	.poll = event_poll,
	.convert = event_convert,
	.arm = event_arm,
	.ack = event_ack,
	.read = event_notified,
	.effect = event_effect,
};

int
rearm_event_taken(const void *place, union rearm_event *event)
{
	const struct taken *taken = place;

	*event = taken->event;
	return (int)taken->result;
}

int
rearm_event_open(struct rearm_queue *queue)
{
	struct rearm_events *events = &queue->events;
	int r;

	events->epfd = os_epoll_open();
	if (events->epfd < 0)
		return events->epfd;
	/* Not before the first arm. */
	r = os_epoll_ctl(events->epfd, EPOLL_CTL_ADD, queue->fd, EPOLLONESHOT, 0);
	if (!r)
		r = rearm_fd_prepare(queue->fd, &queue->flags);
	if (r)
		os_close(events->epfd);
	else
		os_mutex_init(&events->lock);
	return r;
}

void
rearm_event_close(struct rearm_queue *queue)
{
	rearm_fd_restore(queue->fd, queue->flags);
	os_close(queue->events.epfd);
	os_mutex_fini(&queue->events.lock);
}
