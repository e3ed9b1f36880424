/* SPDX-License-Identifier: BSD-3-Clause */
/* These functions, except those that open and close, run on the progress thread. */
#include "acceptor.h"
#include "input.h"
#include "softverbs/device/descriptors.h"
#include "softverbs/device/guard.h"
#include "softverbs/device/runtime.h"
#include "softverbs/device/settings.h"
#include "softverbs/device/slot.h"
#include "softverbs/device/timer.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* Processes of this device send a hello at once, so there are few callers at any moment. */
#define CALLERS_MAX 64

/*
 * Without free descriptors no connection is accepted, and callers that sent a hello wait, for
 * this time.
 */
#define PAUSE 100000000u

struct caller {
	struct soft_watch watch;
	TAILQ_ENTRY(caller) link;
	uint64_t deadline;
	pid_t pid;     /* of its process, or 0 */
	size_t filled; /* bytes of the hello that came */
	struct soft_hello_frame hello;
};

static TAILQ_HEAD(callers, caller) callers = TAILQ_HEAD_INITIALIZER(callers); /* by deadline */
static unsigned int caller_count;
static uint64_t again; /* when the pause is over, or 0 */
static bool closed;

static void acceptor_accept(struct soft_watch *watch, uint32_t events);
static void acceptor_timer_expired(struct soft_timer *timer);
static struct soft_watch acceptor = { -1, acceptor_accept };
static struct soft_timer clock_timer = { .fn = acceptor_timer_expired };

static bool
acceptor_caller_said_hello(const struct caller *caller)
{
	return caller->filled == sizeof caller->hello;
}

static unsigned int
acceptor_silent_of(pid_t pid)
{
	const struct caller *caller;
	unsigned int n = 0;

	TAILQ_FOREACH (caller, &callers, link)
		n += caller->pid == pid && !acceptor_caller_said_hello(caller);
	return n;
}

/*
 * The oldest caller that said no hello, of the process that has most of them: a process that calls
 * very often costs others nothing.  NULL if there is none.
 */
static struct caller *
acceptor_silent_caller(void)
{
	struct caller *caller, *found = NULL;
	unsigned int most = 0, n;

	TAILQ_FOREACH (caller, &callers, link) {
		if (acceptor_caller_said_hello(caller))
			continue;
		n = acceptor_silent_of(caller->pid);
		if (n > most) {
			most = n;
			found = caller;
		}
	}
	return found;
}

static void
acceptor_caller_remove(struct caller *caller)
{
	TAILQ_REMOVE(&callers, caller, link);
	caller_count--;
	free(caller);
}

static void
acceptor_caller_close(struct caller *caller, const char *why)
{
	int fd = caller->watch.fd;

	soft_debug("connection %d closed: %s", fd, why);
	soft_watch_remove(&caller->watch);
	acceptor_caller_remove(caller);
	soft_guard_close(fd);
}

static void
acceptor_start_timer(void)
{
	const struct caller *first = TAILQ_FIRST(&callers);
	uint64_t when = first ? first->deadline : UINT64_MAX;

	if (again && again < when)
		when = again;
	if (when != UINT64_MAX)
		soft_timer_start(&clock_timer, when);
}

static void
acceptor_pause(void)
{
	if (!again)
		again = soft_now() + PAUSE;
	acceptor_start_timer();
}

/* The whole hello has come. */
static void
acceptor_caller_greet(struct caller *caller)
{
	int fd = caller->watch.fd, r;

	if (!soft_frame_valid(&caller->hello.frame) ||
	    caller->hello.frame.type != SOFT_FRAME_HELLO) {
		acceptor_caller_close(caller, "no hello");
		return;
	}
	soft_watch_remove(&caller->watch);
	soft_input_lock();
	r = soft_peer_accept(fd, &caller->hello.hello);
	soft_input_unlock();
	if (r == -EAGAIN) {
		acceptor_pause();
		return;
	}
	acceptor_caller_remove(caller);
	if (r)
		soft_guard_close(fd);
}

/* Reads exactly a hello; what follows is for the link. */
static void
acceptor_caller_read(struct soft_watch *watch, uint32_t events)
{
	struct caller *caller = soft_container_of(watch, struct caller, watch);
	const ssize_t n = soft_guard_receive(watch->fd, (char *)&caller->hello + caller->filled,
	    sizeof caller->hello - caller->filled);

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		acceptor_caller_close(
		    caller, n < 0 && errno == EBADMSG ? "it sent a descriptor" : "it hung up");
		return;
	}
	caller->filled += (size_t)n;
	if (acceptor_caller_said_hello(caller))
		acceptor_caller_greet(caller);
}

