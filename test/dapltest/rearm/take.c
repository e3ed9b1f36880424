/* SPDX-License-Identifier: BSD-3-Clause */
/* Completions that are taken by calls: rearm_queue_take() and rearm_queue_wait(). */
#include "queue_story.h"

QUEUE_CASE("rearm_take:take");

TEST(take__none__returns_none)
{
	queue_is_empty();
}

TEST(take__three__in_order_and_what_a_failed_one_has)
{
	struct ibv_wc wc[4];

	queue_complete(1, 3);
	ck_assert_int_eq(rearm_queue_take(qs.queue, 4, wc), 3);
	for (unsigned int i = 0; i < 3; i++) {
		ck_assert_uint_eq(wc[i].wr_id, 1 + i);
		ck_assert_int_eq(wc[i].status, IBV_WC_WR_FLUSH_ERR);
		ck_assert_uint_eq(wc[i].qp_num, qs.qp->qp_num);
	}
	queue_is_empty();
}

/* The first poll takes a batch from the device: what is left waits in the queue. */
TEST(take__one_at_a_time__all_in_order)
{
	queue_complete(1, 40);
	for (uint64_t i = 1; i <= 40; i++)
		queue_takes(i);
	queue_is_empty();
}

TEST(take__wrong_arguments__refused)
{
	struct ibv_wc wc;

	ck_assert_int_eq(rearm_queue_take(qs.queue, 0, &wc), -EINVAL);
	ck_assert_int_eq(rearm_queue_take(qs.queue, 1, NULL), -EINVAL);
	ck_assert_int_eq(rearm_queue_wait(qs.queue, 1, 0, 0, &wc), -EINVAL);
	ck_assert_int_eq(rearm_queue_wait(qs.queue, 1, 0, 1, NULL), -EINVAL);
	ck_assert_int_eq(rearm_queue_wait(qs.queue, 1, -2, 1, &wc), -EINVAL);
	ck_assert_int_eq(rearm_queue_wait(qs.queue, 0, 0, 1, &wc), -EINVAL);
	ck_assert_int_eq(
	    rearm_queue_wait(qs.queue, rearm_queue_cq(qs.queue)->cqe + 1, 0, 1, &wc), -EINVAL);
}

QUEUE_CASE("rearm_take:wait");

struct waiter {
	pthread_t thread;
	int min, n, r;
	int64_t timeout;
	struct ibv_wc wc[8];
};

static void *
wait_thread(void *arg)
{
	struct waiter *w = arg;

	w->r = rearm_queue_wait(qs.queue, w->min, w->timeout, w->n, w->wc);
	return NULL;
}

/* Returns when it waits: then another wait is refused. */
static void
waiter_start(struct waiter *w)
{
	struct ibv_wc wc;

	ck_assert_int_eq(pthread_create(&w->thread, NULL, wait_thread, w), 0);
	while (rearm_queue_take(qs.queue, 1, &wc) != -EBUSY)
		;
}

static int
waiter_join(struct waiter *w)
{
	pthread_join(w->thread, NULL);
	return w->r;
}

TEST(wait__they_are_there__takes_up_to_n)
{
	struct ibv_wc wc[4];

	queue_complete(1, 5);
	ck_assert_int_eq(rearm_queue_wait(qs.queue, 2, -1, 4, wc), 4);
	for (unsigned int i = 0; i < 4; i++)
		ck_assert_uint_eq(wc[i].wr_id, 1 + i);
	queue_takes(5);
}

TEST(wait__too_few__times_out_and_takes_none)
{
	struct ibv_wc wc[4];

	queue_complete(1, 1);
	ck_assert_int_eq(rearm_queue_wait(qs.queue, 2, 0, 4, wc), -ETIMEDOUT);
	ck_assert_int_eq(rearm_queue_wait(qs.queue, 2, 1000, 4, wc), -ETIMEDOUT);
	queue_takes(1);
	queue_is_empty();
}

/* Twice: the second time the notification of the first was read. */
TEST(wait__completions_come_later__wakes_when_enough_are_there)
{
	struct waiter w = { .min = 2, .n = 8, .timeout = -1 };

	for (uint64_t turn = 0; turn < 2; turn++) {
		waiter_start(&w);
		queue_complete(10 * turn, 1);
		queue_sleep_ms(5);
		queue_complete(10 * turn + 1, 1);
		ck_assert_int_eq(waiter_join(&w), 2);
		ck_assert_uint_eq(w.wc[0].wr_id, 10 * turn);
		ck_assert_uint_eq(w.wc[1].wr_id, 10 * turn + 1);
	}
}

TEST(wait__a_thread_waits__others_are_refused)
{
	struct waiter w = { .min = 1, .n = 8, .timeout = -1 };
	struct ibv_wc wc;

	waiter_start(&w);
	ck_assert_int_eq(rearm_queue_wait(qs.queue, 1, 0, 1, &wc), -EBUSY);
	ck_assert_int_eq(rearm_queue_take(qs.queue, 1, &wc), -EBUSY);
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 1, REARM_ANY), -EBUSY);
	queue_complete(7, 1);
	ck_assert_int_eq(waiter_join(&w), 1);
}

TEST(wait__callbacks_are_enabled__refused)
{
	struct ibv_wc wc;

	ck_assert_int_eq(queue_enable(REARM_SINGLE, 1, REARM_ANY), 0);
	ck_assert_int_eq(rearm_queue_wait(qs.queue, 1, 0, 1, &wc), -EACCES);
	ck_assert_int_eq(rearm_queue_disable(qs.queue), 0);
	ck_assert_int_eq(rearm_queue_wait(qs.queue, 1, 0, 1, &wc), -ETIMEDOUT);
}

TEST(wait__the_queue_is_freed__cancelled)
{
	struct waiter w = { .min = 1, .n = 8, .timeout = -1 };

	waiter_start(&w);
	queue_destroy_qp();
	ck_assert_int_eq(rearm_queue_free(qs.queue), 0);
	qs.queue = NULL;
	ck_assert_int_eq(waiter_join(&w), -ECANCELED);
}

/* A queue whose waits poll before they sleep. */
TEST(wait__with_spin__the_same)
{
	const struct rearm_queue_attr attr = { .cqe = QUEUE_CQE, .spin = 20000 };
	struct waiter w = { .min = 1, .n = 8, .timeout = -1 };
	struct ibv_wc wc;

	queue_destroy_qp();
	ck_assert_int_eq(rearm_queue_free(qs.queue), 0);
	ck_assert_int_eq(rearm_queue_create(qs.loop, qs.context, &attr, &qs.queue), 0);
	queue_make_qp(rearm_queue_cq(qs.queue));
	for (uint64_t turn = 1; turn <= 3; turn++) {
		waiter_start(&w);
		queue_complete(turn, 1);
		ck_assert_int_eq(waiter_join(&w), 1);
		ck_assert_uint_eq(w.wc[0].wr_id, turn);
	}
	ck_assert_int_eq(rearm_queue_wait(qs.queue, 1, 1000, 1, &wc), -ETIMEDOUT);
}
