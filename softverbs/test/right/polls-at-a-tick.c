/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.J3 */
/*
 * A queue is never armed.  Its channel is in the set of a poll() with a time limit, and the queue
 * is polled each time that this has passed.  Another queue is armed; its thread sleeps for a time
 * between the event and the poll.
 */
#include <poll.h>
#include <unistd.h>
#include "softverbs/test/pair.h"

#define LONG_MS 3500
#define SHORT_MS 20

int
main(void)
{
	struct end *server, *second;
	struct pollfd pfd;
	int slow = 2;

	pair_open();
	pfd = (struct pollfd){ .fd = channel->fd, .events = POLLIN };
	server = pair_start(cq);
	while (!served_all(server)) {
		must(poll(&pfd, 1, slow-- > 0 ? LONG_MS : SHORT_MS) == 0, "poll");
		while (poll_and_serve(server, 8) > 0)
			;
	}

	other = queue_create(channel);
	arm(other);
	second = pair_start(other);
	slow = 2;
	while (!served_all(second)) {
		next_event();
		if (slow-- > 0)
			usleep(LONG_MS * 1000);
		arm(other);
		while (poll_and_serve(second, 8) > 0)
			;
	}

	pair_close();
	return 0;
}
