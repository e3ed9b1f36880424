/* SPDX-License-Identifier: BSD-3-Clause */
/* These functions, except those that open and close, run on the progress thread. */
#include "control.h"
#include "client.h"
#include "softverbs/device/descriptors.h"
#include "softverbs/device/guard.h"
#include "softverbs/device/names.h"
#include "softverbs/device/progress.h"
#include "softverbs/device/slot.h"
#include "softverbs/device/timer.h"
#include "softverbs/fault/command.h"

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How long no client is accepted where the process has no descriptor for it. */
#define PAUSE (100 * SOFT_MILLISECOND)
#define BACKLOG 16

static bool paused;

static void control_accept(struct soft_watch *watch, uint32_t events);
static void control_timer(struct soft_timer *timer);
static struct soft_watch listener = { -1, control_accept };
static struct soft_timer patience = { .fn = control_timer };

static void
control_start_timer(void)
{
	uint64_t next = soft_clients_close(soft_now());

	if (paused)
		next = soft_now() + PAUSE;
	if (next != UINT64_MAX)
		soft_timer_start(&patience, next);
}

static void
control_timer(struct soft_timer *unused)
{
	(void)unused;
	if (paused)
		(void)soft_watch_change(&listener, EPOLLIN);
	paused = false;
	control_start_timer();
}

static void
control_accept(struct soft_watch *watch, uint32_t events)
{
	int fd;

	(void)events;
	fd = soft_descriptors_keep(accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
	if (fd < 0) {
		/* Else the socket would be readable again at once. */
		paused = errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS;
		if (paused)
			(void)soft_watch_change(&listener, 0);
		control_start_timer();
		return;
	}
	soft_guard_accepted(fd);
	if (!soft_client_open(fd))
		soft_guard_close(fd);
	control_start_timer();
}

/* What another owner of the slot has left was removed with its other sockets. */
static int
control_listen(int fd)
{
	struct sockaddr_un address;
	const socklen_t length = soft_name_control_address(&address, soft_slot_number());
	int r;

	soft_guard_begin(fd);
	if (bind(fd, (struct sockaddr *)&address, length))
		return -errno;
	r = soft_name_control_allow(soft_slot_number());
	if (r)
		return r;
	return listen(fd, BACKLOG) ? -errno : 0;
}

int
soft_control_open(void)
{
	int r;

	if (!soft_commands)
		return 0;
	listener.fd = soft_descriptors_keep(
	    (int)syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (listener.fd < 0)
		return -errno;
	r = control_listen(listener.fd);
	if (!r)
		r = soft_watch_add(&listener, EPOLLIN);
	if (!r)
		return 0;
	soft_close(listener.fd);
	listener.fd = -1;
	return r;
}

void
soft_control_close(void)
{
	(void)soft_timer_stop(&patience);
	(void)soft_clients_close(UINT64_MAX - 1);
	if (listener.fd >= 0)
		soft_guard_close_listener(listener.fd);
	listener.fd = -1;
	paused = false;
}

void
soft_control_reset(void)
{
	soft_clients_reset();
	if (listener.fd >= 0)
		soft_close(listener.fd);
	listener.fd = -1;
	paused = false;
	soft_timer_init(&patience, control_timer);
}
