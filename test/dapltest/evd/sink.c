/* SPDX-License-Identifier: BSD-3-Clause */
/* Which sink gets an event: an upcall, a waiter or the CNO, and when the sink changes. */
#include "cno_story.h"

static bool
owned(void)
{
	bool is;

	os_lock(&st.dev.evd.lock);
	is = st.dev.evd.job_state != EVD_JOB_IDLE;
	os_unlock(&st.dev.evd.lock);
	return is;
}

STORY_CASE("evd_sink:sink");

TEST(sink__post_to_a_blocked_waiter__wakes_it)
{
	struct waiter w;

	waiter_start(&w, &st.dev, EVD_FOREVER, 1);
	ck_assert(!owned()); /* a waiter never owns */
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert(!owned());
	ck_assert_int_eq(waiter_join(&w), 0);
	ck_assert_int_eq(story_turn(&st), 0);
}

TEST(sink__post_to_a_blocked_waiter_while_a_run_owns__wakes_it)
{
	struct waiter w;

	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0); /* a run is queued, and stays queued */
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
	story_dequeues(&st, 100);
	ck_assert(owned());
	waiter_start(&w, &st.dev, EVD_FOREVER, 2);
	ck_assert_int_eq(script_post(&st.dev, 101), 0);
	script_complete(&st.dev, 1);
	ck_assert(script_deliver(&st.dev));
	ck_assert_int_eq(waiter_join(&w), 0);
	ck_assert_uint_eq(waiter_id(&w), 101);
	story_expect_nothing(&st);
	ck_assert(!owned());
	story_dequeues(&st, 1);
}

static void *
post_soon(void *arg)
{
	struct script *dev = arg;

	for (bool asleep = false; !asleep; script_sleep_ms(0)) {
		os_lock(&dev->evd.lock);
		asleep = dev->evd.waiting;
		os_unlock(&dev->evd.lock);
	}
	must(script_post(dev, 101) == 0);
	return NULL;
}

static void
disable_and_wait(struct tape *tape, uint64_t id)
{
	struct evd *evd = &tape->dev->evd;
	pthread_t thread;
	struct script_event event;
	int nmore;

	(void)id;
	must(evd_modify_upcall(evd_self(evd), EVD_POLICY_DISABLE, NULL, EVD_PENDING_REFUSE) == 0);
	must(pthread_create(&thread, NULL, post_soon, tape->dev) == 0);
	must(evd_wait(evd_self(evd), EVD_FOREVER, 1, &event, &nmore) == 0);
	must(script_id(&event) == 101);
	pthread_join(thread, NULL);
}

TEST(sink__upcall_disables_itself_and_waits_on_its_own_evd__woken)
{
	st.tape.then = disable_and_wait;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	story_upcall(&st, 100);
	story_expect_nothing(&st);
}

static void
disable_and_let_others_enable(struct tape *tape, uint64_t id)
{
	struct evd *evd = &tape->dev->evd;

	if (id != 100)
		return;
	must(evd_modify_upcall(evd_self(evd), EVD_POLICY_DISABLE, NULL, EVD_PENDING_REFUSE) == 0);
	must(script_post(tape->dev, 101) == 0);
	script_complete(tape->dev, 1);
	(void)script_deliver(tape->dev); /* armed = false while there is no sink */
	must(evd_modify_upcall(evd_self(evd), EVD_POLICY_SINGLE, NULL, EVD_PENDING_CALL) == 0);
}

TEST(sink__enabled_again_while_the_owner_still_runs__nothing_stranded)
{
	st.tape.then = disable_and_let_others_enable;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	story_upcall(&st, 100);
	story_upcall(&st, 101);
	story_upcall(&st, 1);
	story_expect_nothing(&st);
	script_complete(&st.dev, 2);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 2);
	story_expect_nothing(&st);
}

TEST(sink__run_started_by_a_post__does_not_arm_an_armed_device)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	for (uint64_t i = 100; i < 110; i++) {
		ck_assert_int_eq(script_post(&st.dev, i), 0);
		story_upcall(&st, i);
		story_expect_nothing(&st);
	}
	ck_assert_uint_eq(st.dev.arms, 1);
}

TEST(sink__notified_while_disabled__armed_is_cleared_all_the_same)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
	script_complete(&st.dev, 1);
	ck_assert(script_deliver(&st.dev));
	story_dequeues(&st, 1);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_SINGLE, EVD_PENDING_REFUSE), 0);
	ck_assert_uint_eq(st.dev.arms, 2);
	script_complete(&st.dev, 2);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 2);
	story_expect_nothing(&st);
}

/* origin: race.A10 */
TEST(sink__disable_and_enable_while_armed__not_armed_twice)
{
	for (int i = 0; i < 5; i++) {
		ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
		story_expect_nothing(&st);
		ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
		story_expect_nothing(&st);
	}
	ck_assert_uint_eq(st.dev.arms, 1);
}

/*
 * The event was raised and is unread when the next sink is set: the sink needs no other
 * notification.
 */
