/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives held until their connection is established, barriers, purges and deferred effects. */
#include "story.h"

static struct evd_hold hold;

static void
setup(void)
{
	story_begin(&st, NULL);
	ck_assert_int_eq(evd_hold_init(&hold, 4), 0);
	st.dev.hold[1] = &hold;
}

static void
teardown(void)
{
	evd_purge(evd_self(&st.dev.evd), &hold, NULL, NULL, NULL);
	evd_hold_fini(&hold);
	story_end(&st);
}

static int
post_established(void)
{
	const struct evd_order order = { .endpoint = &script_barrier, .hold = &hold };
	struct script_event event = script_event(800);

	return evd_post_ordered(evd_self(&st.dev.evd), EVD_STREAM_CONNECTION, &event, &order);
}

static int
post_disconnected(void)
{
	struct script_event event = script_event(900);

	return evd_post_ordered(
	    evd_self(&st.dev.evd), EVD_STREAM_CONNECTION, &event, &script_barrier);
}

CASE("evd_hold:order", setup, teardown);

/* origin: peer.29 */
TEST(hold__receive_before_established__held_and_follows_it)
{
	evd_hold_begin(evd_self(&st.dev.evd), &hold);
	script_complete_on(&st.dev, 1, 11);
	script_complete_on(&st.dev, 2, 21); /* another endpoint is not held up */
	script_complete_on(&st.dev, 1, 12);
	story_dequeues(&st, 21);
	story_empty(&st);
	ck_assert_int_eq(post_established(), 0);
	script_complete_on(&st.dev, 1, 13);
	story_dequeues(&st, 800);
	story_dequeues(&st, 11);
	story_dequeues(&st, 12);
	story_dequeues(&st, 13);
	story_empty(&st);
}

TEST(hold__held_receives__released_into_upcalls_after_established)
{
	evd_hold_begin(evd_self(&st.dev.evd), &hold);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_complete_on(&st.dev, 1, 11);
	ck_assert(script_deliver(&st.dev));
	story_expect_nothing(&st);
	ck_assert_int_eq(post_established(), 0);
	story_upcall(&st, 800);
	story_upcall(&st, 11);
	story_expect_nothing(&st);
}

TEST(hold__held_receives__not_reported_until_released)
{
	evd_hold_begin(evd_self(&st.dev.evd), &hold);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_NOTIFY), 0);
	script_complete_on(&st.dev, 1, 11);
	ck_assert(script_deliver(&st.dev));
	story_expect_nothing(&st);
	ck_assert_int_eq(post_established(), 0);
	story_upcall(&st, TAPE_REPORT);
	story_expect_nothing(&st);
}

TEST(hold__held_receives__wake_a_waiter_only_when_released)
{
	struct waiter w;

	evd_hold_begin(evd_self(&st.dev.evd), &hold);
	waiter_start(&w, &st.dev, EVD_FOREVER, 2);
	script_complete_on(&st.dev, 1, 11);
	ck_assert(script_deliver(&st.dev));
	script_sleep_ms(5);
	ck_assert_int_eq(post_established(), 0);
	ck_assert_int_eq(waiter_join(&w), 0);
	ck_assert_uint_eq(waiter_id(&w), 800);
	ck_assert_int_eq(w.nmore, 1);
}

TEST(hold__any_outcome_releases__even_when_its_event_finds_no_room)
{
	evd_hold_begin(evd_self(&st.dev.evd), &hold);
	script_complete_on(&st.dev, 1, 11);
	story_empty(&st);
	for (uint64_t i = 0; i < 16; i++)
		ck_assert_int_eq(script_post(&st.dev, 100 + i), 0);
	ck_assert_int_eq(post_established(), -ENOSPC);
	for (uint64_t i = 0; i < 16; i++)
		story_dequeues(&st, 100 + i);
	story_dequeues(&st, 11);
	script_complete_on(&st.dev, 1, 12);
	story_dequeues(&st, 12);
}

TEST(hold__held_receive__not_pending_for_enable_new)
{
	evd_hold_begin(evd_self(&st.dev.evd), &hold);
	script_complete_on(&st.dev, 1, 11);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_SINGLE, EVD_PENDING_REFUSE), 0);
	story_expect_nothing(&st);
}

/* origin: peer.29 */
TEST(hold__disconnected__after_completions_still_landing)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_complete_on(&st.dev, 1, 11);
	ck_assert_int_eq(post_disconnected(), 0);
	script_complete_on(&st.dev, 1, 12); /* after the post, before a poll */
	story_upcall(&st, 11);
	story_upcall(&st, 12);
	story_upcall(&st, 900);
	(void)script_deliver(&st.dev);
	story_expect_nothing(&st);
}

