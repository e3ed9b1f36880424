/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same as never-primed in the child of a program that does it right, and has its queue still:
 * the child is reported.
 */
#include <sys/wait.h>
#include <unistd.h>
#include "softverbs/test/pair.h"

int
main(void)
{
	struct end *server;
	pid_t child;

	pair_open();
	server = pair_start(cq);
	for (;;) {
		arm(cq);
		while (poll_and_serve(server, 8) > 0)
			;
		if (served_all(server))
			break;
		next_event();
	}
	child = fork();
	if (child) {
		must(waitpid(child, NULL, 0) == child, "waitpid");
		pair_close();
		return 0;
	}
	pair_open();
	server = pair_start(cq);
	while (!served_all(server)) {
		next_event();
		arm(cq);
		while (poll_and_serve(server, 8) > 0)
			;
	}
	return 0;
}
