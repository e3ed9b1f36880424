/* SPDX-License-Identifier: BSD-3-Clause */
/* The descriptors of a run: eventfds, the device's channels, epoll sets, and waiting for them. */
#include "world.h"
#include "world_parts.h"

#include <stdlib.h>

enum fd_kind { FD_FREE, FD_EVENT, FD_EPOLL, FD_CHANNEL, FD_CLOSED };

struct watch {
	int fd;
	uint32_t events;
	uint64_t data;
};

struct fd {
	enum fd_kind kind;
	bool tokens;
	uint64_t value;
	uint64_t sets; /* so far */
	struct watch watches[16];
	unsigned int n_watches;
	const char *name; /* NULL: named after its creator */
	const struct fiber *maker;
};

static struct fd fds[WORLD_FDS];
static unsigned int n_fds, n_open;

/* A channel with several events is read one by one; more than so many in a row is spinning. */
#define FUTILE_WAKES 6

void
world_fd_reset(void)
{
	for (unsigned int i = 0; i < n_fds; i++)
		fds[i].kind = FD_FREE;
	n_fds = n_open = 0;
}

/* Numbers are not used again in a run, so that a stale one never names another's. */
static int
fd_new(enum fd_kind kind)
{
	struct fd *fd = &fds[n_fds];

	if (n_fds == WORLD_FDS) {
		fprintf(stderr, "explore: more than %d descriptors\n", WORLD_FDS);
		exit(2);
	}
	fd->kind = kind;
	fd->tokens = false;
	fd->value = fd->sets = 0;
	fd->n_watches = 0;
	fd->name = NULL;
	fd->maker = sched.self;
	/* Identified by its creator, since its number depends on the order of the calls. */
	sched_step(OP_OPEN);
	sched.objects[OBJECT_FD(n_fds)] = sched.self->hash;
	n_open++;
	return (int)n_fds++;
}

static struct fd *
fd_of(int fd, const struct os_site *site)
{
	if (fd < 0 || (unsigned int)fd >= n_fds || fds[fd].kind == FD_CLOSED)
		violation("%s uses descriptor %d, which is %s", site->function, fd,
		    fd < 0 || (unsigned int)fd >= n_fds ? "none" : "closed");
	return &fds[fd];
}

int
world_event_open(bool tokens, const struct os_site *site)
{
	int fd;

	sched_point_minor(OP_OPEN, OBJECT_WORLD, site);
	if (world_fails(FAULT_OPEN, site))
		return -EMFILE;
	fd = fd_new(FD_EVENT);
	fds[fd].tokens = tokens;
	return fd;
}

void
world_event_set(int fd, const struct os_site *site)
{
	sched_point(OP_SET, OBJECT_FD(fd), site);
	context_release(&fds[fd_of(fd, site) - fds]);
	fds[fd].value++;
	fds[fd].sets++;
	sched_touch(OP_SET, OBJECT_FD(fd));
	sched_changed();
}

bool
world_event_clear(int fd, const struct os_site *site)
{
	struct fd *e;
	bool was;

	sched_point(OP_CLEAR, OBJECT_FD(fd), site);
	e = fd_of(fd, site);
	context_acquire(e);
	was = e->value > 0;
	if (was)
		e->value = e->tokens ? e->value - 1 : 0;
	sched_touch(OP_CLEAR, OBJECT_FD(fd));
	sched_changed();
	return was;
}

int
world_channel_open(const char *name)
{
	int fd = fd_new(FD_CHANNEL);

	fds[fd].name = name;
	return fd;
}

void
world_channel_set(int fd, unsigned int level)
{
	static const struct os_site site = { "the device", 0 };

	fds[fd].sets += level > fd_of(fd, &site)->value;
	fds[fd].value = level;
	sched_touch(OP_DEVICE, OBJECT_FD(fd));
	sched_changed();
}

static void
unwatch(struct fd *epoll, int fd)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < epoll->n_watches; i++)
		if (epoll->watches[i].fd != fd)
			epoll->watches[kept++] = epoll->watches[i];
	epoll->n_watches = kept;
}

void
world_close(int fd, const struct os_site *site)
{
	sched_point(OP_CLOSE, OBJECT_FD(fd), site);
	fd_of(fd, site)->kind = FD_CLOSED;
	n_open--;
	/* As the kernel does: a closed descriptor leaves the sets it is in. */
	for (unsigned int i = 0; i < n_fds; i++)
		if (fds[i].kind == FD_EPOLL)
			unwatch(&fds[i], fd);
	sched_touch(OP_CLOSE, OBJECT_FD(fd));
	sched_changed();
}

bool
world_is_readable(int fd)
{
	const struct fd *e = &fds[fd];

	switch (e->kind) {
	case FD_EVENT:
	case FD_CHANNEL:
		return e->value > 0;
	case FD_EPOLL:
		for (unsigned int i = 0; i < e->n_watches; i++)
			if (e->watches[i].events & EPOLLIN && world_is_readable(e->watches[i].fd))
				return true;
		return false;
	case FD_CLOSED:
		return true; /* it is for its user to find out */
	case FD_FREE:
		break;
	}
	return false;
}

static uint64_t
sets_of(int fd)
{
	const struct fd *e = &fds[fd];
	uint64_t n = e->sets;

	for (unsigned int i = 0; e->kind == FD_EPOLL && i < e->n_watches; i++)
		n += sets_of(e->watches[i].fd);
	return n;
}

/* A wake should have a cause: a thread that leaves readable what it does not read spins. */
static void
check_wake(struct fiber *f, uint64_t sets)
{
	f->futile = sets == f->woken_by ? f->futile + 1 : 0;
	f->woken_by = sets;
	if (f->futile > FUTILE_WAKES)
		violation("%s spins: it wakes again and again by what was set once", f->name);
}

