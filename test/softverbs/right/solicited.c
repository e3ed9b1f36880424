/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue is armed for solicited completions; those of the answers wait for the next message. */
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
	must(!ibv_req_notify_cq(cq, 1), "ibv_req_notify_cq");
	server = pair_start(cq);
	while (server->received < messages) {
		next_event(channel);
		must(!ibv_req_notify_cq(cq, 1), "ibv_req_notify_cq");
		while (poll_and_serve(server, 8) > 0)
			;
	}

	pairs_stop();
	must(!ibv_destroy_cq(cq), "ibv_destroy_cq");
	must(!ibv_destroy_comp_channel(channel), "ibv_destroy_comp_channel");
	device_close();
	return 0;
}
