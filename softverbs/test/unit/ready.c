/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ready -- descriptors of event lists: readable while there is an event, and with few system calls
 *
 * The system calls of a thread are counted by tracing it.  The traced process is forked, because
 * the device belongs to the process that opened it.
 */
#include "asleep.h"
#include "pair.h"
#include "lib/feature.h"

#include "softverbs/device/bell.h"
#include "softverbs/device/ready.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A completion of b.  An assertion would be a system call. */
static bool
complete_one(void)
{
	return !side_try_receive(&b, 1, 0, 64) && !side_try_post(&a, IBV_WR_SEND, 0, 1, 0, 64);
}

static bool
arm_and_complete(void)
{
	return !ibv_req_notify_cq(b.cq, 0) && complete_one();
}

static void
raise_event(void)
{
	ck_assert(arm_and_complete());
}

static void
do_not_block(void)
{
	ck_assert_int_eq(fcntl(b.channel->fd, F_SETFL, O_NONBLOCK), 0);
}

/* Reads all events: how many there were, or -1. */
static int
read_events(void)
{
	struct ibv_cq *cq;
	void *context;
	int n = 0;

	for (; !ibv_get_cq_event(b.channel, &cq, &context); n++)
		ibv_ack_cq_events(cq, 1);
	return errno == EAGAIN ? n : -1;
}

/* ---- system calls ---- */

/* It marks where the counted calls begin and end; the device does not use it. */
#define MARK SYS_getpgid

struct calls {
	unsigned int reads, writes, drains, others;
	long other; /* one of the others */
};

static void
count_call(struct calls *calls, const struct __ptrace_syscall_info *info)
{
	switch (info->entry.nr) {
	case SYS_read:
		calls->reads++;
		break;
	case SYS_write:
		calls->writes++;
		break;
	case SYS_preadv2:
		calls->drains++;
		break;
	default:
		calls->others++;
		calls->other = (long)info->entry.nr;
	}
}

/* Runs the process to its end, and counts its calls between the two marks. */
static struct calls
trace(pid_t pid)
{
	struct __ptrace_syscall_info info;
	struct calls calls = { 0 };
	int status, marks = 0;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSTOPPED(status));
	ck_assert_int_eq(
	    ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL), 0);
	for (;;) {
		ck_assert_int_eq(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		if (!WIFSTOPPED(status))
			break;
		if (WSTOPSIG(status) != (SIGTRAP | 0x80))
			continue;
		ck_assert_int_gt(ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info), 0);
		if (info.op != PTRACE_SYSCALL_INFO_ENTRY)
			continue;
		if (info.entry.nr == MARK)
			marks++;
		else if (marks == 1)
			count_call(&calls, &info);
	}
	ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "status %#x", status);
	ck_assert_int_eq(marks, 2);
	return calls;
}

/* The calls of `counted` alone. */
static struct calls
calls_of(void (*before)(void), bool (*counted)(void))
{
	pid_t pid = fork();
	bool good;

	ck_assert_int_ge(pid, 0);
	if (pid)
		return trace(pid);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) || raise(SIGSTOP))
		_exit(1);
	pair_make(&a, &b, NULL);
	before();
	syscall(MARK, 0);
	good = counted();
	syscall(MARK, 0);
	_exit(!good);
}

static void
expect_calls(struct calls calls, unsigned int reads, unsigned int writes, unsigned int drains)
{
	ck_assert_msg(calls.reads == reads && calls.writes == writes && calls.drains == drains &&
			  !calls.others,
	    "%u times read(), %u write(), %u preadv2(), %u others, one of them %ld", calls.reads,
	    calls.writes, calls.drains, calls.others, calls.other);
}

static void
do_nothing(void)
{
}

static bool
read_none(void)
{
	return read_events() == 0;
}

static bool
raise_three(void)
{
	return arm_and_complete() && arm_and_complete() && arm_and_complete();
}

static void
raise_three_unblocked(void)
{
	do_not_block();
	ck_assert(raise_three());
}

