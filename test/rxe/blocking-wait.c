/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocking-wait -- waits whose completion comes only when the waiter sleeps, or spins
 *
 *	blocking-wait ADAPTER ADDRESS PORT asleep|spinning WAITS
 *
 * To be run under strace, which traces the main thread only.  It connects two endpoints of this
 * process, at ADDRESS, its own, and PORT.  The main thread waits WAITS times for one receive; each
 * dat_evd_wait() is between write(-1, "begin N") and write(-1, "end N").  A second thread sends the
 * message of a wait
 *
 *  - asleep: when the kernel says that the waiter sleeps in a call that waits for a descriptor or a
 *  futex;
 *  - spinning: when the waiter has used so much processor time since the wait began that it has
 *  polled many times;
 *    or when it sleeps, if it did not spin so long.
 *
 * So no wait depends on how fast the machine is.  The sender takes no lock of the waiter's EVD,
 * since the waiter would have to wake it: a system call of the test.  It takes the completion of
 * its send before the next wait begins.  The program exits with 1 at the first call that fails.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <dat2/udat.h>

#define MESSAGE 64
#define SPIN_NS 1000000 /* much more than one poll takes, and less than the longest spin */

static struct {
	DAT_IA_HANDLE ia;
	DAT_PZ_HANDLE pz;
	DAT_EP_HANDLE waiter, sender;
	DAT_EVD_HANDLE receives, sends;
	DAT_LMR_TRIPLET segment;
	char buffer[MESSAGE];
	pid_t thread;	 /* the waiter */
	clockid_t clock; /* its processor time */
	bool spinning;	 /* send when it has spun */
	unsigned int waits;
	_Atomic unsigned int begun; /* waits; changed by the waiter without a system call */
	sem_t sent;
} s;

__attribute__((noreturn)) static void
fail(const char *what, const char *why)
{
	printf("error: %s: %s\n", what, why);
	fflush(stdout);
	_exit(1);
}

static void
need_at(const char *call, DAT_RETURN ret)
{
	const char *major = "", *minor = "";

	if (ret == DAT_SUCCESS)
		return;
	(void)dat_strerror(ret, &major, &minor);
	fail(call, major);
}
#define need(call) need_at(#call, (call))

/* ---- two endpoints ---- */

static DAT_EVD_HANDLE
create_evd(DAT_EVD_FLAGS flags)
{
	DAT_EVD_HANDLE evd;

	need(dat_evd_create(s.ia, 16, DAT_HANDLE_NULL, flags, &evd));
	return evd;
}

static void
await(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, DAT_EVENT *event)
{
	DAT_COUNT more;

	need(dat_evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, event, &more));
	if (event->event_number != number)
		fail("dat_evd_wait", "another event than is due");
}

static void
open_adapter(char *name)
{
	DAT_REGION_DESCRIPTION region = { .for_va = s.buffer };
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_LMR_HANDLE lmr;
	DAT_RMR_CONTEXT remote;
	DAT_VLEN size;
	DAT_VADDR address;

	need(dat_ia_open(name, 8, &async, &s.ia));
	need(dat_pz_create(s.ia, &s.pz));
	need(dat_lmr_create(s.ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof s.buffer, s.pz,
	    DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &lmr, &s.segment.lmr_context, &remote, &size,
	    &address));
	s.segment.virtual_address = (uintptr_t)s.buffer;
	s.segment.segment_length = sizeof s.buffer;
}

static void
connect_ends(const char *address, DAT_CONN_QUAL port)
{
	const DAT_EVD_HANDLE requests = create_evd(DAT_EVD_CR_FLAG);
	const DAT_EVD_HANDLE to = create_evd(DAT_EVD_CONNECTION_FLAG);
	const DAT_EVD_HANDLE from = create_evd(DAT_EVD_CONNECTION_FLAG);
	const DAT_EVD_HANDLE rest = create_evd(DAT_EVD_DTO_FLAG); /* nothing comes to it */
	struct sockaddr_in name = { .sin_family = AF_INET };
	DAT_PSP_HANDLE listener;
	DAT_EVENT event;

	if (inet_pton(AF_INET, address, &name.sin_addr) != 1)
		fail(address, "no IPv4 address");
	s.receives = create_evd(DAT_EVD_DTO_FLAG);
	s.sends = create_evd(DAT_EVD_DTO_FLAG);
	need(dat_ep_create(s.ia, s.pz, s.receives, rest, to, NULL, &s.waiter));
	need(dat_ep_create(s.ia, s.pz, rest, s.sends, from, NULL, &s.sender));
	need(dat_psp_create(s.ia, port, requests, DAT_PSP_CONSUMER_FLAG, &listener));
	need(dat_ep_connect(s.sender, (DAT_IA_ADDRESS_PTR)&name, port, DAT_TIMEOUT_INFINITE, 0,
	    NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	await(requests, DAT_CONNECTION_REQUEST_EVENT, &event);
	need(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, s.waiter, 0, NULL));
	await(from, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
	await(to, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
}

static void
check_completion(const DAT_EVENT *event, DAT_EP_HANDLE ep, unsigned int n)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *dto = &event->event_data.dto_completion_event_data;

	if (event->event_number != DAT_DTO_COMPLETION_EVENT || dto->ep_handle != ep ||
	    dto->user_cookie.as_64 != n || dto->status != DAT_DTO_SUCCESS)
		fail("a completion", "not the one that is due");
}

/* ---- the sender ---- */

static void
read_proc(const char *file, char *line, size_t size)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof path, "/proc/self/task/%d/%s", s.thread, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, line, size - 1);
	if (got < 0)
		fail(path, "cannot be read");
	line[got] = '\0';
	close(fd);
}

