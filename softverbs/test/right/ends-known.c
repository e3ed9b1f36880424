/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.C11 */
/*
 * Two connections have ended, and their events were read.  The process listens for the next one, at
 * a port that is older than these connections, then at one that is younger; a signal ends each
 * wait.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>
#include "softverbs/test/pair_cm.h"

static void
nothing(int number)
{
	(void)number;
}

static void
wait_for_the_signal(void)
{
	struct pollfd pfd = { .fd = channel->fd, .events = POLLIN };

	alarm(3);
	must(poll(&pfd, 1, -1) < 0 && errno == EINTR, "poll");
}

int
main(void)
{
	struct rdma_cm_id *first, *second;

	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = nothing }, NULL);
	listen_begin();
	first = ended_open(true);
	second = ended_open(true);
	arm(cq);
	wait_for_the_signal();
	listen_end();
	listen_begin();
	wait_for_the_signal();
	ended_close(first);
	ended_close(second);
	listen_end();
	return 0;
}
