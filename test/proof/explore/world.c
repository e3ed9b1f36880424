/* SPDX-License-Identifier: BSD-3-Clause */
#include "world.h"
#include "world_parts.h"

#include <stdlib.h>
#include <string.h>

#define MUTEXES 32
static const char *mutex_names[MUTEXES];
static unsigned int n_mutexes, n_threads;
static uint32_t n_slept; /* times that a thread went to sleep on a flag */

unsigned int world_faults;
bool world_shipped_locks;
void (*world_section)(struct os_mutex *m, bool begins);

bool
world_fails(unsigned int fault, const struct os_site *site)
{
	return world_faults & fault && sched_fault(2, site);
}

void
world_reset(void)
{
	world_memory_reset();
	world_fd_reset();
	n_mutexes = n_threads = 0;
	n_slept = 0;
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

static void
check_order(const struct os_mutex *m, const struct os_site *site)
{
	struct fiber *f = sched.self;

	if (m->id >= n_mutexes)
		violation("%s takes a lock that is gone", site->function);
	if (m->owner == f - sched.fibers + 1)
		violation("%s takes a lock it holds", site->function);
	for (unsigned int i = 0; i < f->n_held; i++)
		if (f->held[i]->rank >= m->rank)
			violation("lock order: %s takes a lock of rank %u under one of rank %u",
			    site->function, m->rank, f->held[i]->rank);
}

static void
mutex_taken(struct os_mutex *m)
{
	struct fiber *f = sched.self;

	m->owner = (uint8_t)(f - sched.fibers + 1);
	f->held[f->n_held++] = m;
	f->locked_at[m->id] = sched.steps;
	sched_touch(OP_LOCK, OBJECT_MUTEX(m->id));
	context_acquire(m);
	if (world_section)
		world_section(m, true);
}

/* ---- the modelled lock: one that any of the waiting threads may get ---- */

static void
model_take(struct os_mutex *m, const struct os_site *site)
{
	struct fiber *f = sched.self;

	sched_point(OP_LOCK, OBJECT_MUTEX(m->id), site);
	while (m->owner) {
		f->mutex = m;
		m->waiters |= fiber_bit(f);
		sched_block(OP_LOCK, OBJECT_MUTEX(m->id));
		m->waiters &= ~fiber_bit(f);
	}
	sched.enabled &= ~m->waiters;
}

static void
model_drop(struct os_mutex *m, const struct os_site *site)
{
	m->owner = 0;
	sched.enabled |= m->waiters;
	sched_touch(OP_UNLOCK, OBJECT_MUTEX(m->id));
	/*
	 * Behind it: what is read now, and belongs under the lock, another thread may have changed.
	 */
	sched_point_minor(OP_UNLOCK, OBJECT_MUTEX(m->id), site);
}

/* ---- the shipped lock: its code, of which each access to the word is a point ---- */

static void
shipped_enter(const struct os_mutex *m, const struct os_site *site)
{
	struct fiber *f = sched.self;

	f->locking = true;
	f->lock_object = OBJECT_MUTEX(m->id);
	f->lock_site = site;
}

static bool
shipped_take(struct os_mutex *m, const struct os_site *site, bool tries)
{
	bool taken;

	shipped_enter(m, site);
	taken = lock_try(&m->lock);
	if (!taken && !tries) {
		lock_take_slowly(&m->lock);
		taken = true;
	}
	sched.self->locking = false;
	if (taken && m->owner)
		violation(
		    "%s gets a lock that %s has", site->function, sched.fibers[m->owner - 1].name);
	return taken;
}

/* Behind the drop another thread may take it, and release its memory. */
static void
shipped_drop(struct os_mutex *m, const struct os_site *site)
{
	bool waited;

	shipped_enter(m, site);
	waited = lock_drop(&m->lock);
	m->owner = 0;
	if (waited)
		lock_wake(&m->lock);
	sched.self->locking = false;
	sched_point_minor(OP_UNLOCK, sched.self->lock_object, site);
}

/* ---- any of them ---- */

void
world_lock(struct os_mutex *m, const struct os_site *site)
{
	check_order(m, site);
	if (world_shipped_locks)
		(void)shipped_take(m, site, false);
	else
		model_take(m, site);
	mutex_taken(m);
}

/* The modelled lock waits, which os_trylock() may do, too. */
bool
world_trylock(struct os_mutex *m, const struct os_site *site)
{
	if (!world_shipped_locks) {
		world_lock(m, site);
		return true;
	}
	check_order(m, site);
	if (!shipped_take(m, site, true))
		return false;
	mutex_taken(m);
	return true;
}

void
world_unlock(struct os_mutex *m, const struct os_site *site)
{
	struct fiber *f = sched.self;
	unsigned int i;

	if (m->owner != f - sched.fibers + 1)
		violation("%s drops a lock it does not hold", site->function);
	if (world_section)
		world_section(m, false);
	for (i = 0; f->held[i] != m; i++)
		;
	f->held[i] = f->held[--f->n_held];
	context_release(m);
	if (world_shipped_locks)
		shipped_drop(m, site);
	else
		model_drop(m, site);
}

void
world_check_rest(void)
{
	for (unsigned int i = STAGE + 1; i < sched.n_fibers; i++)
		if (sched.fibers[i].locking)
			violation("no thread can run, and %s sleeps for a lock in %s",
			    sched.fibers[i].name, sched.fibers[i].lock_site->function);
}

void
world_check_no_lock(const char *what, const struct os_site *site)
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

/* ---- time ---- */

uint64_t
world_clock_ns(const struct os_site *site)
{
	sched_point_minor(OP_CLOCK, OBJECT_CLOCK, site);
	sched_see(OP_CLOCK, OBJECT_CLOCK);
	return sched.now;
}

/* ---- waiting ---- */

bool
world_is_ready(const struct fiber *f)
{
	switch (f->waits) {
	case OP_POLL:
		for (unsigned int i = 0; i < f->n_fds; i++)
			if (world_is_readable(f->fds[i].fd))
				return true;
		return f->deadline <= sched.now;
	case OP_EPOLL_WAIT:
		return world_is_readable(f->epfd) || f->deadline <= sched.now;
	case OP_SLEEP:
		return f->woken || f->deadline <= sched.now;
	case OP_JOIN:
		return sched.fibers[f->join].state == FIBER_DONE;
	case OP_UNTIL:
	case OP_DEVICE:
		return f->until && f->until(f->until_arg);
	default:
		return false;
	}
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

/* ---- flags ---- */

/* A flag that is the word of a lock goes by the name of the lock. */
static unsigned int
flag_object(const struct os_flag *flag)
{
	const struct fiber *f = sched.self;

	return f->locking ? f->lock_object : OBJECT_ATOMIC((uintptr_t)&flag->value >> 2);
}

static void
flag_point(enum op op, const struct os_flag *flag, const struct os_site *site)
{
	const struct fiber *f = sched.self;

	sched_point(op, flag_object(flag), f->locking ? f->lock_site : site);
}

uint32_t
world_flag_get(struct os_flag *flag, const struct os_site *site)
{
	flag_point(OP_ATOMIC, flag, site);
	sched_see(OP_ATOMIC, flag_object(flag));
	context_acquire(flag);
	return flag->value;
}

uint32_t
world_flag_swap(struct os_flag *flag, uint32_t value, const struct os_site *site)
{
	uint32_t was;

	flag_point(OP_ATOMIC, flag, site);
	sched_touch(OP_ATOMIC, flag_object(flag));
	context_acquire(flag);
	context_release(flag);
	was = flag->value;
	flag->value = value;
	return was;
}

bool
world_flag_change(struct os_flag *flag, uint32_t from, uint32_t to, const struct os_site *site)
{
	flag_point(OP_ATOMIC, flag, site);
	sched_touch(OP_ATOMIC, flag_object(flag));
	context_acquire(flag);
	if (flag->value != from)
		return false;
	context_release(flag);
	flag->value = to;
	return true;
}

/* The thread that has slept longest wakes.  The memory of the flag may be released by now. */
void
world_flag_wake(struct os_flag *flag, const struct os_site *site)
{
	struct fiber *first = NULL;

	flag_point(OP_ATOMIC, flag, site);
	sched_touch(OP_ATOMIC, flag_object(flag));
	for (unsigned int i = STAGE; i < sched.n_fibers; i++) {
		struct fiber *f = &sched.fibers[i];

		if (f->flag == flag && !f->woken && (!first || f->slept < first->slept))
			first = f;
	}
	if (!first)
		return;
	first->woken = true;
	sched_changed();
}

/* The kernel compares the value when the thread begins to sleep. */
int
world_flag_wait(struct os_flag *flag, uint32_t value, uint64_t deadline, const struct os_site *site)
{
	struct fiber *f = sched.self;

	if (!f->locking)
		world_check_no_lock("sleeps", site);
	world_set_deadline(f, deadline);
	flag_point(OP_SLEEP, flag, site);
	if (world_fails(FAULT_EINTR, site))
		return -EINTR;
	sched_see(OP_SLEEP, flag_object(flag));
	if (flag->value != value)
		return 0;
	f->flag = flag;
	f->slept = n_slept++;
	f->woken = false;
	f->waits = OP_SLEEP;
	while (!world_is_ready(f))
		sched_block(OP_SLEEP, OBJECT_CLOCK);
	f->flag = NULL;
	sched_see(OP_SLEEP, flag_object(flag));
	if (f->woken)
		return 0;
	sched_see(OP_SLEEP, OBJECT_CLOCK);
	return -ETIMEDOUT;
}

/* ---- cancellation ---- */

/* The thread of a wait may be cancelled now. */
static void
world_leave(const struct os_leave *leave, const struct os_site *site)
{
	struct world_left *left = sched.self->left;

	if (!left || !world_fails(FAULT_CANCEL, site))
		return;
	sched.self->left = NULL;
	leave->leave(leave->arg);
	longjmp(left->place, 1);
}

/*
 * Before it sleeps, or when something has just woken it: others run between this and the first step
 * of leave().
 */
int
world_flag_wait_or_leave(struct os_flag *flag, uint32_t value, uint64_t deadline,
    const struct os_leave *leave, const struct os_site *site)
{
	int r;

	world_leave(leave, site);
	r = world_flag_wait(flag, value, deadline, site);
	world_leave(leave, site);
	return r;
}

int
world_poll_or_leave(struct pollfd *fds, unsigned int n, uint64_t deadline,
    const struct os_leave *leave, const struct os_site *site)
{
	int r;

	world_leave(leave, site);
	r = world_poll(fds, n, deadline, site);
	world_leave(leave, site);
	return r;
}

/* ---- threads ---- */

int
world_thread_start(
    struct os_thread *thread, void *(*body)(void *), void *arg, const struct os_site *site)
{
	static const char *const names[] = { "loop0", "loop1", "loop2", "loop3", "loop4" };
	struct fiber *f;

	sched_point_minor(OP_SPAWN, OBJECT_WORLD, site);
	if (world_fails(FAULT_THREAD, site))
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

	world_check_no_lock("joins", site);
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
	world_memory_check();
	world_fd_check();
}

const char *
world_object_name(unsigned int object, char *text, size_t size)
{
	text[0] = '\0';
	if (object < OBJECT_FD(0) && object < n_mutexes)
		snprintf(text, size, "%s", mutex_names[object]);
	else if (object >= OBJECT_FD(0) && object < OBJECT_FD(WORLD_FDS))
		world_fd_name(object - OBJECT_FD(0), text, size);
	return text;
}
