/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An event loop: the channel does not block, and is watched for edges; all events are read each
 * time.
 */
#include <errno.h>
#include <sys/epoll.h>
#include "softverbs/test/pair.h"

int
main(void)
{
	struct epoll_event ready;
	struct ibv_cq *named;
	void *own;
	struct end *server;
	int epoll;

	pair_open();
	second_pair_open();
	epoll = watch_edges();
	server = pair_start(cq);
	for (;;) {
		arm(cq);
		arm(other);
		while (poll_and_serve(server, 8) > 0)
			poke(&fourth);
		while (poll_and_serve(&third, 8) > 0)
			;
		if (served_all(server) && third.sent == fourth.sent)
			break;
		if (epoll_wait(epoll, &ready, 1, -1) != 1)
			continue;
		while (!ibv_get_cq_event(channel, &named, &own))
			ibv_ack_cq_events(named, 1);
		must(errno == EAGAIN, "ibv_get_cq_event");
	}

	pair_close();
	return 0;
}
