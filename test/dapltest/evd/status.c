/* SPDX-License-Identifier: BSD-3-Clause */
/* What an EVD reports about itself: state, counters, overflow, solicited completions. */
#include "cno_story.h"

static struct evd_counters
counters(void)
{
	struct evd_counters c;

	ck_assert_int_eq(evd_query_counters(evd_self(&st.dev.evd), &c), 0);
	return c;
}

STORY_CASE("evd_status:status");

/* clause: c.2.1 */
TEST(query__fresh__enabled_and_waitable)
{
	struct evd_status status;

	ck_assert_int_eq(evd_query(evd_self(&st.dev.evd), &status), 0);
	ck_assert_int_eq(status.qlen, 16);
	ck_assert(status.enabled && status.waitable);
	ck_assert(!status.solicited_only && !status.overflowed);
	ck_assert_ptr_eq(status.cno, NULL);
	ck_assert_int_eq(status.policy, EVD_POLICY_DISABLE);
	ck_assert_int_eq(status.queued, 0);
}

/* clause: c.3.1, c.11.1 */
TEST(query__everything_changed__said_so)
{
	struct evd_status status;
	struct evd *evd = &st.dev.evd;

	ck_assert_int_eq(evd_set_enabled(evd_self(evd), false), 0);
	ck_assert_int_eq(evd_set_waitable(evd_self(evd), false), 0);
	ck_assert_int_eq(evd_set_solicited(evd_self(evd), true), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert(evd_mark_overflow(evd_self(evd)));
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_NOTIFY), 0);
	ck_assert_int_eq(evd_query(evd_self(evd), &status), 0);
	ck_assert(!status.enabled && !status.waitable);
	ck_assert(status.solicited_only && status.overflowed);
	ck_assert_int_eq(status.policy, EVD_POLICY_NOTIFY);
	ck_assert_int_eq(status.queued, 1);
	story_upcall(&st, TAPE_REPORT);
}

TEST(counters__streams__counted_apart)
{
	struct script_event event = script_event(100);
	struct evd *evd = &st.dev.evd;

	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(evd_post(evd_self(evd), EVD_STREAM_SOFTWARE, &event), 0);
	ck_assert_int_eq(evd_post(evd_self(evd), EVD_STREAM_REQUEST, &event), 0);
	ck_assert_int_eq(
	    evd_post_ordered(evd_self(evd), EVD_STREAM_CONNECTION, &event, &script_barrier), 0);
	ck_assert_int_eq(evd_post(evd_self(evd), EVD_STREAM_ASYNC, &event), 0);
	/* flushed, for one */
	ck_assert_int_eq(evd_post(evd_self(evd), EVD_STREAM_COMPLETION, &event), 0);
	script_complete(&st.dev, 1);
	script_complete(&st.dev, 2);
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(evd_dequeue(evd_self(evd), &event), 0);
	ck_assert_uint_eq(counters().software, 2);
	ck_assert_uint_eq(counters().requests, 1);
	ck_assert_uint_eq(counters().connections, 1);
	ck_assert_uint_eq(counters().asyncs, 1);
	ck_assert_uint_eq(counters().completions, 3);
	ck_assert_uint_eq(counters().max_depth, 6);
	ck_assert_uint_eq(counters().upcalls, 0);
}

