/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the device does when it is checked: the rules of softverbs/check/adversary.h, each with its
 * move made each time and no other.
 */
#include <string.h>

#include "fake.h"
#include "lib/runner.h"
#include "softverbs/check/settings.h"

#define WRAP(type, name, ...) \
	type __real_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)

WRAP(void, soft_channel_post, struct soft_channel *channel, struct soft_cq *cq);
WRAP(void, soft_channel_post_first, struct soft_channel *channel, struct soft_cq *cq);
WRAP(bool, soft_timer_start, struct soft_timer *timer, uint64_t when);

/* Longer than any time of the device, and than it waits for threads that are ready. */
#define LONG (500 * SOFT_MILLISECOND)

static bool scripted;
static struct soft_cq *cq, *other; /* of one channel */
static int posts[FAKE_QUEUES], posts_first;
static uint64_t due_at; /* of the timer */

void
__wrap_soft_channel_post(struct soft_channel *channel, struct soft_cq *of)
{
	if (scripted)
		posts[of - fake_cq]++;
	else
		__real_soft_channel_post(channel, of);
}

void
__wrap_soft_channel_post_first(struct soft_channel *channel, struct soft_cq *of)
{
	if (!scripted)
		__real_soft_channel_post_first(channel, of);
	else
		posts[of - fake_cq]++, posts_first++;
}

bool
__wrap_soft_timer_start(struct soft_timer *timer, uint64_t when)
{
	if (!scripted)
		return __real_soft_timer_start(timer, when);
	due_at = when;
	return true;
}

static void
begin(const char *list)
{
	char error[128];

	scripted = true;
	fake_reset();
	memset(posts, 0, sizeof posts);
	posts_first = 0;
	due_at = 0;
	soft_check_settings = (struct soft_check_settings){ .seed = 1 };
	ck_assert(soft_moves_read(list, &soft_check_settings.moves, error, sizeof error));
	fake_now = 1000ull * SOFT_SECOND;
	cq = fake_queue(0)->cq;
	other = fake_queue(0)->cq;
}

static void
complete(struct soft_cq *of, enum ibv_wc_opcode opcode, bool solicited)
{
	of->ring[of->tail++ & of->mask] = (struct ibv_wc){ .opcode = opcode };
	if (solicited)
		of->solicited = of->tail;
	soft_adversary.on_entry(of, solicited);
}

static void
arm(struct soft_cq *of, bool solicited)
{
	if (of->armed != SOFT_ARMED_ANY)
		of->armed = solicited ? SOFT_ARMED_SOLICITED : SOFT_ARMED_ANY;
	soft_adversary.on_arm(of, solicited, soft_counter_load(&of->shown) != of->head);
}

static void
tick(struct soft_cq *of, uint64_t time)
{
	fake_now += time;
	soft_adversary.on_timer(of);
}

/* What can be polled, the events of the queue, whether it is armed, and events that are held. */
static void
expect(const struct soft_cq *of, uint32_t shown, int events, enum soft_armed armed, uint32_t due)
{
	ck_assert_uint_eq(soft_counter_load(&of->shown), shown);
	ck_assert_int_eq(posts[of - fake_cq], events);
	ck_assert_int_eq(of->armed, armed);
	ck_assert_uint_eq(of->due, due);
}

CASE("checker_adversary:adversary");

TEST(none__each_completion_at_once__and_one_event_for_each_arm)
{
	begin("none");
	complete(cq, IBV_WC_SEND, false);
	expect(cq, 1, 0, SOFT_UNARMED, 0);
	arm(cq, false);
	expect(cq, 1, 0, SOFT_ARMED_ANY, 0);
	complete(cq, IBV_WC_SEND, false);
	complete(cq, IBV_WC_RECV, false);
	expect(cq, 3, 1, SOFT_UNARMED, 0);
	arm(cq, true);
	complete(cq, IBV_WC_RECV, false);
	expect(cq, 4, 1, SOFT_ARMED_SOLICITED, 0);
	complete(cq, IBV_WC_RECV, true);
	expect(cq, 5, 2, SOFT_UNARMED, 0);
	ck_assert_int_eq(posts_first, 0);
	ck_assert_uint_eq(due_at, 0);
}

