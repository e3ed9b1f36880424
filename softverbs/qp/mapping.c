/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Only /proc/self/maps has the permissions of a range.  Reading it takes some ten microseconds
 * for a hundred mappings, whatever the length of the range.
 */
#include "mapping.h"
#include "softverbs/device/descriptors.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct range {
	uintptr_t at, end; /* `at` advances when a part of the range was checked */
	bool write;
};

struct maps {
	int fd;
	size_t at, filled;
	char input[4096];
	char line[128]; /* the rest of a long line, the end of its path, is dropped */
};

static bool
mapping_refill(struct maps *maps)
{
	long n;

	do
		n = syscall(SYS_read, maps->fd, maps->input, sizeof maps->input);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	maps->at = 0;
	maps->filled = (size_t)n;
	return true;
}

static bool
mapping_next_line(struct maps *maps)
{
	size_t length = 0;
	char c;

	for (;;) {
		if (maps->at == maps->filled && !mapping_refill(maps))
			return false;
		c = maps->input[maps->at++];
		if (c == '\n')
			break;
		if (length < sizeof maps->line - 1)
			maps->line[length++] = c;
	}
	maps->line[length] = 0;
	return true;
}

/*
 * A file may be shorter than its mapping; then the last page is missing.  A page that is in memory
 * exists.  A page that is not in memory is read, by a call that fails without a signal if the page
 * is missing.
 */
static bool
mapping_has_last_page(uintptr_t last)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	struct iovec here, there = { (void *)last, 1 };
	unsigned char in_core = 0;
	char byte;

	here = (struct iovec){ &byte, 1 };
	if (!mincore((void *)(last & ~(page - 1)), 1, &in_core) && in_core & 1)
		return true;
	return syscall(SYS_process_vm_readv, getpid(), &here, 1, &there, 1, 0) == 1 ||
	       errno != EFAULT;
}

/*
 * The fields after the permissions: offset, device, inode, path.  An object of /dev/zero is
 * memory that processes share, and as long as its mapping.
 */
static bool
mapping_is_of_file(const char *fields)
{
	const char *inode = strchr(fields, ':');
	unsigned long number;
	char *path;

	inode = inode ? strchr(inode, ' ') : NULL;
	number = inode ? strtoul(inode, &path, 10) : 0;
	return number && !strstr(path, " /dev/zero");
}

/* Applies a line "start-end perms offset device inode path": 0, -EFAULT, or 1 if there is more. */
static int
mapping_range_apply_line(const char *line, struct range *range)
{
	char *rest;
	const uintptr_t start = strtoul(line, &rest, 16);
	uintptr_t end = *rest == '-' ? strtoul(rest + 1, &rest, 16) : 0;

	if (end <= range->at)
		return 1;
	if (start > range->at || *rest != ' ' || rest[range->write ? 2 : 1] == '-')
		return -EFAULT;
	if (end > range->end)
		end = range->end;
	if (mapping_is_of_file(rest + 5) && !mapping_has_last_page(end - 1))
		return -EFAULT;
	range->at = end;
	return end < range->end;
}

/* Where the table cannot be read: brings the pages in, as a device does that pins them. */
static int
mapping_range_populate(const struct range *range)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = range->at & ~(page - 1);
	const int advice = range->write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;

	if (!madvise((void *)start, range->end - start, advice))
		return 0;
	/* A kernel before 5.14 rejects this advice even for an empty range. */
	return madvise((void *)start, 0, advice) ? 0 : -EFAULT;
}

int
soft_mapping_check(const void *address, size_t length, bool write)
{
	struct range range = { (uintptr_t)address, (uintptr_t)address + length, write };
	struct maps maps = { .fd = -1 };
	int r = 1;

	if (!length)
		return 0;
	maps.fd = soft_descriptors_keep(
	    (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC));
	if (maps.fd < 0 || !mapping_next_line(&maps)) {
		r = mapping_range_populate(&range);
	} else {
		do
			r = mapping_range_apply_line(maps.line, &range);
		while (r > 0 && mapping_next_line(&maps));
	}
	if (maps.fd >= 0)
		soft_close(maps.fd);
	return r > 0 ? -EFAULT : r;
}