/* clause: f.2.5 */
TEST(calls__waits_and_dequeues__counted_with_what_they_found)
{
	const struct evd_ref ref = evd_self(&st.dev.evd);
	struct evd_calls calls;
	struct script_event event;
	int more;

	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(evd_dequeue(ref, &event), 0); /* the device is asked first, in vain */
	ck_assert_int_eq(evd_dequeue(ref, &event), -EAGAIN);
	script_complete(&st.dev, 1);
	script_complete(&st.dev, 2);
	ck_assert_int_eq(evd_dequeue(ref, &event), 0);
	ck_assert_int_eq(evd_dequeue(ref, &event), 0); /* polled with the one before */
	ck_assert_int_eq(script_post(&st.dev, 101), 0);
	ck_assert_int_eq(evd_wait(ref, 0, 1, &event, &more), 0);
	ck_assert_int_eq(evd_wait(ref, 0, 1, &event, &more), -ETIMEDOUT);
	ck_assert_int_eq(evd_wait(ref, 0, 17, &event, &more), -EINVAL);
	ck_assert_int_eq(evd_query_calls(ref, &calls), 0);
	ck_assert_uint_eq(calls.dequeues, 4);
	ck_assert_uint_eq(calls.dequeued, 3);
	ck_assert_uint_eq(calls.dequeue_polls_found, 1);
	ck_assert_uint_ge(calls.dequeue_polls, 2);
	/* of the wait that found nothing */
	ck_assert_uint_eq(calls.polls, calls.dequeue_polls + 1);
	ck_assert_uint_eq(calls.polls_found, 1);
	ck_assert_uint_eq(calls.waits, 3);
	ck_assert_uint_eq(calls.sleeps, 0);
	ck_assert_uint_eq(calls.wait_arms, 0);
	ck_assert_int_eq(evd_wait(ref, 1000, 1, &event, &more), -ETIMEDOUT);
	ck_assert_int_eq(evd_query_calls(ref, &calls), 0);
	ck_assert_uint_eq(calls.waits, 4);
	ck_assert_uint_ge(calls.sleeps, 1);
	ck_assert_uint_eq(calls.wait_arms, 1);
	/* After some waits that slept, a wait takes the short way. */
	for (int i = 0; i <= EVD_SLEPT_WAITS; i++)
		ck_assert_int_eq(evd_wait(ref, 1000, 1, &event, &more), -ETIMEDOUT);
	ck_assert_int_eq(evd_query_calls(ref, &calls), 0);
	ck_assert_uint_eq(calls.waits, 5 + EVD_SLEPT_WAITS);
}

static void
insert(struct script *s, void *arg)
{
	(void)arg;
	script_complete(s, 2);
}

TEST(counters__arms_upcalls_notifications_races)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	st.dev.before_arm = (struct script_hook){ .fn = insert };
	script_complete(&st.dev, 1);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 1);
	story_upcall(&st, 2);
	story_expect_nothing(&st);
	ck_assert_uint_eq(counters().upcalls, 2);
	ck_assert_uint_eq(counters().arms, 2);
	ck_assert_uint_eq(counters().races_closed, 1);
	ck_assert_uint_eq(counters().notifications, 1);
	ck_assert_uint_eq(counters().spurious_notifications, 0);
	ck_assert_uint_eq(counters().arm_failures, 0);
	script_spurious(&st.dev);
	ck_assert(script_deliver(&st.dev));
	story_expect_nothing(&st);
	ck_assert_uint_eq(counters().spurious_notifications, 1);
	ck_assert_uint_eq(counters().arms, 3);
	ck_assert_uint_eq(counters().races_closed, 1); /* an arm that closed none is none */
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(script_post(&st.dev, 101), 0);
	ck_assert_uint_eq(counters().busy_skips, 1);
	st.tape.read = 2;
	story_upcall(&st, 100);
	story_upcall(&st, 101);
}

TEST(counters__notified_while_something_else_is_wanted__not_spurious)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_complete(&st.dev, 1);
	story_dequeues(&st, 1);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 100);
	story_expect_nothing(&st);
	ck_assert_uint_eq(counters().spurious_notifications, 0);
}

static void
take_several(void *instance, const struct script_event *events, unsigned int n, int more)
{
	(void)instance;
	(void)events;
	(void)n;
	(void)more;
}

