/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * personality -- behaviours that the specification allows, so programs must cope with them
 */
#include "story.h"
#include "lib/personalities.h"

#include "softverbs/cq/personality.h"
#include "softverbs/soft_arm.h"

static struct side a, b;

static void
begin(const char *personality)
{
	const struct side_options roomy = { .cqe = 4096 };

	setenv("SOFTVERBS_PERSONALITY", personality, 1);
	pair_make(&a, &b, &roomy);
}

static void
send_one(uint64_t wr_id)
{
	side_receive(&b, wr_id, 0, 8);
	side_post(&a, IBV_WR_SEND, 0, wr_id, 0, 8);
}

CASE("soft-personality:personality");

TEST(late__completion_before_the_request__event)
{
	begin("late");
	send_one(1);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	channel_expect(b.channel, b.cq);
	cq_expect(b.cq, 1, IBV_WC_SUCCESS);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	channel_expect_no_event(b.channel);
	pair_free(&a, &b);
}

TEST(late__solicited_request__plain_completion_before_it_is_no_reason)
{
	begin("late");
	send_one(1);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 1), 0);
	channel_expect_no_event(b.channel);
	pair_free(&a, &b);
}

/*
 * A solicited completion is a reason until it is polled, and what comes behind it is none.  The
 * counters of the queue wrap after three.
 */
/* origin: outside.133 */
TEST_LOOP(late__solicited_request__solicited_completion_before_it__event, 6)
{
	begin("late");
	for (uint64_t i = 0; i < 6; i++) {
		side_receive(&b, i, 0, 8);
		side_post(&a, IBV_WR_SEND, i == (uint64_t)_i ? IBV_SEND_SOLICITED : 0, i, 0, 8);
	}
	for (uint64_t i = 0; i < 6; i++) {
		ck_assert_int_eq(ibv_req_notify_cq(b.cq, 1), 0);
		if (i <= (uint64_t)_i)
			channel_expect(b.channel, b.cq);
		channel_expect_no_event(b.channel);
		cq_expect(b.cq, i, IBV_WC_SUCCESS);
	}
	pair_free(&a, &b);
}

/* A spurious event must not use up the request. */
TEST(spurious__extra_events_come_and_the_due_one_too)
{
	int extra = 0;

	begin("spurious");
	for (int i = 0; i < 200; i++) {
		ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
		while (channel_ready(b.channel)) {
			channel_expect(b.channel, b.cq);
			extra++;
		}
		send_one(1);
		channel_expect(b.channel, b.cq);
		cq_expect(b.cq, 1, IBV_WC_SUCCESS);
		while (channel_ready(b.channel)) {
			channel_expect(b.channel, b.cq);
			extra++;
		}
	}
	ck_assert_int_gt(extra, 0);
	pair_free(&a, &b);
}

/* They are extra events: not one for each completion that no one has asked for. */
TEST(spurious__completions_without_a_request__few_events)
{
	int extra = 0;

	begin("spurious");
	for (uint64_t i = 0; i < 400; i++) {
		send_one(i);
		cq_expect(b.cq, i, IBV_WC_SUCCESS);
		while (channel_ready(b.channel)) {
			channel_expect(b.channel, b.cq);
			extra++;
		}
	}
	ck_assert_int_gt(extra, 0);
	ck_assert_int_lt(extra, 200);
	pair_free(&a, &b);
}

/* There is nowhere to post an event, in any personality. */
TEST_LOOP(queue_without_a_channel__in_every_personality__all_can_be_polled, DT_PERSONALITIES)
{
	struct ibv_cq *with_channel;

	begin(dt_personality_names[_i]);
	with_channel = b.cq;
	ck_assert_int_eq(ibv_destroy_qp(a.qp), 0);
	ck_assert_int_eq(ibv_destroy_qp(b.qp), 0);
	b.cq = ibv_create_cq(b.context, 256, NULL, NULL, 0);
	ck_assert_ptr_nonnull(b.cq);
	side_new_qp(&a);
	side_new_qp(&b);
	side_connect(&a, &b, NULL);
	for (uint64_t i = 0; i < 200; i++) {
		ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
		send_one(i);
		cq_expect(b.cq, i, IBV_WC_SUCCESS);
	}
	ck_assert_int_eq(ibv_destroy_cq(with_channel), 0);
	pair_free(&a, &b);
}

TEST(coalescing__one_event_when_several_are_there)
{
	begin("coalescing");
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	for (uint64_t i = 0; i < 8; i++)
		send_one(i);
	channel_expect(b.channel, b.cq);
	sleep_ms(2);
	channel_expect_no_event(b.channel);
	for (uint64_t i = 0; i < 8; i++)
		cq_expect(b.cq, i, IBV_WC_SUCCESS);
	pair_free(&a, &b);
}

