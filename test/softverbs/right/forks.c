/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with a child that uses the device of its own, as a new process does. */
#include <sys/wait.h>
#include <unistd.h>
#include "test/softverbs/pair.h"

int
main(void)
{
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct end *server;
	pid_t child = fork();
	int status;

	device_open();
	channel = channel_create();
	cq = queue_create(channel);
	server = pair_start(cq);
	for (;;) {
		arm(cq);
		while (poll_and_serve(server, 8) > 0)
			;
		if (served_all(server))
			break;
		next_event(channel);
	}
	pairs_stop();
	must(!ibv_destroy_cq(cq), "ibv_destroy_cq");
	must(!ibv_destroy_comp_channel(channel), "ibv_destroy_comp_channel");
	device_close();
	if (!child)
		return 0;
	must(waitpid(child, &status, 0) == child, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
