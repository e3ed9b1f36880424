/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.J3 */
/* origin: out33.CC1 */
/*
 * A queue is never armed.  Its channel is in the set of a poll() with a time limit, or with a
 * timer, and the queue is polled each time that this has passed.  Another queue is armed; its
 * thread sleeps for a time between the event and the poll.
 */
#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "softverbs/test/pair.h"

#define LONG_MS 3500
#define SHORT_MS 20

/* Until the timer that is the second one has expired. */
static void
wait_for_timer(struct pollfd set[2])
{
	const struct itimerspec once = { .it_value = { LONG_MS / 1000, LONG_MS % 1000 * 1000000 } };
	uint64_t times;

	must(timerfd_settime(set[1].fd, 0, &once, NULL) == 0, "timerfd_settime");
	must(
	    poll(set, 2, -1) == 1 && read(set[1].fd, &times, sizeof times) == sizeof times, "poll");
}

int
main(void)
{
	struct end *server, *second;
	struct pollfd set[2];
	int slow = 2;

	pair_open();
	set[0] = (struct pollfd){ .fd = channel->fd, .events = POLLIN };
	set[1] =
	    (struct pollfd){ .fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), .events = POLLIN };
	server = pair_start(cq);
	while (!served_all(server)) {
		if (slow == 1)
			wait_for_timer(set);
		else
			must(poll(set, 1, slow ? LONG_MS : SHORT_MS) == 0, "poll");
		slow -= slow > 0;
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
