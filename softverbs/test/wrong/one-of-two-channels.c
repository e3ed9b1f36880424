/* SPDX-License-Identifier: BSD-3-Clause */
/* Two queues have a channel each, and the thread waits for one of them. */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct ibv_comp_channel *unwatched;
	struct end *server, *second;

	pair_open();
	unwatched = ibv_create_comp_channel(context);
	must(unwatched != NULL, "ibv_create_comp_channel");
	other = queue_create(unwatched);
	arm(cq);
	arm(other);
	server = pair_start(cq);
	second = pair_start(other);
	while (!served_all(server) || !served_all(second)) {
		next_event();
		arm(cq);
		while (poll_and_serve(server, 8) > 0)
			;
	}

	pair_close();
	return 0;
}
