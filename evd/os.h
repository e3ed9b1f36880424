/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * os -- the primitives of evd/ and cno/: locks, memory, time, descriptors, threads
 *
 * The product build inlines each of them to libc.  The schedule explorer replaces this one header,
 * and so makes every primitive a point where it can switch threads or inject a fault.  Therefore
 * nothing else in evd/ and cno/ calls libc for these purposes.
 *
 * Descriptors are read, written and polled by system calls.  Unlike the functions of libc they are
 * no cancellation points, so a cancelled thread of the consumer never leaves a lock held or its
 * stack on a list.  It ends in the sleeps with a struct os_leave, and nowhere else.
 */
#ifndef REARM_EVD_OS_H
#define REARM_EVD_OS_H

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "evd/sizes.h"

/* ---- time ---- */

#define OS_NS_PER_US 1000u
#define OS_NS_PER_MS 1000000u
#define OS_NS_PER_S 1000000000u

static inline uint64_t
os_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * OS_NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* ---- flags: words on which threads sleep until others change the value ---- */

struct os_flag {
	_Atomic(uint32_t) value;
};

/* All accesses are in one order with each other. */
static inline uint32_t
os_flag_get(struct os_flag *flag)
{
	return atomic_load(&flag->value);
}

static inline uint32_t
os_flag_swap(struct os_flag *flag, uint32_t value)
{
	return atomic_exchange(&flag->value, value);
}

/* False if the value is not `from`. */
static inline bool
os_flag_change(struct os_flag *flag, uint32_t from, uint32_t to)
{
	return atomic_compare_exchange_strong(&flag->value, &from, to);
}

/*
 * Sleeps while the value is `value`, until os_flag_wake(), until `deadline` (as os_clock_ns();
 * UINT64_MAX: no limit), or until a signal handler ran.  0, -ETIMEDOUT, -EINTR or another -errno.
 * Without a limit it passes one that never comes, because the kernel resumes an unlimited sleep
 * after a handler that was installed with SA_RESTART.
 */
static inline int
os_flag_wait(struct os_flag *flag, uint32_t value, uint64_t deadline)
{
	const uint64_t latest = (uint64_t)INT64_MAX;
	const uint64_t until = deadline < latest ? deadline : latest;
	const struct timespec ts = { .tv_sec = (time_t)(until / OS_NS_PER_S),
		.tv_nsec = (long)(until % OS_NS_PER_S) };
	long r = syscall(SYS_futex, &flag->value, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, value,
	    &ts, NULL, FUTEX_BITSET_MATCH_ANY);

	return r == 0 || errno == EAGAIN ? 0 : -errno;
}

/*
 * What a thread does that is cancelled in a sleep: it calls the function, and ends.  It holds no
 * lock when it does so.  The caller of such a sleep is cancelled in a deferred way
 * (PTHREAD_CANCEL_DEFERRED).
 */
struct os_leave {
	void (*leave)(void *arg);
	void *arg;
};

/*
 * Cancels the calling thread at once if a request to do so is on its way to it; for a thread whose
 * type was asynchronous before.
 */
void os_cancel_settle(void);

/* The same, but a cancelled thread leaves. */
int os_flag_wait_or_leave(
    struct os_flag *flag, uint32_t value, uint64_t deadline, const struct os_leave *leave);

/*
 * Ends the sleep of one thread, if one sleeps.  The flag may be released memory: only its address
 * is used.
 */
static inline void
os_flag_wake(struct os_flag *flag)
{
	(void)syscall(SYS_futex, &flag->value, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
}

/* Between two looks at a flag that another thread is about to change. */
static inline void
os_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

/* ---- locks ---- */

#include "evd/lock.h"

#ifdef REARM_FUTEX_LOCKS

struct os_mutex {
	struct lock lock;
};

/* Both out of line: they are called with contention only.  errno stays as it was. */
void os_lock_contended(struct os_mutex *m) __attribute__((cold));
void os_unlock_waited(struct os_mutex *m) __attribute__((cold));

static inline void
os_mutex_init(struct os_mutex *m)
{
	atomic_init(&m->lock.word.value, LOCK_FREE);
}

static inline void
os_mutex_fini(struct os_mutex *m)
{
	(void)m;
}

static inline void
os_lock(struct os_mutex *m)
{
	if (!lock_try(&m->lock))
		os_lock_contended(m);
}

/* False if the lock is not free. */
static inline bool
os_trylock(struct os_mutex *m)
{
	return lock_try(&m->lock);
}

static inline void
os_unlock(struct os_mutex *m)
{
	if (lock_drop(&m->lock))
		os_unlock_waited(m);
}

#else /* a lock that sanitizers know, and that tests can put themselves in front of */

struct os_mutex {
	pthread_mutex_t mutex;
};

static inline void
os_mutex_init(struct os_mutex *m)
{
	pthread_mutex_init(&m->mutex, NULL);
}

static inline void
os_mutex_fini(struct os_mutex *m)
{
	pthread_mutex_destroy(&m->mutex);
}

static inline void
os_lock(struct os_mutex *m)
{
	pthread_mutex_lock(&m->mutex);
}

/* Never false here. */
static inline bool
os_trylock(struct os_mutex *m)
{
	os_lock(m);
	return true;
}

static inline void
os_unlock(struct os_mutex *m)
{
	pthread_mutex_unlock(&m->mutex);
}

#endif

/* ---- memory ---- */

static inline void *
os_alloc(size_t count, size_t size)
{
	return calloc(count, size);
}

static inline void
os_free(void *p)
{
	free(p);
}

/* Clears the members of *p from `member` on: all that follows the lock of a reused slot. */
#define os_clear_from(p, member) \
	((void)memset((char *)(p) + offsetof(__typeof__(*(p)), member), 0, \
	    sizeof *(p)-offsetof(__typeof__(*(p)), member)))

/* ---- descriptors ---- */

/*
 * A new descriptor, or -1 with errno: it, or a copy with a higher number in its place, or -errno.
 * The numbers 0 to 2 are for standard input and output, also in a program that has closed them.
 */
int os_keep(int fd);

/* An event that is set or clear.  With `tokens` each clear undoes one set. */
static inline int
os_event_open(bool tokens)
{
	return os_keep(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | (tokens ? EFD_SEMAPHORE : 0)));
}

