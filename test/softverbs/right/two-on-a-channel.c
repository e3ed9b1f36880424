/* SPDX-License-Identifier: BSD-3-Clause */
/* Two queues share a channel; each is armed and polled for its own events. */
#include "test/softverbs/pair.h"

int
main(void)
{
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq, *other;
	struct ibv_cq *ready;
	struct end *server, third, fourth;

	device_open();
	channel = channel_create();
	cq = queue_create(channel);
	other = queue_create(channel);
	end_open(&third, other, 0);
	end_open(&fourth, queue_create(NULL), 0);
	end_connect(&third, &fourth, ENTRIES / 2, 7);
	arm(cq);
	arm(other);
	server = pair_start(cq);
	while (!served_all(server) || third.sent < fourth.sent) {
		ready = next_event(channel);
		arm(ready);
		while (ready == cq && poll_and_serve(server, 8) > 0)
			poke(&fourth);
		while (ready == other && poll_and_serve(&third, 8) > 0)
			;
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
