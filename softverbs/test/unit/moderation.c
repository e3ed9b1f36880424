/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * moderation -- one event for several completions, as the program sets it
 *
 * Most queues here have a period that does not end while a test runs, so that an event can only
 * come for another reason, and none comes before, however slow the machine is.
 */
#include "pair.h"

#include "softverbs/cq/cq.h"
#include "softverbs/device/timer.h"

#define LONG_TIME (24 * 3600 * (uint64_t)SOFT_SECOND)
#define FLOOD 20000

static void
setup(void)
{
	const struct side_options roomy = { .cqe = 128 };

	setenv("SOFTVERBS_PERSONALITY", "strict", 1);
	pair_make(&a, &b, &roomy);
}

static void
moderate(uint32_t count, uint64_t period)
{
	soft_personality_moderate(soft_cq_of(b.cq), count, period);
}

static void
arm(void)
{
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
}

/* The receive is complete when it returns. */
static void
arrive_with(uint64_t wr_id, unsigned int flags)
{
	side_receive(&b, wr_id, 0, 8);
	side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED | flags, wr_id, 0, 8);
	cq_expect(a.cq, wr_id, IBV_WC_SUCCESS);
}

static void
arrive(uint64_t wr_id)
{
	arrive_with(wr_id, 0);
}

CASE("soft-moderation:moderation", setup, pair_end);

TEST(count__reached__event_and_none_before)
{
	moderate(4, LONG_TIME);
	for (int round = 0; round < 3; round++) {
		arm();
		for (uint64_t i = 0; i < 3; i++) {
			arrive(i);
			channel_expect_no_event(b.channel);
		}
		arrive(3);
		channel_expect(b.channel, b.cq);
		arrive(4); /* the queue is not armed */
		channel_expect_no_event(b.channel);
		for (uint64_t i = 0; i < 5; i++)
			cq_expect(b.cq, i, IBV_WC_SUCCESS);
	}
}

/* Otherwise a slow stream would never be reported. */
TEST(period__begins_with_the_first__and_not_anew_with_the_next)
{
	uint64_t end;

	moderate(1000, LONG_TIME);
	arm();
	arrive(1);
	end = soft_cq_of(b.cq)->timer.when;
	ck_assert_uint_gt(end, soft_now());
	arrive(2);
	arm();
	arrive(3);
	ck_assert_uint_eq(soft_cq_of(b.cq)->timer.when, end);
	channel_expect_no_event(b.channel);
}

TEST(period__over__event_for_fewer)
{
	const uint64_t begin = soft_now(), period = 20 * 1000 * SOFT_MICROSECOND;

	moderate(UINT32_MAX, period);
	arm();
	for (uint64_t i = 0; !channel_ready(b.channel); i++) {
		arrive(i);
		cq_expect(b.cq, i, IBV_WC_SUCCESS);
		sleep_ms(1);
	}
	ck_assert_uint_ge(soft_now() - begin, period);
	channel_expect(b.channel, b.cq);
	channel_expect_no_event(b.channel);
}

TEST(armed_again__event_is_held__the_same_event_reports_what_comes)
{
	moderate(3, LONG_TIME);
	arm();
	arrive(1);
	cq_expect(b.cq, 1, IBV_WC_SUCCESS);
	arm();
	arrive(2);
	channel_expect_no_event(b.channel);
	arrive(3);
	channel_expect(b.channel, b.cq);
	arrive(4);
	channel_expect_no_event(b.channel);
}

/* Each completion finds the queue armed. */
TEST(armed_again_for_each__count_goes_on)
{
	moderate(3, LONG_TIME);
	for (uint64_t i = 0; i < 3; i++) {
		channel_expect_no_event(b.channel);
		arm();
		arrive(i);
		cq_expect(b.cq, i, IBV_WC_SUCCESS);
	}
	channel_expect(b.channel, b.cq);
	arm();
	arrive(4);
	channel_expect_no_event(b.channel);
}

