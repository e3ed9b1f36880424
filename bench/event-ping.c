/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * event-ping -- two processes that wake each other by eventfds: microseconds of half of a round
 * trip
 */
#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "baseline.h"

struct bells {
	int server, client;
};

static void
ring(int bell)
{
	uint64_t one = 1;

	if (write(bell, &one, sizeof one) != sizeof one)
		err(1, "write");
}

static void
await(int bell)
{
	uint64_t value;

	while (read(bell, &value, sizeof value) < 0) {
		if (errno != EINTR)
			err(1, "read");
	}
}

static void
answer(void *argument)
{
	const struct bells *bells = argument;

	for (;;) {
		await(bells->server);
		ring(bells->client);
	}
}

static void
round_trip(void *argument)
{
	const struct bells *bells = argument;

	ring(bells->server);
	await(bells->client);
}

int
main(int argc, char **argv)
{
	uint64_t nanoseconds = baseline_start(argc, argv);
	struct bells bells = { eventfd(0, EFD_CLOEXEC), eventfd(0, EFD_CLOEXEC) };
	pid_t server;

	if (bells.server < 0 || bells.client < 0)
		err(1, "eventfd");
	server = baseline_serve(answer, &bells);
	baseline_ping(nanoseconds, round_trip, &bells);
	baseline_end(server);
	return 0;
}
