/* SPDX-License-Identifier: BSD-3-Clause */
/* Callbacks: the policies, what enables and ends them, and calls from inside. */
#include "queue_story.h"

QUEUE_CASE("rearm_callback:enable");

TEST(enable__any__callbacks_for_what_is_there_and_for_what_comes)
{
	queue_complete(1, 5);
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 2, REARM_ANY), 0);
	notes_await(5);
	for (uint64_t i = 0; i < 5; i++)
		ck_assert_uint_eq(qs.notes.id[i], 1 + i);
	ck_assert_int_eq(qs.notes.size[0], 2);
	ck_assert_int_eq(qs.notes.more[0], 1);
	ck_assert_int_eq(qs.notes.size[1], 2);
	ck_assert_int_eq(qs.notes.size[2], 1);
	ck_assert_int_eq(qs.notes.more[2], 0);
	for (int i = 6; i < 20; i++) {
		queue_complete((uint64_t)i, 1);
		notes_await(i);
		ck_assert_uint_eq(qs.notes.id[i - 1], (uint64_t)i);
	}
}

TEST(enable__new_and_some_are_there__refused_until_they_are_taken)
{
	queue_complete(1, 2);
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 4, REARM_NEW), -EAGAIN);
	queue_takes(1);
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 4, REARM_NEW), -EAGAIN);
	queue_takes(2);
	notes_expect(0, 0);
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 4, REARM_NEW), 0);
	queue_complete(3, 1);
	notes_await(1);
	ck_assert_uint_eq(qs.notes.id[0], 3);
}

TEST(enable__wrong_arguments__refused)
{
	const struct rearm_upcall none = { .batch = 1 };

	ck_assert_int_eq(queue_enable_same(REARM_SINGLE, REARM_ANY), -EINVAL);
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 0, REARM_ANY), -EINVAL);
	ck_assert_int_eq(queue_enable((enum rearm_policy)3, 1, REARM_ANY), -EINVAL);
	ck_assert_int_eq(queue_enable((enum rearm_policy)0, 1, REARM_ANY), -EINVAL);
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 1, (enum rearm_pending)2), -EINVAL);
	ck_assert_int_eq(rearm_queue_enable(qs.queue, REARM_SINGLE, &none, REARM_ANY), -EINVAL);
}

/* The batch is the program's, but an array has 32 at most. */
TEST(single__a_large_batch__32_at_once)
{
	queue_complete(0, 40);
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 1000, REARM_ANY), 0);
	notes_await(40);
	ck_assert_int_eq(qs.notes.size[0], REARM_BATCH);
	ck_assert_int_eq(qs.notes.size[1], 8);
}

TEST(single__one_is_inside__the_next_waits)
{
	notes_hold();
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 1, REARM_ANY), 0);
	queue_complete(1, 3);
	notes_await_inside(1);
	notes_expect(1, 1);
	notes_release();
	notes_await(3);
	ck_assert_int_eq(qs.notes.most_inside, 1);
}

TEST(many__one_is_inside__another_begins)
{
	notes_hold();
	ck_assert_int_eq(queue_enable(REARM_MANY, 1, REARM_ANY), 0);
	queue_complete(1, 3);
	notes_await_inside(3);
	notes_release();
	notes_await_inside(0);
	ck_assert_int_eq(qs.notes.n, 3);
}

/* One report for all: the callback takes them. */
static void
take_all(struct notes *notes)
{
	struct ibv_wc wc[8];
	int r;

	while ((r = rearm_queue_take(qs.queue, 8, wc)) > 0) {
		pthread_mutex_lock(&notes->lock);
		for (int i = 0; i < r; i++)
			notes->id[notes->n++] = wc[i].wr_id;
		pthread_mutex_unlock(&notes->lock);
	}
	ck_assert_int_eq(r, 0);
}

TEST(notify__three_are_there__one_callback_that_takes_them)
{
	qs.notes.then = take_all;
	queue_complete(1, 3);
	ck_assert_int_eq(queue_enable(REARM_NOTIFY, 1, REARM_ANY), 0);
	notes_await_calls(1);
	notes_await_inside(0);
	ck_assert_int_eq(qs.notes.size[0], -1);
	notes_expect(3, 1);
	queue_complete(4, 1);
	notes_await_calls(2);
	notes_await_inside(0);
	notes_expect(4, 2);
}

QUEUE_CASE("rearm_callback:end");

TEST(disable__no_callback_until_enabled_again)
{
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 4, REARM_ANY), 0);
	queue_complete(1, 1);
	notes_await(1);
	notes_await_inside(0);
	ck_assert_int_eq(rearm_queue_disable(qs.queue), 0);
	queue_complete(2, 2);
	notes_expect(1, 1);
	queue_takes(2);
	ck_assert_int_eq(queue_enable_same(REARM_SINGLE, REARM_NEW), -EAGAIN);
	ck_assert_int_eq(queue_enable_same(REARM_SINGLE, REARM_ANY), 0);
	notes_await(2);
	ck_assert_uint_eq(qs.notes.id[1], 3);
}

