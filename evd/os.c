/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* ppoll() */
#include "evd/os.h"

#include <fcntl.h>

/*
 * In the static TLS block.  Otherwise a library that is loaded late gets its block at the first use
 * in a thread, from an allocation that ends the process if it fails, and that the leak sanitizer
 * reports.  The C library reserves room for small blocks like this one.
 */
static _Thread_local struct os_self self __attribute__((tls_model("initial-exec")));
static pthread_key_t exit_key;
static pthread_once_t exit_once = PTHREAD_ONCE_INIT;

#ifdef REARM_FUTEX_LOCKS
void
os_lock_contended(struct os_mutex *m)
{
	const int error = errno;

	lock_take_slowly(&m->lock);
	errno = error;
}

void
os_unlock_waited(struct os_mutex *m)
{
	const int error = errno;

	lock_wake(&m->lock);
	errno = error;
}
#endif

/*
 * glibc before 2.41 sends a thread of the asynchronous type a signal.  One that comes after the
 * type was changed would end the thread in its next cancellation point, even where cancellation is
 * disabled.  So the next one is here: none of the C library returns before such a signal has come.
 */
void
os_cancel_settle(void)
{
	(void)poll(NULL, 0, 0);
	pthread_testcancel();
}

/*
 * A sleep on a futex is no cancellation point, so the thread can be cancelled at any time in it.
 * That loses nothing: the call takes nothing from the kernel, and what woke the thread is seen by
 * leave().
 */
static void
os_sleep_begin(void)
{
	(void)pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
}

static void
os_sleep_end(void)
{
	(void)pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
	os_cancel_settle();
}

int
os_flag_wait_or_leave(
    struct os_flag *flag, uint32_t value, uint64_t deadline, const struct os_leave *leave)
{
	volatile int r; /* kept over the cleanup handler, which saves and restores registers */

	pthread_cleanup_push(leave->leave, leave->arg);
	os_sleep_begin();
	r = os_flag_wait(flag, value, deadline);
	os_sleep_end();
	pthread_cleanup_pop(0);
	return r;
}

int
os_poll_or_leave(
    struct pollfd *fds, unsigned int n, uint64_t deadline, const struct os_leave *leave)
{
	struct timespec ts;
	volatile int r; /* as there */

	pthread_cleanup_push(leave->leave, leave->arg);
	r = ppoll(fds, n, os_time_left(deadline, &ts), NULL);
	pthread_cleanup_pop(0);
	return r < 0 ? -errno : r;
}

struct start {
	void *(*body)(void *);
	void *arg;
};

static void *
os_thread_trampoline(void *p)
{
	struct start start = *(struct start *)p;

	os_free(p);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	return start.body(start.arg);
}

int
os_thread_start(struct os_thread *thread, void *(*body)(void *), void *arg)
{
	struct start *start = os_alloc(1, sizeof *start);
	sigset_t all, before;
	int r;

	if (!start)
		return -ENOMEM;
	start->body = body;
	start->arg = arg;
	/* The new thread inherits the blocked signals: no signal handler ever runs on it. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&thread->id, NULL, os_thread_trampoline, start);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r)
		os_free(start);
	return -r;
}

struct os_self *
os_self(void)
{
	return &self;
}

static void
os_self_exit(void *p)
{
	struct os_self *ending = p;

	ending->at_exit(ending);
}

static void
os_self_make_key(void)
{
	pthread_key_create(&exit_key, os_self_exit);
}

void
os_self_at_exit(void (*fini)(struct os_self *self))
{
	self.at_exit = fini; /* park is the only caller */
	pthread_once(&exit_once, os_self_make_key);
	pthread_setspecific(exit_key, &self);
}

int
os_keep(int fd)
{
	int copy;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd < 0 ? -errno : fd;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	copy = copy < 0 ? -errno : copy;
	os_close(fd);
	return copy;
}
