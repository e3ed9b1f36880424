/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same as never-primed, with a channel that does not block: the program asks for events again
 * and again.
 */
#include "softverbs/test/pair.h"

#include <fcntl.h>
#include <unistd.h>

int
main(void)
{
	struct ibv_cq *ready;
	struct end *server;
	void *own;

	pair_open();
	must(!fcntl(channel->fd, F_SETFL, O_NONBLOCK), "fcntl");
	server = pair_start(cq);
	while (!served_all(server)) {
		while (ibv_get_cq_event(channel, &ready, &own))
			usleep(1000);
		ibv_ack_cq_events(ready, 1);
		arm(cq);
		while (poll_and_serve(server, 8) > 0)
			;
	}

	pair_close();
	return 0;
}
