/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.C12 */
/*
 * A thread waits for the completion of a connection that has ended, and its end is known.  Another
 * one sleeps for a time, in each of the calls that can do so: it would come back.  A child for each
 * call; a signal ends its wait.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "softverbs/test/pair_cm.h"

#define CALLS 8

#ifdef UNLIMITED
#define LIMIT NULL
#define MILLISECONDS (-1)
#else
#define LIMIT (&(struct timespec){ .tv_sec = 60 })
#define MILLISECONDS 60000
#endif

/* All other arguments are such as a limit would be, or its absence. */
static void *
sleep_in(void *call)
{
	struct timeval *limit = LIMIT ? &(struct timeval){ .tv_sec = 60 } : NULL;
	const int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event;
	unsigned int word = 0;
	sigset_t mask;
	fd_set none[3];

	for (int i = 0; i < 3; i++)
		FD_ZERO(&none[i]);
	sigfillset(&mask);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	switch (*(int *)call) {
	case 0:
		poll(NULL, 0, MILLISECONDS);
		break;
	case 1:
		ppoll(NULL, 0, LIMIT, LIMIT ? NULL : &mask);
		break;
	case 2:
		select(1, &none[0], &none[1], &none[2], limit);
		break;
	case 3:
		pselect(1, &none[0], &none[1], &none[2], LIMIT, LIMIT ? NULL : &mask);
		break;
	case 4:
		epoll_wait(epoll, &event, 1, MILLISECONDS);
		break;
	case 5:
		epoll_pwait(epoll, &event, 1, MILLISECONDS, LIMIT ? NULL : &mask);
		break;
	case 6:
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, LIMIT, LIMIT ? NULL : &word, 0);
		break;
	default:
#ifdef UNLIMITED
		pause();
#else
		clock_nanosleep(CLOCK_MONOTONIC, 0, LIMIT, NULL);
#endif
		break;
	}
	return NULL;
}

#ifndef UNLIMITED
static void
nothing(int number)
{
	(void)number;
}
#endif

static void
wait_beside(int first, int last)
{
	struct pollfd pfd;
	static int calls[CALLS];
	pthread_t thread;

	listen_begin();
	(void)ended_open(true);
	listen_end();
	arm(cq);
	for (int i = first; i <= last; i++) {
		calls[i] = i;
		must(!pthread_create(&thread, NULL, sleep_in, &calls[i]), "pthread_create");
	}
	pfd = (struct pollfd){ .fd = channel->fd, .events = POLLIN };
#ifndef UNLIMITED
	alarm(4);
#endif
	must(poll(&pfd, 1, -1) < 0 && errno == EINTR, "poll");
}

int
main(void)
{
#ifdef UNLIMITED
	wait_beside(0, CALLS - 1);
#else
	int status;

	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = nothing }, NULL);
	for (int i = 0; i < CALLS; i++)
		if (!fork()) {
			wait_beside(i, i);
			_exit(0);
		}
	for (int i = 0; i < CALLS; i++)
		must(wait(&status) > 0 && !status, "a child");
#endif
	return 0;
}