/* By upcalls for one event and for several.  The completions are of an endpoint that is gone. */
TEST_LOOP(counters__notified_of_completions_without_an_event__not_spurious, 2)
{
	const struct evd_upcall several = { .function = (void (*)(void))take_several, .most = 4 };
	const struct evd_ref evd = evd_self(&st.dev.evd);

	if (_i)
		ck_assert_int_eq(
		    evd_modify_upcall(evd, EVD_POLICY_SINGLE, &several, EVD_PENDING_CALL), 0);
	else
		ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	st.dev.gone[1] = true;
	script_complete_on(&st.dev, 1, 7);
	ck_assert(script_deliver(&st.dev));
	story_run(&st);
	ck_assert_uint_eq(counters().notifications, 1);
	ck_assert_uint_eq(counters().spurious_notifications, 0);
	script_spurious(&st.dev);
	ck_assert(script_deliver(&st.dev));
	story_run(&st);
	ck_assert_uint_eq(counters().spurious_notifications, 1);
}

TEST(counters__arm_failures)
{
	st.dev.fail_arms = 1;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), -EIO);
	ck_assert_uint_eq(counters().arm_failures, 1);
	ck_assert_uint_eq(counters().arms, 0);
}

/* clause: d.5.1 */
TEST(overflow__reported_once__queued_events_first_then_the_error)
{
	struct evd *evd = &st.dev.evd;
	struct script_event event;
	int nmore;

	script_complete(&st.dev, 1);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert(evd_mark_overflow(evd_self(evd)));
	ck_assert(!evd_mark_overflow(evd_self(evd)));
	ck_assert_uint_eq(counters().overflows, 1);
	ck_assert_int_eq(evd_wait(evd_self(evd), EVD_FOREVER, 1, &event, &nmore), 0);
	ck_assert_int_eq(evd_wait(evd_self(evd), EVD_FOREVER, 2, &event, &nmore), -EOVERFLOW);
	ck_assert_int_eq(evd_dequeue(evd_self(evd), &event), 0);
	ck_assert_int_eq(evd_dequeue(evd_self(evd), &event), -EOVERFLOW);
	ck_assert_int_eq(evd_wait(evd_self(evd), EVD_FOREVER, 1, &event, &nmore), -EOVERFLOW);
	ck_assert_int_eq(evd_wait(evd_self(evd), 0, 1, &event, &nmore), -EOVERFLOW);
}

/* origin: attack.P8 */
TEST(refusal__first_of_an_episode__which_ends_with_the_last_posted_event)
{
	struct evd *evd = &st.dev.evd;
	const struct evd_ref ref = evd_self(evd);
	struct script_event event;

	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(script_post(&st.dev, 101), 0);
	ck_assert(evd_mark_refusal(ref));
	ck_assert(!evd_mark_refusal(ref));
	ck_assert_int_eq(evd_dequeue(ref, &event), 0);
	ck_assert_int_eq(script_post(&st.dev, 102), 0);
	ck_assert(!evd_mark_refusal(ref)); /* one was left all the time */
	ck_assert_int_eq(evd_dequeue(ref, &event), 0);
	ck_assert_int_eq(evd_dequeue(ref, &event), 0);
	ck_assert_int_eq(script_post(&st.dev, 103), 0);
	ck_assert(evd_mark_refusal(ref));
	ck_assert_uint_eq(counters().overflows, 2);
	ck_assert_int_eq(evd_dequeue(ref, &event), 0); /* it goes on */
	ck_assert_int_eq(script_post(&st.dev, 104), 0);
	ck_assert(evd_mark_overflow(ref));
	ck_assert(!evd_mark_refusal(ref)); /* nothing to add */
	ck_assert_uint_eq(counters().overflows, 3);
	ck_assert_int_eq(evd_free(ref), 0);
	ck_assert(!evd_mark_refusal(ref));
}

/* origin: peer.14, peer.28 */
TEST(overflow__waiter_blocked__released)
{
	struct waiter w;

	waiter_start(&w, &st.dev, EVD_FOREVER, 1);
	ck_assert(evd_mark_overflow(evd_self(&st.dev.evd)));
	ck_assert_int_eq(waiter_join(&w), -EOVERFLOW);
}

TEST(overflow__upcalls_enabled__what_is_queued_still_comes)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_complete(&st.dev, 1);
	ck_assert(evd_mark_overflow(evd_self(&st.dev.evd)));
	story_upcall(&st, 1);
	(void)script_deliver(&st.dev);
	story_expect_nothing(&st);
}

