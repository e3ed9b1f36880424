/* SPDX-License-Identifier: BSD-3-Clause */
/* Two queues share a channel; each is armed and polled for its own events. */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct ibv_cq *ready;
	struct end *server;

	pair_open();
	second_pair_open();
	arm(cq);
	arm(other);
	server = pair_start(cq);
	while (!served_all(server) || third.sent < fourth.sent) {
		ready = next_event();
		arm(ready);
		while (ready == cq && poll_and_serve(server, 8) > 0)
			poke(&fourth);
		while (ready == other && poll_and_serve(&third, 8) > 0)
			;
	}

	pair_close();
	return 0;
}
