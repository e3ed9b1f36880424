/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma-core 1af90a30d: the peer is notified to start, then the queue is armed.  What came before
 * that is not seen.
 */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct end *server;

	pair_open();
	server = pair_start(cq);
	arm(cq);
	while (!served_all(server)) {
		next_event();
		arm(cq);
		while (poll_and_serve(server, 8) > 0)
			;
	}

	pair_close();
	return 0;
}
