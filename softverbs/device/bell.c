/* SPDX-License-Identifier: BSD-3-Clause */
#include "bell.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

int
soft_bell_open(void)
{
	return eventfd(0, EFD_CLOEXEC);
}

/*
 * write(2) and read(2) of the C library are cancellation points; a thread cancelled in one would
 * leave the lock of the event list held.  syscall(2) is no cancellation point.
 */
void
soft_bell_ring(int fd)
{
	const uint64_t one = 1;
	int saved = errno;

	while (syscall(SYS_write, fd, &one, sizeof one) < 0 && errno == EINTR)
		;
	errno = saved;
}

void
soft_bell_clear(int fd)
{
	uint64_t count;
	struct iovec iov = { &count, sizeof count };
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	const struct timespec none = { 0, 0 };
	int saved = errno;
	long r;

	do
		r = syscall(SYS_preadv2, fd, &iov, 1, -1L, -1L, RWF_NOWAIT);
	while (r < 0 && errno == EINTR);
	/*
	 * An old kernel lacks RWF_NOWAIT for eventfds.  Then poll first, because the consumer may
	 * have read the descriptor.
	 */
	if (r < 0 && (errno == EOPNOTSUPP || errno == ENOSYS) &&
	    syscall(SYS_ppoll, &pfd, 1, &none, NULL, 0) == 1)
		(void)syscall(SYS_read, fd, &count, sizeof count);
	errno = saved;
}

bool
soft_bell_is_blocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return false;
	if (flags & O_NONBLOCK)
		errno = EAGAIN;
	return !(flags & O_NONBLOCK);
}
