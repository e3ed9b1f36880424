/* SPDX-License-Identifier: BSD-3-Clause */
#include "write.h"

#include "softverbs/device/mode.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#define PAUSE 20 /* milliseconds between two looks for a reader */

#define MILLISECOND 1000000u

/* In nanoseconds: what counts in milliseconds gives up before its time. */
static uint64_t
write_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t
write_end(unsigned int limit)
{
	return write_clock() + (uint64_t)limit * MILLISECOND;
}

/* In milliseconds, for poll(): rounded up. */
static int
write_left(uint64_t end)
{
	const uint64_t now = write_clock();

	return now < end ? (int)((end - now + MILLISECOND - 1) / MILLISECOND) : 0;
}

static void
write_pause(void)
{
	const struct timespec pause = { .tv_nsec = PAUSE * 1000000L };

	nanosleep(&pause, NULL);
}

/*
 * Where poll() finds room, a write of PIPE_BUF does not wait, whatever the flags of the descriptor
 * are.
 */
static int
write_until(int fd, const char *bytes, size_t size, uint64_t end)
{
	struct pollfd room = { .fd = fd, .events = POLLOUT };
	ssize_t n;

	while (size) {
		n = poll(&room, 1, write_left(end));
		if (!n)
			return EAGAIN;
		if (n > 0)
			n = write(fd, bytes, size < PIPE_BUF ? size : PIPE_BUF);
		if (n > 0) {
			bytes += n;
			size -= (size_t)n;
		} else if (!n || (errno != EINTR && errno != EAGAIN)) {
			return n ? errno : EIO;
		} else if (errno == EAGAIN) {
			if (!write_left(end))
				return EAGAIN;
			write_pause();
		}
	}
	return 0;
}

/* A reader that has gone ends no program. */
static int
write_unsignalled(int fd, const char *bytes, size_t size, uint64_t end)
{
	const struct timespec none = { 0, 0 };
	sigset_t pipe, saved, pending;
	bool before;
	int error;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	before = !sigpending(&pending) && sigismember(&pending, SIGPIPE) == 1;
	pthread_sigmask(SIG_BLOCK, &pipe, &saved);
	error = write_until(fd, bytes, size, end);
	if (error == EPIPE && !before)
		while (sigtimedwait(&pipe, NULL, &none) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
	return error;
}

int
soft_write(int fd, const char *bytes, size_t size, unsigned int limit)
{
	return write_unsignalled(fd, bytes, size, write_end(limit));
}

/* What is created can be opened by the other processes of the run, whatever the umask takes. */
static int
write_open(const char *path)
{
	const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	int fd = open(path, flags);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	fd = open(path, flags | O_CREAT | O_EXCL, 0666);
	if (fd >= 0)
		(void)soft_mode_give(fd, S_IFREG, S_IRUSR | S_IWUSR);
	else if (errno == EEXIST) /* by another process, or through a link */
		fd = open(path, flags | O_CREAT, 0666);
	return fd;
}

int
soft_append(const char *path, const char *bytes, size_t size, unsigned int limit)
{
	const uint64_t end = write_end(limit);
	int fd, error;

	while ((fd = write_open(path)) < 0) {
		if (errno != EINTR && (errno != ENXIO || !write_left(end)))
			return errno;
		write_pause();
	}
	error = write_unsignalled(fd, bytes, size, end);
	close(fd);
	return error;
}
