/* SPDX-License-Identifier: BSD-3-Clause */
/* UCX #1039: two queues share a channel, and the events of both are acknowledged to the first. */
#include "test/softverbs/pair.h"

int
main(void)
{
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq, *other;
	struct ibv_cq *ready;
	void *own;
	struct end *server, third, fourth;

	device_open();
	channel = channel_create();
	cq = queue_create(channel);
	other = queue_create(channel);
	end_open(&third, other, 0);
	end_open(&fourth, queue_create(NULL), 0);
	end_connect(&third, &fourth, ENTRIES / 2, 7);
	server = pair_start(cq);
	arm(other);
	poke(&fourth);
	for (;;) {
		arm(cq);
		arm(other);
		while (poll_and_serve(server, 8) > 0 || poll_and_serve(&third, 8) > 0)
			;
		if (served_all(server) && third.sent == fourth.sent)
			break;
		must(!ibv_get_cq_event(channel, &ready, &own), "ibv_get_cq_event");
		ibv_ack_cq_events(cq, 1);
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
