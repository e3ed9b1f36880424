/* SPDX-License-Identifier: BSD-3-Clause */
/* libxlio #658: the request for notification fails, and the thread sleeps all the same. */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct end *server;

	pair_open();
	server = pair_start(cq);
	for (;;) {
		(void)ibv_req_notify_cq(cq, 0);
		while (poll_and_serve(server, 8) > 0)
			;
		if (served_all(server))
			break;
		next_event();
	}

	pair_close();
	return 0;
}