static inline void
os_event_set(int fd)
{
	const uint64_t one = 1;

	while (syscall(SYS_write, fd, &one, sizeof one) < 0 && errno == EINTR)
		;
}

static inline bool
os_event_clear(int fd)
{
	uint64_t value;
	long n;

	do
		n = syscall(SYS_read, fd, &value, sizeof value);
	while (n < 0 && errno == EINTR);
	return n == (long)sizeof value;
}

/*
 * By libc, so that a checker that interposes it sees that the number is free; with cancellation
 * disabled.
 */
static inline void
os_close(int fd)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	(void)close(fd);
	pthread_setcancelstate(state, NULL);
}

/* The time that is left until `deadline`, or NULL if that is UINT64_MAX. */
static inline struct timespec *
os_time_left(uint64_t deadline, struct timespec *ts)
{
	uint64_t now;

	if (deadline == UINT64_MAX)
		return NULL;
	now = os_clock_ns();
	now = deadline > now ? deadline - now : 0;
	ts->tv_sec = (time_t)(now / OS_NS_PER_S);
	ts->tv_nsec = (long)(now % OS_NS_PER_S);
	return ts;
}

/*
 * Waits until `deadline` (as os_clock_ns(); UINT64_MAX: no limit).  > 0 ready, 0 timed out, -errno.
 */
static inline int
os_poll(struct pollfd *fds, unsigned int n, uint64_t deadline)
{
	struct timespec ts;
	long r = syscall(SYS_ppoll, fds, n, os_time_left(deadline, &ts), NULL, 0);

	return r < 0 ? -errno : (int)r;
}

/* The same, but a cancelled thread leaves. */
int os_poll_or_leave(
    struct pollfd *fds, unsigned int n, uint64_t deadline, const struct os_leave *leave);

static inline int
os_epoll_open(void)
{
	return os_keep(epoll_create1(EPOLL_CLOEXEC));
}

static inline int
os_epoll_ctl(int epfd, int op, int fd, uint32_t events, uint64_t data)
{
	struct epoll_event ev = { .events = events, .data = { .u64 = data } };

	return epoll_ctl(epfd, op, fd, &ev) ? -errno : 0;
}

/* False if the program has closed one of the two, also if its number is that of another file. */
static inline bool
os_epoll_has(int epfd, int fd, uint32_t events, uint64_t data)
{
	return os_epoll_ctl(epfd, EPOLL_CTL_MOD, fd, events, data) == 0;
}

static inline int
os_epoll_wait(int epfd, struct epoll_event *events, int max, int timeout_ms)
{
	long n = syscall(SYS_epoll_pwait, epfd, events, max, timeout_ms, NULL, 0);

	return n < 0 ? -errno : (int)n;
}

/* ---- threads ---- */

struct os_thread {
	pthread_t id;
};

/* The thread runs with all signals blocked and cancellation off. */
int os_thread_start(struct os_thread *thread, void *(*body)(void *), void *arg);

static inline void
os_thread_join(struct os_thread *thread)
{
	pthread_join(thread->id, NULL);
}

static inline bool
os_thread_is_self(const struct os_thread *thread)
{
	return pthread_equal(thread->id, pthread_self());
}

/* No thread waits for its end any more. */
static inline void
os_thread_detach(struct os_thread *thread)
{
	pthread_detach(thread->id);
}

static inline void
os_thread_detach_self(void)
{
	pthread_detach(pthread_self());
}

/* Per-thread state of evd/ and cno/. */
struct os_self {
	struct park *park;
	struct loop *loop;
	struct loop_outer *outer;    /* the loops whose jobs this thread runs below that one */
	struct upcall_frame *upcall; /* the innermost upcall that this thread is inside */
	struct agent_frame *agent;   /* the innermost proxy agent that this thread is inside */
	bool pumping;		     /* this thread runs jobs in park_sleep() */
	uint64_t spent; /* jobs run, and events taken by them, since this thread read the sources */
	void (*at_exit)(struct os_self *self);
};

struct os_self *os_self(void);

/* True if the calling thread is inside an upcall or an agent. */
static inline bool
os_in_callback(void)
{
	const struct os_self *self = os_self();

	return self->upcall || self->agent;
}

/* Registers fini(), called with its os_self when the calling thread ends. */
void os_self_at_exit(void (*fini)(struct os_self *self));

#endif