TEST(hold__disconnected_to_a_notified_sink__notified_when_it_can_be_taken)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_NOTIFY), 0);
	ck_assert_int_eq(post_disconnected(), 0);
	story_upcall(&st, TAPE_REPORT);
	story_expect_nothing(&st);
	story_dequeues(&st, 900);
}

TEST(hold__arrival_of_a_completion__is_its_first_poll)
{
	script_complete(&st.dev, 1);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	story_dequeues(&st, 100);
	ck_assert_int_eq(script_post(&st.dev, 101), 0);
	story_dequeues(&st, 101);
	script_complete(&st.dev, 2);
	story_dequeues(&st, 1); /* both polled now */
	ck_assert_int_eq(script_post(&st.dev, 102), 0);
	story_dequeues(&st, 2);
	story_dequeues(&st, 102);
}

static bool
record_of(const struct evd_record *queued, const void *key)
{
	const struct script_record *record = (const struct script_record *)(const void *)queued;

	return record->ep == *(const uint32_t *)key;
}

static bool
event_of(const void *event, const void *key)
{
	(void)key;
	return script_id(event) == 800 || script_id(event) == 900;
}

/* origin: race.D6 */
TEST(hold__endpoint_freed__its_ring_held_and_posted_go)
{
	const uint32_t ep = 1;

	script_complete_on(&st.dev, 2, 20);
	script_complete_on(&st.dev, 1, 10);
	script_complete_on(&st.dev, 2, 21);
	script_complete_on(&st.dev, 1, 11);
	story_dequeues(&st, 20); /* the other three are in the ring now */
	evd_hold_begin(evd_self(&st.dev.evd), &hold);
	script_complete_on(&st.dev, 1, 12);
	script_complete_on(&st.dev, 1, 13);
	ck_assert_int_eq(post_established(), 0);
	ck_assert_int_eq(post_disconnected(), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	script_complete_on(&st.dev, 1, 14); /* still in the device */
	st.dev.gone[1] = true;
	evd_purge(evd_self(&st.dev.evd), &hold, record_of, event_of, &ep);
	script_complete_on(&st.dev, 2, 22);
	story_dequeues(&st, 21);
	story_dequeues(&st, 100);
	story_dequeues(&st, 22);
	story_empty(&st);
}

static bool
is_disconnected(const void *event, const void *key)
{
	(void)key;
	return script_id(event) == 900;
}

static bool
no_event(const void *event, const void *key)
{
	(void)event;
	(void)key;
	return false;
}

/* Twenty completions of another endpoint, which fill the ring: no poll sees the device empty. */
static void
begin_full(void)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_NOTIFY), 0);
	for (uint64_t i = 1; i <= 20; i++)
		script_complete_on(&st.dev, 2, i);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, TAPE_REPORT);
	ck_assert_int_eq(post_disconnected(), 0);
	story_expect_nothing(&st);
}

TEST(hold__purge_opens_what_a_barrier_kept__the_sink_is_notified)
{
	begin_full();
	ck_assert_int_eq(post_established(), 0); /* of the same endpoint */
	story_expect_nothing(&st);
	evd_purge(evd_self(&st.dev.evd), NULL, NULL, is_disconnected, NULL);
	story_upcall(&st, TAPE_REPORT);
	story_expect_nothing(&st);
	for (uint64_t i = 1; i <= 16; i++)
		story_dequeues(&st, i);
	story_dequeues(&st, 800);
}

/* An event of the endpoint of script_barrier that wakes no sink. */
static int
post_unsignalled(bool barrier)
{
	const struct evd_order order = {
		.endpoint = &script_barrier, .barrier = barrier, .unsignalled = true
	};
	const struct script_event event = { .kind = SCRIPT_COMPLETION, .evd = &st.dev, .id = 700 };

	return evd_post_ordered(evd_self(&st.dev.evd), EVD_STREAM_COMPLETION, &event, &order);
}

/* origin: out35.P2 */
TEST_LOOP(hold__purge_opens_an_unsignalled_event__the_sink_is_not_notified, 2)
{
	begin_full();
	ck_assert_int_eq(post_unsignalled(false), 0); /* behind the barrier */
	if (_i)
		evd_purge_endpoint(evd_self(&st.dev.evd), &script_barrier, script_is_software);
	else
		evd_purge(evd_self(&st.dev.evd), NULL, NULL, is_disconnected, NULL);
	story_expect_nothing(&st);
	for (uint64_t i = 1; i <= 16; i++)
		story_dequeues(&st, i);
	story_dequeues(&st, 700);
}

