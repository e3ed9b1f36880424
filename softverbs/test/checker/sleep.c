/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the checker sees of threads: real ones, in each system call that can wait for a channel.
 */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "lib/runner.h"
#include "softverbs/check/descriptor.h"
#include "softverbs/check/sleep.h"

/* How a thread waits for `fd`, with a time limit or none, until a byte comes there. */
enum way { READ, PPOLL, PSELECT, EPOLL_PWAIT, EPOLL_PWAIT2, POLL, SELECT, EPOLL_WAIT, WAYS };

static const char *const names[WAYS] = { "ibv_get_cq_event() or read()", "ppoll()", "pselect()",
	"epoll_pwait()", "epoll_pwait2()", "ibv_get_cq_event() or poll()", "select()",
	"epoll_wait()" };

struct waiter {
	pthread_t thread;
	enum way way;
	bool timed;
	int fd, epoll;
	_Atomic pid_t number;
	atomic_bool unknown; /* to the kernel or the processor */
};

static long
wait_in(struct waiter *waiter)
{
	/* Far more than the test takes. */
	struct timespec span = { .tv_sec = 100 }, *limit = waiter->timed ? &span : NULL;
	struct timeval interval = { .tv_sec = 100 };
	const int milliseconds = waiter->timed ? 100000 : -1;
	struct pollfd pfd = { .fd = waiter->fd, .events = POLLIN };
	struct epoll_event event;
	uint64_t value;
	fd_set set;

	(void)interval, (void)milliseconds;
	FD_ZERO(&set);
	FD_SET(waiter->fd, &set);
	switch (waiter->way) {
	case READ:
		return syscall(SYS_read, waiter->fd, &value, sizeof value);
	case PPOLL:
		return syscall(SYS_ppoll, &pfd, 1l, limit, NULL, 8l);
	case PSELECT:
		return syscall(SYS_pselect6, waiter->fd + 1l, &set, NULL, NULL, limit, NULL);
	case EPOLL_PWAIT:
		return syscall(SYS_epoll_pwait, waiter->epoll, &event, 1l, milliseconds, NULL, 8l);
#ifdef SYS_epoll_pwait2
	case EPOLL_PWAIT2:
		return syscall(SYS_epoll_pwait2, waiter->epoll, &event, 1l, limit, NULL, 8l);
#endif
#ifdef SYS_poll
	case POLL:
		return syscall(SYS_poll, &pfd, 1l, milliseconds);
#endif
#ifdef SYS_select
	case SELECT:
		return syscall(SYS_select, waiter->fd + 1l, &set, NULL, NULL,
		    waiter->timed ? &interval : NULL);
#endif
#ifdef SYS_epoll_wait
	case EPOLL_WAIT:
		return syscall(SYS_epoll_wait, waiter->epoll, &event, 1l, milliseconds);
#endif
	default:
		return -1;
	}
}

static void *
waiter_run(void *arg)
{
	struct waiter *waiter = arg;

	waiter->number = gettid();
	waiter->unknown = wait_in(waiter) < 0;
	return NULL;
}

/* The threads, once this one sleeps in a call or has ended. */
static void
look_at(struct waiter *waiter, struct soft_sleepers *sleepers)
{
	bool settled = false;

	while (!settled) {
		soft_sleepers_look(sleepers);
		settled = waiter->unknown;
		for (size_t i = 0; i < sleepers->count && !settled; i++)
			settled = sleepers->threads[i].thread == waiter->number &&
				  sleepers->threads[i].asleep && sleepers->threads[i].call >= 0 &&
				  sleepers->threads[i].call != SYS_futex;
		if (!settled)
			soft_sleepers_free(sleepers);
	}
}

CASE("checker_sleep:sleep");

