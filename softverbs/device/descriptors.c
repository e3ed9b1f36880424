/* SPDX-License-Identifier: BSD-3-Clause */
#include "descriptors.h"
#include "soft.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

int
soft_descriptors_keep(int fd)
{
	int copy, error;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	error = errno;
	soft_close(fd);
	errno = error;
	return copy;
}

/* If the last is in use, the table is that large. */
void
soft_descriptors_reserve(int fd)
{
	struct rlimit limit = { .rlim_cur = SOFT_DESCRIPTORS };
	int last;

	(void)getrlimit(RLIMIT_NOFILE, &limit);
	last = (int)(limit.rlim_cur < SOFT_DESCRIPTORS ? limit.rlim_cur : SOFT_DESCRIPTORS) - 1;
	fd = last > 0 ? fcntl(fd, F_DUPFD_CLOEXEC, last) : -1;
	if (fd >= 0)
		soft_close(fd);
}
