/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma-core e92afcbe5: an event comes late, for a completion that was polled already.  Nothing is found, and the thread
 * waits for the next event without a new request.
 */
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
		do
			next_event(channel);
		while (
		    !poll_and_serve(server, 1)); /* nothing: it was spurious, so wait for another */
	}

	pairs_stop();
	must(!ibv_destroy_cq(cq), "ibv_destroy_cq");
	must(!ibv_destroy_comp_channel(channel), "ibv_destroy_comp_channel");
	device_close();
	return 0;
}
