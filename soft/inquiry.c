/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inquiry -- asking which process owns a port
 *
 * The owner of a listening port says hello on the port's socket and hangs up; the hello
 * names its slot.  The request that waited for it is sent to that slot then.
 */
#include "inquiry.h"
#include "peer.h"
#include "runtime.h"
#include "slot.h"
#include "timer.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How long to wait before knocking again at a door with a full queue. */
#define KNOCK_AGAIN 1000000u

struct soft_inquiry {
	LIST_ENTRY(soft_inquiry) link; /* guarded by soft_cm_lock */
	struct soft_watch watch;
	struct soft_timer timer;
	struct soft_cm_message request;
	struct soft_hello_frame hello;
	size_t filled;
};

static LIST_HEAD(, soft_inquiry) inquiries = LIST_HEAD_INITIALIZER(inquiries);

static void
finish(struct soft_inquiry *inquiry)
{
	LIST_REMOVE(inquiry, link);
	free(inquiry);
}

static bool
hello_good(const struct soft_inquiry *inquiry)
{
	const struct soft_wire_hello *hello = &inquiry->hello.hello;

	return soft_frame_valid(&inquiry->hello.frame) &&
	    inquiry->hello.frame.type == SOFT_FRAME_HELLO && hello->magic == SOFT_WIRE_MAGIC &&
	    hello->version == SOFT_WIRE_VERSION && hello->slot >= SOFT_SLOT_MIN &&
	    hello->slot <= SOFT_SLOT_MAX;
}

static void
answered(struct soft_watch *watch, uint32_t events)
{
	struct soft_inquiry *inquiry = soft_container_of(watch, struct soft_inquiry, watch);
	ssize_t n;

	(void)events;
	n = read(watch->fd, (char *)&inquiry->hello + inquiry->filled,
	    sizeof inquiry->hello - inquiry->filled);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	inquiry->filled += n > 0 ? (size_t)n : 0;
	if (n > 0 && inquiry->filled < sizeof inquiry->hello)
		return;
	soft_watch_remove(watch);
	soft_close(watch->fd);
	pthread_mutex_lock(&soft_cm_lock);
	if (inquiry->filled == sizeof inquiry->hello && hello_good(inquiry))
		soft_cm_located(&inquiry->request, inquiry->hello.hello.slot);
	else
		soft_cm_located(&inquiry->request, 0);
	finish(inquiry);
	pthread_mutex_unlock(&soft_cm_lock);
}

/* 0 once a hello is awaited, -EAGAIN to knock again, another -errno if nobody is there. */
static int
knock(struct soft_inquiry *inquiry)
{
	struct sockaddr_un address;
	socklen_t length;
	int fd, r;

	length = soft_name_address(&address, "softverbs.1.port.%04x.%u",
	    inquiry->request.port_space, inquiry->request.port);
	fd = (int)syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (syscall(SYS_connect, fd, &address, length)) {
		r = -errno;
	} else if (!soft_peer_trusted(fd)) {
		r = -EACCES;
	} else {
		inquiry->watch = (struct soft_watch){ fd, answered };
		r = soft_watch_add(&inquiry->watch, EPOLLIN);
	}
	if (r)
		soft_close(fd);
	return r;
}

static void
knock_again(struct soft_timer *timer)
{
	struct soft_inquiry *inquiry = soft_container_of(timer, struct soft_inquiry, timer);
	int r;

	pthread_mutex_lock(&soft_cm_lock);
	inquiry->watch.fd = -1;
	r = knock(inquiry);
	if (r == -EAGAIN) {
		soft_timer_set(timer, soft_now() + KNOCK_AGAIN);
	} else if (r) {
		soft_cm_located(&inquiry->request, 0);
		finish(inquiry);
	}
	pthread_mutex_unlock(&soft_cm_lock);
}

int
soft_inquire(const struct soft_cm_message *request)
{
	struct soft_inquiry *inquiry = calloc(1, sizeof *inquiry);
	int r;

	if (!inquiry)
		return -ENOMEM;
	inquiry->request = *request;
	inquiry->watch.fd = -1;
	soft_timer_init(&inquiry->timer, knock_again);
	LIST_INSERT_HEAD(&inquiries, inquiry, link);
	r = knock(inquiry);
	if (r == -EAGAIN) {
		soft_timer_set(&inquiry->timer, soft_now() + KNOCK_AGAIN);
		r = 0;
	}
	if (r)
		finish(inquiry);
	return r;
}

void
soft_inquiries_stop(void)
{
	struct soft_inquiry *inquiry;

	while ((inquiry = LIST_FIRST(&inquiries))) {
		soft_timer_cancel(&inquiry->timer);
		if (inquiry->watch.fd >= 0)
			soft_close(inquiry->watch.fd);
		finish(inquiry);
	}
}

void
soft_inquiries_reset(void)
{
	struct soft_inquiry *inquiry;

	LIST_FOREACH(inquiry, &inquiries, link)
		if (inquiry->watch.fd >= 0)
			soft_close(inquiry->watch.fd);
	soft_runtime_abandon(LIST_FIRST(&inquiries));
	LIST_INIT(&inquiries);
}
