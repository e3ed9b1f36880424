/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same loop from the other side: armed before the peer starts, and after each event before it
 * is polled.
 */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct end *server;

	pair_open();
	arm(cq);
	server = pair_start(cq);
	while (!served_all(server)) {
		next_event();
		arm(cq);
		while (poll_and_serve(server, 8) > 0)
			;
	}

	pair_close();
	return 0;
}
