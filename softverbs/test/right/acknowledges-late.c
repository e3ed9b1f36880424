/* SPDX-License-Identifier: BSD-3-Clause */
/* Events are acknowledged many at a time, and the rest before the queue is destroyed. */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct end *server;
	struct ibv_cq *ready;
	unsigned int unacknowledged = 0;
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
		if (++unacknowledged == 32) {
			ibv_ack_cq_events(cq, unacknowledged);
			unacknowledged = 0;
		}
	}
	ibv_ack_cq_events(cq, unacknowledged);

	pair_close();
	return 0;
}