/* origin: race.A3 */
TEST(sink__event_raised_but_unread__the_next_sink_gets_it)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
	script_complete(&st.dev, 1);
	story_dequeues(&st, 1);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_SINGLE, EVD_PENDING_REFUSE), 0);
	ck_assert_uint_eq(st.dev.arms, 1);
	script_complete(&st.dev, 2); /* no event of its own */
	ck_assert_uint_eq(script_raised(&st.dev), 1);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 2);
	story_expect_nothing(&st);
}

TEST(sink__waiter_takes_one_and_leaves__the_cno_gets_the_next)
{
	struct cno_story cs;
	struct waiter w;

	cno_story_begin(&cs, 1);
	waiter_start(&w, &cs.dev[0], EVD_FOREVER, 1);
	script_complete(&cs.dev[0], 1);
	ck_assert(script_deliver(&cs.dev[0]));
	ck_assert_int_eq(waiter_join(&w), 0);
	cno_story_settle(&cs);
	cno_story_untriggered(&cs);
	script_complete(&cs.dev[0], 2);
	cno_story_settle(&cs);
	cno_story_waits(&cs, &cs.dev[0]);
	cno_story_drains(&cs.dev[0], 1);
	cno_story_end(&cs);
}

TEST(sink__waiter_times_out_below_its_threshold__the_cno_is_notified_again)
{
	struct cno_story cs;
	struct waiter w;

	cno_story_begin(&cs, 1);
	script_complete(&cs.dev[0], 1);
	cno_story_settle(&cs);
	waiter_start(&w, &cs.dev[0], 20 * MS, 2);
	/* The client gets the EVD, cannot dequeue because of the waiter, and waits again. */
	cno_story_waits(&cs, &cs.dev[0]);
	ck_assert_int_eq(waiter_join(&w), -ETIMEDOUT);
	cno_story_settle(&cs);
	cno_story_waits(&cs, &cs.dev[0]);
	cno_story_drains(&cs.dev[0], 1);
	cno_story_end(&cs);
}

TEST(sink__upcall_policy_off_again__the_cno_gets_what_is_queued)
{
	struct cno_story cs;
	struct tape tape;
	struct evd_upcall object = tape_object(&tape);
	struct evd *evd = &cs.dev[0].evd;

	cno_story_begin(&cs, 1);
	tape_init(&tape, &cs.dev[0]);
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(evd), EVD_POLICY_SINGLE, &object, EVD_PENDING_CALL), 0);
	script_complete(&cs.dev[0], 1);
	ck_assert(script_deliver(&cs.dev[0]));
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(evd), EVD_POLICY_DISABLE, NULL, EVD_PENDING_REFUSE), 0);
	cno_story_settle(&cs);
	ck_assert_int_eq(tape.n, 0);
	cno_story_waits(&cs, &cs.dev[0]);
	cno_story_drains(&cs.dev[0], 1);
	cno_story_end(&cs);
}

TEST(sink__one_event_below_the_threshold__does_not_spin)
{
	struct waiter w;
	unsigned int polls;

	waiter_start(&w, &st.dev, 60 * MS, 2);
	script_complete(&st.dev, 1);
	ck_assert(script_deliver(&st.dev));
	script_sleep_ms(5);
	pthread_mutex_lock(&st.dev.lock);
	polls = st.dev.polls;
	pthread_mutex_unlock(&st.dev.lock);
	ck_assert_int_eq(waiter_join(&w), -ETIMEDOUT);
	ck_assert_uint_le(st.dev.polls, polls + 4);
	story_dequeues(&st, 1);
}

TEST(sink__notify_and_cno_take_nothing__notified_once)
{
	struct cno_story cs;

	cno_story_begin(&cs, 1);
	script_complete(&cs.dev[0], 1);
	cno_story_settle(&cs); /* ends */
	cno_story_waits(&cs, &cs.dev[0]);
	cno_story_settle(&cs);
	cno_story_untriggered(&cs);
	cno_story_drains(&cs.dev[0], 1);
	cno_story_end(&cs);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_NOTIFY), 0);
	script_complete(&st.dev, 1);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, TAPE_REPORT);
	story_expect_nothing(&st);
}

TEST(sink__none__nothing_wakes)
{
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	script_complete(&st.dev, 1);
	ck_assert_int_eq(story_turn(&st), 0);
	ck_assert(!owned());
	ck_assert_uint_eq(st.dev.polls, 0);
}

TEST(sink__run_finds_a_waiter__leaves_the_evd_to_it)
{
	struct waiter w;

	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0); /* queues a run */
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
	story_dequeues(&st, 100);
	waiter_start(&w, &st.dev, EVD_FOREVER, 1);
	ck_assert_int_eq(story_turn(&st), 1);
	ck_assert(!owned());
	ck_assert_int_eq(script_post(&st.dev, 101), 0);
	ck_assert_int_eq(waiter_join(&w), 0);
	ck_assert_uint_eq(waiter_id(&w), 101);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 102), 0);
	story_upcall(&st, 102);
	story_expect_nothing(&st);
}