static bool
read_three(void)
{
	return read_events() == 3;
}

static bool
poll_arm_and_post(void)
{
	struct ibv_wc wc[16];

	return ibv_poll_cq(b.cq, 16, wc) == 3 && ibv_poll_cq(b.cq, 16, wc) == 0 && complete_one() &&
	       !ibv_req_notify_cq(b.cq, 0);
}

CASE("soft-ready:calls", .needs = feature_trace, .reason = FEATURE_NO_TRACE);

TEST(no_event__asking_is_one_read)
{
	expect_calls(calls_of(do_not_block, read_none), 1, 0, 0);
}

TEST(three_events__one_write)
{
	expect_calls(calls_of(do_nothing, raise_three), 0, 1, 0);
}

/* It is emptied with the last event; the read finds that there is no fourth. */
TEST(three_events_are_read__the_descriptor_is_emptied_once)
{
	expect_calls(calls_of(raise_three_unblocked, read_three), 1, 0, 1);
}

TEST(poll_arm_and_post__no_system_call)
{
	expect_calls(calls_of(raise_three_unblocked, poll_arm_and_post), 0, 0, 0);
}

/* ---- edges ---- */

static int edges;

static int
count_edges(int limit)
{
	struct epoll_event got[4];

	return epoll_wait(edges, got, 4, limit);
}

static void
watch_edges(void)
{
	struct epoll_event want = { .events = EPOLLIN | EPOLLET };

	do_not_block();
	edges = epoll_create1(EPOLL_CLOEXEC);
	ck_assert_int_eq(epoll_ctl(edges, EPOLL_CTL_ADD, b.channel->fd, &want), 0);
}

PAIR_CASE("soft-ready:events");

/* A program that waits for edges reads all events at each. */
TEST(all_events_are_read_at_each_edge__the_next_event_is_an_edge)
{
	watch_edges();
	for (int i = 1; i <= 3; i++) {
		for (int k = 0; k < i; k++)
			raise_event();
		ck_assert_int_eq(count_edges(10000), 1);
		ck_assert_int_eq(count_edges(0), 0);
		ck_assert_int_eq(read_events(), i);
		ck_assert_int_eq(count_edges(0), 0);
	}
	close(edges);
}

TEST(one_of_two_events_is_read__the_descriptor_stays_readable)
{
	raise_event();
	raise_event();
	channel_expect(b.channel, b.cq);
	ck_assert(channel_ready(b.channel));
	channel_expect(b.channel, b.cq);
	channel_expect_no_event(b.channel);
}

/* ---- a thread that has read the descriptor, and another that comes before it ---- */

static struct soft_ready list;

static void
list_setup(void)
{
	ck_assert_int_eq(soft_ready_open(&list, NULL), 0);
}

static void
list_teardown(void)
{
	soft_ready_close(&list);
}

/* Elsewhere no thread reads the descriptor outside of the lock. */
static bool
list_is_read(void)
{
	struct soft_ready ready;
	bool is_read = false;

	if (!soft_ready_open(&ready, NULL)) {
		is_read = !ready.polled;
		soft_ready_close(&ready);
	}
	return is_read;
}

static bool
list_readable(void)
{
	struct pollfd pfd = { .fd = list.fd, .events = POLLIN };

	return poll(&pfd, 1, 0) == 1;
}

/* The list gets an event, and a thread reads the descriptor. */
static struct soft_ready_wait
list_read(void)
{
	struct soft_ready_wait wait = soft_ready_begin(&list);

	soft_ready_update(&list, true);
	ck_assert_int_eq(soft_ready_wait(&list, &wait), 0);
	ck_assert(!list_readable());
	return wait;
}

CASE("soft-ready:list", list_setup, list_teardown, .needs = list_is_read,
    .reason = "the kernel cannot read an eventfd without waiting");

