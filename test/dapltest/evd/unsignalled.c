/* SPDX-License-Identifier: BSD-3-Clause */
/* Unsignalled completions, which are queued and wake no thread. */
#include "cno_story.h"

static void
complete_unsignalled(uint64_t id)
{
	const struct script_record record = { .id = id, .flags = SCRIPT_QUIET };

	script_show_record(&st.dev, &record);
	script_decide(&st.dev);
}

CASE("evd_unsignalled:unsignalled");

TEST(wait__unsignalled_alone__times_out_and_counts_it)
{
	struct script_event event;
	int nmore = -1;

	story_begin_qlen(8);
	complete_unsignalled(1);
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), 0, 1, &event, &nmore), -ETIMEDOUT);
	ck_assert_int_eq(nmore, 1);
	nmore = -1;
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), 2 * MS, 1, &event, &nmore), -ETIMEDOUT);
	ck_assert_int_eq(nmore, 1);
	story_dequeues(&st, 1);
	story_empty(&st);
	story_end(&st);
}

TEST(wait__a_signalled_one_comes__the_oldest_is_taken)
{
	struct script_event event;
	int nmore = -1;

	story_begin_qlen(8);
	complete_unsignalled(1);
	complete_unsignalled(2);
	script_complete(&st.dev, 3);
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), 0, 1, &event, &nmore), 0);
	ck_assert_uint_eq(script_id(&event), 1);
	ck_assert_int_eq(nmore, 2);
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), 0, 2, &event, &nmore), -ETIMEDOUT);
	story_dequeues(&st, 2);
	story_dequeues(&st, 3);
	story_end(&st);
}

TEST(waiter__unsignalled_ones_come_and_a_post__sleeps_until_the_post)
{
	struct waiter w;

	story_begin_qlen(8);
	waiter_start(&w, &st.dev, EVD_FOREVER, 1);
	complete_unsignalled(1);
	while (script_queued(&st.dev)) { /* until the waiter has polled it */
		(void)script_deliver(&st.dev);
		script_sleep_ms(5);
	}
	ck_assert(!__atomic_load_n(&w.done, __ATOMIC_ACQUIRE));
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(waiter_join(&w), 0);
	ck_assert_uint_eq(waiter_id(&w), 1);
	story_dequeues(&st, 100);
	story_end(&st);
}

TEST(upcalls__unsignalled_ones_are_delivered_with_the_next_signalled_one)
{
	story_begin_qlen(8);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	complete_unsignalled(1);
	complete_unsignalled(2);
	story_settle(&st);
	ck_assert_int_eq(tape_count(&st.tape), 0);
	script_complete(&st.dev, 3);
	complete_unsignalled(4);
	story_settle(&st);
	for (uint64_t i = 1; i <= 3; i++)
		story_upcall(&st, i);
	ck_assert_int_eq(tape_count(&st.tape), 3);
	story_dequeues(&st, 4);
	story_end(&st);
}

TEST(enable_new__unsignalled_one_pending__is_pending_like_any)
{
	story_begin_qlen(8);
	complete_unsignalled(1);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_SINGLE, EVD_PENDING_REFUSE), -EAGAIN);
	story_dequeues(&st, 1);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_SINGLE, EVD_PENDING_REFUSE), 0);
	story_expect_nothing(&st);
	story_end(&st);
}

