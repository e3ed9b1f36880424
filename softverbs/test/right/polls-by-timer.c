/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that polls from time to time, with completions waiting meanwhile.  The queue is armed,
 * and never waited for.
 */
#include <unistd.h>
#include "softverbs/test/pair.h"

int
main(void)
{
	struct end *server;

	pair_open();
	server = pair_start(cq);
	arm(cq);
	while (!served_all(server)) {
		usleep(server->received ? 20000 : 1500000);
		while (poll_and_serve(server, 8) > 0)
			;
	}

	pair_close();
	return 0;
}
