/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues whose notifications are for solicited completions only. */
#include "queue_story.h"

static void
begin(void)
{
	queue_make_own_peer(rearm_queue_cq(qs.queue));
	ck_assert_int_eq(rearm_queue_set_solicited(qs.queue, 1), 0);
}

/* Both by the flag at creation and by the call. */
static void
begin_by(int flag)
{
	const struct rearm_queue_attr attr = { .cqe = QUEUE_CQE, .flags = REARM_SOLICITED };

	if (flag) {
		queue_destroy_qp();
		ck_assert_int_eq(rearm_queue_free(qs.queue), 0);
		ck_assert_int_eq(rearm_queue_create(qs.loop, qs.context, &attr, &qs.queue), 0);
		queue_make_own_peer(rearm_queue_cq(qs.queue));
	} else {
		begin();
	}
}

/* Until nothing is due, so that no late poll finds what a test sends next. */
static void
settle(int n)
{
	do
		while (rearm_loop_dispatch(qs.loop, 64, 0) > 0)
			;
	while (qs.notes.n < n);
	ck_assert_int_eq(qs.notes.n, n);
}

STEPPED_CASE("rearm_solicited:callbacks");

static const enum rearm_policy policies[] = { REARM_SINGLE, REARM_MANY };

/* The others come with it, in order. */
TEST_LOOP(callbacks__others_wait_for_a_solicited_one, 4)
{
	begin_by(_i / 2);
	ck_assert_int_eq(queue_enable(policies[_i % 2], 8, REARM_NEW), 0);
	for (uint64_t turn = 0; turn < 30; turn += 3) {
		settle((int)turn);
		queue_send(turn, 0);
		queue_send(turn + 1, 0);
		settle((int)turn);
		queue_send(turn + 2, IBV_SEND_SOLICITED);
		settle((int)turn + 3);
	}
	for (uint64_t i = 0; i < 30; i++)
		ck_assert_uint_eq(qs.notes.id[i], i);
}

QUEUE_CASE("rearm_solicited:threads");

/* As ibv_req_notify_cq() has it. */
TEST(callbacks__a_failed_one__counts_as_solicited)
{
	begin();
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 8, REARM_NEW), 0);
	queue_send(1, 0);
	notes_expect(0, 0);
	queue_fail_qp();
	queue_complete(2, 1);
	notes_await(2);
	ck_assert_uint_eq(qs.notes.id[0], 1);
	ck_assert_uint_eq(qs.notes.id[1], 2);
}

/* What is there counts from then on. */
TEST(set__to_all__callbacks_for_those_that_waited)
{
	begin();
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 8, REARM_NEW), 0);
	queue_send(1, 0);
	notes_expect(0, 0);
	ck_assert_int_eq(rearm_queue_set_solicited(qs.queue, 0), 0);
	notes_await(1);
	queue_send(2, 0);
	notes_await(2);
	ck_assert_int_eq(rearm_queue_set_solicited(qs.queue, 1), 0);
	queue_send(3, 0); /* the notification that was requested before is for all */
	queue_send(4, IBV_SEND_SOLICITED);
	notes_await(4);
}

static void *
wait_thread(void *arg)
{
	struct ibv_wc wc[8];

	(void)arg;
	ck_assert_int_eq(rearm_queue_wait(qs.queue, 1, -1, 8, wc), 2);
	ck_assert_uint_eq(wc[0].wr_id, 1);
	ck_assert_uint_eq(wc[1].wr_id, 2);
	return NULL;
}

TEST(wait__others_do_not_wake_it)
{
	pthread_t thread;
	struct ibv_wc wc;

	begin();
	ck_assert_int_eq(pthread_create(&thread, NULL, wait_thread, NULL), 0);
	while (rearm_queue_take(qs.queue, 1, &wc) != -EBUSY)
		;
	queue_sleep_ms(20);
	queue_send(1, 0);
	queue_sleep_ms(20);
	queue_send(2, IBV_SEND_SOLICITED);
	pthread_join(thread, NULL);
	/* A call that polls finds any. */
	queue_send(3, 0);
	ck_assert_int_eq(rearm_queue_wait(qs.queue, 1, 0, 1, &wc), 1);
	ck_assert_uint_eq(wc.wr_id, 3);
}

TEST(wrong_arguments__refused)
{
	const struct rearm_queue_attr flags = { .cqe = 1, .flags = 4 };
	struct rearm_queue *queue;

	ck_assert_int_eq(rearm_queue_set_solicited(qs.queue, 2), -EINVAL);
	ck_assert_int_eq(rearm_queue_set_solicited(qs.queue, -1), -EINVAL);
	ck_assert_int_eq(rearm_queue_create(qs.loop, qs.context, &flags, &queue), -EINVAL);
	ck_assert_int_eq(
	    rearm_queue_adopt(qs.loop, rearm_queue_cq(qs.queue), &flags, &queue), -EINVAL);
}

QUEUE_CASE("rearm_solicited:refused");

/*
 * Inside the second callback of a series the device is armed for solicited completions, by a call
 * that enables nothing, and what is there is taken.
 */
static void
arm_inside(struct notes *notes)
{
	if (notes->calls > 2)
		return;
	if (notes->calls == 2) {
		ck_assert_int_eq(rearm_queue_set_solicited(qs.queue, 1), 0);
		queue_complete(10, 1);
		ck_assert_int_eq(queue_enable_same(REARM_SINGLE, REARM_NEW), -EAGAIN);
		queue_takes(10);
	}
	queue_complete(10 + (uint64_t)notes->calls, 1);
}

/* Red in checked builds (evd_take_for_upcall()) if evd_arm() leaves evd->changes as it is. */
TEST(series__armed_for_solicited_ones_meanwhile__goes_on)
{
	qs.notes.then = arm_inside;
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 4, REARM_ANY), 0);
	queue_complete(1, 1);
	notes_await(3);
	queue_complete(20, 1);
	notes_await(4);
}
