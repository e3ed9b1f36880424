/* SPDX-License-Identifier: BSD-3-Clause */
#include "world.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

#define ARENA_SIZE  (256 * 1024)
#define BLOCKS	    256
#define POISON	    0xdb
#define LIVE	    0x4c495645u
#define DEAD	    0x44454144u

struct block {
	uint32_t mark;
	uint32_t size;
	const struct os_site *site;
};

static unsigned char arena[ARENA_SIZE] __attribute__((aligned(16)));
static size_t arena_used;
static struct block *blocks[BLOCKS]; /* all of this run, the freed ones too */
static unsigned int n_blocks, n_live;
static bool use_heap; /* under a sanitizer, which then judges every access */

/* ---- descriptors ---- */

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
	const char *name; /* NULL: called after who made it */
	const struct fiber *maker;
};

static struct fd fds[WORLD_FDS];
static unsigned int n_fds, n_open;

/* A channel with several events is read one by one; more than so many in a row is spinning. */
#define FUTILE_WAKES 6

#define MUTEXES 32
static const char *mutex_names[MUTEXES];
static unsigned int n_mutexes, n_threads;

unsigned int world_faults;

static bool
fails(unsigned int fault, const struct os_site *site)
{
	return world_faults & fault && sched_fault(2, site);
}

void
world_reset(void)
{
	use_heap = context_is_asan() || context_is_tsan();
	for (unsigned int i = 0; use_heap && i < n_blocks; i++)
		if (blocks[i]->mark == LIVE)
			free(blocks[i]);
	arena_used = 0;
	n_blocks = n_live = 0;
	for (unsigned int i = 0; i < n_fds; i++)
		fds[i].kind = FD_FREE;
	n_fds = n_open = 0;
	n_mutexes = n_threads = 0;
}

/* ---- locks ---- */

void
world_mutex_init(struct os_mutex *m)
{
	if (n_mutexes == MUTEXES) {
		fprintf(stderr, "explore: more than %d locks\n", MUTEXES);
		exit(2);
	}
	*m = (struct os_mutex){ .id = (uint8_t)n_mutexes, .rank = RANK_LOOP };
	mutex_names[n_mutexes] = "a loop";
	n_mutexes++;
}

void
world_mutex_name(struct os_mutex *m, unsigned int rank, const char *name)
{
	m->rank = (uint8_t)rank;
	mutex_names[m->id] = name;
}

void
world_mutex_fini(struct os_mutex *m)
{
	if (m->owner)
		violation("a lock is destroyed while %s holds it", sched.fibers[m->owner - 1].name);
}

void
world_lock(struct os_mutex *m, const struct os_site *site)
{
	struct fiber *f = sched.self;
	uint8_t self = (uint8_t)(f - sched.fibers + 1);

	if (m->id >= n_mutexes)
		violation("%s takes a lock that is gone", site->function);
	sched_point(OP_LOCK, OBJECT_MUTEX(m->id), site);
	if (m->owner == self)
		violation("%s takes a lock it holds", site->function);
	for (unsigned int i = 0; i < f->n_held; i++)
		if (f->held[i]->rank >= m->rank)
			violation("lock order: %s takes a lock of rank %u under one of rank %u",
			    site->function, m->rank, f->held[i]->rank);
	while (m->owner) {
		f->mutex = m;
		m->waiters |= fiber_bit(f);
		sched_block(OP_LOCK, OBJECT_MUTEX(m->id));
		m->waiters &= ~fiber_bit(f);
	}
	m->owner = self;
	sched.enabled &= ~m->waiters;
	f->held[f->n_held++] = m;
	f->locked_at[m->id] = sched.steps;
	sched_touch(OP_LOCK, OBJECT_MUTEX(m->id));
	context_acquire(m);
}

void
world_unlock(struct os_mutex *m, const struct os_site *site)
{
	struct fiber *f = sched.self;
	unsigned int i;

	sched_point_minor(OP_UNLOCK, OBJECT_MUTEX(m->id), site);
	if (m->owner != f - sched.fibers + 1)
		violation("%s drops a lock it does not hold", site->function);
	for (i = 0; f->held[i] != m; i++)
		;
	f->held[i] = f->held[--f->n_held];
	context_release(m);
	m->owner = 0;
	sched.enabled |= m->waiters;
	sched_touch(OP_UNLOCK, OBJECT_MUTEX(m->id));
}

static void
set_deadline(struct fiber *f, uint64_t deadline)
{
	f->deadline = deadline;
	if (deadline != UINT64_MAX && deadline > sched.last_deadline)
		sched.last_deadline = deadline;
}

static void
check_no_lock(const char *what, const struct os_site *site)
{
	if (sched.self->n_held)
		violation("%s: %s with a lock held", site ? site->function : "?", what);
}

void
world_check_call_out(const char *what)
{
	if (sched.self->n_held)
		violation("%s is called with a lock held", what);
}

