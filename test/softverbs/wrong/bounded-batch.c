/* SPDX-License-Identifier: BSD-3-Clause */
/* perftest #137: woken, the thread polls as many as it expects, and sleeps with others left. */
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
		poll_and_serve(server, 3);
	}

	pairs_stop();
	must(!ibv_destroy_cq(cq), "ibv_destroy_cq");
	must(!ibv_destroy_comp_channel(channel), "ibv_destroy_comp_channel");
	device_close();
	return 0;
}