TEST_LOOP(look__a_thread_in_a_call__its_descriptor_and_time_limit, 2 * WAYS)
{
	struct waiter waiter = { .way = (enum way)(_i / 2), .timed = _i % 2 };
	struct epoll_event event = { .events = EPOLLIN };
	const struct soft_sleeper *found;
	struct soft_sleepers sleepers;
	const char *call = "";
	const int other = eventfd(0, 0);

	if (SOFT_TSAN || (waiter.way == READ && waiter.timed)) {
		close(other);
		return; /* ThreadSanitizer has a thread of its own */
	}
	waiter.fd = eventfd(0, 0);
	waiter.epoll = epoll_create1(0);
	ck_assert_int_eq(epoll_ctl(waiter.epoll, EPOLL_CTL_ADD, waiter.fd, &event), 0);
	pthread_create(&waiter.thread, NULL, waiter_run, &waiter);
	look_at(&waiter, &sleepers);
	if (!waiter.unknown) {
		ck_assert(sleepers.known);
		ck_assert_uint_eq(sleepers.count, 2);
		/* This thread runs. */
		ck_assert(sleepers.running && sleepers.busy);
		ck_assert_int_eq(sleepers.timed, waiter.timed);
		ck_assert_int_eq(sleepers.outside, !waiter.timed);
		found = soft_sleepers_on(&sleepers, waiter.fd, &call);
		ck_assert_msg(found && found->thread == waiter.number, "%s", names[waiter.way]);
		ck_assert_str_eq(call, names[waiter.way]);
		ck_assert_ptr_null(soft_sleepers_on(&sleepers, other, &call));
		ck_assert(soft_sleepers_asleep(&sleepers, waiter.number));
		ck_assert(!soft_sleepers_asleep(&sleepers, gettid()));
	}
	soft_sleepers_free(&sleepers);
	ck_assert_int_eq(write(waiter.fd, &(uint64_t){ 1 }, sizeof(uint64_t)), sizeof(uint64_t));
	pthread_join(waiter.thread, NULL);
	close(waiter.fd);
	close(waiter.epoll);
	close(other);
}

#define MANY 40

/* More than the table begins with. */
TEST(look__many_threads__each_is_found)
{
	struct waiter waiters[MANY];
	struct soft_sleepers sleepers;
	const int fd = eventfd(0, EFD_SEMAPHORE);
	size_t asleep = 0;

	for (int i = 0; i < MANY; i++) {
		waiters[i] = (struct waiter){ .way = READ, .fd = fd };
		pthread_create(&waiters[i].thread, NULL, waiter_run, &waiters[i]);
	}
	while (asleep < MANY) {
		soft_sleepers_look(&sleepers);
		asleep = 0;
		for (int i = 0; i < MANY; i++)
			asleep +=
			    waiters[i].number && soft_sleepers_asleep(&sleepers, waiters[i].number);
		ck_assert(sleepers.known);
		ck_assert_uint_ge(sleepers.count, asleep);
		soft_sleepers_free(&sleepers);
	}
	ck_assert_int_eq(write(fd, &(uint64_t){ MANY }, sizeof(uint64_t)), sizeof(uint64_t));
	for (int i = 0; i < MANY; i++)
		pthread_join(waiters[i].thread, NULL);
	close(fd);
}

/* ---- what is made of a call that was seen */

#define FD 900

static struct soft_sleepers sleepers;
static struct soft_sleeper threads[3];

static void
see(size_t i, long call, unsigned long a, unsigned long b)
{
	threads[i] =
	    (struct soft_sleeper){ .thread = (pid_t)(100 + i), .asleep = true, .call = call };
	threads[i].arguments[0] = a;
	threads[i].arguments[1] = b;
	sleepers = (struct soft_sleepers){ .threads = threads, .count = i + 1, .known = true };
}

static bool
is_on(int fd)
{
	const char *call;

	return soft_sleepers_on(&sleepers, fd, &call) != NULL;
}