static void
see_set(enum op op, int fd)
{
	const struct fd *e = &fds[fd];

	for (unsigned int i = 0; e->kind == FD_EPOLL && i < e->n_watches; i++)
		see_set(op, e->watches[i].fd);
	sched_see(op, OBJECT_FD(fd));
}

void
world_set_deadline(struct fiber *f, uint64_t deadline)
{
	f->deadline = deadline;
	if (deadline != UINT64_MAX && deadline > sched.last_deadline)
		sched.last_deadline = deadline;
}

int
world_poll(struct pollfd *polled, unsigned int n, uint64_t deadline, const struct os_site *site)
{
	struct fiber *f = sched.self;
	uint64_t sets = 0;
	int ready = 0;

	if (deadline) /* else it only looks */
		world_check_no_lock("waits", site);
	world_set_deadline(f, deadline);
	sched_point(OP_POLL, n ? OBJECT_FD(polled[0].fd) : OBJECT_CLOCK, site);
	for (unsigned int i = 0; i < n; i++)
		(void)fd_of(polled[i].fd, site);
	if (world_fails(FAULT_EINTR, site))
		return -EINTR;
	f->fds = polled;
	f->n_fds = n;
	f->waits = OP_POLL;
	while (!world_is_ready(f))
		sched_block(OP_POLL, OBJECT_CLOCK);
	for (unsigned int i = 0; i < n; i++) {
		(void)fd_of(polled[i].fd, site);
		polled[i].revents = world_is_readable(polled[i].fd) ? POLLIN : 0;
		ready += polled[i].revents != 0;
		see_set(OP_POLL, polled[i].fd);
		sets += sets_of(polled[i].fd);
	}
	if (ready && deadline)
		check_wake(f, sets);
	else
		sched_see(OP_POLL, OBJECT_CLOCK);
	return ready;
}

int
world_epoll_open(const struct os_site *site)
{
	sched_point_minor(OP_OPEN, OBJECT_WORLD, site);
	if (world_fails(FAULT_OPEN, site))
		return -EMFILE;
	return fd_new(FD_EPOLL);
}

int
world_epoll_ctl(
    int epfd, int op, int fd, uint32_t events, uint64_t data, const struct os_site *site)
{
	struct fd *e;
	unsigned int i;

	sched_point(OP_EPOLL_CTL, OBJECT_FD(epfd), site);
	e = fd_of(epfd, site);
	(void)fd_of(fd, site);
	for (i = 0; i < e->n_watches && e->watches[i].fd != fd; i++)
		;
	sched_touch(OP_EPOLL_CTL, OBJECT_FD(epfd));
	if (op == EPOLL_CTL_ADD) {
		if (i < e->n_watches)
			violation("%s adds descriptor %d twice", site->function, fd);
		if (world_fails(FAULT_EPOLL, site))
			return -ENOSPC;
		if (i == sizeof e->watches / sizeof *e->watches) {
			fprintf(stderr, "explore: an epoll set is full\n");
			exit(2);
		}
		e->watches[e->n_watches++] = (struct watch){ fd, events, data };
	} else {
		if (i == e->n_watches)
			violation("%s: descriptor %d is not in the set", site->function, fd);
		if (op == EPOLL_CTL_DEL)
			unwatch(e, fd);
		else
			e->watches[i] = (struct watch){ fd, events, data };
	}
	sched_changed();
	return 0;
}

int
world_epoll_wait(
    int epfd, struct epoll_event *events, int max, int timeout_ms, const struct os_site *site)
{
	struct fiber *f = sched.self;
	struct fd *e;
	int n = 0;

	sched.self->unread = 0;
	if (timeout_ms)
		world_check_no_lock("waits", site);
	world_set_deadline(
	    f, timeout_ms < 0 ? UINT64_MAX : sched.now + (uint64_t)timeout_ms * 1000000u);
	sched_point(OP_EPOLL_WAIT, OBJECT_FD(epfd), site);
	(void)fd_of(epfd, site);
	if (timeout_ms && world_fails(FAULT_EINTR, site))
		return -EINTR;
	f->epfd = epfd;
	f->waits = OP_EPOLL_WAIT;
	while (timeout_ms && !world_is_ready(f))
		sched_block(OP_EPOLL_WAIT, OBJECT_FD(epfd));
	e = fd_of(epfd, site);
	for (unsigned int i = 0; i < e->n_watches && n < max; i++) {
		struct watch *w = &e->watches[i];

		if (w->events & EPOLLIN && world_is_readable(w->fd)) {
			events[n].events = EPOLLIN;
			events[n++].data.u64 = w->data;
			if (w->events & EPOLLONESHOT) {
				w->events &= ~(uint32_t)EPOLLIN;
				sched_touch(OP_EPOLL_WAIT, OBJECT_FD(epfd));
			}
		}
	}
	see_set(OP_EPOLL_WAIT, epfd);
	if (n && timeout_ms)
		check_wake(f, sets_of(epfd));
	return n;
}

void
world_fd_check(void)
{
	for (unsigned int i = 0; n_open && i < n_fds; i++)
		if (fds[i].kind != FD_CLOSED)
			violation("descriptor leak: one that %s opened", fds[i].maker->name);
}

void
world_fd_name(unsigned int number, char *text, size_t size)
{
	const struct fd *fd = &fds[number];

	if (number >= n_fds)
		return;
	if (fd->name)
		snprintf(text, size, "channel %s", fd->name);
	else if (fd->kind == FD_EPOLL)
		snprintf(text, size, "an epoll set");
	else
		snprintf(text, size, "%s %s", fd->tokens ? "bell of" : "park of", fd->maker->name);
}
