/* SPDX-License-Identifier: BSD-3-Clause */
/* An event loop: the channel does not block, and is watched for edges; all events are read each time. */
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include "test/softverbs/pair.h"

int
main(void)
{
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq, *other;
	struct epoll_event watch = { .events = EPOLLIN | EPOLLET }, ready;
	int epoll = epoll_create1(0);
	struct ibv_cq *named;
	void *own;
	struct end *server, third, fourth;

	device_open();
	channel = channel_create();
	cq = queue_create(channel);
	other = queue_create(channel);
	end_open(&third, other, 0);
	end_open(&fourth, queue_create(NULL), 0);
	end_connect(&third, &fourth, ENTRIES / 2, 7);
	must(epoll >= 0 && !fcntl(channel->fd, F_SETFL, O_NONBLOCK) &&
		 !epoll_ctl(epoll, EPOLL_CTL_ADD, channel->fd, &watch),
	    "epoll");
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

	end_close(&third);
	end_close(&fourth);
	must(!ibv_destroy_cq(fourth.cq), "ibv_destroy_cq");
	must(!ibv_destroy_cq(other), "ibv_destroy_cq");
	pairs_stop();
	must(!ibv_destroy_cq(cq), "ibv_destroy_cq");
	must(!ibv_destroy_comp_channel(channel), "ibv_destroy_comp_channel");
	device_close();
	return 0;
}
