/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BeeGFS #133: the queue is polled until it is empty, then armed, and the thread sleeps.  A
 * completion that comes between the last poll and the arm is not seen.
 */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct end *server;

	pair_open();
	server = pair_start(cq);
	for (;;) {
		while (poll_and_serve(server, 8) > 0)
			;
		if (served_all(server))
			break;
		arm(cq);
		next_event();
	}

	pair_close();
	return 0;
}
