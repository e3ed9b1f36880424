/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that only polls, of a queue that has a channel; it was armed once. */
#include <sched.h>
#include "softverbs/test/pair.h"

int
main(void)
{
	struct end *server;

	pair_open();
	arm(cq);
	server = pair_start(cq);
	while (!served_all(server))
		if (!poll_and_serve(server, 8))
			sched_yield();

	pair_close();
	return 0;
}
