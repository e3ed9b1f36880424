/* SPDX-License-Identifier: BSD-3-Clause */
#include "bell.h"
#include "descriptors.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

int
soft_bell_open(void)
{
	return soft_descriptors_keep(eventfd(0, EFD_CLOEXEC));
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

/* Without waiting: -1 with EAGAIN if it is not rung, with another errno if the kernel cannot. */
static long
bell_read(int fd)
{
	uint64_t count;
	struct iovec iov = { &count, sizeof count };
	long r;

	do
		r = syscall(SYS_preadv2, fd, &iov, 1, -1L, -1L, RWF_NOWAIT);
	while (r < 0 && errno == EINTR);
	return r;
}

bool
soft_bell_may_be_read(int fd)
{
	const int saved = errno;
	const bool may = bell_read(fd) < 0 && errno == EAGAIN;

	errno = saved;
	return may;
}

void
soft_bell_clear(int fd)
{
	uint64_t count;
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	const struct timespec none = { 0, 0 };
	int saved = errno;

	/* The consumer may have read the descriptor. */
	if (bell_read(fd) < 0 && errno != EAGAIN &&
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

int
soft_bell_wait(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return soft_bell_is_blocking(fd) && poll(&pfd, 1, -1) > 0 ? 0 : -1;
}