TEST(another_takes_the_event_and_a_second_comes__it_is_taken_and_nothing_is_readable)
{
	struct soft_ready_wait wait = list_read();

	soft_ready_update(&list, false);
	soft_ready_update(&list, true);
	soft_ready_end(&list, &wait);
	soft_ready_update(&list, false);
	ck_assert(!list_readable());
}

TEST(a_second_event_comes__it_is_left_and_the_descriptor_is_readable)
{
	struct soft_ready_wait wait = list_read();

	soft_ready_update(&list, true);
	soft_ready_end(&list, &wait);
	soft_ready_update(&list, true);
	ck_assert(list_readable());
}

TEST(another_takes_the_event__the_next_one_makes_it_readable)
{
	struct soft_ready_wait wait = list_read();

	soft_ready_update(&list, false);
	soft_ready_end(&list, &wait);
	soft_ready_update(&list, false);
	ck_assert(!list_readable());
	soft_ready_update(&list, true);
	ck_assert(list_readable());
}

/* ---- threads that wait in ibv_get_cq_event() ---- */

#define READERS 3
#define ROUNDS 1000

static sem_t was_read;

static void *
read_for_ever(void *unused)
{
	struct ibv_cq *cq;
	void *context;

	(void)unused;
	for (;;) { /* with no other cancellation point */
		if (ibv_get_cq_event(b.channel, &cq, &context))
			return NULL;
		ibv_ack_cq_events(cq, 1);
		sem_post(&was_read);
	}
	return NULL;
}

PAIR_CASE("soft-ready:events");

/*
 * A kernel before Linux 5.8, which cannot read an eventfd without waiting, or a filter that refuses
 * the call.
 */
static void
no_read_without_waiting(void)
{
	story_refuse(SYS_preadv2, EOPNOTSUPP);
}

/* A thread that waits takes one event, and the descriptor is readable again for the others. */
static void
play_bursts(void)
{
	pthread_t threads[READERS];
	struct ibv_wc wc[16];

	sem_init(&was_read, 0, 0);
	for (int i = 0; i < READERS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, read_for_ever, NULL), 0);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i <= round % 5; i++)
			raise_event();
		for (int i = 0; i <= round % 5; i++)
			while (sem_wait(&was_read))
				;
		while (ibv_poll_cq(b.cq, 16, wc) > 0)
			;
		channel_expect_no_event(b.channel);
	}
	for (int i = 0; i < READERS; i++) {
		ck_assert_int_eq(pthread_cancel(threads[i]), 0);
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	}
	sem_destroy(&was_read);
}

TEST_LOOP(three_threads_wait__bursts_of_events__each_is_read_and_nothing_stays_readable,
    !STORY_ASAN ? 1 : 0)
{
	play_bursts();
}

struct reader {
	pthread_t thread;
	atomic_int id;
};

static void *
read_one(void *arg)
{
	struct reader *reader = arg;
	struct ibv_cq *cq;
	void *context;

	reader->id = gettid();
	if (!ibv_get_cq_event(b.channel, &cq, &context))
		ibv_ack_cq_events(cq, 1);
	return NULL;
}

/* Until it waits for the descriptor. */
static void
reader_start(struct reader *reader)
{
	reader->id = 0;
	ck_assert_int_eq(pthread_create(&reader->thread, NULL, read_one, reader), 0);
	while (!reader->id)
		sched_yield();
	await_asleep(reader->id);
}

/*
 * The thread is cancelled when the kernel has emptied the descriptor for it.  If it took no event,
 * the event is there and the descriptor readable.
 */
TEST_LOOP(thread_is_cancelled_when_its_event_comes__the_event_is_not_lost, !STORY_ASAN ? 1 : 0)
{
	struct reader reader;
	struct ibv_wc wc;
	void *result;

	for (int i = 0; i < 300; i++) {
		reader_start(&reader);
		raise_event();
		ck_assert_int_eq(pthread_cancel(reader.thread), 0);
		ck_assert_int_eq(pthread_join(reader.thread, &result), 0);
		ck_assert_int_eq(channel_ready(b.channel), result == PTHREAD_CANCELED);
		if (result == PTHREAD_CANCELED)
			channel_expect(b.channel, b.cq);
		channel_expect_no_event(b.channel);
		ck_assert_int_eq(ibv_poll_cq(b.cq, 1, &wc), 1);
	}
}