TEST(coalescing__a_lonely_completion__event_in_a_while)
{
	begin("coalescing");
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	send_one(1);
	channel_expect(b.channel, b.cq);
	pair_free(&a, &b);
}

/* For each request there is one event, and only its completions are a reason. */
TEST(coalescing__solicited_request__only_a_solicited_completion_is_a_reason)
{
	begin("coalescing");
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 1), 0);
	send_one(1);
	sleep_ms(2);
	channel_expect_no_event(b.channel);
	side_receive(&b, 2, 0, 8);
	side_post(&a, IBV_WR_SEND, IBV_SEND_SOLICITED, 2, 0, 8);
	channel_expect(b.channel, b.cq);
	channel_expect_no_event(b.channel);
	pair_free(&a, &b);
}

TEST(delayed__completions_show_up_later_in_order)
{
	int late = 0;

	begin("delayed");
	for (uint64_t i = 0; i < 50; i++) {
		struct ibv_wc wc;

		send_one(i);
		if (ibv_poll_cq(b.cq, 1, &wc) == 0) {
			late++;
			cq_expect(b.cq, i, IBV_WC_SUCCESS);
		} else {
			ck_assert_uint_eq(wc.wr_id, i);
		}
	}
	/* The delay is random, and this thread may not have run: not every one is late. */
	ck_assert_int_ge(late, 10);
	pair_free(&a, &b);
}

TEST(delayed__arm_then_completion__event)
{
	begin("delayed");
	for (uint64_t i = 0; i < 50; i++) {
		ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
		send_one(i);
		channel_expect(b.channel, b.cq);
		cq_expect(b.cq, i, IBV_WC_SUCCESS);
	}
	channel_expect_no_event(b.channel);
	pair_free(&a, &b);
}

/* The last entry that becomes visible is the one that was waited for, or one behind it is. */
/* origin: outside.140 */
TEST(delayed__solicited_request_then_completions__event)
{
	begin("delayed");
	for (uint64_t i = 0; i < 50; i++) {
		ck_assert_int_eq(ibv_req_notify_cq(b.cq, 1), 0);
		side_receive(&b, i, 0, 8);
		side_receive(&b, i, 0, 8);
		side_post(&a, IBV_WR_SEND, i % 2 ? IBV_SEND_SOLICITED : 0, i, 0, 8);
		side_post(&a, IBV_WR_SEND, i % 2 ? 0 : IBV_SEND_SOLICITED, i, 0, 8);
		channel_expect(b.channel, b.cq);
		cq_expect(b.cq, i, IBV_WC_SUCCESS);
		cq_expect(b.cq, i, IBV_WC_SUCCESS);
	}
	channel_expect_no_event(b.channel);
	pair_free(&a, &b);
}

/* A solicited one that was shown before the request is none of it. */
/* origin: out33.U15 */
TEST(delayed__solicited_completion_then_a_request__others_are_no_reason)
{
	begin("delayed");
	for (uint64_t i = 0; i < 10; i++) {
		side_receive(&b, i, 0, 8);
		side_post(&a, IBV_WR_SEND, IBV_SEND_SOLICITED, i, 0, 8);
		if (i)
			channel_expect(b.channel, b.cq);
		cq_expect(b.cq, i, IBV_WC_SUCCESS);
		ck_assert_int_eq(ibv_req_notify_cq(b.cq, 1), 0);
		send_one(i);
		cq_expect(b.cq, i, IBV_WC_SUCCESS);
	}
	sleep_ms(2);
	channel_expect_no_event(b.channel);
	pair_free(&a, &b);
}

TEST(delayed__queue_pair_is_destroyed__all_that_it_completed_can_be_polled)
{
	struct ibv_wc wcs[20];

	begin("delayed");
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	for (uint64_t i = 0; i < 20; i++)
		send_one(i);
	ck_assert_int_eq(ibv_destroy_qp(b.qp), 0);
	b.qp = NULL;
	ck_assert_int_eq(ibv_poll_cq(b.cq, 20, wcs), 20);
	for (uint64_t i = 0; i < 20; i++)
		ck_assert_uint_eq(wcs[i].wr_id, i);
	channel_expect(b.channel, b.cq);
	pair_free(&a, &b);
}

