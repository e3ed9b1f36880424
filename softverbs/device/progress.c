/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"
#include "bell.h"
#include "complaint.h"
#include "descriptors.h"
#include "last.h"
#include "timer.h"

#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#define SILENT_PAUSES 300 /* 3 s */

static pthread_t thread;
static int epoll_fd = -1;
static atomic_int wake_fd = -1;
static atomic_bool quit;
/* The access allocates nothing: the C library reserves room for small blocks of this model. */
static _Thread_local bool is_progress_thread __attribute__((tls_model("initial-exec")));

/*
 * Held when watches are added, changed and removed.  The kernel orders what a thread did before
 * it added a descriptor with what the event of the descriptor leads to.  The lock, which the
 * progress thread takes as well, states that order in terms of C.
 */
static pthread_mutex_t control = PTHREAD_MUTEX_INITIALIZER;

static void
progress_watches_lock(void) ACQUIRE(soft_locks.watches) UNCHECKED
{
	pthread_mutex_lock(&control);
}

static void
progress_watches_unlock(void) RELEASE(soft_locks.watches) UNCHECKED
{
	pthread_mutex_unlock(&control);
}

/*
 * A wait that fails at once would make the thread spin.  A program that closes all descriptors and
 * then the device does nothing wrong, so the thread complains only if it is needed for longer.
 */
static void
progress_pause(int error)
{
	const struct timespec pause = { .tv_nsec = 10 * SOFT_MILLISECOND };
	static int pauses;

	if (pauses++ == SILENT_PAUSES)
		soft_complain("epoll_wait() fails (%s), so the device is slow", strerror(error));
	(void)nanosleep(&pause, NULL);
}

/* Waits for the next event; false at the time `when`, or if a signal woke the thread. */
static bool
progress_next_event(uint64_t when, struct epoll_event *event) SOFT_NO_LEAF_LOCK
{
	static bool
	    /*
	     * There is no epoll_pwait2(), as before 5.11 and in valgrind, which warns each time;
	     * or a filter of system calls refuses it.
	     */
	    coarse;
	struct timespec ts, *timeout = NULL;
	uint64_t now, left = 0;
	int n = -1;

	if (when != UINT64_MAX) {
		now = soft_now();
		left = when > now ? when - now : 0;
		ts = (struct timespec){ (time_t)(left / SOFT_SECOND), (long)(left % SOFT_SECOND) };
		timeout = &ts;
	}
	/*
	 * The only place where the thread can be cancelled: it holds nothing.  See
	 * soft_progress_stop().
	 */
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	if (!coarse) {
		n = epoll_pwait2(epoll_fd, event, 1, timeout, NULL);
		coarse = n < 0 && errno != EINTR;
	}
	if (coarse) { /* milliseconds */
		left = left > SOFT_SECOND ? SOFT_SECOND : left;
		left = (left + SOFT_MILLISECOND - 1) / SOFT_MILLISECOND;
		n = epoll_wait(epoll_fd, event, 1, timeout ? (int)left : -1);
		if (n < 0 && errno != EINTR)
			progress_pause(errno);
	}
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	progress_watches_lock();
	progress_watches_unlock();
	return n == 1;
}

static void *
progress_run(void *unused)
{
	struct soft_watch *watch;
	struct epoll_event event;

	(void)unused;
	is_progress_thread = true;
	soft_last_enter();
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_setname_np(pthread_self(), SOFT_PROGRESS_NAME);
	while (!quit) {
		/* One event at a time: the function of one watch may remove another watch. */
		if (!progress_next_event(soft_timer_run(), &event))
			continue;
		watch = event.data.ptr;
		if (watch)
			watch->fn(watch, event.events);
		else
			soft_bell_clear(wake_fd);
	}
	soft_last_leave();
	return NULL;
}

static int
progress_watch_control(struct soft_watch *watch, int operation, uint32_t events) SOFT_NO_LEAF_LOCK
{
	struct epoll_event event = { .events = events, .data.ptr = watch };
	int r;

	progress_watches_lock();
	r = epoll_ctl(epoll_fd, operation, watch->fd, &event) ? -errno : 0;
	progress_watches_unlock();
	return r;
}

int
soft_progress_start(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	sigset_t all, saved;
	int fd, r;

	epoll_fd = soft_descriptors_keep(epoll_create1(EPOLL_CLOEXEC));
	if (epoll_fd < 0)
		return -errno;
	fd = soft_bell_open();
	if (fd < 0) {
		r = -errno;
		goto close_epoll;
	}
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event)) {
		r = -errno;
		goto close_bell;
	}
	quit = false;
	wake_fd = fd;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &saved);
	r = -pthread_create(&thread, NULL, progress_run, NULL);
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
	if (!r)
		return 0;
	wake_fd = -1;

close_bell:
	soft_close(fd);
close_epoll:
	soft_close(epoll_fd);
	epoll_fd = -1;
	return r;
}

/*
 * 0 if the thread has ended, which takes no time.  A program that closes descriptors that it does
 * not know has closed the bell of the thread, too, and nothing wakes it.
 */
static int
progress_join(void)
{
	struct timespec end;

	if (is_progress_thread)
		return 0;
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec++;
	return pthread_timedjoin_np(thread, NULL, &end);
}

void
soft_progress_stop(void)
{
	quit = true;
	soft_progress_wake();
	if (progress_join()) {
		pthread_cancel(thread);
		pthread_join(thread, NULL);
		soft_last_leave();
	}
	soft_close(wake_fd);
	soft_close(epoll_fd);
	wake_fd = -1;
	epoll_fd = -1;
}

/* Whatever the progress thread does, it looks at the timers before it waits again. */
void
soft_progress_wake(void)
{
	if (wake_fd >= 0 && !is_progress_thread)
		soft_bell_ring(wake_fd);
}

int
soft_watch_add(struct soft_watch *watch, uint32_t events)
{
	return progress_watch_control(watch, EPOLL_CTL_ADD, events);
}

int
soft_watch_change(struct soft_watch *watch, uint32_t events)
{
	return progress_watch_control(watch, EPOLL_CTL_MOD, events);
}

void
soft_watch_remove(struct soft_watch *watch)
{
	(void)progress_watch_control(watch, EPOLL_CTL_DEL, 0);
}

void
soft_progress_reset(void)
{
	pthread_mutex_init(&control, NULL);
	if (epoll_fd >= 0)
		soft_close(epoll_fd);
	if (wake_fd >= 0)
		soft_close(wake_fd);
	epoll_fd = -1;
	wake_fd = -1;
}
