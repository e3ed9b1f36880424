/* SPDX-License-Identifier: BSD-3-Clause */
#include "guard.h"
#include "descriptors.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

/*
 * Sockets with foreign descriptors that are closed at one time.  For one more the oldest is
 * interrupted.
 */
#define CLOSERS 8

/* Those that wait for that, because none can be interrupted.  One more stays open. */
#define PARKED_MAX 64

#define STACK (256u << 10)

/* A thread that is at a socket, or has been. */
struct closer {
	pthread_t thread;
	bool started;
	bool cancelled;
	atomic_bool begun; /* to close: it may be cancelled */
	uint64_t number;   /* in the order of their starts */
	int fd;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct closer closers[CLOSERS];
static int parked[PARKED_MAX];
static unsigned int parked_count;
static uint64_t starts;

/* The kernel may not refuse descriptors: look before each read. */
static atomic_bool suspicious;

static void
guard_lock(void) UNCHECKED
{
	pthread_mutex_lock(&lock);
}

static void
guard_unlock(void) UNCHECKED
{
	pthread_mutex_unlock(&lock);
}

void
soft_guard_begin(int fd)
{
	const int none = 0;

	if (setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &none, sizeof none))
		suspicious = true;
}

/* It has what its listener has, from the moment at which it was connected. */
void
soft_guard_accepted(int fd)
{
	socklen_t length = sizeof(int);
	int passes = 1;

	if (getsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &passes, &length) || passes) {
		suspicious = true;
		soft_guard_begin(fd);
	}
}

static ssize_t
guard_read(int fd, void *bytes, size_t length, int flags)
{
	return syscall(SYS_recvfrom, fd, bytes, length, flags | MSG_DONTWAIT, NULL, NULL);
}

/*
 * To look puts no descriptor into this process, and gives up none.  What has come later is behind
 * the bytes that were found, so at most these are read.
 */
static ssize_t
guard_look(int fd, void *bytes, size_t length)
{
	struct iovec iov = { bytes, length };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
	const ssize_t n = syscall(SYS_recvmsg, fd, &message, MSG_PEEK | MSG_DONTWAIT);

	if (n < 0 || !(message.msg_flags & MSG_CTRUNC))
		return n;
	errno = EBADMSG;
	return -1;
}

ssize_t
soft_guard_receive(int fd, void *bytes, size_t length)
{
	ssize_t n;

	if (!suspicious)
		return guard_read(fd, bytes, length, 0);
	n = guard_look(fd, bytes, length);
	return n <= 0 ? n : guard_read(fd, bytes, (size_t)n, 0);
}

/*
 * Cancelled when it has begun, because a signal ends the wait for a socket that lingers.  The
 * descriptor is not in the table any more then.
 */
static void *
guard_closer_run(void *arg)
{
	struct closer *closer = arg;
	const int fd = closer->fd;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	closer->begun = true;
	(void)syscall(SYS_close, fd);
	return NULL;
}

static bool
guard_closer_join(struct closer *closer, uint64_t wait)
{
	struct timespec until;

	if (!closer->started)
		return true;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long)wait;
	until.tv_sec += until.tv_nsec / (long)SOFT_SECOND;
	until.tv_nsec %= (long)SOFT_SECOND;
	if (wait ? pthread_timedjoin_np(closer->thread, NULL, &until) :
		   pthread_tryjoin_np(closer->thread, NULL))
		return false;
	closer->started = false;
	return true;
}

static bool
guard_closer_start(struct closer *closer, int fd)
{
	sigset_t all, saved;
	pthread_attr_t attr;
	int r;

	closer->fd = fd;
	closer->begun = closer->cancelled = false;
	if (pthread_attr_init(&attr))
		return false;
	(void)pthread_attr_setstacksize(&attr, STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &saved);
	r = pthread_create(&closer->thread, &attr, guard_closer_run, closer);
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
	pthread_attr_destroy(&attr);
	closer->started = !r;
	closer->number = ++starts;
	return !r;
}

/* A closer that is free; if there is none the oldest is interrupted, for the next time. */
static struct closer *
guard_closer_find(void)
{
	struct closer *oldest = NULL;

	for (unsigned int i = 0; i < CLOSERS; i++) {
		if (guard_closer_join(&closers[i], 0))
			return &closers[i];
		if (closers[i].begun && !closers[i].cancelled &&
		    (!oldest || closers[i].number < oldest->number))
			oldest = &closers[i];
	}
	if (oldest) {
		oldest->cancelled = true;
		pthread_cancel(oldest->thread);
	}
	return NULL;
}

/* Those that were parked come first, in any order. */
static void
guard_hand_over(int fd)
{
	struct closer *closer;

	guard_lock();
	while (parked_count && (closer = guard_closer_find()) &&
	       guard_closer_start(closer, parked[parked_count - 1]))
		parked_count--;
	closer = guard_closer_find();
	if ((!closer || !guard_closer_start(closer, fd)) && parked_count < PARKED_MAX)
		parked[parked_count++] = fd;
	guard_unlock();
}

/* After the shutdown nothing more arrives, so what was looked through stays harmless. */
void
soft_guard_close(int fd)
{
	const int saved = errno;
	char bytes[4096];
	ssize_t n = 1;

	if (suspicious) {
		(void)syscall(SYS_shutdown, fd, SHUT_RDWR);
		while (n > 0)
			n = soft_guard_receive(fd, bytes, sizeof bytes);
	}
	if (n < 0 && errno == EBADMSG)
		guard_hand_over(fd);
	else
		soft_close(fd);
	errno = saved;
}

/* After the shutdown no process connects; those that have done so are still there. */
void
soft_guard_close_listener(int fd)
{
	int connection;

	(void)syscall(SYS_shutdown, fd, SHUT_RDWR);
	while ((connection = soft_descriptors_keep(
		    (int)syscall(SYS_accept4, fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK))) >= 0)
		soft_guard_close(connection);
	soft_close(fd);
}

static bool
guard_closer_begins(const struct closer *closer)
{
	const struct timespec pause = { 0, SOFT_MILLISECOND };

	for (int i = 0; i < 1000 && !closer->begun; i++)
		nanosleep(&pause, NULL);
	return closer->begun;
}

/* Ends those that run; one that cannot be interrupted ends later by itself. */
static void
guard_closers_end(void)
{
	for (unsigned int i = 0; i < CLOSERS; i++)
		if (closers[i].started && guard_closer_begins(&closers[i]))
			pthread_cancel(closers[i].thread);
	for (unsigned int i = 0; i < CLOSERS; i++)
		if (!guard_closer_join(&closers[i], SOFT_SECOND)) {
			pthread_detach(closers[i].thread);
			closers[i].started = false;
		}
}

void
soft_guard_stop(void)
{
	guard_lock();
	guard_closers_end();
	while (parked_count && guard_closer_start(&closers[0], parked[parked_count - 1])) {
		parked_count--;
		guard_closers_end();
	}
	parked_count = 0;
	guard_unlock();
}

void
soft_guard_reset(void)
{
	pthread_mutex_init(&lock, NULL);
	for (unsigned int i = 0; i < CLOSERS; i++)
		closers[i].started = false;
	parked_count = 0;
}