TEST(refresh__polls_the_device_and_wakes_the_sink)
{
	struct evd_status status;
	struct waiter w;

	script_complete(&st.dev, 1);
	script_complete(&st.dev, 2);
	ck_assert_int_eq(evd_query(evd_self(&st.dev.evd), &status), 0);
	ck_assert_int_eq(status.queued, 0);
	ck_assert_int_eq(evd_refresh(evd_self(&st.dev.evd)), 0);
	ck_assert_int_eq(evd_query(evd_self(&st.dev.evd), &status), 0);
	ck_assert_int_eq(status.queued, 2);
	ck_assert_uint_eq(script_queued(&st.dev), 0);
	waiter_start(&w, &st.dev, EVD_FOREVER, 3);
	script_show(&st.dev, 3); /* no notification: only the refresh can tell */
	ck_assert_int_eq(evd_refresh(evd_self(&st.dev.evd)), 0);
	ck_assert_int_eq(waiter_join(&w), 0);
	script_decide(&st.dev);
	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
	ck_assert_int_eq(evd_refresh(evd_self(&st.dev.evd)), -ENODEV);
}

/* clause: e.6.5 */
TEST(solicited__plain_completions_make_no_sound)
{
	const struct script_record solicited = { .id = 2, .flags = SCRIPT_SOLICITED };

	ck_assert_int_eq(evd_set_solicited(evd_self(&st.dev.evd), true), 0);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_complete(&st.dev, 1);
	ck_assert_uint_eq(script_raised(&st.dev), 0);
	script_show_record(&st.dev, &solicited);
	script_decide(&st.dev);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 1);
	story_upcall(&st, 2);
	story_expect_nothing(&st);
}

TEST(no_device__posted_events_alone__all_faces_work)
{
	const struct script_options opt = { .no_device = true, .qlen = 3 };
	struct waiter w;

	story_end(&st);
	story_begin(&st, &opt);
	story_empty(&st);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	for (uint64_t i = 100; i < 103; i++)
		ck_assert_int_eq(script_post(&st.dev, i), 0);
	ck_assert_int_eq(script_post(&st.dev, 103), -ENOSPC);
	for (uint64_t i = 100; i < 103; i++)
		story_upcall(&st, i);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
	waiter_start(&w, &st.dev, EVD_FOREVER, 2);
	ck_assert_int_eq(script_post(&st.dev, 104), 0);
	ck_assert_int_eq(script_post(&st.dev, 105), 0);
	ck_assert_int_eq(waiter_join(&w), 0);
	story_dequeues(&st, 105);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_SINGLE, EVD_PENDING_REFUSE), 0);
}

TEST(refresh__no_room__no_error)
{
	struct script_event event;

	for (uint64_t i = 1; i <= 20; i++)
		script_complete(&st.dev, i);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(evd_refresh(evd_self(&st.dev.evd)), 0);
	for (uint64_t i = 1; i <= 20; i++) {
		ck_assert_int_eq(evd_dequeue(evd_self(&st.dev.evd), &event), 0);
		ck_assert_uint_eq(script_id(&event), i);
	}
}

TEST(overflow__device_gone__queued_events_come_and_it_is_not_asked_again)
{
	struct evd *evd = &st.dev.evd;
	struct script_event event = script_event(900);
	unsigned int arms;

	ck_assert_int_eq(
	    evd_post_ordered(evd_self(evd), EVD_STREAM_CONNECTION, &event, &script_barrier), 0);
	ck_assert(evd_mark_overflow(evd_self(evd)));
	st.dev.fail_polls = 1000;
	arms = st.dev.arms;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	story_upcall(&st, 900); /* waits for no completion any more */
	story_run(&st);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	story_upcall(&st, 100);
	story_run(&st);
	ck_assert_int_eq(st.tape.n, 2);
	ck_assert_int_eq(st.dev.faults, 0);
	ck_assert_uint_eq(st.dev.arms, arms);
	ck_assert_int_eq(evd_dequeue(evd_self(evd), &event), -EOVERFLOW);
}