TEST(on__the_array_of_poll__is_read_to_its_end_and_no_further)
{
	struct pollfd array[4] = { { .fd = 1, .events = POLLIN }, { .fd = FD, .events = POLLOUT },
		{ .fd = FD, .events = POLLIN | POLLOUT }, { .fd = FD + 1, .events = POLLIN } };

	for (unsigned long count = 0; count <= 4; count++) {
		see(0, SYS_ppoll, (unsigned long)(uintptr_t)array, count);
		ck_assert_int_eq(is_on(1), count > 0);
		ck_assert_int_eq(is_on(FD), count > 2); /* the second waits for something else */
		ck_assert_int_eq(is_on(FD + 1), count > 3);
	}
	threads[0].asleep = false;
	ck_assert(!is_on(1));
	see(0, SYS_ppoll, 0, 1);
	ck_assert(!is_on(0));
}

TEST(on__the_set_of_select__is_read_to_its_end_and_no_further)
{
	static const int bits[] = { 0, 1, 63, 64, 65, 127, 128, 900, 1023 };
	fd_set set;

	for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
		FD_ZERO(&set);
		FD_SET(bits[i], &set);
		see(0, SYS_pselect6, (unsigned long)bits[i] + 1, (unsigned long)(uintptr_t)&set);
		ck_assert_msg(is_on(bits[i]), "%d", bits[i]);
		ck_assert(!is_on(bits[i] + 1));
		threads[0].arguments[0]--;
		ck_assert_msg(!is_on(bits[i]), "%d", bits[i]);
	}
	see(0, SYS_pselect6, 64, 0);
	ck_assert(!is_on(0));
}

TEST(on__several_threads__the_first_that_sleeps)
{
	const char *call;

	see(0, SYS_futex, FD, 0);
	see(1, SYS_read, FD, 0);
	see(2, SYS_read, FD, 0);
	ck_assert_int_eq(soft_sleepers_on(&sleepers, FD, &call)->thread, 101);
	threads[1].asleep = false;
	ck_assert_int_eq(soft_sleepers_on(&sleepers, FD, &call)->thread, 102);
	sleepers.count = 2;
	ck_assert_ptr_null(soft_sleepers_on(&sleepers, FD, &call));
}

TEST(stuck__only_threads_that_wait_for_the_descriptor_alone_or_for_threads)
{
	static const struct {
		bool stuck;
		long call;
		unsigned long a, b;
	} second[] = { { true, SYS_futex, 0, 0 }, { true, SYS_read, FD, 0 },
		{ false, SYS_read, FD + 1, 0 }, { false, SYS_wait4, FD, 0 }, { false, -1, 0, 0 },
		{ false, SYS_epoll_pwait, FD, 0 }, { false, SYS_nanosleep, 0, 0 } };
	struct pollfd array[2] = { { .fd = FD, .events = POLLIN }, { .fd = 1, .events = POLLIN } };

	for (size_t i = 0; i < sizeof second / sizeof *second; i++) {
		see(0, SYS_read, FD, 0);
		ck_assert(soft_sleepers_are_stuck(&sleepers, FD));
		see(1, second[i].call, second[i].a, second[i].b);
		ck_assert_msg(
		    soft_sleepers_are_stuck(&sleepers, FD) == second[i].stuck, "row %zu", i);
	}
	for (unsigned long count = 1; count <= 2; count++) {
		see(0, SYS_ppoll, (unsigned long)(uintptr_t)array, count);
		ck_assert_int_eq(soft_sleepers_are_stuck(&sleepers, FD), count == 1);
	}
	see(0, SYS_read, FD, 0);
	sleepers.known = false;
	ck_assert(!soft_sleepers_are_stuck(&sleepers, FD));
	see(0, SYS_read, FD, 0);
	sleepers.running = true;
	ck_assert(!soft_sleepers_are_stuck(&sleepers, FD));
	see(0, SYS_read, FD, 0);
	sleepers.timed = true;
	ck_assert(!soft_sleepers_are_stuck(&sleepers, FD));
}

/* ---- threads that run */

static atomic_bool over;
static atomic_int spinning;

static void *
spin(void *name)
{
	if (name)
		pthread_setname_np(pthread_self(), name);
	spinning++;
	while (!over)
		;
	return NULL;
}

