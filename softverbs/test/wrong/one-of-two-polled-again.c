/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * brpc #3425: two queues are polled until they are empty and then armed, but only one is polled
 * again after that.
 */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct end *server, *second;

	pair_open();
	other = queue_create(channel);
	server = pair_start(cq);
	second = pair_start(other);
	for (;;) {
		while (poll_and_serve(server, 8) > 0 || poll_and_serve(second, 8) > 0)
			;
		arm(cq);
		arm(other);
		if (poll_and_serve(server, 8) > 0)
			continue;
		if (served_all(server) && served_all(second))
			break;
		next_event();
	}

	pair_close();
	return 0;
}
