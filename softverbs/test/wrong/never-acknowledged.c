/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma-core pull request 657 (pyverbs): events are read and not acknowledged.  ibv_destroy_cq()
 * waits for ever.
 */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct end *server;
	struct ibv_cq *ready;
	void *own;

	pair_open();
	server = pair_start(cq);
	for (;;) {
		arm(cq);
		while (poll_and_serve(server, 8) > 0)
			;
		if (served_all(server))
			break;
		must(!ibv_get_cq_event(channel, &ready, &own), "ibv_get_cq_event");
	}

	pair_close();
	return 0;
}
