/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is between the device and the world: the thread that pumps acts as the progress thread,
 * time stands until it is advanced, and connections are pairs of sockets, of which the device reads
 * and writes one as it does any.
 */
#include "fuzz.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "softverbs/cm/port.h"
#include "softverbs/device/progress.h"
#include "softverbs/device/slot.h"
#include "softverbs/device/timer.h"

#define WATCHES 1024

static struct {
	struct soft_watch *watch;
	uint32_t events;
} watches[WATCHES];
static unsigned int count;
static int caller = -1; /* at the door */
static uint64_t now;
static uint32_t dice;

/* --- softverbs/device/progress.h */

int
soft_progress_start(void)
{
	return 0;
}

void
soft_progress_stop(void)
{
	count = 0;
}

void
soft_progress_wake(void)
{
}

void
soft_progress_reset(void)
{
}

static int
find(const struct soft_watch *watch)
{
	for (unsigned int i = 0; i < count; i++)
		if (watches[i].watch == watch)
			return (int)i;
	return -1;
}

int
soft_watch_add(struct soft_watch *watch, uint32_t events)
{
	if (find(watch) >= 0)
		return -EEXIST;
	if (count == WATCHES)
		return -ENOSPC;
	watches[count].watch = watch;
	watches[count++].events = events;
	return 0;
}

int
soft_watch_change(struct soft_watch *watch, uint32_t events)
{
	int i = find(watch);

	if (i < 0)
		return -ENOENT;
	watches[i].events = events;
	return 0;
}

void
soft_watch_remove(struct soft_watch *watch)
{
	int i = find(watch);

	if (i >= 0)
		watches[i] = watches[--count];
}

unsigned int
seam_watches(void)
{
	return count;
}

static uint32_t
to_epoll(short revents)
{
	return (revents & POLLIN ? (uint32_t)EPOLLIN : 0) |
	       (revents & POLLOUT ? (uint32_t)EPOLLOUT : 0) |
	       (revents & POLLHUP ? (uint32_t)EPOLLHUP : 0) |
	       (revents & POLLERR ? (uint32_t)EPOLLERR : 0);
}

/* Whether anything was there to be done. */
static bool
round_of_watches(void)
{
	struct soft_watch *asked[WATCHES];
	struct pollfd fds[WATCHES];
	const unsigned int n = count;
	bool some = false;

	for (unsigned int i = 0; i < n; i++) {
		const uint32_t events = watches[i].events;

		asked[i] = watches[i].watch;
		/* The door is opened by seam_dial() alone. */
		fds[i].fd = asked[i]->fd == soft_slot_fd() ? -1 : asked[i]->fd;
		fds[i].events =
		    (short)((events & EPOLLIN ? POLLIN : 0) | (events & EPOLLOUT ? POLLOUT : 0));
		fds[i].revents = 0;
	}
	if (poll(fds, n, 0) <= 0)
		return false;
	for (unsigned int i = 0; i < n; i++) {
		if (!fds[i].revents || find(asked[i]) < 0 || asked[i]->fd != fds[i].fd)
			continue; /* removed by one before it */
		asked[i]->fn(asked[i], to_epoll(fds[i].revents));
		some = true;
	}
	return some;
}

void
seam_pump(unsigned int rounds)
{
	bool more = true;

	while (more && rounds--) {
		(void)soft_timer_run();
		more = round_of_watches();
		peer_hear();
	}
}

/* --- time and chance */

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int
__wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (clock != CLOCK_MONOTONIC)
		return __real_clock_gettime(clock, ts);
	ts->tv_sec = (time_t)(now / 1000000000u);
	ts->tv_nsec = (long)(now % 1000000000u);
	return 0;
}

uint32_t __wrap_soft_random32(void);
uint32_t
__wrap_soft_random32(void)
{
	dice = dice * 1664525u + 1013904223u;
	return dice ^ dice >> 16;
}

void
seam_clock_advance(uint64_t nanoseconds)
{
	now += nanoseconds;
}

bool
seam_clock_to_next(uint64_t horizon)
{
	const uint64_t next = soft_timer_run();

	if (next == UINT64_MAX || next > horizon)
		return false;
	if (next > now)
		now = next;
	return true;
}

uint64_t
seam_clock(void)
{
	return now;
}

void
seam_begin(void)
{
	dice = 1;
}

/* --- connections */

int
seam_pair(int *ours)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
		return -errno;
	*ours = ends[0];
	return ends[1];
}

int
seam_dial(void)
{
	int ours = -1;

	caller = seam_pair(&ours);
	if (caller < 0)
		return -1;
	for (unsigned int i = 0; i < count; i++)
		if (watches[i].watch->fd == soft_slot_fd())
			watches[i].watch->fn(watches[i].watch, EPOLLIN);
	if (caller < 0)
		return ours;
	close(caller); /* not let in */
	caller = -1;
	close(ours);
	return -1;
}

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
int
__wrap_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
	int accepted = caller;

	(void)fd, (void)address, (void)length, (void)flags;
	caller = -1;
	if (accepted < 0)
		errno = EAGAIN;
	return accepted;
}

int __wrap_soft_slot_connect(unsigned int slot);
int
__wrap_soft_slot_connect(unsigned int slot)
{
	int fd = peer_answer_door(slot);

	return fd < 0 ? -ECONNREFUSED : fd;
}

unsigned int __wrap_soft_port_owner(uint16_t port_space, uint16_t port);
unsigned int
__wrap_soft_port_owner(uint16_t port_space, uint16_t port)
{
	return port_space == RDMA_PS_TCP && port == PEER_PORT ? peer_slot(0) : 0;
}
