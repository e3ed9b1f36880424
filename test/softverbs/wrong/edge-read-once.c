/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libvalkey #301: a loop watches the channel for edges and reads one event each time.  When two queues raise theirs
 * together, the second event stays unread.
 */
#include "test/softverbs/pair.h"

#include <fcntl.h>
#include <sys/epoll.h>

int
main(void)
{
	struct epoll_event watch = { .events = EPOLLIN | EPOLLET }, edge;
	int epoll = epoll_create1(0);
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq, *other, *ready;
	struct end *server, *second;

	device_open();
	channel = channel_create();
	must(epoll >= 0 && !fcntl(channel->fd, F_SETFL, O_NONBLOCK) &&
		 !epoll_ctl(epoll, EPOLL_CTL_ADD, channel->fd, &watch),
	    "epoll");
	cq = queue_create(channel);
	other = queue_create(channel);
	arm(cq);
	arm(other);
	server = pair_start(cq);
	second = pair_start(other);
	while (!served_all(server) || !served_all(second)) {
		if (epoll_wait(epoll, &edge, 1, -1) != 1)
			continue;
		ready = next_event(channel);
		arm(ready);
		while (poll_and_serve(ready == cq ? server : second, 8) > 0)
			;
	}

	pairs_stop();
	must(!ibv_destroy_cq(cq), "ibv_destroy_cq");
	must(!ibv_destroy_cq(other), "ibv_destroy_cq");
	must(!ibv_destroy_comp_channel(channel), "ibv_destroy_comp_channel");
	device_close();
	return 0;
}
