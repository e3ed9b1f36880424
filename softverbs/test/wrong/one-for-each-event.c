/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma-core cd6c61c4a (srp_daemon): one event can stand for several completions; one is polled for
 * each event.
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
		poll_and_serve(server, 1);
		arm(cq);
	}

	pair_close();
	return 0;
}