static void *
teardown_thread(void *arg)
{
	int *done = arg;

	ck_assert_int_eq(rearm_queue_teardown(qs.queue), 0);
	__atomic_store_n(done, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

TEST(teardown__one_is_inside__waits_for_it)
{
	struct ibv_wc wc;
	pthread_t thread;
	int done = 0;

	notes_hold();
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 1, REARM_ANY), 0);
	queue_complete(1, 2);
	notes_await_inside(1);
	ck_assert_int_eq(pthread_create(&thread, NULL, teardown_thread, &done), 0);
	/* Until it has ended the callbacks; so many completions are not there. */
	while (rearm_queue_wait(qs.queue, QUEUE_CQE, 0, 1, &wc) == -EACCES)
		queue_sleep_ms(1);
	queue_sleep_ms(20);
	ck_assert_int_eq(__atomic_load_n(&done, __ATOMIC_SEQ_CST), 0);
	notes_release();
	pthread_join(thread, NULL);
	ck_assert_int_eq(qs.notes.inside, 0);
	notes_expect(1, 1);
	queue_takes(2);
}

/* The first four get what was queued; each of the others what one poll finds. */
static void
disable_in_fifth(struct notes *notes)
{
	if (notes->calls == 5)
		ck_assert_int_eq(rearm_queue_disable(qs.queue), 0);
}

static void
no_sixth(int batch)
{
	const int taken = 5 * batch;

	queue_complete(0, 60);
	qs.notes.then = disable_in_fifth;
	ck_assert_int_eq(queue_enable(REARM_SINGLE, batch, REARM_ANY), 0);
	notes_await(taken);
	notes_expect(taken, 5);
	queue_takes((uint64_t)taken);
}

TEST(inside__disabled_between_two_batches__no_further_one)
{
	no_sixth(8);
}

/* A poll has found all; each callback gets the next. */
TEST(inside__disabled_between_two_of_one_poll__no_further_one)
{
	no_sixth(1);
}

/* The common loop: disable, take until nothing is left, enable for what is new. */
static void
drain(struct notes *notes)
{
	ck_assert_int_eq(rearm_queue_disable(qs.queue), 0);
	do
		take_all(notes);
	while (queue_enable_same(REARM_SINGLE, REARM_NEW) == -EAGAIN);
}

TEST(inside__disable_take_enable__no_completion_is_left)
{
	qs.notes.then = drain;
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 1, REARM_ANY), 0);
	for (int i = 1; i <= 200; i++) {
		queue_complete((uint64_t)i, 1);
		if (i % 8 == 0)
			notes_await(i);
	}
	notes_await(200);
	for (uint64_t i = 0; i < 200; i++)
		ck_assert_uint_eq(qs.notes.id[i], 1 + i);
	/* One may still be inside, and its calls need the queue. */
	ck_assert_int_eq(rearm_queue_teardown(qs.queue), 0);
}

static void
tear_down(struct notes *notes)
{
	(void)notes;
	ck_assert_int_eq(rearm_queue_teardown(qs.queue), 0);
}

TEST(inside__teardown__does_not_wait_for_itself)
{
	qs.notes.then = tear_down;
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 1, REARM_ANY), 0);
	queue_complete(1, 2);
	notes_await_calls(1);
	notes_await_inside(0);
	notes_expect(1, 1);
	queue_takes(2);
}

static int free_result;

static void
free_own(struct notes *notes)
{
	struct rearm_queue *queue = qs.queue;

	(void)notes;
	queue_destroy_qp();
	qs.queue = NULL;
	__atomic_store_n(&free_result, rearm_queue_free(queue), __ATOMIC_SEQ_CST);
	ck_assert_int_eq(rearm_queue_free(queue), -ENODEV);
	ck_assert_int_eq(rearm_loop_free(qs.loop), -EDEADLK);
	queue_sleep_ms(20); /* a free of the loop waits for it */
}

/* The teardown of the case frees the loop while the callback is inside. */
TEST(inside__free__is_released_when_it_returns)
{
	free_result = 1;
	qs.notes.then = free_own;
	queue_complete(1, 3);
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 1, REARM_ANY), 0);
	notes_await_calls(1);
	while (__atomic_load_n(&free_result, __ATOMIC_SEQ_CST) == 1)
		;
	ck_assert_int_eq(free_result, 0);
}

TEST(free__one_is_inside__waits_for_it_and_no_other_begins)
{
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 1, REARM_ANY), 0);
	queue_complete(1, 8);
	notes_await_calls(1);
	queue_destroy_qp();
	ck_assert_int_eq(rearm_queue_free(qs.queue), 0);
	qs.queue = NULL;
	ck_assert_int_eq(qs.notes.inside, 0);
	notes_expect(qs.notes.n, qs.notes.calls);
}

static struct rearm_queue *other;

static void
free_other(struct notes *notes)
{
	(void)notes;
	if (other)
		ck_assert_int_eq(rearm_queue_free(other), 0);
	other = NULL;
}

TEST(inside__free_of_another_queue__freed_at_once)
{
	const struct rearm_queue_attr attr = { .cqe = 4 };

	ck_assert_int_eq(rearm_queue_create(qs.loop, qs.context, &attr, &other), 0);
	qs.notes.then = free_other;
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 1, REARM_ANY), 0);
	queue_complete(1, 1);
	notes_await_calls(1);
	notes_await_inside(0);
	ck_assert_ptr_null(other);
}
