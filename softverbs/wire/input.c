/* SPDX-License-Identifier: BSD-3-Clause */
#include "input.h"
#include "softverbs/device/bell.h"
#include "softverbs/device/knock.h"
#include "softverbs/device/timer.h"

#include <poll.h>

/* Nanoseconds of a lease. */
#define LEASE SOFT_MILLISECOND

/* Links that are read before others get their turn. */
#define TURNS 16

static void input_lease_ended(struct soft_timer *timer);

static struct soft_mutex lock = SOFT_MUTEX_INITIALIZER;
static struct soft_timer lease = { .fn = input_lease_ended };
static atomic_uint waiting;  /* threads in soft_input_wait() */
static atomic_uint activity; /* of threads of the program */
static atomic_bool leased;
static atomic_bool urgent; /* the lease is over: some input is for the progress thread */
/* `activity` when the lease was taken; of the progress thread. */
static unsigned int seen GUARDED_BY(soft_locks.input);

void
soft_input_lock(void) UNCHECKED
{
	soft_mutex_lock(&lock);
}

void
soft_input_unlock(void) UNCHECKED
{
	soft_mutex_unlock(&lock);
}

static bool
input_try_lock(void) ANNOTATE(try_acquire_capability(true, soft_locks.input)) UNCHECKED
{
	return soft_mutex_trylock(&lock);
}

int
soft_input_open(void)
{
	return soft_knock_open();
}

void
soft_input_close(void)
{
	(void)soft_timer_stop(&lease);
	soft_knock_close();
	leased = false;
	urgent = false;
}

void
soft_input_reset(void)
{
	soft_mutex_init(&lock);
	soft_timer_init(&lease, input_lease_ended);
	soft_knock_reset();
	waiting = 0;
	leased = false;
	urgent = false;
}

static void
input_start_lease(uint64_t nanoseconds) SOFT_NO_LEAF_LOCK
{
	leased = true;
	soft_timer_start(&lease, soft_now() + nanoseconds);
}

static void
input_call_progress(void) SOFT_NO_LEAF_LOCK
{
	urgent = true;
	input_start_lease(0);
}

/* For a thread of the program that leaves rings unarmed. */
static void
input_ensure_lease(void) SOFT_NO_LEAF_LOCK
{
	activity++;
	if (!leased)
		input_start_lease(LEASE);
}

/*
 * Reads what is there now.  The other side is notified of acknowledgements that were written
 * before; by the progress thread, of its own as well.
 */
static enum soft_ring_input
input_read(enum soft_reader reader) REQUIRES(soft_locks.input) SOFT_NO_CM_LOCK
{
	struct soft_link *links[TURNS];
	const unsigned int n = soft_peers_pending(links, TURNS);
	enum soft_ring_input most = n == TURNS ? SOFT_RING_LEFT : SOFT_RING_EMPTY, r;

	for (unsigned int i = 0; i < n; i++) {
		if (links[i]->owed)
			soft_link_notify(links[i]);
		r = soft_link_read_ring(links[i], reader);
		if (r == SOFT_RING_PROGRESS && reader == SOFT_READER_PROGRESS)
			soft_link_check(links[i]);
		if (reader == SOFT_READER_PROGRESS && links[i]->owed)
			soft_link_notify(links[i]);
		if (r > most)
			most = r;
		soft_link_put(links[i]);
	}
	return most;
}

/*
 * The same for a thread of the program, which leaves some of it to the progress thread.  It may not
 * come back, and a writer whose frame is read already notifies no thread; then the lease is what
 * brings a thread that notifies the other side of acknowledgements.
 */
static bool
input_read_some(void) REQUIRES(soft_locks.input) SOFT_NO_CM_LOCK
{
	const enum soft_ring_input r = input_read(SOFT_READER_CONSUMER);

	if (r == SOFT_RING_PROGRESS)
		input_call_progress();
	else if (r != SOFT_RING_EMPTY)
		input_ensure_lease();
	return r != SOFT_RING_EMPTY;
}

/* Whether threads wait that other processes can wake. */
static bool
input_threads_wait(void)
{
	return waiting && soft_knock_fd() >= 0;
}