/* Rule 2: they are there before the request.  One that comes behind it raises its event. */
TEST(hold__until_the_queue_is_armed__raises_no_event)
{
	begin("hold=always");
	complete(cq, IBV_WC_SEND, false);
	complete(cq, IBV_WC_SEND, false);
	expect(cq, 0, 0, SOFT_UNARMED, 0);
	ck_assert_uint_eq(due_at, fake_now + 5 * SOFT_MILLISECOND);
	arm(cq, false);
	expect(cq, 2, 0, SOFT_ARMED_ANY, 0);
	complete(cq, IBV_WC_SEND, false);
	expect(cq, 3, 1, SOFT_UNARMED, 0);
	/* Or for its time; or until it must be seen. */
	complete(cq, IBV_WC_SEND, false);
	tick(cq, 5 * SOFT_MILLISECOND - 1);
	expect(cq, 3, 1, SOFT_UNARMED, 0);
	tick(cq, LONG);
	expect(cq, 4, 1, SOFT_UNARMED, 0);
	complete(cq, IBV_WC_SEND, false);
	expect(cq, 4, 1, SOFT_UNARMED, 0);
	soft_adversary.on_show(cq);
	expect(cq, 5, 1, SOFT_UNARMED, 0);
}

/* It is added after the request then; for a solicited one only what it is for counts. */
TEST_LOOP(after__held_until_behind_the_request__raises_its_event, 3)
{
	const bool solicited = _i > 0, counts = _i != 1;

	begin("hold=always,after=always");
	complete(cq, IBV_WC_RECV, _i > 1);
	expect(cq, 0, 0, SOFT_UNARMED, 0);
	arm(cq, solicited);
	expect(cq, 1, counts, counts ? SOFT_UNARMED : SOFT_ARMED_SOLICITED, 0);
}

/* Rule 3: with its event; and what comes meanwhile becomes visible with it. */
TEST_LOOP(delay__of_an_armed_queue__its_event_comes_with_it, 2)
{
	begin("delay=always");
	arm(cq, false);
	complete(cq, IBV_WC_SEND, false);
	complete(cq, IBV_WC_SEND, false);
	expect(cq, 0, 0, SOFT_ARMED_ANY, 0);
	ck_assert_uint_eq(due_at, fake_now + 2 * SOFT_MILLISECOND);
	/* The queue was armed already: nothing changes. */
	arm(cq, false);
	expect(cq, 0, 0, SOFT_ARMED_ANY, 0);
	if (_i)
		soft_adversary.on_show(cq);
	else
		tick(cq, LONG);
	expect(cq, 2, 1, SOFT_UNARMED, 0);
}

TEST(split__in_parts__until_all_are_visible)
{
	uint32_t before = 0, parts = 0;

	begin("hold=always,split=always");
	for (int i = 0; i < 12; i++)
		complete(cq, IBV_WC_SEND, false);
	for (; before < 12; parts++) {
		ck_assert_uint_lt(parts, 12);
		tick(cq, LONG);
		ck_assert_uint_gt(soft_counter_load(&cq->shown), before);
		before = soft_counter_load(&cq->shown);
	}
	ck_assert_uint_eq(before, 12);
	ck_assert_uint_gt(parts, 1);
	expect(cq, 12, 0, SOFT_UNARMED, 0);
}

/*
 * An event for each request that was answered, at a moment at which those of other queues are
 * raised, too.
 */
TEST(late__each_event_comes__at_full_intervals)
{
	begin("late=always");
	for (uint32_t i = 1; i <= 3; i++) {
		arm(cq, false);
		complete(cq, IBV_WC_SEND, false);
		expect(cq, i, 0, SOFT_UNARMED, i);
	}
	ck_assert_uint_eq(due_at % (4 * SOFT_MILLISECOND), 0);
	ck_assert_uint_gt(due_at, fake_now);
	ck_assert_uint_le(due_at, fake_now + 14 * SOFT_MILLISECOND);
	tick(cq, 1);
	expect(cq, 3, 0, SOFT_UNARMED, 3);
	tick(cq, LONG);
	expect(cq, 3, 3, SOFT_UNARMED, 0);
}