/*
 * The number of the call is there as soon as the call begins, before the thread sleeps: strace
 * stops it first.  So the state is read after it.  The waiter leaves a call that sleeps only when
 * the message is sent.
 */
static bool
waiter_sleeps(void)
{
	static const long calls[] = {
#ifdef SYS_poll /* as the next two, not on every processor */
		SYS_poll,
#endif
#ifdef SYS_select
		SYS_select,
#endif
#ifdef SYS_epoll_wait
		SYS_epoll_wait,
#endif
		SYS_ppoll, SYS_pselect6, SYS_epoll_pwait, SYS_read, SYS_futex
	};
	char line[512], *end, *state;
	long number;

	read_proc("syscall", line, sizeof line);
	number = strtol(line, &end, 10);
	if (end == line)
		return false; /* "running" */
	read_proc("stat", line, sizeof line);
	state = strrchr(line, ')');
	if (!state || strncmp(state, ") S", 3) != 0)
		return false;
	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
		if (calls[i] == number)
			return true;
	return false;
}

static uint64_t
waiter_ran_ns(void)
{
	struct timespec t;

	if (clock_gettime(s.clock, &t))
		fail("clock_gettime", "no processor time of the waiter");
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void
await_waiter(unsigned int n)
{
	uint64_t ran;

	while (atomic_load(&s.begun) < n)
		sched_yield();
	ran = waiter_ran_ns();
	while (!waiter_sleeps() && !(s.spinning && waiter_ran_ns() - ran >= SPIN_NS))
		sched_yield();
}

static void *
send_all(void *arg)
{
	DAT_EVENT event;

	for (unsigned int n = 1; n <= s.waits; n++) {
		const DAT_DTO_COOKIE cookie = { .as_64 = n };

		await_waiter(n);
		need(
		    dat_ep_post_send(s.sender, 1, &s.segment, cookie, DAT_COMPLETION_DEFAULT_FLAG));
		while (dat_evd_dequeue(s.sends, &event) != DAT_SUCCESS)
			sched_yield();
		check_completion(&event, s.sender, n);
		sem_post(&s.sent);
	}
	return arg;
}

/* ---- the waiter ---- */

/* A call that does nothing, for strace to show. */
static void
mark(const char *what, unsigned int n)
{
	char text[32];
	const int length = snprintf(text, sizeof text, "%s %u", what, n);

	(void)syscall(SYS_write, -1, text, (size_t)length);
}

static void
wait_once(unsigned int n)
{
	const DAT_DTO_COOKIE cookie = { .as_64 = n };
	DAT_RETURN ret;
	DAT_EVENT event;
	DAT_COUNT more;

	need(dat_ep_post_recv(s.waiter, 1, &s.segment, cookie, DAT_COMPLETION_DEFAULT_FLAG));
	mark("begin", n);
	atomic_store(&s.begun, n);
	ret = dat_evd_wait(s.receives, DAT_TIMEOUT_INFINITE, 1, &event, &more);
	mark("end", n);
	need_at("dat_evd_wait", ret);
	check_completion(&event, s.waiter, n);
	sem_wait(&s.sent);
}

int
main(int argc, char **argv)
{
	pthread_t sender;

	if (argc != 6 || (strcmp(argv[4], "asleep") != 0 && strcmp(argv[4], "spinning") != 0) ||
	    atoi(argv[5]) < 1) {
		fprintf(stderr, "usage: %s ADAPTER ADDRESS PORT asleep|spinning WAITS\n", argv[0]);
		return 2;
	}
	s.spinning = strcmp(argv[4], "spinning") == 0;
	s.waits = (unsigned int)atoi(argv[5]);
	s.thread = gettid();
	if (pthread_getcpuclockid(pthread_self(), &s.clock) || sem_init(&s.sent, 0, 0))
		fail("the waiter", "no clock, or no semaphore");
	open_adapter(argv[1]);
	connect_ends(argv[2], (DAT_CONN_QUAL)atoi(argv[3]));
	if (pthread_create(&sender, NULL, send_all, NULL))
		fail("pthread_create", "no thread");
	for (unsigned int n = 1; n <= s.waits; n++)
		wait_once(n);
	pthread_join(sender, NULL);
	printf("%u waits\n", s.waits);
	return dat_ia_close(s.ia, DAT_CLOSE_ABRUPT_FLAG) == DAT_SUCCESS ? 0 : 1;
}
