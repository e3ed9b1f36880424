/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that polls from time to time, with completions waiting meanwhile.  The queue is armed, and never waited for. */
#include <unistd.h>
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
	arm(cq);
	while (!served_all(server)) {
		usleep(server->received ? 20000 : 1500000);
		while (poll_and_serve(server, 8) > 0)
			;
	}

	pairs_stop();
	must(!ibv_destroy_cq(cq), "ibv_destroy_cq");
	must(!ibv_destroy_comp_channel(channel), "ibv_destroy_comp_channel");
	device_close();
	return 0;
}
