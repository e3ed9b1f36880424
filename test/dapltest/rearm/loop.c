/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops: with threads on processors, and without, driven by a descriptor. */
#include <rdma/rdma_cma.h>
#include <sched.h>

#include "evd/park.h"
#include "queue_story.h"

CASE("rearm_loop:create", NULL, park_close_self);

TEST(create__wrong_arguments__refused)
{
	const int none = CPU_SETSIZE, negative = -1;
	const struct rearm_loop_attr bad[] = {
		{ .threads = -1 },
		{ .threads = 257 },
		{ .threads = 1, .n_cpus = 1 },
		{ .threads = 1, .n_cpus = -1 },
		{ .threads = 1, .n_cpus = 1, .cpus = &none },
		{ .threads = 1, .n_cpus = 1, .cpus = &negative },
		{ .threads = 1, .reserved = { 0, 0, 0, 1 } },
	};
	struct rearm_loop *loop;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ck_assert_int_eq(rearm_loop_create(&bad[i], &loop), -EINVAL);
	ck_assert_int_eq(rearm_loop_create(NULL, NULL), -EINVAL);
	ck_assert_int_eq(rearm_loop_create(NULL, &loop), 0);
	ck_assert_int_eq(rearm_loop_fd(loop), -EINVAL);
	ck_assert_int_eq(rearm_loop_dispatch(loop, 1, 0), -EINVAL);
	ck_assert_int_eq(rearm_loop_free(loop), 0);
	ck_assert_int_eq(rearm_loop_free(NULL), 0);
}

/* A processor that the process may not use. */
TEST(create__no_such_processor__refused_and_the_thread_stays_where_it_was)
{
	const int last = CPU_SETSIZE - 1;
	const struct rearm_loop_attr attr = { .threads = 1, .n_cpus = 1, .cpus = &last };
	struct rearm_loop *loop;
	cpu_set_t before, after;

	ck_assert_int_eq(sched_getaffinity(0, sizeof before, &before), 0);
	if (CPU_ISSET(last, &before))
		return;
	ck_assert_int_eq(rearm_loop_create(&attr, &loop), -EINVAL);
	ck_assert_int_eq(sched_getaffinity(0, sizeof after, &after), 0);
	ck_assert(CPU_EQUAL(&before, &after));
}

static int
last_cpu(void)
{
	int cpu = CPU_SETSIZE - 1;
	cpu_set_t set;

	ck_assert_int_eq(sched_getaffinity(0, sizeof set, &set), 0);
	while (!CPU_ISSET(cpu, &set))
		cpu--;
	return cpu;
}

static cpu_set_t of_callback;

static void
note_cpus(struct notes *notes)
{
	(void)notes;
	ck_assert_int_eq(sched_getaffinity(0, sizeof of_callback, &of_callback), 0);
}

QUEUE_CASE("rearm_loop:threads");

/* Also those for MANY, which are created later. */
TEST_LOOP(threads__with_a_processor__callbacks_run_there, 2)
{
	const int cpu = last_cpu();
	const struct rearm_loop_attr attr = { .threads = 2, .n_cpus = 1, .cpus = &cpu };
	const struct rearm_queue_attr queue = { .cqe = 8 };
	struct rearm_queue *first = qs.queue;
	struct rearm_loop *loop;

	queue_destroy_qp();
	ck_assert_int_eq(rearm_loop_create(&attr, &loop), 0);
	ck_assert_int_eq(rearm_queue_create(loop, qs.context, &queue, &qs.queue), 0);
	queue_make_qp(rearm_queue_cq(qs.queue));
	qs.notes.then = note_cpus;
	ck_assert_int_eq(queue_enable(_i ? REARM_MANY : REARM_SINGLE, 1, REARM_ANY), 0);
	queue_complete(1, 1);
	notes_await(1);
	notes_await_inside(0);
	ck_assert_int_eq(CPU_COUNT(&of_callback), 1);
	ck_assert(CPU_ISSET(cpu, &of_callback));
	queue_destroy_qp();
	ck_assert_int_eq(rearm_loop_free(loop), -EBUSY);
	ck_assert_int_eq(rearm_queue_free(qs.queue), 0);
	ck_assert_int_eq(rearm_loop_free(loop), 0);
	qs.queue = first;
}

CASE("rearm_loop:descriptors", NULL, NULL);

/* origin: out36.V3 */
TEST(free__by_a_thread_that_has_waited__keeps_no_descriptor)
{
	const int before = queue_descriptors();
	struct rdma_event_channel *channel = rdma_create_event_channel();
	union rearm_event event;
	struct rearm_queue *queue;
	struct rearm_loop *loop;

	ck_assert_ptr_nonnull(channel);
	ck_assert_int_eq(rearm_loop_create(NULL, &loop), 0);
	ck_assert_int_eq(rearm_queue_adopt_cm(loop, channel, NULL, &queue), 0);
	ck_assert_int_eq(rearm_queue_wait_event(queue, 1000, &event), -ETIMEDOUT);
	ck_assert_int_eq(rearm_queue_free(queue), 0);
	ck_assert_int_eq(rearm_loop_free(loop), 0);
	rdma_destroy_event_channel(channel);
	ck_assert_int_eq(queue_descriptors(), before);
}

STEPPED_CASE("rearm_loop:stepped");