/* origin: out35.P2 */
TEST(hold__purge_opens_nothing_of_what_is_closed__the_sink_is_not_notified)
{
	begin_full();
	evd_purge(evd_self(&st.dev.evd), NULL, NULL, no_event, NULL);
	story_expect_nothing(&st);
	evd_purge_endpoint(evd_self(&st.dev.evd), &hold, script_is_software);
	story_expect_nothing(&st);
	for (uint64_t i = 1; i <= 16; i++)
		story_dequeues(&st, i);
	story_upcall(&st, TAPE_REPORT); /* what the device held back, and the barrier */
}

/* origin: out35.P2 */
TEST(hold__poll_opens_an_unsignalled_event__the_sink_is_not_notified)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_NOTIFY), 0);
	ck_assert_int_eq(post_unsignalled(true), 0);
	story_expect_nothing(&st);
	story_dequeues(&st, 700);
	story_empty(&st);
}

static void
post_to_self(struct script *s, uint64_t id)
{
	must(script_post(s, 1000 + id) == 0);
	must(evd_set_waitable(evd_self(&s->evd), true) == 0); /* no lock is held */
}

TEST(hold__effect_of_a_dequeue__unlocked_and_never_a_call_out)
{
	const struct script_record record = { .id = 1, .flags = SCRIPT_EFFECT };

	st.dev.on_effect = post_to_self;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_show_record(&st.dev, &record);
	story_dequeues(&st, 1);
	ck_assert_int_eq(st.dev.effects, 1);
	ck_assert_int_eq(st.tape.n, 0);
	story_upcall(&st, 1001);
	script_decide(&st.dev);
	story_expect_nothing(&st);
}

/*
 * As many receives are held as can be posted.  A device that completes more is broken, and said to
 * be.
 */
TEST(hold__hold_full__the_device_has_failed)
{
	struct script_event event;

	evd_hold_begin(evd_self(&st.dev.evd), &hold);
	for (uint64_t i = 11; i <= 15; i++)
		script_complete_on(&st.dev, 1, i);
	ck_assert_int_eq(evd_dequeue(evd_self(&st.dev.evd), &event), -EIO);
	story_empty(&st);
	ck_assert_int_eq(post_established(), 0);
	story_dequeues(&st, 800);
	for (uint64_t i = 11; i <= 14; i++)
		story_dequeues(&st, i);
	story_empty(&st);
}

TEST(hold__purge_finds_nothing__the_barrier_stays_closed)
{
	struct evd_status status;

	ck_assert_int_eq(post_disconnected(), 0);
	script_complete(&st.dev, 1);
	evd_purge(evd_self(&st.dev.evd), NULL, NULL, no_event, NULL);
	ck_assert_int_eq(evd_query(evd_self(&st.dev.evd), &status), 0);
	ck_assert_int_eq(status.queued, 0);
	story_dequeues(&st, 1);
	story_dequeues(&st, 900);
	story_empty(&st);
}

TEST(hold__purge_finds_nothing__is_not_reported)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_NOTIFY), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	story_upcall(&st, TAPE_REPORT);
	evd_purge(evd_self(&st.dev.evd), NULL, NULL, no_event, NULL);
	story_expect_nothing(&st); /* told of what is queued already */
	story_dequeues(&st, 100);
}

TEST(hold__completion_of_a_freed_endpoint__is_not_reported)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_NOTIFY), 0);
	st.dev.gone[1] = true;
	script_complete_on(&st.dev, 1, 11);
	ck_assert(script_deliver(&st.dev));
	story_expect_nothing(&st);
	story_empty(&st);
}

TEST(hold__purge_makes_room_for_what_the_device_held_back__reported)
{
	const uint32_t ep = 1;

	ck_assert_int_eq(story_enable(&st, EVD_POLICY_NOTIFY), 0);
	for (uint64_t i = 1; i <= 16; i++)
		script_complete_on(&st.dev, 1, i);
	script_complete_on(&st.dev, 2, 21); /* finds no room */
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, TAPE_REPORT);
	story_run(&st);
	ck_assert(evd_is_full(st.dev.evd.attention));
	st.dev.gone[1] = true;
	evd_purge(evd_self(&st.dev.evd), NULL, record_of, NULL, &ep);
	story_upcall(&st, TAPE_REPORT);
	story_dequeues(&st, 21);
	story_empty(&st);
}
