/* SPDX-License-Identifier: BSD-3-Clause */
/* channels -- CM and asynchronous events, the flags of descriptors, and what else librearm calls */
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

#include "program.h"
#include "world.h"

/* An event is read when it is given out, and belongs to the program then. */
static struct channel {
	struct rdma_event_channel cm;
	struct rdma_cm_event events[PROGRAM_EVENTS];
	bool lost;
	unsigned int produced, gone;
	unsigned int unread[PROGRAM_EVENTS], n_unread;
	uint32_t read, acknowledged, dropped; /* a bit each */
} channels[EVDS];

static int flags[WORLD_FDS];

static const struct os_site here = { "the device", 0 };

void
channels_begin(void)
{
	memset(channels, 0, sizeof channels);
	memset(flags, 0, sizeof flags);
}

void
channels_open(const struct program_queue *queue)
{
	struct channel *c = &channels[queue->index];

	c->cm.fd = world_channel_open(queue->spec->async ? "asynchronous" : "cm");
	program.contexts[queue->index].async_fd = c->cm.fd;
}

struct rdma_event_channel *
channels_cm(const struct program_queue *queue)
{
	return &channels[queue->index].cm;
}

static void
channel_show(const struct channel *c)
{
	world_channel_set(c->cm.fd, c->lost ? c->n_unread + 1 : c->n_unread);
}

void
channels_raise(const struct program_queue *queue)
{
	struct channel *c = &channels[queue->index];

	sched_point(OP_DEVICE, OBJECT_FD(c->cm.fd), &here);
	if (c->produced == PROGRAM_EVENTS)
		violation("the scenario raises too many events");
	trace_note("event %u", c->produced);
	c->unread[c->n_unread++] = c->produced++;
	channel_show(c);
}

/* As when its object is destroyed. */
void
channels_drop(const struct program_queue *queue)
{
	struct channel *c = &channels[queue->index];

	sched_point(OP_DEVICE, OBJECT_FD(c->cm.fd), &here);
	if (!c->n_unread)
		return;
	c->dropped |= 1u << c->unread[--c->n_unread];
	channel_show(c);
}

void
channels_lose(const struct program_queue *queue)
{
	struct channel *c = &channels[queue->index];

	sched_point(OP_DEVICE, OBJECT_FD(c->cm.fd), &here);
	c->lost = true;
	channel_show(c);
}

unsigned int
channels_unread(const struct program_queue *queue)
{
	return channels[queue->index].n_unread;
}

/* The oldest event, or -1. */
static int
channel_read(struct channel *c)
{
	unsigned int number;

	if (channels_blocks(c->cm.fd))
		violation("a channel is read that the library does not have");
	sched_point(OP_DEVICE, OBJECT_FD(c->cm.fd), &here);
	errno = EINTR;
	if (world_fails(FAULT_EINTR, &here))
		return -1;
	errno = c->lost ? EIO : EAGAIN;
	if (c->lost || !c->n_unread)
		return -1;
	number = c->unread[0];
	memmove(c->unread, c->unread + 1, --c->n_unread * sizeof *c->unread);
	c->read |= 1u << number;
	world_channel_set(c->cm.fd, 0); /* the next one is a new cause to wake */
	channel_show(c);
	return (int)number;
}

int
rdma_get_cm_event(struct rdma_event_channel *cm, struct rdma_cm_event **event)
{
	struct channel *c = (struct channel *)cm;
	const int number = channel_read(c);

	if (number < 0)
		return -1;
	*event = &c->events[number];
	return 0;
}

int
ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct channel *c = &channels[context - program.contexts];
	const int number = channel_read(c);

	if (number < 0)
		return -1;
	*event = (struct ibv_async_event){ .event_type = IBV_EVENT_PORT_ACTIVE,
		.element.port_num = number };
	return 0;
}

unsigned int
channels_take(const struct program_queue *queue, const union rearm_event *event)
{
	struct channel *c = &channels[queue->index];
	const unsigned int number = queue->spec->async ?
					(unsigned int)event->async.element.port_num :
					(unsigned int)(event->cm - c->events);

	sched_point(OP_DEVICE, OBJECT_FD(c->cm.fd), &here);
	if (number >= PROGRAM_EVENTS || !(c->read >> number & 1))
		violation("queue %c gives out what it has not read", 'a' + queue->index);
	if (c->acknowledged >> number & 1)
		violation("I2: queue %c gives out event %u twice", 'a' + queue->index, number);
	c->acknowledged |= 1u << number;
	sched_touch(OP_DEVICE, OBJECT_FD(c->cm.fd));
	return number;
}

/* What was read is given out; what was not given out is still in the channel. */
void
channels_end(const struct program_queue *queue)
{
	struct channel *c = &channels[queue->index];
	uint32_t known = c->acknowledged | c->dropped;

	if (c->read != c->acknowledged)
		violation(
		    "queue %c has read an event that it has not given out", 'a' + queue->index);
	for (unsigned int i = 0; i < c->n_unread; i++)
		known |= 1u << c->unread[i];
	if (known != (uint32_t)((1ull << c->produced) - 1))
		violation("I2: an event of queue %c is lost", 'a' + queue->index);
	if (!channels_blocks(c->cm.fd))
		violation("the channel of queue %c does not block, as it did", 'a' + queue->index);
	world_close(c->cm.fd, &here);
}

/* ---- the flags of descriptors ---- */

bool
channels_blocks(int fd)
{
	return !(flags[fd] & O_NONBLOCK);
}

int
librearm_fcntl(int fd, int command, ...)
{
	va_list args;

	sched_point_minor(OP_EPOLL_CTL, OBJECT_FD(fd), &here);
	if (command == F_GETFL)
		return flags[fd];
	va_start(args, command);
	flags[fd] = va_arg(args, int);
	va_end(args);
	sched_touch(OP_EPOLL_CTL, OBJECT_FD(fd));
	return 0;
}

/* ---- what the completion queues ask ---- */

void
judge_reads(int fd)
{
	if (channels_blocks(fd))
		violation("a channel is read that the library does not have");
}

bool
rnic_is_open(const struct ibv_qp *qp)
{
	(void)qp;
	return true;
}

unsigned int
rnic_most_in(const struct ibv_cq *cq)
{
	(void)cq;
	return 0;
}

void
rnic_drop_notes(void *of)
{
	(void)of;
}
