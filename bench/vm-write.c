/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vm-write -- copies of 64 KiB into the memory of another process by process_vm_writev(): MB/s
 *
 * The server sleeps, as the server of ib_write_bw does.
 */
#include <err.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "baseline.h"

static void
sleep_until_killed(void *argument)
{
	(void)argument;
	for (;;)
		(void)pause();
}

static void
copy(pid_t server, const struct iovec *from, const struct iovec *to)
{
	ssize_t copied = process_vm_writev(server, from, 1, to, 1, 0);

	if (copied < 0)
		err(1, "process_vm_writev");
	if (copied != BASELINE_BLOCK)
		errx(1, "process_vm_writev: %zd bytes", copied);
}

int
main(int argc, char **argv)
{
	uint64_t nanoseconds = baseline_start(argc, argv), blocks = 0, began, elapsed;
	struct iovec from = { baseline_memory(BASELINE_BLOCK, 0), BASELINE_BLOCK };
	struct iovec to = { baseline_memory(BASELINE_BLOCK, 0), BASELINE_BLOCK };
	pid_t server;

	memset(from.iov_base, 1, BASELINE_BLOCK);
	server = baseline_serve(sleep_until_killed, NULL);
	copy(server, &from, &to); /* gives the server its pages */
	began = baseline_now();
	do {
		for (int i = 0; i < 16; i++)
			copy(server, &from, &to);
		blocks += 16;
		elapsed = baseline_now() - began;
	} while (elapsed < nanoseconds);
	baseline_print_rate(blocks, elapsed);
	baseline_end(server);
	return 0;
}
