/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop: arm, poll until the queue is empty, sleep. */
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
		next_event();
	}

	pair_close();
	return 0;
}
