/* SPDX-License-Identifier: BSD-3-Clause */
/* libfabric #795: the queue is armed after each event, but not before the first one. */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct end *server;

	pair_open();
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
