/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_loop -- the loops by which a thread of the program gets events: polling, dat_evd_wait, a CNO,
 * its descriptor
 */
#include "dat_queue.h"

#include "fail.h"
#include "idle.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

static void
loop_dequeue(struct dat_queue *queue)
{
	struct idle idle = { 0 };
	DAT_EVENT event;
	DAT_RETURN ret;

	do {
		while ((ret = dat_evd_dequeue(queue->evd[0], &event)) != DAT_SUCCESS) {
			dat_check_empty("dat_evd_dequeue", ret);
			idle_again(&idle);
		}
		idle_end(&idle);
		dat_queue_event(queue, &event);
	} while (!end_is_over(queue->end));
}

static void
loop_dequeue_n(struct dat_queue *queue)
{
	const DAT_COUNT most = (DAT_COUNT)queue->end->load->batch;
	DAT_EVENT events[LOAD_BATCH_MAX];
	struct idle idle = { 0 };
	DAT_RETURN ret;
	DAT_COUNT n;

	do {
		while ((ret = dat_evd_dequeue_n(queue->evd[0], most, events, &n)) != DAT_SUCCESS) {
			dat_check_empty("dat_evd_dequeue_n", ret);
			idle_again(&idle);
		}
		idle_end(&idle);
		for (DAT_COUNT i = 0; i < n; i++)
			dat_queue_event(queue, &events[i]);
	} while (!end_is_over(queue->end));
}

static void
loop_wait(struct dat_queue *queue)
{
	DAT_EVENT event;
	DAT_COUNT more;
	DAT_RETURN ret;

	while (!end_is_over(queue->end)) {
		ret = dat_evd_wait(queue->evd[0], DAT_TIMEOUT_INFINITE, 1, &event, &more);
		if (ret == DAT_SUCCESS)
			dat_queue_event(queue, &event);
		else if (DAT_GET_TYPE(ret) != DAT_INTERRUPTED_CALL)
			fail_dat("dat_evd_wait", ret);
	}
}

static void
loop_drain(struct dat_queue *queue, DAT_EVD_HANDLE evd)
{
	DAT_EVENT event;
	DAT_RETURN ret;

	while ((ret = dat_evd_dequeue(evd, &event)) == DAT_SUCCESS)
		dat_queue_event(queue, &event);
	dat_check_empty("dat_evd_dequeue", ret);
}

static void
loop_cno(struct dat_queue *queue)
{
	DAT_EVD_HANDLE evd;
	DAT_RETURN ret;

	while (!end_is_over(queue->end)) {
		ret = dat_cno_wait(queue->cno, DAT_TIMEOUT_INFINITE, &evd);
		if (ret == DAT_SUCCESS)
			loop_drain(queue, evd);
		else if (DAT_GET_TYPE(ret) != DAT_INTERRUPTED_CALL)
			fail_dat("dat_cno_wait", ret);
	}
}

/* Takes all events, so that the caller may sleep. */
static void
loop_try(struct dat_queue *queue)
{
	DAT_EVD_HANDLE evd;
	DAT_RETURN ret;

	while ((ret = dat_cno_trywait(queue->cno, &evd)) == DAT_SUCCESS)
		loop_drain(queue, evd);
	dat_check_empty("dat_cno_trywait", ret);
}

static void
loop_poll(struct dat_queue *queue)
{
	struct pollfd fd = { .fd = queue->fd, .events = POLLIN };

	for (;;) {
		loop_try(queue);
		if (end_is_over(queue->end))
			return;
		if (poll(&fd, 1, -1) < 0 && errno != EINTR)
			fail_errno("poll");
	}
}

static void
loop_epoll(struct dat_queue *queue)
{
	struct epoll_event ready = { .events = EPOLLIN };
	const int epoll = epoll_create1(EPOLL_CLOEXEC);

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, queue->fd, &ready))
		fail_errno("epoll");
	for (;;) {
		loop_try(queue);
		if (end_is_over(queue->end))
			break;
		if (epoll_wait(epoll, &ready, 1, -1) < 0 && errno != EINTR)
			fail_errno("epoll_wait");
	}
	close(epoll);
}

void
dat_loop_run(struct dat_queue *queue)
{
	switch (queue->end->load->consumer) {
	case CONSUMER_DEQUEUE:
		loop_dequeue(queue);
		break;
	case CONSUMER_DEQUEUE_N:
		loop_dequeue_n(queue);
		break;
	case CONSUMER_WAIT:
		loop_wait(queue);
		break;
	case CONSUMER_CNO:
		loop_cno(queue);
		break;
	case CONSUMER_POLL:
		loop_poll(queue);
		break;
	case CONSUMER_EPOLL:
		loop_epoll(queue);
		break;
	default:
		fail("this is no loop");
	}
}
