/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verbs_queue -- the completion queue of an end, and the loops over it: polling, sleeping in
 * ibv_get_cq_event
 */
#include "verbs_adapter.h"

#include "fail.h"
#include "flow.h"
#include "idle.h"
#include "verbs_event.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

struct verbs_queue {
	struct end *end;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	unsigned int unacked;
};

void *
verbs_queue_create(void *arg, struct end *end, uint32_t length)
{
	struct verbs_adapter *adapter = arg;
	struct verbs_queue *queue = calloc(1, sizeof *queue);

	if (!queue)
		fail("no memory");
	queue->end = end;
	queue->channel = ibv_create_comp_channel(adapter->context);
	if (!queue->channel)
		fail_errno("ibv_create_comp_channel");
	queue->cq = ibv_create_cq(adapter->context, (int)length, NULL, queue->channel, 0);
	if (!queue->cq)
		fail_errno("ibv_create_cq");
	adapter->queue = queue;
	return queue;
}

struct ibv_cq *
verbs_queue_cq(struct verbs_queue *queue)
{
	return queue->cq;
}

void
verbs_queue_free(struct verbs_queue *queue)
{
	ibv_ack_cq_events(queue->cq, queue->unacked);
	ibv_destroy_cq(queue->cq);
	ibv_destroy_comp_channel(queue->channel);
	free(queue);
}

static inline void
queue_handle(struct verbs_queue *queue, const struct ibv_wc *wc, int n)
{
	struct completion completion;

	if (n < 0)
		fail("ibv_poll_cq has failed");
	for (int i = 0; i < n; i++) {
		verbs_complete(&wc[i], &completion);
		flow_event(queue->end, &completion);
	}
}

/* Handles what is there, up to a batch; returns how many. */
static inline int
queue_take(struct verbs_queue *queue, int batch)
{
	struct ibv_wc wc[LOAD_BATCH_MAX];
	const int n = ibv_poll_cq(queue->cq, batch, wc);

	queue_handle(queue, wc, n);
	return n;
}

/* A loop of its own, since a poll that takes longer finds what has come later. */
static void
queue_poll(struct verbs_queue *queue, int batch)
{
	struct ibv_wc wc[LOAD_BATCH_MAX];
	struct idle idle = { 0 };
	int n;

	do {
		while ((n = ibv_poll_cq(queue->cq, batch, wc)) == 0)
			idle_again(&idle);
		idle_end(&idle);
		queue_handle(queue, wc, n);
	} while (!end_is_over(queue->end));
}

static void
queue_arm(struct verbs_queue *queue)
{
	if (ibv_req_notify_cq(queue->cq, 0))
		fail("ibv_req_notify_cq has failed");
}

/*
 * Takes the event that made the channel readable.  False: there is none, if the channel does not
 * block.
 */
static bool
queue_event(struct verbs_queue *queue)
{
	struct ibv_cq *ready;
	void *own;

	if (ibv_get_cq_event(queue->channel, &ready, &own)) {
		if (errno != EAGAIN && errno != EINTR)
			fail_errno("ibv_get_cq_event");
		return false;
	}
	verbs_event_ack(queue->cq, &queue->unacked);
	return true;
}

/*
 * Each event is followed by an arm and a poll until nothing is left: what completes after that poll
 * has an event.  The first arm is followed by such a poll, too.
 */
static void
queue_sleep(struct verbs_queue *queue, int batch, void (*await)(void *), void *arg)
{
	queue_arm(queue);
	for (;;) {
		while (queue_take(queue, batch) == batch)
			;
		if (end_is_over(queue->end))
			return;
		do
			if (await)
				await(arg);
		while (!queue_event(queue));
		queue_arm(queue);
	}
}

static void
queue_unblock(const struct verbs_queue *queue)
{
	const int fd = queue->channel->fd, flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		fail_errno("fcntl");
}

static void
queue_await_poll(void *arg)
{
	if (poll(arg, 1, -1) < 0 && errno != EINTR)
		fail_errno("poll");
}

static void
queue_await_epoll(void *arg)
{
	struct epoll_event ready;

	if (epoll_wait(*(int *)arg, &ready, 1, -1) < 0 && errno != EINTR)
		fail_errno("epoll_wait");
}

static void
queue_sleep_epoll(struct verbs_queue *queue, int batch)
{
	struct epoll_event ready = { .events = EPOLLIN };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, queue->channel->fd, &ready))
		fail_errno("epoll");
	queue_sleep(queue, batch, queue_await_epoll, &epoll);
	close(epoll);
}

void
verbs_queue_run(void *arg)
{
	struct verbs_queue *queue = arg;
	const int batch = (int)queue->end->load->batch;
	struct pollfd fd = { .fd = queue->channel->fd, .events = POLLIN };

	switch (queue->end->load->consumer) {
	case CONSUMER_DEQUEUE:
		queue_poll(queue, 1);
		break;
	case CONSUMER_DEQUEUE_N:
		queue_poll(queue, batch);
		break;
	case CONSUMER_POLL:
		queue_unblock(queue);
		queue_sleep(queue, batch, queue_await_poll, &fd);
		break;
	case CONSUMER_EPOLL:
		queue_unblock(queue);
		queue_sleep_epoll(queue, batch);
		break;
	default:
		queue_sleep(queue, batch, NULL, NULL);
		break;
	}
}
