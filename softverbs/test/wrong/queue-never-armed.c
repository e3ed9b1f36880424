/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.C7 */
/* Two queues have one channel.  Both are polled after each event, but only one is ever armed. */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct end *server, *second;

	pair_open();
	other = queue_create(channel);
	arm(cq);
	server = pair_start(cq);
	second = pair_start(other);
	while (!served_all(server) || !served_all(second)) {
		next_event();
		arm(cq);
		while (poll_and_serve(server, 8) > 0)
			;
		while (poll_and_serve(second, 8) > 0)
			;
	}

	pair_close();
	return 0;
}
