/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy -- copies of 64 KiB by memcpy() within one process: MB/s
 *
 * The processor of the server is not used.
 */
#include <string.h>

#include "baseline.h"

int
main(int argc, char **argv)
{
	uint64_t nanoseconds = baseline_start(argc, argv), blocks = 0, began, elapsed;
	void *from = baseline_memory(BASELINE_BLOCK, 0);
	void *to = baseline_memory(BASELINE_BLOCK, 0);

	memset(from, 1, BASELINE_BLOCK);
	memset(to, 1, BASELINE_BLOCK);
	began = baseline_now();
	do {
		for (int i = 0; i < 16; i++) {
			memcpy(to, from, BASELINE_BLOCK);
			/* The compiler must not leave out a copy that nothing reads. */
			__asm__ volatile("" : : "r"(to), "r"(from) : "memory");
		}
		blocks += 16;
		elapsed = baseline_now() - began;
	} while (elapsed < nanoseconds);
	baseline_print_rate(blocks, elapsed);
	return 0;
}
