/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with a child that uses the device of its own, as a new process does. */
#include <sys/wait.h>
#include <unistd.h>
#include "softverbs/test/pair.h"

int
main(void)
{
	struct end *server;
	pid_t child = fork();
	int status;

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
	pair_close();
	if (!child)
		return 0;
	must(waitpid(child, &status, 0) == child, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
