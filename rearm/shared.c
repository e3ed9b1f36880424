/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared -- a completion channel that several queues have adopted
 *
 * A thread of the loop reads it, and finds by the completion queue for which queue a notification
 * is.  As the memory of queues, that of this object is used again and never released: a handler
 * may begin after the object has gone.  While the handler reads it has the lock, which the last
 * queue takes to leave; so the channel is not read after that.
 *
 * Lock order: `list_lock`, the lock of the object, the trigger lock.
 */
#include "rearm/internal.h"

#ifndef BUCKETS /* the schedule explorer has fewer */
#define BUCKETS 64
#endif

struct rearm_shared {
	struct rearm_shared *next; /* constant */
	struct os_mutex lock;	   /* guards all that follows; changes need list_lock, too */
	uint64_t serial;	   /* 0: it is free */
	struct ibv_comp_channel *channel;
	struct rearm_loop *loop;
	struct loop *reader;
	struct loop_ticket ticket;
	struct loop_pace pace;
	bool lost; /* it can never be read again */
	int users;
	struct rearm_queue *queues[BUCKETS];
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rearm_shared *list;
static uint64_t serials;

/* Where the queue of the completion queue stands in its list, or the end of that. */
static struct rearm_queue **
shared_find(struct rearm_shared *shared, const struct ibv_cq *cq)
{
	struct rearm_queue **at = &shared->queues[(uintptr_t)cq / sizeof *cq % BUCKETS];

	while (*at && (*at)->cq != cq)
		at = &(*at)->shared_next;
	return at;
}

/* A completion queue without a queue was let go: its notification is acknowledged here. */
static int
shared_read_one(void *arg)
{
	struct rearm_shared *shared = arg;
	struct rearm_queue *queue;
	struct ibv_cq *cq;
	const int r = rearm_channel_read(shared->channel, &cq);

	if (r != 1)
		return r;
	queue = *shared_find(shared, cq);
	if (queue)
		evd_notified(rearm_queue_ref(queue));
	else
		ibv_ack_cq_events(cq, 1);
	return 1;
}

/* It may stay readable. */
static void
shared_lose(struct rearm_shared *shared)
{
	loop_watch(shared->reader, &shared->ticket, false);
	shared->lost = true;
	for (int i = 0; i < BUCKETS; i++)
		for (struct rearm_queue *q = shared->queues[i]; q; q = q->shared_next)
			rearm_queue_lost(q);
}

static void
shared_readable(void *arg, uint64_t serial)
{
	struct rearm_shared *shared = arg;

	os_lock(&shared->lock);
	if (shared->serial == serial && loop_read_some(&shared->pace, shared_read_one, shared) < 0)
		shared_lose(shared);
	os_unlock(&shared->lock);
}

/* That of the channel, else a free one, else a new one. */
static struct rearm_shared *
shared_get(const struct ibv_comp_channel *channel)
{
	struct rearm_shared *shared, *unused = NULL;

	for (shared = list; shared; shared = shared->next) {
		if (shared->serial && shared->channel == channel)
			return shared;
		if (!shared->serial)
			unused = shared;
	}
	if (unused)
		return unused;
	shared = os_alloc(1, sizeof *shared);
	if (!shared)
		return NULL;
	os_mutex_init(&shared->lock);
	shared->next = list;
	list = shared;
	return shared;
}

static int
shared_begin(struct rearm_shared *shared, struct ibv_comp_channel *channel, struct rearm_loop *loop)
{
	int r;

	os_clear_from(shared, serial);
	r = rearm_fd_prepare(channel->fd);
	if (r)
		return r;
	shared->channel = channel;
	shared->loop = loop;
	shared->serial = ++serials;
	shared->reader = loop->loops[serials % loop->n_loops];
	r = loop_add(
	    shared->reader, channel->fd, shared_readable, shared, shared->serial, &shared->ticket);
	if (r) {
		rearm_fd_restore(channel->fd);
		shared->serial = 0;
	}
	return r;
}

int
rearm_shared_join(struct rearm_queue *queue)
{
	struct rearm_shared *shared;
	int r = -ENOMEM;

	pthread_mutex_lock(&list_lock);
	shared = shared_get(queue->channel);
	if (shared) {
		os_lock(&shared->lock);
		if (!shared->serial)
			r = shared_begin(shared, queue->channel, queue->loop);
		else
			r = shared->loop != queue->loop ? -EINVAL : 0;
		if (!r) {
			shared->users++;
			queue->shared = shared;
			queue->unwaitable = queue->loop->stepped;
		}
		os_unlock(&shared->lock);
	}
	pthread_mutex_unlock(&list_lock);
	return r;
}

void
rearm_shared_add(struct rearm_queue *queue)
{
	struct rearm_shared *shared = queue->shared;
	struct rearm_queue **at;

	os_lock(&shared->lock);
	at = shared_find(shared, queue->cq);
	/* One of the same completion queue is freed, and leaves later. */
	queue->shared_next = *at ? (*at)->shared_next : NULL;
	*at = queue;
	if (shared->lost)
		rearm_queue_lost(queue);
	os_unlock(&shared->lock);
}

void
rearm_shared_leave(struct rearm_queue *queue)
{
	struct rearm_shared *shared = queue->shared;
	struct rearm_queue **at;

	pthread_mutex_lock(&list_lock);
	os_lock(&shared->lock);
	at = shared_find(shared, queue->cq);
	if (*at == queue)
		*at = queue->shared_next;
	if (--shared->users == 0) {
		loop_forget(shared->reader, &shared->ticket);
		rearm_fd_restore(shared->channel->fd);
		shared->serial = 0;
	}
	os_unlock(&shared->lock);
	pthread_mutex_unlock(&list_lock);
}
