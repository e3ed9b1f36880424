/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libvalkey #301: a loop watches the channel for edges and reads one event each time.  When two
 * queues raise theirs together, the second event stays unread.
 */
#include "softverbs/test/pair.h"

#include <sys/epoll.h>

int
main(void)
{
	struct epoll_event edge;
	struct ibv_cq *ready;
	struct end *server, *second;
	int epoll;

	pair_open();
	other = queue_create(channel);
	epoll = watch_edges();
	arm(cq);
	arm(other);
	server = pair_start(cq);
	second = pair_start(other);
	while (!served_all(server) || !served_all(second)) {
		if (epoll_wait(epoll, &edge, 1, -1) != 1)
			continue;
		ready = next_event();
		arm(ready);
		while (poll_and_serve(ready == cq ? server : second, 8) > 0)
			;
	}

	pair_close();
	return 0;
}
