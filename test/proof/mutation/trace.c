/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace -- notes the basic blocks that a module enters
 *
 * Linked into each module (MODULE is its name) that is compiled with -fsanitize-coverage=trace-pc.
 * The file $MUTATE_TRACE.MODULE has a byte for each address of the module's text; it is shared by
 * the processes of a test, however they end.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static unsigned char *entered;

/* Before the constructors of the module, which are traced, too. */
__attribute__((constructor(101))) static void
trace_begin(void)
{
	const char *name = getenv("MUTATE_TRACE");
	const size_t size = (size_t)(etext - __ehdr_start);
	char path[4096];
	void *map;
	int fd;

	if (!name)
		return;
	snprintf(path, sizeof path, "%s.%s", name, MODULE);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (ftruncate(fd, (off_t)size) == 0) {
		map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (map != MAP_FAILED)
			entered = map;
	}
	close(fd);
}

__attribute__((visibility("hidden"))) void __sanitizer_cov_trace_pc(void);

void
__sanitizer_cov_trace_pc(void)
{
	const char *at = __builtin_return_address(0);

	if (entered)
		entered[at - __ehdr_start] = 1;
}
