/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of a queue. */
#include "queue_story.h"

QUEUE_CASE("rearm_counters:counters");

static struct rearm_counters
counters(void)
{
	struct rearm_counters c;

	memset(&c, 0x55, sizeof c);
	ck_assert_int_eq(rearm_queue_counters(qs.queue, &c, sizeof c), 0);
	return c;
}

TEST(counters__new_queue__all_0)
{
	const struct rearm_counters none = { 0 }, c = counters();

	ck_assert_mem_eq(&c, &none, sizeof c);
}

TEST(counters__takes_and_waits)
{
	struct rearm_counters c;
	struct ibv_wc wc[4];

	queue_complete(1, 3);
	for (uint64_t i = 1; i <= 3; i++)
		queue_takes(i);
	queue_is_empty();
	ck_assert_int_eq(rearm_queue_wait(qs.queue, 1, 1000, 4, wc), -ETIMEDOUT);
	c = counters();
	ck_assert_uint_eq(c.events, 3);
	ck_assert_uint_eq(c.takes, 4);
	ck_assert_uint_eq(c.takes_found, 3);
	ck_assert_uint_eq(c.waits, 1);
	ck_assert_uint_eq(c.sleeps, 1);
	ck_assert_uint_eq(c.arms, 1);
	ck_assert_uint_eq(c.depth, 0);
	ck_assert_uint_ge(c.max_depth, 2);
	ck_assert_uint_ge(c.polls, 2);
	ck_assert_uint_eq(c.polls_found, 1);
	ck_assert_uint_eq(c.callbacks, 0);
}

TEST(counters__callbacks__and_what_they_leave)
{
	struct rearm_counters c;

	notes_hold();
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 1, REARM_NEW), 0);
	queue_complete(1, 1);
	notes_await_inside(1);
	queue_complete(2, 2);
	notes_release();
	notes_await(3);
	ck_assert_int_eq(rearm_queue_teardown(qs.queue), 0);
	c = counters();
	ck_assert_uint_eq(c.events, 3);
	ck_assert_uint_eq(c.callbacks, 3);
	ck_assert_uint_ge(c.notifications, 1);
	ck_assert_uint_ge(c.arms, c.notifications);
	ck_assert_uint_eq(c.arm_failures, 0);
	ck_assert_uint_eq(c.depth, 0);
}

/* A program that knows fewer counters, and one that knows more. */
TEST(counters__of_another_size__the_first_ones)
{
	uint64_t few[2] = { 5, 5 }, many[sizeof(struct rearm_counters) / 8 + 2];

	queue_complete(1, 1);
	queue_takes(1);
	ck_assert_int_eq(rearm_queue_counters(qs.queue, (struct rearm_counters *)few, 8), 0);
	ck_assert_uint_eq(few[0], 1);
	ck_assert_uint_eq(few[1], 5);
	memset(many, 0x55, sizeof many);
	ck_assert_int_eq(
	    rearm_queue_counters(qs.queue, (struct rearm_counters *)many, sizeof many), 0);
	ck_assert_uint_eq(many[0], 1);
	ck_assert_uint_eq(many[sizeof many / 8 - 1], 0);
	ck_assert_int_eq(rearm_queue_counters(qs.queue, NULL, 8), -EINVAL);
}
