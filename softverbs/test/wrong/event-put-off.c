/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.C7 */
/* The event is read, and its queue is left for later: but nothing comes that would remind of it. */
#include "softverbs/test/pair.h"

#include <semaphore.h>

int
main(void)
{
	struct end *server;
	sem_t reminder;

	must(!sem_init(&reminder, 0, 0), "sem_init");
	pair_open();
	arm(cq);
	server = pair_start(cq);
	while (!served_all(server)) {
		next_event();
		sem_wait(&reminder);
		arm(cq);
		while (poll_and_serve(server, 8) > 0)
			;
	}

	pair_close();
	return 0;
}