TEST(cno__is_notified_of_signalled_ones_alone_and_of_a_full_queue)
{
	void *handle;
	static struct cno cno;

	story_begin_qlen(4);
	cno_story_open_plain(&cno, st.loop);
	ck_assert_int_eq(evd_set_listener(evd_self(&st.dev.evd), cno_listener(&cno), &cno), 0);
	story_settle(&st);
	complete_unsignalled(1);
	story_settle(&st);
	ck_assert_int_eq(cno_wait(cno_self(&cno), 0, &handle), -ETIMEDOUT);
	script_complete(&st.dev, 2);
	story_settle(&st);
	ck_assert_int_eq(cno_wait(cno_self(&cno), 0, &handle), 0);
	story_dequeues(&st, 1);
	story_dequeues(&st, 2);
	story_empty(&st);
	/* The fifth stays in the device; it would not be reported if the four were not. */
	for (uint64_t i = 3; i <= 6; i++)
		complete_unsignalled(i);
	script_complete(&st.dev, 7);
	story_settle(&st);
	ck_assert_int_eq(cno_wait(cno_self(&cno), 0, &handle), 0);
	ck_assert_int_eq(cno_wait(cno_self(&cno), 0, &handle), -ETIMEDOUT);
	for (uint64_t i = 3; i <= 7; i++)
		story_dequeues(&st, i);
	/* They may come one by one as well: then the next look finds them. */
	story_settle(&st);
	(void)cno_wait(cno_self(&cno), 0, &handle); /* of the room that there was meanwhile */
	for (uint64_t i = 8; i <= 11; i++) {
		complete_unsignalled(i);
		ck_assert_int_eq(evd_refresh(evd_self(&st.dev.evd)), 0);
	}
	story_settle(&st);
	ck_assert_int_eq(cno_wait(cno_self(&cno), 0, &handle), 0);
	for (uint64_t i = 8; i <= 11; i++)
		story_dequeues(&st, i);
	story_settle(&st);
	(void)cno_wait(cno_self(&cno), 0, &handle);
	/* A new sink is notified of signalled events. */
	complete_unsignalled(12);
	ck_assert_int_eq(evd_refresh(evd_self(&st.dev.evd)), 0);
	ck_assert_int_eq(evd_set_enabled(evd_self(&st.dev.evd), false), 0);
	ck_assert_int_eq(evd_set_enabled(evd_self(&st.dev.evd), true), 0);
	story_settle(&st);
	ck_assert_int_eq(cno_wait(cno_self(&cno), 0, &handle), -ETIMEDOUT);
	story_dequeues(&st, 12);
	ck_assert_int_eq(evd_set_listener(evd_self(&st.dev.evd), NULL, NULL), 0);
	ck_assert_int_eq(cno_free(cno_self(&cno), true), 0);
	story_end(&st);
}

TEST(waiter__the_queue_is_full_of_unsignalled_ones__wakes)
{
	struct script_event event;
	int nmore;

	story_begin_qlen(4);
	for (uint64_t i = 1; i <= 5; i++)
		complete_unsignalled(i);
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), 0, 1, &event, &nmore), 0);
	ck_assert_uint_eq(script_id(&event), 1);
	for (uint64_t i = 2; i <= 5; i++)
		story_dequeues(&st, i);
	story_end(&st);
}

/* origin: chance.2 */
TEST(resize__the_shorter_queue_is_full_of_unsignalled_ones__reported)
{
	story_begin_qlen(4);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_NOTIFY), 0);
	complete_unsignalled(1);
	complete_unsignalled(2);
	ck_assert_int_eq(evd_refresh(evd_self(&st.dev.evd)), 0);
	story_expect_nothing(&st);
	ck_assert_int_eq(evd_resize(evd_self(&st.dev.evd), 3), 0);
	story_expect_nothing(&st);
	ck_assert_int_eq(evd_resize(evd_self(&st.dev.evd), 2), 0);
	story_upcall(&st, TAPE_REPORT);
	story_dequeues(&st, 1);
	story_dequeues(&st, 2);
	story_end(&st);
}

static bool
is_two(const struct evd_record *record, const void *key)
{
	(void)key;
	return ((const struct script_record *)(const void *)record)->id == 2;
}

TEST(purge_and_resize__unsignalled_ones_stay_unsignalled)
{
	struct script_event event;
	int nmore;

	story_begin_qlen(8);
	complete_unsignalled(1);
	complete_unsignalled(2);
	script_complete(&st.dev, 3);
	complete_unsignalled(4);
	ck_assert_int_eq(evd_refresh(evd_self(&st.dev.evd)), 0);
	evd_purge(evd_self(&st.dev.evd), NULL, is_two, NULL, NULL);
	ck_assert_int_eq(evd_resize(evd_self(&st.dev.evd), 20), 0);
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), 0, 2, &event, &nmore), -ETIMEDOUT);
	ck_assert_int_eq(nmore, 3);
	story_dequeues(&st, 1);
	story_dequeues(&st, 3);
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), 0, 1, &event, &nmore), -ETIMEDOUT);
	story_dequeues(&st, 4);
	story_empty(&st);
	story_end(&st);
}

