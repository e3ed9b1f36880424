/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * event -- asynchronous events, and those of the connection manager: a channel with a descriptor
 *
 * An event that was read and not acknowledged holds up the end of its object, and the program
 * cannot acknowledge what it has not got: so it is read when it is given out (evd/descriptor.h).
 */
#include <rdma/rdma_cma.h>

#include "rearm/internal.h"

static int
event_read(void *arg, void *place)
{
	REARM_UNCANCELLED;
	const struct rearm_queue *queue = arg;
	union rearm_event *event = place;
	int r;

	do {
		errno = 0;
		r = queue->cm ? rdma_get_cm_event(queue->cm, &event->cm) :
				ibv_get_async_event(queue->context, &event->async);
	} while (r && errno == EINTR);
	if (!r)
		return 1;
	return errno == EAGAIN ? 0 : -errno;
}

int
rearm_event_open(struct rearm_queue *queue, const struct rearm_queue_attr *attr)
{
	int r;

	(void)attr;
	queue->fd = queue->cm ? queue->cm->fd : queue->context->async_fd;
	queue->events =
	    (struct evd_descriptor){ .fd = queue->fd, .read = event_read, .arg = queue };
	r = evd_descriptor_open(&queue->events);
	if (r)
		return r;
	r = rearm_fd_prepare(queue->fd);
	if (r)
		evd_descriptor_close(&queue->events);
	return r;
}

void
rearm_event_close(struct rearm_queue *queue)
{
	rearm_fd_restore(queue->fd);
	evd_descriptor_close(&queue->events);
}
