/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flag-ping -- two processes that spin on flags in shared memory: microseconds of half of a round
 * trip
 *
 * Each flag is in a cache line of its own, and one process writes it.
 */
#include <stdatomic.h>
#include <stdint.h>

#include "baseline.h"

struct flags {
	_Alignas(128) _Atomic uint64_t ping;
	_Alignas(128) _Atomic uint64_t pong;
};

static void
answer(void *argument)
{
	struct flags *flags = argument;

	for (uint64_t turn = 1;; turn++) {
		while (atomic_load_explicit(&flags->ping, memory_order_acquire) != turn)
			continue;
		atomic_store_explicit(&flags->pong, turn, memory_order_release);
	}
}

static void
round_trip(void *argument)
{
	struct flags *flags = argument;
	uint64_t turn = atomic_load_explicit(&flags->ping, memory_order_relaxed) + 1;

	atomic_store_explicit(&flags->ping, turn, memory_order_release);
	while (atomic_load_explicit(&flags->pong, memory_order_acquire) != turn)
		continue;
}

int
main(int argc, char **argv)
{
	uint64_t nanoseconds = baseline_start(argc, argv);
	struct flags *flags = baseline_memory(sizeof *flags, 1);
	pid_t server = baseline_serve(answer, flags);

	baseline_ping(nanoseconds, round_trip, flags);
	baseline_end(server);
	return 0;
}