/* origin: attack.C7 */
TEST(solicited__request_stands__widened_and_polled_again)
{
	story_begin_qlen(8);
	ck_assert_int_eq(evd_set_solicited(evd_self(&st.dev.evd), true), 0);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert(st.dev.armed_solicited);
	ck_assert_int_eq(evd_set_solicited(evd_self(&st.dev.evd), true), 0); /* as it is */
	complete_unsignalled(1); /* not solicited: it raises no notification */
	script_show(&st.dev, 2);
	script_decide(&st.dev);
	ck_assert_uint_eq(script_raised(&st.dev), 0);
	ck_assert_int_eq(evd_set_solicited(evd_self(&st.dev.evd), false), 0);
	story_upcall(&st, 1); /* found by the poll after the arm */
	story_upcall(&st, 2);
	ck_assert(!st.dev.armed_solicited);
	script_complete(&st.dev, 3);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 3);
	story_end(&st);
}

/* origin: attack.C7 */
TEST(solicited__waiter_blocked__its_request_is_widened)
{
	struct waiter w;

	story_begin_qlen(8);
	ck_assert_int_eq(evd_set_solicited(evd_self(&st.dev.evd), true), 0);
	waiter_start(&w, &st.dev, EVD_FOREVER, 1);
	script_show(&st.dev, 1);
	script_decide(&st.dev);
	ck_assert_int_eq(evd_set_solicited(evd_self(&st.dev.evd), false), 0);
	ck_assert_int_eq(waiter_join(&w), 0);
	ck_assert_uint_eq(waiter_id(&w), 1);
	story_end(&st);
}

TEST(solicited__all_requested_already__not_requested_again)
{
	story_begin_qlen(8);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(evd_set_solicited(evd_self(&st.dev.evd), true), 0);
	ck_assert_int_eq(evd_set_solicited(evd_self(&st.dev.evd), false), 0);
	story_expect_nothing(&st);
	ck_assert_uint_eq(st.dev.arms, 1);
	script_complete(&st.dev, 1);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 1);
	story_end(&st);
}

#define RING 8
#define ENTRIES 4

static void
complete_either(uint64_t id, bool is_undisturbed)
{
	if (is_undisturbed)
		complete_unsignalled(id);
	else
		script_complete(&st.dev, id);
}

/* Entries of each pattern, in a ring that begins `first` places in, get another ring. */
static void
move(unsigned int first, unsigned int pattern, unsigned int qlen)
{
	struct script_event event;
	int nmore, r;

	story_begin_qlen(RING);
	for (uint64_t id = 0; id < first; id++)
		script_complete(&st.dev, 100 + id);
	/* An empty ring would story_begin_qlen at its first place again. */
	complete_either(0, pattern & 1);
	ck_assert_int_eq(evd_refresh(evd_self(&st.dev.evd)), 0);
	for (uint64_t id = 0; id < first; id++)
		story_dequeues(&st, 100 + id);
	for (unsigned int i = 1; i < ENTRIES; i++)
		complete_either(i, pattern >> i & 1);
	ck_assert_int_eq(evd_refresh(evd_self(&st.dev.evd)), 0);
	ck_assert_int_eq(evd_resize(evd_self(&st.dev.evd), qlen), 0);
	for (unsigned int i = 0; i < ENTRIES; i++) {
		const bool noisy_left = pattern >> i != (1u << (ENTRIES - i)) - 1;

		r = evd_wait(evd_self(&st.dev.evd), 0, 1, &event, &nmore);
		ck_assert_int_eq(r, noisy_left ? 0 : -ETIMEDOUT);
		ck_assert_int_eq(nmore, (int)(ENTRIES - i) - (noisy_left ? 1 : 0));
		if (noisy_left)
			ck_assert_uint_eq(script_id(&event), i);
		else
			story_dequeues(&st, i);
	}
	story_empty(&st);
	story_end(&st);
}

/* origin: outside.07 */
TEST(resize__unsignalled_and_signalled_ones_anywhere_in_the_ring__each_stays_what_it_is)
{
	for (unsigned int first = 0; first < RING; first++)
		for (unsigned int pattern = 0; pattern < 1u << ENTRIES; pattern++) {
			move(first, pattern, ENTRIES + 1);
			move(first, pattern, 2 * RING);
		}
}