/*
 * Closes a caller that said no hello; false if there is none.  One whose hello has come is greeted
 * instead, because this process may not have run in time.
 */
static bool
acceptor_make_room(const char *why)
{
	const unsigned int count = caller_count;
	struct caller *caller;

	while ((caller = acceptor_silent_caller())) {
		acceptor_caller_read(&caller->watch, 0);
		if (caller_count < count)
			return true;
		if (acceptor_caller_said_hello(caller)) /* it waits for a descriptor */
			continue;
		acceptor_caller_close(caller, why);
		return true;
	}
	return false;
}

static void
acceptor_timer_expired(struct soft_timer *timer)
{
	struct caller *caller, *next;
	uint64_t now = soft_now();
	bool pause_over = again && again <= now;

	(void)timer;
	if (pause_over) {
		again = 0;
		if (closed)
			(void)soft_watch_change(&acceptor, EPOLLIN);
		closed = false;
	}
	/* Input that has arrived is read first, because this process may not have run in time. */
	for (caller = TAILQ_FIRST(&callers); caller; caller = next) {
		next = TAILQ_NEXT(caller, link);
		if (acceptor_caller_said_hello(caller) && pause_over)
			acceptor_caller_greet(caller);
		else if (!acceptor_caller_said_hello(caller) && caller->deadline <= now)
			acceptor_caller_read(&caller->watch, 0);
	}
	while ((caller = TAILQ_FIRST(&callers)) && caller->deadline <= now)
		acceptor_caller_close(caller, "it said nothing");
	acceptor_start_timer();
}

/*
 * Without a pause the socket would be readable again at once, because the connection stays in the
 * backlog.
 */
static void
acceptor_no_descriptor(int error)
{
	if (acceptor_make_room("its descriptor is needed"))
		return;
	soft_debug("no connection is accepted: errno %d", error);
	(void)soft_watch_change(&acceptor, 0);
	closed = true;
	acceptor_pause();
}

static struct caller *
acceptor_caller_open(int fd)
{
	struct caller *caller = calloc(1, sizeof *caller);
	struct ucred of = { 0 };
	socklen_t length = sizeof of;

	if (!caller)
		return NULL;
	(void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &of, &length);
	caller->pid = of.pid;
	caller->watch = (struct soft_watch){ fd, acceptor_caller_read };
	caller->deadline = soft_now() + soft_settings_scale_time(SOFT_ANSWER_TIME);
	if (soft_watch_add(&caller->watch, EPOLLIN)) {
		free(caller);
		return NULL;
	}
	return caller;
}

static void
acceptor_accept(struct soft_watch *watch, uint32_t events)
{
	struct caller *caller;
	int fd;

	(void)events;
	fd = soft_descriptors_keep(accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
			acceptor_no_descriptor(errno);
		return;
	}
	soft_guard_accepted(fd);
	caller = soft_peer_trusted(fd) ? acceptor_caller_open(fd) : NULL;
	if (!caller) {
		soft_guard_close(fd);
		return;
	}
	if (caller_count == CALLERS_MAX && !acceptor_make_room("too many callers"))
		acceptor_caller_close(TAILQ_FIRST(&callers), "too many callers");
	TAILQ_INSERT_TAIL(&callers, caller, link);
	caller_count++;
	acceptor_start_timer();
}

int
soft_acceptor_open(void)
{
	acceptor.fd = soft_slot_fd();
	again = 0;
	closed = false;
	return soft_watch_add(&acceptor, EPOLLIN);
}

void
soft_acceptor_close(void)
{
	struct caller *caller;

	(void)soft_timer_stop(&clock_timer);
	while ((caller = TAILQ_FIRST(&callers)))
		acceptor_caller_close(caller, "the device is closed");
}

void
soft_acceptor_reset(void)
{
	struct caller *caller;

	TAILQ_FOREACH (caller, &callers, link)
		soft_close(caller->watch.fd);
	soft_runtime_leak(TAILQ_FIRST(&callers));
	TAILQ_INIT(&callers);
	caller_count = 0;
	soft_timer_init(&clock_timer, acceptor_timer_expired);
}