CASE("soft-ready:old-kernel", NULL, NULL);

/* The system call in which a thread sleeps. */
static long
call_of(int id)
{
	char path[64];
	long call = -1;
	FILE *file;

	snprintf(path, sizeof path, "/proc/self/task/%d/syscall", id);
	file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%ld", &call), 1);
	fclose(file);
	return call;
}

/* A thread that reads the descriptor can make another wait that clears it, with the lock held. */
/* origin: out34.A1 */
TEST(kernel_cannot_read_without_waiting__threads_wait_without_reading__each_event_is_read)
{
	struct reader reader;

	if (!feature_filter()) {
		runner_skip(FEATURE_NO_FILTER);
		return;
	}
	no_read_without_waiting();
	pair_make(&a, &b, NULL);
	ck_assert(!soft_bell_may_be_read(b.channel->fd));
	reader_start(&reader);
	ck_assert_int_ne(call_of(reader.id), SYS_read);
	raise_event();
	ck_assert_int_eq(pthread_join(reader.thread, NULL), 0);
	channel_expect_no_event(b.channel);
	play_bursts();
	do_not_block();
	ck_assert_int_eq(read_events(), 0);
	raise_event();
	ck_assert_int_eq(read_events(), 1);
	pair_free(&a, &b);
}

TEST(kernel_cannot_read_without_waiting__the_descriptor_is_closed__EBADF)
{
	struct ibv_cq *cq;
	void *context;
	int copy;

	if (!feature_filter()) {
		runner_skip(FEATURE_NO_FILTER);
		return;
	}
	no_read_without_waiting();
	pair_make(&a, &b, NULL);
	copy = fcntl(b.channel->fd, F_DUPFD_CLOEXEC, 0);
	close(b.channel->fd);
	ck_assert_int_eq(ibv_get_cq_event(b.channel, &cq, &context), -1);
	ck_assert_int_eq(errno, EBADF);
	ck_assert_int_eq(dup3(copy, b.channel->fd, O_CLOEXEC), b.channel->fd);
	close(copy);
	raise_event();
	ck_assert_int_eq(ibv_get_cq_event(b.channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
	pair_free(&a, &b);
}

/* ---- a filter that refuses to wait ---- */

CASE("soft-ready:refused");

/* Milliseconds of all threads. */
static long
processor_time(void)
{
	struct timespec now;

	ck_assert_int_eq(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), 0);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The first: epoll_pwait2() alone; the second: every way in which the thread may wait. */
/* origin: out33.J4 */
TEST_LOOP(wait_of_the_device__is_refused__it_does_not_spin, 2)
{
	const struct timespec pause = { .tv_nsec = 500000000 };
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 } };
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_qp *qp;
	long before;

	if (!feature_filter()) {
		runner_skip(FEATURE_NO_FILTER);
		return;
	}
	story_refuse(SYS_epoll_pwait2, EPERM);
	if (_i) {
		story_refuse(SYS_epoll_pwait, EPERM);
#ifdef SYS_epoll_wait
		story_refuse(SYS_epoll_wait, EPERM);
#endif
	}
	context = story_open();
	pd = ibv_alloc_pd(context);
	init.send_cq = init.recv_cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	qp = ibv_create_qp(pd, &init); /* starts the thread */
	ck_assert_ptr_nonnull(qp);
	before = processor_time();
	nanosleep(&pause, NULL);
	/* A thread that spins has more, also on a busy machine. */
	ck_assert_int_lt(processor_time() - before, 20);
	ck_assert_int_eq(ibv_destroy_qp(qp), 0);
	ck_assert_int_eq(ibv_destroy_cq(init.send_cq), 0);
	ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
	ck_assert_int_eq(ibv_close_device(context), 0);
}