static void
fail_polls(void)
{
	st.dev.fail_polls = 1000;
}

static void
overflow_evd(void)
{
	fail_polls();
	ck_assert(evd_mark_overflow(evd_self(&st.dev.evd)));
}

static void
post_unsignalled(uint64_t id, bool barrier)
{
	const struct evd_order order = {
		.endpoint = &script_barrier, .barrier = barrier, .unsignalled = true
	};
	struct script_event event = script_event(id);

	ck_assert_int_eq(
	    evd_post_ordered(evd_self(&st.dev.evd), EVD_STREAM_COMPLETION, &event, &order), 0);
}

static bool
is_100(const void *event, const void *key)
{
	(void)key;
	return script_id(event) == 100;
}

/* A posted event may be unsignalled, too. */
TEST(posted__unsignalled__wakes_no_thread_and_is_counted)
{
	struct script_event event;
	int nmore = -1;

	story_begin_qlen(4);
	for (uint64_t i = 100; i < 104; i++)
		post_unsignalled(i, false);
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), 0, 1, &event, &nmore), -ETIMEDOUT);
	ck_assert_int_eq(nmore, 4);
	evd_purge(evd_self(&st.dev.evd), NULL, NULL, is_100, NULL);
	story_dequeues(&st, 101);
	ck_assert_int_eq(evd_resize(evd_self(&st.dev.evd), 20), 0);
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), 0, 1, &event, &nmore), -ETIMEDOUT);
	ck_assert_int_eq(nmore, 2);
	ck_assert_int_eq(script_post(&st.dev, 1), 0); /* where one was */
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), 0, 2, &event, &nmore), -ETIMEDOUT);
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), 0, 1, &event, &nmore), 0);
	ck_assert_uint_eq(script_id(&event), 102);
	ck_assert_int_eq(nmore, 2);
	story_dequeues(&st, 103);
	story_dequeues(&st, 1);
	story_empty(&st);
	story_end(&st);
}

TEST(posted__unsignalled_and_a_full_ring_of_such__each_counts_as_it_is)
{
	struct script_event event;
	int nmore;

	story_begin_qlen(2);
	post_unsignalled(100, false);
	complete_unsignalled(1);
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), 0, 1, &event, &nmore), -ETIMEDOUT);
	ck_assert_int_eq(nmore, 2);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_NOTIFY), 0);
	story_expect_nothing(&st);
	complete_unsignalled(2); /* the ring is full: the device may have more */
	ck_assert_int_eq(evd_refresh(evd_self(&st.dev.evd)), 0);
	story_upcall(&st, TAPE_REPORT);
	story_dequeues(&st, 100);
	story_dequeues(&st, 1);
	story_dequeues(&st, 2);
	story_end(&st);
}

TEST(posted__unsignalled_behind_a_barrier__is_delivered_with_the_next_signalled_one)
{
	story_begin_qlen(8);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	post_unsignalled(100, true);
	story_settle(&st);
	ck_assert_int_eq(tape_count(&st.tape), 0);
	ck_assert_int_eq(script_post(&st.dev, 101), 0);
	story_settle(&st);
	story_upcall(&st, 100);
	story_upcall(&st, 101);
	story_end(&st);
}

static void (*const failures[])(void) = { fail_polls, overflow_evd };
static const int failed_with[] = { -EIO, -EOVERFLOW };

/*
 * Quiet ones do not keep a dequeue from asking the device, which fails: they are there all the
 * same.
 */
/* origin: outside.12 */
TEST_LOOP(dequeue__device_fails__all_that_is_queued_comes_first, 2)
{
	struct script_event event;

	for (unsigned int pattern = 0; pattern < 1u << ENTRIES; pattern++) {
		story_begin_qlen(RING);
		for (unsigned int i = 0; i < ENTRIES; i++)
			complete_either(i, pattern >> i & 1);
		ck_assert_int_eq(evd_refresh(evd_self(&st.dev.evd)), 0);
		failures[_i]();
		for (unsigned int i = 0; i < ENTRIES; i++)
			story_dequeues(&st, i);
		for (int i = 0; i < 2; i++)
			ck_assert_int_eq(
			    evd_dequeue(evd_self(&st.dev.evd), &event), failed_with[_i]);
		st.dev.fail_polls = 0;
		story_end(&st);
	}
}