TEST(ready__threads_that_run__but_for_this_one_and_those_of_the_device)
{
	pthread_t running[3];

	if (SOFT_TSAN)
		return;
	over = false;
	spinning = 0;
	ck_assert_uint_eq(soft_sleep_count_ready(), 0);
	pthread_create(&running[0], NULL, spin, NULL);
	pthread_create(&running[1], NULL, spin, (void *)(uintptr_t) "a) b (c");
	pthread_create(&running[2], NULL, spin, (void *)(uintptr_t)SOFT_SENTRY_NAME);
	while (spinning < 3)
		;
	ck_assert_uint_eq(soft_sleep_count_ready(), 2);
	soft_sleepers_look(&sleepers);
	ck_assert_uint_eq(sleepers.count, 3);
	ck_assert(sleepers.running && !sleepers.timed && !sleepers.outside);
	soft_sleepers_free(&sleepers);
	over = true;
	for (int i = 0; i < 3; i++)
		pthread_join(running[i], NULL);
}

/* ---- descriptors */

/* An epoll descriptor that watches another one. */
static int
watch(int fd, uint32_t events)
{
	struct epoll_event event = { .events = events };
	const int epoll = epoll_create1(EPOLL_CLOEXEC);

	ck_assert_int_eq(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), 0);
	return epoll;
}

TEST(leads__duplicates_and_three_levels_of_epoll)
{
	const int channel = eventfd(0, EFD_CLOEXEC), other = eventfd(0, EFD_CLOEXEC),
		  copy = dup(channel);
	const int one = watch(channel, EPOLLIN), two = watch(one, EPOLLIN),
		  three = watch(two, EPOLLIN), four = watch(three, EPOLLIN),
		  out = watch(channel, EPOLLOUT), none = watch(channel, EPOLLET),
		  of_copy = watch(copy, EPOLLIN | EPOLLET), normal = watch(channel, EPOLLRDNORM),
		  far = watch(other, EPOLLIN);
	const struct {
		int fd;
		bool leads;
	} rows[] = { { channel, true }, { copy, true }, { other, false }, { one, true },
		{ two, true }, { three, true }, { four, false }, { out, false }, { none, false },
		{ of_copy, true }, { normal, true }, { far, false }, { -1, false } };
	struct epoll_event event = { .events = EPOLLIN };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		ck_assert_msg(
		    soft_descriptor_leads_to(rows[i].fd, channel) == rows[i].leads, "row %zu", i);
	/* The second of two that it watches. */
	ck_assert_int_eq(epoll_ctl(far, EPOLL_CTL_ADD, channel, &event), 0);
	ck_assert(soft_descriptor_leads_to(far, channel));
	ck_assert(soft_descriptor_leads_to(far, other));
	for (size_t i = 0; i + 1 < sizeof rows / sizeof *rows; i++)
		close(rows[i].fd);
}

/* origin: out33.CC1 */
TEST(ticks__a_timer_that_is_set)
{
	const struct itimerspec later = { .it_value.tv_sec = 3600 },
				soon = { .it_value.tv_nsec = 1 };
	const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	const int one = watch(timer, EPOLLIN), two = watch(one, EPOLLIN),
		  none = watch(timer, EPOLLET), other = eventfd(0, EFD_CLOEXEC);

	ck_assert(!soft_descriptor_ticks(timer) && !soft_descriptor_ticks(two));
	ck_assert_int_eq(timerfd_settime(timer, 0, &soon, NULL), 0);
	poll(&(struct pollfd){ .fd = timer, .events = POLLIN }, 1, -1);
	ck_assert(!soft_descriptor_ticks(timer));
	ck_assert_int_eq(timerfd_settime(timer, 0, &later, NULL), 0);
	ck_assert(soft_descriptor_ticks(timer) && soft_descriptor_ticks(one));
	ck_assert(soft_descriptor_ticks(two) && !soft_descriptor_ticks(none));
	ck_assert(!soft_descriptor_ticks(other) && !soft_descriptor_ticks(-1));
	close(timer);
	close(one);
	close(two);
	close(none);
	close(other);
}
