/* SPDX-License-Identifier: BSD-3-Clause */
/* The same loop from the other side: armed before the peer starts, and after each event before it is polled. */
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
	arm(cq);
	server = pair_start(cq);
	while (!served_all(server)) {
		next_event(channel);
		arm(cq);
		while (poll_and_serve(server, 8) > 0)
			;
	}

	pairs_stop();
	must(!ibv_destroy_cq(cq), "ibv_destroy_cq");
	must(!ibv_destroy_comp_channel(channel), "ibv_destroy_comp_channel");
	device_close();
	return 0;
}
