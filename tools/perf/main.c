/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_perf: latency, rate and processor time of messages over an RDMA adapter, by each way to get
 * their events.  The ends are two processes, or two threads of this one.
 */
#include "tools/printable.h"
#include "tools/streams.h"
#include "tools/written.h"
#include "fail.h"
#include "options.h"
#include "override.h"
#include "report.h"
#include "run.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

/* The server in this process. */
struct served {
	struct options options;
	unsigned int port;
	sem_t listening;
};

static void
served_listening(void *arg, unsigned int port)
{
	struct served *served = arg;

	served->port = port;
	sem_post(&served->listening);
}

static void *
served_run(void *arg)
{
	struct served *served = arg;

	run_server(&served->options, served_listening, served);
	return NULL;
}

static void
both_run(const struct options *options, struct outcome *outcome)
{
	struct served served = { .options = *options };
	struct options client = *options;
	pthread_t thread;

	served.options.server = true;
	served.options.port = 0;
	sem_init(&served.listening, 0, 0);
	errno = pthread_create(&thread, NULL, served_run, &served);
	if (errno)
		fail_errno("pthread_create");
	while (sem_wait(&served.listening))
		;
	client.port = served.port;
	run_client(&client, outcome);
	pthread_join(thread, NULL);
	sem_destroy(&served.listening);
}

static void
server_listening(void *arg, unsigned int port)
{
	(void)arg;
	printf("listening on port %u\n", port);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	static struct outcome outcome;
	struct options options;

	streams_open();
	printable_arguments(argc, argv, 2);
	written_at_exit();
	options_parse(&options, argc, argv);
	override_provider(&options);
	if (options.server) {
		run_server(&options, server_listening, NULL);
		return 0;
	}
	if (options.client)
		run_client(&options, &outcome);
	else
		both_run(&options, &outcome);
	report(&options, &outcome);
	return 0;
}
