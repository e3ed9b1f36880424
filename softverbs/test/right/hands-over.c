/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.A7 */
/*
 * One thread reads the events and hands each over to another, which takes its time before it polls
 * and arms.  The first one waits meanwhile: by poll(), or for a descriptor that epoll has disabled,
 * as EPOLLONESHOT does.
 */
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "softverbs/test/pair.h"

static struct end *server;
static int handed[2];
static atomic_bool done;

static void *
worker(void *unused)
{
	unsigned int slow = 2;
	char byte;

	(void)unused;
	while (read(handed[0], &byte, 1) == 1) {
		if (slow) {
			slow--;
			usleep(3500000);
		}
		arm(cq);
		while (poll_and_serve(server, 8) > 0)
			;
		if (served_all(server))
			done = true;
	}
	return NULL;
}

/* The second time: the descriptor is not watched until the other thread has armed the queue. */
static void
wait_once(int epoll)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT };

	must(!epoll_ctl(epoll, EPOLL_CTL_ADD, channel->fd, &event), "epoll_ctl");
	while (!epoll_wait(epoll, &event, 1, 100) && !done)
		;
	if (done)
		return;
	next_event();
	must(write(handed[1], "e", 1) == 1, "write");
	(void)epoll_wait(epoll, &event, 1, 4500);
}

int
main(void)
{
	struct pollfd pfd;
	pthread_t thread;
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	pair_open();
	arm(cq);
	server = pair_start(cq);
	must(epoll >= 0 && !pipe(handed), "pipe");
	pfd = (struct pollfd){ .fd = channel->fd, .events = POLLIN };
	must(!pthread_create(&thread, NULL, worker, NULL), "pthread_create");
	must(poll(&pfd, 1, -1) == 1, "poll");
	next_event();
	must(write(handed[1], "e", 1) == 1, "write");
	must(poll(&pfd, 1, -1) == 1, "poll");
	wait_once(epoll);
	while (!done) {
		if (poll(&pfd, 1, 100) == 1) {
			next_event();
			must(write(handed[1], "e", 1) == 1, "write");
		}
	}
	close(handed[1]);
	pthread_join(thread, NULL);

	pair_close();
	return 0;
}