static void
input_attend_locked(void) REQUIRES(soft_locks.input) SOFT_NO_CM_LOCK
{
	const bool some = input_read(SOFT_READER_PROGRESS) != SOFT_RING_EMPTY;
	const unsigned int now = activity;

	if (now != seen) {
		seen = now;
		input_start_lease(LEASE);
		return;
	}
	if (some) { /* more may follow, which needs no notification */
		input_start_lease(1);
		return;
	}
	leased = false;
	if (activity != seen) {
		input_start_lease(LEASE);
		return;
	}
	/* Threads that wait have armed the rings; what one of them has used up is armed here. */
	soft_peers_arm(SOFT_ALARM_PROGRESS, input_threads_wait());
	if (input_read(SOFT_READER_PROGRESS) != SOFT_RING_EMPTY)
		input_start_lease(1);
}

void
soft_input_attend(void)
{
	soft_input_lock();
	input_attend_locked();
	soft_input_unlock();
}

/*
 * A thread that holds the lock reads, so nothing has to be done before the next lease: other timers
 * do not wait for it.  That thread may call the progress thread before the new lease is started,
 * which would put it off.
 */
static void
input_lease_ended(struct soft_timer *timer) SOFT_NO_INPUT_LOCK
{
	(void)timer;
	if (atomic_exchange(&urgent, false)) {
		soft_input_attend();
	} else if (input_try_lock()) {
		input_attend_locked();
		soft_input_unlock();
	} else {
		input_start_lease(LEASE);
		if (urgent)
			input_start_lease(0);
	}
}

void
soft_input_poll(void)
{
	if (!soft_peers_linked())
		return;
	activity++;
	if (!soft_peers_have_input() || !input_try_lock())
		return;
	(void)input_read_some();
	soft_input_unlock();
}

void
soft_input_arm(void)
{
	if (!soft_peers_linked())
		return;
	soft_input_lock();
	/* A thread that waits reads for this one, too. */
	soft_peers_arm(SOFT_ALARM_PROGRESS, input_threads_wait());
	(void)input_read_some();
	soft_input_unlock();
}

static void
input_leave(void *unused)
{
	(void)unused;
	waiting--;
	input_ensure_lease();
}

/*
 * The descriptor that this thread waits for, while it reads.  The access allocates nothing, as in
 * progress.c.
 */
static _Thread_local int reads_for __attribute__((tls_model("initial-exec"))) = -1;

bool
soft_input_reads_for(int fd)
{
	return reads_for == fd;
}

/* As input_read_some(), for a thread that takes an event of the descriptor next. */
static bool
input_read_for(int fd) REQUIRES(soft_locks.input) SOFT_NO_CM_LOCK
{
	bool some;

	reads_for = fd;
	some = input_read_some();
	reads_for = -1;
	return some;
}

/* The rings are armed for this thread, which sleeps unless it finds something to read. */
static int
input_sleep(int fd) SOFT_NO_INPUT_LOCK
{
	struct pollfd fds[] = { { .fd = fd, .events = POLLIN },
		{ .fd = soft_knock_fd(), .events = POLLIN } };
	bool some;

	soft_input_lock();
	soft_peers_arm(fds[1].fd >= 0 ? SOFT_ALARM_WAITER : SOFT_ALARM_PROGRESS, false);
	some = input_read_for(fd);
	soft_input_unlock();
	if (some)
		return 0;
	if (!soft_bell_is_blocking(fd) || poll(fds, 2, -1) < 0)
		return -1;
	if (fds[1].revents) {
		if (!soft_knock_take())
			input_call_progress(); /* which asks for its own alarms */
		soft_input_lock();
		(void)input_read_for(fd);
		soft_input_unlock();
	}
	return 0;
}

int
soft_input_wait(int fd)
{
	volatile int r; /* kept over the cleanup handler, which saves and restores registers */

	waiting++;
	pthread_cleanup_push(input_leave, NULL);
	r = input_sleep(fd);
	pthread_cleanup_pop(1);
	return r;
}

void
soft_input_read_answers(unsigned int slot)
{
	soft_input_lock();
	(void)soft_link_read_answers(slot, SOFT_READER_PROGRESS);
	soft_input_unlock();
}
