/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that has what it wants, waits a while for something else, and ends without destroying
 * anything.
 */
#include <unistd.h>
#include "softverbs/test/pair.h"

int
main(void)
{
	int ends[2];
	struct end *server;

	pair_open();
	server = pair_start(cq);
	for (;;) {
		arm(cq);
		while (poll_and_serve(server, 8) > 0)
			;
		if (server->received == messages)
			break;
		next_event();
	}
	/* Completions of the last answers may be there. */
	must(!pipe(ends), "pipe");
	if (!fork()) {
		usleep(1000000);
		_exit(write(ends[1], "", 1) != 1);
	}
	must(read(ends[0], &(char){ 0 }, 1) == 1, "read");
	return 0;
}