static bool
is_readable(void)
{
	struct pollfd fd = { .fd = rearm_loop_fd(qs.loop), .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

/* Dispatches until the program may sleep. */
static int
settle(void)
{
	int timeout, done = 0;

	while (rearm_loop_trywait(qs.loop, &timeout) == -EAGAIN || is_readable())
		done += rearm_loop_dispatch(qs.loop, 64, 0);
	ck_assert_int_eq(timeout, -1);
	return done;
}

TEST(stepped__wrong_arguments__refused)
{
	ck_assert_int_eq(rearm_loop_trywait(qs.loop, NULL), -EINVAL);
	ck_assert_int_eq(rearm_loop_dispatch(qs.loop, 0, 0), -EINVAL);
	ck_assert_int_ge(rearm_loop_fd(qs.loop), 0);
}

TEST(stepped__a_completion__readable_until_dispatched)
{
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 4, REARM_NEW), 0);
	(void)settle();
	ck_assert(!is_readable());
	queue_complete(1, 1);
	ck_assert(is_readable());
	ck_assert(is_readable());
	ck_assert_int_eq(qs.notes.calls, 0);
	ck_assert_int_gt(settle(), 0);
	ck_assert_int_eq(qs.notes.n, 1);
	ck_assert(!is_readable());
}

/* What comes between the answer and the sleep, from this library and not from the device. */
TEST(stepped__enabled_after_sleep_was_answered__readable)
{
	int timeout;

	ck_assert_int_eq(queue_enable(REARM_SINGLE, 4, REARM_NEW), 0);
	(void)settle();
	ck_assert_int_eq(rearm_queue_disable(qs.queue), 0);
	queue_complete(1, 1);
	(void)settle();
	ck_assert_int_eq(rearm_loop_trywait(qs.loop, &timeout), 0);
	ck_assert(!is_readable());
	ck_assert_int_eq(queue_enable_same(REARM_SINGLE, REARM_ANY), 0);
	ck_assert(is_readable());
	ck_assert_int_gt(settle(), 0);
	ck_assert_int_eq(qs.notes.n, 1);
}

/* Before the answer: the descriptor does not tell. */
TEST(stepped__enabled_before_the_question__look_first)
{
	int timeout;

	queue_complete(1, 1);
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 4, REARM_ANY), 0);
	ck_assert_int_eq(rearm_loop_trywait(qs.loop, &timeout), -EAGAIN);
	ck_assert_int_gt(rearm_loop_dispatch(qs.loop, 1, 0), 0);
	ck_assert_int_eq(qs.notes.n, 1);
	(void)settle();
}

TEST(stepped__asked_twice__answers_twice)
{
	int timeout;

	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(rearm_loop_trywait(qs.loop, &timeout), 0);
	queue_complete(1, 1);
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 4, REARM_ANY), 0);
	ck_assert_int_eq(rearm_loop_trywait(qs.loop, &timeout), -EAGAIN);
	(void)settle();
	ck_assert_int_eq(qs.notes.n, 1);
}

static int completed, to_complete;

/* There are always as many as before. */
static void
complete_as_many(struct notes *notes)
{
	for (; completed < notes->n + 48 && completed < to_complete; completed++)
		queue_complete((uint64_t)completed, 1);
}

/* If a callback gets one a turn serves so many. */
TEST(stepped__more_than_a_turn__the_rest_in_the_next)
{
	const int limit = 64;

	to_complete = limit + 16;
	qs.notes.then = complete_as_many;
	complete_as_many(&qs.notes);
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 1, REARM_ANY), 0);
	ck_assert_int_gt(rearm_loop_dispatch(qs.loop, 1, 0), 0);
	ck_assert_int_eq(qs.notes.n, limit);
	ck_assert_int_gt(rearm_loop_dispatch(qs.loop, 1, 0), 0);
	ck_assert_int_eq(qs.notes.n, to_complete);
}

TEST(stepped__dispatch_waits__returns_for_a_completion)
{
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 4, REARM_NEW), 0);
	(void)settle();
	ck_assert_int_eq(rearm_loop_dispatch(qs.loop, 1, 5), 0);
	queue_complete(1, 1);
	while (qs.notes.n == 0)
		ck_assert_int_gt(rearm_loop_dispatch(qs.loop, 1, -1), 0);
}

static void
dispatch_inside(struct notes *notes)
{
	(void)notes;
	ck_assert_int_eq(rearm_loop_dispatch(qs.loop, 1, 0), -EDEADLK);
}

TEST(stepped__many_and_dispatch_inside__one_at_a_time_and_refused)
{
	qs.notes.then = dispatch_inside;
	queue_complete(1, 3);
	ck_assert_int_eq(queue_enable(REARM_MANY, 1, REARM_ANY), 0);
	(void)settle();
	ck_assert_int_eq(qs.notes.n, 3);
	ck_assert_int_eq(qs.notes.most_inside, 1);
}

/* No more at once than the queue pair takes. */
static void *
complete_thread(void *arg)
{
	(void)arg;
	for (int i = 1; i <= 200; i++) {
		queue_complete((uint64_t)i, 1);
		while (notes_count() + QUEUE_CQE / 2 < i)
			queue_sleep_ms(1);
	}
	return NULL;
}

/* As a program with epoll does it: it sleeps only after the answer. */
TEST(stepped__a_thread_completes__each_sleep_ends)
{
	struct pollfd fd = { .fd = rearm_loop_fd(qs.loop), .events = POLLIN };
	pthread_t thread;
	int timeout;

	ck_assert_int_eq(queue_enable(REARM_SINGLE, 4, REARM_ANY), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, complete_thread, NULL), 0);
	while (notes_count() < 200) {
		if (rearm_loop_trywait(qs.loop, &timeout) == 0)
			ck_assert_int_ge(poll(&fd, 1, -1), 0);
		ck_assert_int_ge(rearm_loop_dispatch(qs.loop, 8, 0), 0);
	}
	pthread_join(thread, NULL);
	for (uint64_t i = 0; i < 200; i++)
		ck_assert_uint_eq(qs.notes.id[i], 1 + i);
}
