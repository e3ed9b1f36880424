/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue is armed for solicited completions; those of the answers wait for the next message. */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct end *server;

	pair_open();
	must(!ibv_req_notify_cq(cq, 1), "ibv_req_notify_cq");
	server = pair_start(cq);
	while (server->received < messages) {
		next_event();
		must(!ibv_req_notify_cq(cq, 1), "ibv_req_notify_cq");
		while (poll_and_serve(server, 8) > 0)
			;
	}

	pair_close();
	return 0;
}
