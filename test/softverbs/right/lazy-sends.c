/* SPDX-License-Identifier: BSD-3-Clause */
/* Completions of sends have a queue that is armed by habit and polled when it is half full; its events are not read. */
#include "test/softverbs/pair.h"

int
main(void)
{
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq, *other;
	struct end *server, third, fourth;

	device_open();
	channel = channel_create();
	cq = queue_create(channel);
	other = queue_create(channel);
	end_open(&third, other, 0);
	end_open(&fourth, queue_create(NULL), 0);
	end_connect(&third, &fourth, ENTRIES / 2, 7);
	arm(other);
	server = pair_start(cq);
	for (;;) {
		arm(cq);
		while (poll_and_serve(server, 8) > 0) {
			post_send(&third, IBV_SEND_SIGNALED);
			post_receive(&fourth);
		}
		if (served_all(server))
			break;
		if (server->received % 16 == 15)
			while (poll_and_serve(&third, 8) > 0)
				;
		next_event(channel);
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
