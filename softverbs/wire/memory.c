/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory.h"
#include "softverbs/device/descriptors.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Asks no file system that another process may serve. */
static bool
memory_device(int fd, uint64_t *device)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st))
		return false;
	*device = (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor;
	return S_ISREG(st.stx_mode);
}

/*
 * All that memfd_create() makes is on one device, but for huge pages, of which there may be too
 * few.
 */
static bool
memory_is_memfd(int fd)
{
	const int ours = soft_descriptors_keep(memfd_create("softverbs", MFD_CLOEXEC));
	uint64_t one, other;
	bool same;

	if (ours < 0)
		return false;
	same = memory_device(ours, &one) && memory_device(fd, &other) && one == other;
	soft_close(ours);
	return same;
}

static int
memory_open_path(const char *path, int flags)
{
	const int fd =
	    soft_descriptors_keep((int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC));

	return fd < 0 ? -errno : fd;
}

/* With O_PATH no function of the file is called, neither here nor when it is closed. */
int
soft_memory_open(pid_t pid, uint32_t number)
{
	char path[64];
	int place, fd = -EPROTO;

	if (pid <= 0)
		return -ESRCH;
	(void)snprintf(path, sizeof path, "/proc/%d/fd/%u", (int)pid, (unsigned int)number);
	place = memory_open_path(path, O_PATH);
	if (place < 0)
		return place;
	if (memory_is_memfd(place)) {
		(void)snprintf(path, sizeof path, "/proc/self/fd/%d", place);
		fd = memory_open_path(path, O_RDWR);
	}
	soft_close(place);
	return fd;
}
