/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop: arm, poll until the queue is empty, sleep. */
#include "test/softverbs/pair.h"

int
main(void)
{
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct end *server;

	device_open();
	channel = channel_create();
	cq = queue_create(channel);
	server = pair_start(cq);
	for (;;) {
		arm(cq);
		while (poll_and_serve(server, 8) > 0)
			;
		if (served_all(server))
			break;
		next_event(channel);
	}

	pairs_stop();
	must(!ibv_destroy_cq(cq), "ibv_destroy_cq");
	must(!ibv_destroy_comp_channel(channel), "ibv_destroy_comp_channel");
	device_close();
	return 0;
}