/* ---- memory ---- */

void *
world_alloc(size_t count, size_t size, const struct os_site *site)
{
	size_t bytes = (count * size + 15) & ~(size_t)15;
	struct block *block;

	sched_point_minor(OP_ALLOC, OBJECT_WORLD, site);
	if (fails(FAULT_ALLOC, site)) {
		errno = ENOMEM;
		return NULL;
	}
	if (use_heap) {
		block = calloc(1, sizeof *block + count * size);
	} else {
		block = (struct block *)(arena + arena_used);
		arena_used += sizeof *block + bytes;
		if (arena_used <= ARENA_SIZE)
			memset(block, 0, sizeof *block + bytes);
		else
			block = NULL;
	}
	if (!block || n_blocks == BLOCKS) {
		fprintf(stderr, "explore: the scenario wants more memory than there is\n");
		exit(2);
	}
	*block = (struct block){ LIVE, (uint32_t)(count * size), site };
	blocks[n_blocks++] = block;
	n_live++;
	return block + 1;
}

void
world_free(void *p, const struct os_site *site)
{
	struct block *block = p;

	sched_point_minor(OP_FREE, OBJECT_WORLD, site);
	if (!p)
		return;
	block--;
	if (use_heap) {
		for (unsigned int i = 0; i < n_blocks; i++)
			if (blocks[i] == block)
				blocks[i] = blocks[--n_blocks];
	} else if (block->mark != LIVE) {
		violation("%s frees what is not allocated", site->function);
	}
	block->mark = DEAD;
	n_live--;
	if (use_heap)
		free(block);
	else
		memset(p, POISON, block->size);
}

/* ---- time ---- */

uint64_t
world_clock_ns(const struct os_site *site)
{
	sched_point_minor(OP_CLOCK, OBJECT_CLOCK, site);
	sched_see(OP_CLOCK, OBJECT_CLOCK);
	return sched.now;
}

/* ---- descriptors ---- */

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
	/* Known by who made it, not by its number: that depends on what is of no account. */
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
	if (fails(FAULT_OPEN, site))
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

static bool
readable(int fd)
{
	const struct fd *e = &fds[fd];

	switch (e->kind) {
	case FD_EVENT:
	case FD_CHANNEL:
		return e->value > 0;
	case FD_EPOLL:
		for (unsigned int i = 0; i < e->n_watches; i++)
			if (e->watches[i].events & EPOLLIN && readable(e->watches[i].fd))
				return true;
		return false;
	case FD_CLOSED:
		return true; /* it is for its user to find out */
	case FD_FREE:
		break;
	}
	return false;
}

bool
world_is_readable(int fd)
{
	return readable(fd);
}

