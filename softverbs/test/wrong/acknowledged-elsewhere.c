/* SPDX-License-Identifier: BSD-3-Clause */
/* UCX #1039: two queues share a channel, and the events of both are acknowledged to the first. */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct ibv_cq *ready;
	void *own;
	struct end *server;

	pair_open();
	second_pair_open();
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

	pair_close();
	return 0;
}