/* origin: outside.93 */
TEST_LOOP(delayed__last_buffer_of_a_shared_queue__all_completions_can_be_polled, 10)
{
	const struct side_options shared = { .srq = 16 };
	struct ibv_wc wcs[10];

	setenv("SOFTVERBS_PERSONALITY", "delayed", 1);
	pair_make(&a, &b, &shared);
	for (uint64_t i = 0; i < 10; i++)
		send_one(i);
	side_to_error(&b);
	async_expect(b.context, IBV_EVENT_QP_LAST_WQE_REACHED, b.qp);
	ck_assert_int_eq(ibv_poll_cq(b.cq, 10, wcs), 10);
	for (uint64_t i = 0; i < 10; i++)
		ck_assert_uint_eq(wcs[i].wr_id, i);
	pair_free(&a, &b);
}

TEST(delayed__destroyed_with_everything_held_back__nothing_remains)
{
	begin("delayed");
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	for (uint64_t i = 0; i < 10; i++)
		send_one(i);
	pair_free(&a, &b);
}

/* The loop every consumer has, under each personality: it must see every completion. */
TEST_LOOP(arm_poll_wait__in_every_personality__sees_all, DT_PERSONALITIES)
{
	const struct side_options many = { .cqe = 4096, .receives = 64, .sends = 64 };
	struct ibv_wc wc;
	uint64_t sent = 0, seen = 0;

	setenv("SOFTVERBS_PERSONALITY", dt_personality_names[_i], 1);
	pair_make(&a, &b, &many);
	while (seen < 500) {
		ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
		for (int i = 0; i < 3 && sent < 500; i++)
			send_one(sent++);
		while (ibv_poll_cq(b.cq, 1, &wc) == 1)
			ck_assert_uint_eq(wc.wr_id, seen++);
		if (seen < sent)
			channel_expect(b.channel, b.cq);
	}
	pair_free(&a, &b);
}

TEST(exact_hint__returns_what_the_plain_call_cannot)
{
	begin("strict");
	ck_assert_int_eq(soft_cq_arm(b.cq, 0), 0);
	send_one(1);
	ck_assert_int_eq(soft_cq_arm(b.cq, 0), 1);
	cq_expect(b.cq, 1, IBV_WC_SUCCESS);
	ck_assert_int_eq(soft_cq_arm(b.cq, 1), 0);
	channel_expect(b.channel, b.cq);
	pair_free(&a, &b);
}

#define FLOOD 20000

/* Without a poll between the request and the wait. */
TEST_LOOP(exact_hint__no_poll_before_the_wait__sees_all, DT_PERSONALITIES)
{
	begin(dt_personality_names[_i]);
	pair_stream(&a, &b, FLOOD);
	pair_free(&a, &b);
}

/* It is for the consumer to find out, by polling. */
TEST(exact_hint__completions_were_lost__it_says_so)
{
	const struct side_options narrow = { .cqe = 1 };
	struct ibv_wc wc;

	pair_make(&a, &b, &narrow);
	for (uint64_t i = 0; i < 2; i++)
		send_one(i);
	ck_assert_int_eq(ibv_poll_cq(b.cq, 1, &wc), 1);
	ck_assert_int_eq(soft_cq_arm(b.cq, 0), 1);
	ck_assert_int_lt(ibv_poll_cq(b.cq, 1, &wc), 0);
	pair_free(&a, &b);
}

/* What a program chooses (soft_arm.h) holds before the environment; another name is none. */
TEST(personality__chosen_by_name__is_that_of_what_is_opened_then)
{
	struct ibv_context *context;

	ck_assert_int_eq(soft_personality_choose("frob"), -EINVAL);
	ck_assert_int_eq(soft_personality_choose(""), -EINVAL);
	ck_assert_int_eq(soft_personality_choose("late"), 0);
	setenv("SOFTVERBS_PERSONALITY", "frob", 1);
	context = story_open();
	pair_make(&a, &b, NULL);
	send_one(1);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	channel_expect(b.channel, b.cq);
	pair_free(&a, &b);
	ck_assert_int_eq(ibv_close_device(context), 0);
}

/* origin: out33.U15 */
TEST(names_of_personalities__as_many_as_there_is_room_for)
{
	static const char all[] = "strict, late, spurious, coalescing, delayed";
	char text[sizeof all + 1];

	for (size_t size = 1; size <= sizeof text; size++) {
		memset(text, 'x', sizeof text);
		ck_assert_ptr_eq(soft_personality_names(text, size), text);
		ck_assert_uint_eq(strlen(text), size < sizeof all ? size - 1 : sizeof all - 1);
		ck_assert_mem_eq(text, all, strlen(text));
	}
}