bool
world_is_ready(const struct fiber *f)
{
	switch (f->waits) {
	case OP_POLL:
		for (unsigned int i = 0; i < f->n_fds; i++)
			if (readable(f->fds[i].fd))
				return true;
		return f->deadline <= sched.now;
	case OP_EPOLL_WAIT:
		return readable(f->epfd) || f->deadline <= sched.now;
	case OP_JOIN:
		return sched.fibers[f->join].state == FIBER_DONE;
	case OP_UNTIL:
	case OP_DEVICE:
		return f->until && f->until(f->until_arg);
	default:
		return false;
	}
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

int
world_poll(struct pollfd *polled, unsigned int n, uint64_t deadline, const struct os_site *site)
{
	struct fiber *f = sched.self;
	uint64_t sets = 0;
	int ready = 0;

	check_no_lock("waits", site);
	set_deadline(f, deadline);
	sched_point(OP_POLL, n ? OBJECT_FD(polled[0].fd) : OBJECT_CLOCK, site);
	for (unsigned int i = 0; i < n; i++)
		(void)fd_of(polled[i].fd, site);
	if (fails(FAULT_EINTR, site))
		return -EINTR;
	f->fds = polled;
	f->n_fds = n;
	f->waits = OP_POLL;
	while (!world_is_ready(f))
		sched_block(OP_POLL, OBJECT_CLOCK);
	for (unsigned int i = 0; i < n; i++) {
		(void)fd_of(polled[i].fd, site);
		polled[i].revents = readable(polled[i].fd) ? POLLIN : 0;
		ready += polled[i].revents != 0;
		see_set(OP_POLL, polled[i].fd);
		sets += sets_of(polled[i].fd);
	}
	if (ready)
		check_wake(f, sets);
	else
		sched_see(OP_POLL, OBJECT_CLOCK);
	return ready;
}

int
world_epoll_open(const struct os_site *site)
{
	sched_point_minor(OP_OPEN, OBJECT_WORLD, site);
	if (fails(FAULT_OPEN, site))
		return -EMFILE;
	return fd_new(FD_EPOLL);
}

int
world_epoll_ctl(int epfd, int op, int fd, uint32_t events, uint64_t data,
    const struct os_site *site)
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
		if (fails(FAULT_EPOLL, site))
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
world_epoll_wait(int epfd, struct epoll_event *events, int max, int timeout_ms,
    const struct os_site *site)
{
	struct fiber *f = sched.self;
	const struct fd *e;
	int n = 0;

	check_no_lock("waits", site);
	set_deadline(f, timeout_ms < 0 ? UINT64_MAX : sched.now + (uint64_t)timeout_ms * 1000000u);
	sched_point(OP_EPOLL_WAIT, OBJECT_FD(epfd), site);
	(void)fd_of(epfd, site);
	if (timeout_ms && fails(FAULT_EINTR, site))
		return -EINTR;
	f->epfd = epfd;
	f->waits = OP_EPOLL_WAIT;
	while (timeout_ms && !world_is_ready(f))
		sched_block(OP_EPOLL_WAIT, OBJECT_FD(epfd));
	e = fd_of(epfd, site);
	for (unsigned int i = 0; i < e->n_watches && n < max; i++) {
		const struct watch *w = &e->watches[i];

		if (w->events & EPOLLIN && readable(w->fd)) {
			events[n].events = EPOLLIN;
			events[n++].data.u64 = w->data;
		}
	}
	see_set(OP_EPOLL_WAIT, epfd);
	if (n && timeout_ms)
		check_wake(f, sets_of(epfd));
	return n;
}

/* ---- atomics ---- */

void
world_atomic(const volatile void *address, bool writes, const struct os_site *site)
{
	const unsigned int object = OBJECT_ATOMIC((uintptr_t)address >> 2);

	sched_point(OP_ATOMIC, object, site);
	if (writes)
		sched_touch(OP_ATOMIC, object);
	else
		sched_see(OP_ATOMIC, object);
}

/* ---- threads ---- */

int
world_thread_start(struct os_thread *thread, void *(*body)(void *), void *arg,
    const struct os_site *site)
{
	static const char *const names[] = { "loop0", "loop1", "loop2", "loop3", "loop4" };
	struct fiber *f;

	sched_point_minor(OP_SPAWN, OBJECT_WORLD, site);
	if (fails(FAULT_THREAD, site))
		return -EAGAIN;
	f = sched_spawn(names[n_threads < 4 ? n_threads : 4], body, arg);
	n_threads++;
	thread->fiber = (int)(f - sched.fibers);
	sched_step(OP_SPAWN);
	return 0;
}

void
world_thread_join(struct os_thread *thread, const struct os_site *site)
{
	struct fiber *f = sched.self, *other = &sched.fibers[thread->fiber];

	check_no_lock("joins", site);
	sched_point(OP_JOIN, OBJECT_WORLD, site);
	if (other == f)
		violation("%s joins its own thread", site->function);
	f->join = thread->fiber;
	f->deadline = UINT64_MAX;
	f->waits = OP_JOIN;
	while (!world_is_ready(f))
		sched_block(OP_JOIN, OBJECT_WORLD);
	context_acquire(other);
	sched_step(OP_JOIN);
	f->hash += other->hash;
}

bool
world_thread_is_self(const struct os_thread *thread)
{
	return &sched.fibers[thread->fiber] == sched.self;
}

void
world_thread_detach_self(void)
{
	sched.self->detached = true;
}

int *
world_errno(void)
{
	return &sched.self->error;
}

struct os_self *
world_self(void)
{
	return &sched.self->self;
}

void
world_self_at_exit(void (*fini)(struct os_self *self))
{
	sched.self->self.at_exit = fini;
}

/* ---- the end ---- */

void
world_check_balance(void)
{
	for (unsigned int i = STAGE + 1; i < sched.n_fibers; i++)
		if (sched.fibers[i].state != FIBER_DONE)
			violation("thread %s was left behind", sched.fibers[i].name);
	for (unsigned int i = 0; n_live && i < n_blocks; i++)
		if (blocks[i]->mark == LIVE)
			violation("memory leak: %u bytes allocated by %s", blocks[i]->size,
			    blocks[i]->site->function);
	for (unsigned int i = 0; n_open && i < n_fds; i++)
		if (fds[i].kind != FD_CLOSED)
			violation("descriptor leak: one that %s opened", fds[i].maker->name);
}

const char *
world_object_name(unsigned int object, char *text, size_t size)
{
	const struct fd *fd;

	text[0] = '\0';
	if (object < OBJECT_FD(0) && object < n_mutexes) {
		snprintf(text, size, "%s", mutex_names[object]);
	} else if (object >= OBJECT_FD(0) && object < OBJECT_FD(n_fds)) {
		fd = &fds[object - OBJECT_FD(0)];
		if (fd->name)
			snprintf(text, size, "channel %s", fd->name);
		else if (fd->kind == FD_EPOLL)
			snprintf(text, size, "an epoll set");
		else
			snprintf(text, size, "%s %s", fd->tokens ? "bell of" : "park of",
			    fd->maker->name);
	}
	return text;
}
