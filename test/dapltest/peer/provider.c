/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads, memory and descriptors: tests for bugs of OpenFabrics dapl 2.1.10, see origins.txt. */
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "lib/contract.h"

#define EVENTS 5000

struct mill {
	DAT_EVD_HANDLE evd;
	_Atomic(int) taken, stop;
	_Atomic(unsigned char) seen[EVENTS + 1];
};

static void *
take_all(void *arg)
{
	struct mill *m = arg;
	DAT_EVENT event;

	while (!m->stop) {
		if (dat_evd_dequeue(m->evd, &event) != DAT_SUCCESS) {
			sched_yield();
			continue;
		}
		m->seen[(uintptr_t)event.event_data.software_event_data.pointer]++;
		m->taken++;
	}
	return NULL;
}

DT_CASE("peer-provider:provider");

/* origin: peer.33, race.D5 */
/* clause: c.5.6, d.4.5 */
TEST(peer_33__posts_against_three_that_dequeue__each_event_once_and_whole)
{
	static struct mill m;
	DAT_EVENT post = { .event_number = DAT_SOFTWARE_EVENT };
	pthread_t threads[3];
	struct dt_side side;

	dt_side_open(&side, "soft", DT_SEPARATE);
	m.evd = dt_evd(&side, DAT_EVD_SOFTWARE_FLAG, 8);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, take_all, &m);
	for (uintptr_t i = 1; i <= EVENTS; i++) {
		post.event_data.software_event_data.pointer = (DAT_PVOID)i;
		while (dat_evd_post_se(m.evd, &post) != DAT_SUCCESS)
			sched_yield();
	}
	dt_await_count(&m.taken, EVENTS);
	m.stop = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	for (int i = 1; i <= EVENTS; i++)
		ck_assert_uint_eq(m.seen[i], 1);
	dt_side_close(&side);
}

static unsigned long long
processor_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (unsigned long long)t.tv_sec * 1000000 + (unsigned long long)t.tv_nsec / 1000;
}

/* A busy machine delays some rounds, but not each of fifty; a sleep in the code delays all. */
/* origin: peer.35 */
/* clause: g.1.2 */
TEST(peer_35__open_and_close__neither_nap_nor_leave_a_thread)
{
	unsigned long long idle, least = UINT64_MAX, began, worked;
	int threads = runner_count_threads();
	pthread_attr_t attr;
	size_t before, stack;

	pthread_attr_init(&attr);
	pthread_attr_getstacksize(&attr, &stack);
	pthread_attr_destroy(&attr);
	dt_close(dt_open("soft", NULL));
	ck_assert_int_eq(runner_await_threads(threads), threads);
	before = dt_mapped_pages();
	for (int i = 0; i < 50; i++) {
		began = dt_now_us();
		worked = processor_us();
		dt_close(dt_open("soft", NULL));
		idle = dt_now_us() - began;
		worked = processor_us() - worked;
		idle = idle > worked ? idle - worked : 0;
		if (idle < least)
			least = idle;
		ck_assert_int_eq(runner_await_threads(threads), threads);
	}
	ck_assert_uint_lt(least, 5000);
	/* The stack of a thread that was not joined stays allocated. */
	ck_assert_uint_lt(dt_mapped_pages(), before + 25 * stack / (size_t)sysconf(_SC_PAGESIZE));
}

/* origin: peer.36 */
TEST(peer_36__endpoints_made_and_freed__leave_no_memory)
{
	struct dt_side side;
	size_t before, after;

	dt_side_open(&side, "soft", DT_SEPARATE);
	/* After these, memory that is reused and not freed has its final size. */
	for (int i = 0; i < 2000; i++)
		dt_ok(dat_ep_free(dt_ep(&side, NULL)));
	before = mallinfo2().uordblks;
	for (int i = 0; i < 2000; i++)
		dt_ok(dat_ep_free(dt_ep(&side, NULL)));
	after = mallinfo2().uordblks;
	/* 40 bytes per endpoint would be 80000. */
	ck_assert_msg(after < before + 40000, "grew by %zu bytes", after - before);
	dt_side_close(&side);
}

/* origin: peer.38 */
/* clause: c.14.1 */
TEST(peer_38__creation__arms_for_a_sink_and_once)
{
	DAT_UPCALL_OBJECT object = { NULL, dt_ignore };
	struct dat_rearm_evd_counters counters;
	struct dt_side side;
	DAT_EVD_HANDLE evd;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_evd_query_upcall_counters(side.recv, &counters));
	ck_assert_uint_eq(counters.arms, 0);
	dt_ok(dat_evd_kcreate(
	    side.ia, 8, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_EVD_DTO_FLAG, &evd));
	dt_ok(dat_evd_query_upcall_counters(evd, &counters));
	/* A device may notify spuriously, and is then armed again. */
	ck_assert_uint_ge(counters.arms, 1);
	ck_assert_uint_le(counters.arms, 1 + counters.notifications);
	dt_side_close(&side);
}

/* The library's descriptors get numbers above the range of fd_set. */
/* origin: peer.39 */
TEST(peer_39__more_descriptors_than_an_fd_set_holds__works)
{
	struct rlimit limit;
	int fds[1100], n = 0;
	struct evd_waiter w;
	struct dt_pair pair;
	DAT_EVENT event;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_max >= 2048 && limit.rlim_cur < 2048) {
		limit.rlim_cur = 2048;
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	}
	while (n < 1100) {
		fds[n] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (fds[n] < 0)
			break;
		n++;
	}
	if (n < 1100) {
		/* This machine allows fewer: leave the library enough of them. */
		for (int i = 0; i < 100 && n > 0; i++)
			close(fds[--n]);
	}
	dt_pair_open(&pair, DT_SEPARATE);
	dt_recv(&pair.b, 0, 64, 1);
	dt_connect_pair(&pair);
	evd_waiter_start(&w, pair.b.recv, DT_FOREVER_MS * 1000u, 1); /* sleeps on them */
	dt_send(&pair.a, 0, 64, 2);
	dt_assert_ret(evd_waiter_join(&w), DAT_SUCCESS);
	dt_expect_dto(pair.a.request, pair.a.ep, 2, DAT_DTO_SUCCESS, &event);
	dt_pair_close(&pair);
	while (n > 0)
		close(fds[--n]);
}
