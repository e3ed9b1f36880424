/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completions of sends have a queue that is armed by habit and polled when it is half full; its
 * events are not read.
 */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct end *server;

	pair_open();
	second_pair_open();
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
		next_event();
	}

	pair_close();
	return 0;
}
