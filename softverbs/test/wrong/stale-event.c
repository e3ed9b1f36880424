/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma-core e92afcbe5: an event comes late, for a completion that was polled already.  Nothing is
 * found, and the thread waits for the next event without a new request.
 */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct end *server;

	pair_open();
	server = pair_start(cq);
	for (;;) {
		arm(cq);
		while (poll_and_serve(server, 8) > 0)
			;
		if (served_all(server))
			break;
		do
			next_event();
		/* nothing: it was spurious, so wait for another */
		while (!poll_and_serve(server, 1));
	}

	pair_close();
	return 0;
}
