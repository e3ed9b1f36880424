/* SPDX-License-Identifier: BSD-3-Clause */
/* perftest #137: woken, the thread polls as many as it expects, and sleeps with others left. */
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
		poll_and_serve(server, 3);
	}

	pair_close();
	return 0;
}