/* Rule 4. */
TEST(merge__a_request_while_an_event_is_on_its_way__is_answered_by_it)
{
	begin("late=always,merge=always");
	arm(cq, false);
	complete(cq, IBV_WC_SEND, false);
	expect(cq, 1, 0, SOFT_UNARMED, 1);
	arm(cq, false);
	expect(cq, 1, 0, SOFT_UNARMED, 1);
	complete(cq, IBV_WC_SEND, false);
	tick(cq, LONG);
	expect(cq, 2, 1, SOFT_UNARMED, 0);
	arm(cq, false);
	expect(cq, 2, 1, SOFT_ARMED_ANY, 0);
}

TEST(reorder__events_of_sends_alone__are_the_next_of_the_channel)
{
	begin("reorder=always");
	arm(cq, false);
	complete(cq, IBV_WC_SEND, false);
	ck_assert_int_eq(posts_first, 1);
	arm(other, false);
	complete(other, IBV_WC_RECV, false);
	expect(other, 1, 1, SOFT_UNARMED, 0);
	ck_assert_int_eq(posts_first, 1);
}

/*
 * Rule 5: a receive waits while a send of the channel is held, or its event: until that is over,
 * until the queue of the send is destroyed, or for 25 ms.
 */
TEST_LOOP(receive__does_not_overtake_a_send__but_does_not_wait_for_ever, 6)
{
	int waits = 0;

	begin(_i % 2 ? "1:late=always" : "1:delay=always");
	arm(cq, false);
	complete(cq, IBV_WC_SEND, false);
	ck_assert_uint_eq(cq->channel->holding_sends, 1);
	complete(other, IBV_WC_RECV, false);
	tick(other, SOFT_MILLISECOND / 5);
	expect(other, 0, 0, SOFT_UNARMED, 0);
	/* Armed, it gets its event with the completion. */
	arm(other, false);
	expect(other, 0, 0, SOFT_ARMED_ANY, 0);
	if (_i / 2 == 0)
		tick(cq, LONG);
	else if (_i / 2 == 1)
		soft_adversary_leave(cq);
	while (_i / 2 == 2 && soft_counter_load(&other->shown) == 0) {
		ck_assert_int_lt(waits++, 130);
		tick(other, SOFT_MILLISECOND / 5);
	}
	ck_assert_uint_eq(cq->channel->holding_sends, _i / 2 == 2);
	ck_assert(_i / 2 != 2 || waits > 100);
	tick(other, SOFT_MILLISECOND / 5);
	expect(other, 1, 1, SOFT_UNARMED, 0);
	/* A send waits for none. */
	complete(other, IBV_WC_SEND, false);
	expect(other, 2, 1, SOFT_UNARMED, 0);
}

/* Those since the last event was read, and before that. */
TEST(moves__are_noted__until_the_second_event)
{
	struct soft_adversary *own;

	begin("hold=always");
	own = &soft_check_queue_of(cq)->adversary;
	complete(cq, IBV_WC_SEND, false);
	ck_assert_uint_eq(own->made, 1u << SOFT_CHOOSE_HOLD);
	soft_adversary_event(cq);
	ck_assert_uint_eq(own->made, 0);
	ck_assert_uint_eq(own->made_before, 1u << SOFT_CHOOSE_HOLD);
	soft_adversary_event(cq);
	ck_assert_uint_eq(own->made_before, 0);
}

/* One without a channel is left alone. */
TEST(channel__none__nothing_is_held)
{
	begin("hold=always,delay=always,late=always");
	cq = fake_queue(-1)->cq;
	complete(cq, IBV_WC_SEND, false);
	arm(cq, false);
	complete(cq, IBV_WC_SEND, false);
	expect(cq, 2, 0, SOFT_UNARMED, 0);
}