/* The completion that an event is held for was polled meanwhile. */
TEST(armed_again__period_is_over_before_the_next__both_are_reported)
{
	moderate(1000, SOFT_MICROSECOND);
	arm();
	arrive(1);
	cq_expect(b.cq, 1, IBV_WC_SUCCESS);
	arm();
	channel_expect(b.channel, b.cq); /* of the first, which alone was there */
	arrive(2);
	channel_expect(b.channel, b.cq);
	channel_expect_no_event(b.channel);
}

TEST_LOOP(solicited__event_at_once, 2)
{
	moderate(1000, LONG_TIME);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, _i), 0);
	arrive_with(1, IBV_SEND_SOLICITED);
	channel_expect(b.channel, b.cq);
}

TEST(solicited__brings_the_event_that_is_held)
{
	moderate(1000, LONG_TIME);
	arm();
	arrive(1);
	channel_expect_no_event(b.channel);
	arrive_with(2, IBV_SEND_SOLICITED);
	channel_expect(b.channel, b.cq);
	channel_expect_no_event(b.channel);
	arm();
	arrive(3); /* a new event, with a count of its own */
	channel_expect_no_event(b.channel);
}

TEST(solicited_request__others_do_not_count)
{
	moderate(2, LONG_TIME);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 1), 0);
	for (uint64_t i = 0; i < 4; i++)
		arrive(i);
	channel_expect_no_event(b.channel);
	arrive_with(4, IBV_SEND_SOLICITED);
	channel_expect(b.channel, b.cq);
}

TEST(failed__event_at_once)
{
	moderate(1000, LONG_TIME);
	side_receive(&b, 1, 0, 8);
	arm();
	side_to_error(&b);
	channel_expect(b.channel, b.cq);
	cq_expect(b.cq, 1, IBV_WC_WR_FLUSH_ERR);
}

TEST_LOOP(resized__event_is_held__it_comes, 2)
{
	moderate(3, LONG_TIME);
	arm();
	arrive(1);
	arrive(2);
	ck_assert_int_eq(ibv_resize_cq(b.cq, _i ? 4 : 1000), 0);
	channel_expect_no_event(b.channel);
	arrive(3);
	channel_expect(b.channel, b.cq);
	for (uint64_t i = 1; i <= 3; i++)
		cq_expect(b.cq, i, IBV_WC_SUCCESS);
	arm();
	arrive(4); /* the moderation stays */
	channel_expect_no_event(b.channel);
}

TEST(changed__event_is_held__it_comes_at_once)
{
	moderate(1000, LONG_TIME);
	arm();
	arrive(1);
	channel_expect_no_event(b.channel);
	moderate(2, LONG_TIME);
	channel_expect(b.channel, b.cq);
	arm();
	arrive(2);
	channel_expect_no_event(b.channel);
	arrive(3);
	channel_expect(b.channel, b.cq);
}

/* Neither the held event nor its timer outlives the queue; one that was read is acknowledged. */
TEST_LOOP(destroyed__event_is_held__nothing_remains, 2)
{
	moderate(3, _i ? SOFT_MICROSECOND : LONG_TIME);
	arm();
	arrive(1);
	if (_i)
		channel_expect(b.channel, b.cq);
	arm();
	arrive(2);
	ck_assert_int_eq(ibv_destroy_qp(b.qp), 0);
	b.qp = NULL;
	ck_assert_int_eq(ibv_destroy_cq(b.cq), 0);
	b.cq = NULL;
	ck_assert(!channel_ready(b.channel));
	ck_assert_uint_eq(soft_timer_run(), UINT64_MAX);
}

/*
 * Without a poll between the request and the wait.  Of the short streams all completions are fewer
 * than the count.
 */
TEST(stream__arm_poll_wait__sees_all)
{
	moderate(16, 100 * SOFT_MICROSECOND);
	pair_stream(&a, &b, FLOOD);
	for (int i = 0; i < 20; i++)
		pair_stream(&a, &b, 5);
}

/* More have come than the new count asks for: the next one is enough at the latest. */
TEST(count__lowered_below_what_has_come__event_with_the_next)
{
	moderate(5, LONG_TIME);
	arm();
	for (uint64_t i = 0; i < 3; i++)
		arrive(i);
	channel_expect_no_event(b.channel);
	moderate(2, LONG_TIME);
	arrive(3);
	channel_expect(b.channel, b.cq);
}
