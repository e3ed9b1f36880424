/* SPDX-License-Identifier: BSD-3-Clause */
/* What each upcall policy promises; doc/upcall-policy.md has the reasons. */
#include "story.h"

static void
disable_then_arrivals(struct tape *tape, uint64_t id)
{
	struct script *dev = tape->dev;

	(void)id;
	must(evd_modify_upcall(evd_self(&dev->evd), EVD_POLICY_DISABLE, NULL, EVD_PENDING_REFUSE) ==
	     0);
	script_complete(dev, 2);
	must(script_post(dev, 100) == 0);
	while (script_deliver(dev))
		;
}

STORY_CASE("evd_policy:policy");

TEST(policy__disabled_inside_the_upcall__not_entered_again)
{
	st.tape.then = disable_then_arrivals;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_complete(&st.dev, 1);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 1);
	story_expect_nothing(&st);
	story_dequeues(&st, 100);
	story_dequeues(&st, 2);
}

TEST(policy__many__reentered_by_several_threads_where_single_is_not)
{
	struct script_options opt = { .channel = SCRIPT_DIRECT };

	story_end(&st);
	ck_assert_int_eq(loop_create(LOOP_THREAD, 0, &opt.loop), 0);
	ck_assert_int_eq(loop_create(LOOP_POOL, 3, &opt.pool), 0);
	story_begin(&st, &opt);
	tape_hold(&st.tape);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	for (uint64_t i = 1; i <= 3; i++)
		script_complete(&st.dev, i);
	tape_await_inside(&st.tape, 1);
	script_sleep_ms(10);
	ck_assert_int_eq(tape_count(&st.tape), 1);
	/* The one in progress may be joined by others as soon as it returned under MANY. */
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_MANY), 0);
	tape_release(&st.tape);
	tape_await(&st.tape, 3);
	tape_await_inside(&st.tape, 0);
	tape_hold(&st.tape);
	for (uint64_t i = 4; i <= 6; i++)
		script_complete(&st.dev, i);
	tape_await_inside(&st.tape, 3);
	tape_release(&st.tape);
	tape_await_inside(&st.tape, 0);
	st.tape.read = st.tape.n;
	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
	loop_free(opt.pool);
}

TEST(policy__one_shot_notifications__upcalls_persist)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	for (uint64_t i = 1; i <= 100; i++) {
		script_complete(&st.dev, i);
		ck_assert(script_deliver(&st.dev));
		story_upcall(&st, i);
		story_expect_nothing(&st);
	}
	/* And stay off when they were switched off. */
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
	script_complete(&st.dev, 101);
	story_expect_nothing(&st);
	story_dequeues(&st, 101);
}

/* origin: race.A8 */
TEST(policy__completion_between_count_and_arm__enable_new_still_refuses)
{
	st.dev.before_arm = (struct script_hook){ .fn = story_insert, .arg = (void *)1 };
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_SINGLE, EVD_PENDING_REFUSE), -EAGAIN);
	story_dequeues(&st, 1);
	/* Right after the arm: it raises a notification, and may be seen at once as well. */
	ck_assert_int_eq(st.dev.evd.policy, EVD_POLICY_DISABLE);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_SINGLE, EVD_PENDING_REFUSE), 0);
	script_complete(&st.dev, 2);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 2);
	story_expect_nothing(&st);
}

TEST(policy__completion_right_after_the_arm__not_lost)
{
	int r;

	st.dev.after_arm = (struct script_hook){ .fn = story_insert, .arg = (void *)1 };
	r = story_policy(&st, EVD_POLICY_SINGLE, EVD_PENDING_REFUSE);
	ck_assert_int_eq(r, -EAGAIN);
	story_dequeues(&st, 1);
	ck_assert(script_deliver(&st.dev)); /* the refused call left it armed: harmless */
	story_expect_nothing(&st);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_SINGLE, EVD_PENDING_REFUSE), 0);
	story_expect_nothing(&st);
}

TEST(policy__pending__counts_the_device_as_well_as_the_software_queue)
{
	struct script_event event;
	int nmore;

	script_complete(&st.dev, 1);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_SINGLE, EVD_PENDING_REFUSE), -EAGAIN);
	story_dequeues(&st, 1);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_SINGLE, EVD_PENDING_REFUSE), -EAGAIN);
	script_complete(&st.dev, 2);
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), 0, 2, &event, &nmore), 0);
	ck_assert_int_eq(nmore, 1);
	story_dequeues(&st, 2);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_SINGLE, EVD_PENDING_REFUSE), 0);
	(void)script_deliver(&st.dev);
	story_expect_nothing(&st);
}

/* origin: peer.38 */
TEST(policy__no_sink__never_armed)
{
	struct evd_status status;

	script_complete(&st.dev, 1);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	story_run(&st);
	story_dequeues(&st, 100);
	story_dequeues(&st, 1);
	story_empty(&st);
	ck_assert_int_eq(evd_set_enabled(evd_self(&st.dev.evd), false), 0);
	ck_assert_int_eq(evd_set_enabled(evd_self(&st.dev.evd), true), 0);
	story_run(&st);
	ck_assert_uint_eq(st.dev.arms, 0);
	ck_assert_int_eq(evd_query(evd_self(&st.dev.evd), &status), 0);
	ck_assert(status.enabled && status.waitable && !status.overflowed);
	/* The first sink arms at once. */
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_NOTIFY), 0);
	ck_assert_uint_eq(st.dev.arms, 1);
}

static struct tape second;

static void
replace_the_object(struct tape *tape, uint64_t id)
{
	struct evd_upcall object = tape_object(&second);

	if (id == 1)
		must(evd_modify_upcall(evd_self(&tape->dev->evd), EVD_POLICY_SINGLE, &object,
			 EVD_PENDING_CALL) == 0);
}

TEST(policy__object_replaced_inside_an_upcall__in_force_from_the_next)
{
	tape_init(&second, &st.dev);
	st.tape.then = replace_the_object;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_complete(&st.dev, 1);
	script_complete(&st.dev, 2);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 1);
	story_expect_nothing(&st);
	ck_assert_int_eq(second.n, 1);
	ck_assert_uint_eq(second.id[0], 2);
	/* While disabled an object may be installed in advance. */
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
	script_complete(&st.dev, 3);
	st.tape.then = NULL;
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&st.dev.evd), EVD_POLICY_SINGLE, NULL, EVD_PENDING_CALL), 0);
	story_upcall(&st, 3);
	story_expect_nothing(&st);
}

static void *
tear_down(void *arg)
{
	struct evd *evd = arg;

	must(evd_modify_upcall(evd_self(evd), EVD_POLICY_TEARDOWN, NULL, EVD_PENDING_REFUSE) == 0);
	return NULL;
}

TEST(policy__teardown__returns_after_the_upcall_did)
{
	struct script_options opt = { .channel = SCRIPT_DIRECT };
	bool tearing = false;
	pthread_t thread;

	story_end(&st);
	ck_assert_int_eq(loop_create(LOOP_THREAD, 0, &opt.loop), 0);
	story_begin(&st, &opt);
	tape_hold(&st.tape);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_complete(&st.dev, 1);
	script_complete(&st.dev, 2);
	tape_await_inside(&st.tape, 1);
	ck_assert_int_eq(pthread_create(&thread, NULL, tear_down, &st.dev.evd), 0);
	while (!tearing) {
		script_sleep_ms(1);
		os_lock(&st.dev.evd.lock);
		tearing = st.dev.evd.tearing == 1;
		os_unlock(&st.dev.evd.lock);
	}
	script_sleep_ms(10);
	os_lock(&st.dev.evd.lock);
	ck_assert_int_eq(st.dev.evd.tearing, 1); /* it still waits */
	os_unlock(&st.dev.evd.lock);
	tape_release(&st.tape);
	pthread_join(thread, NULL);
	ck_assert_int_eq(tape_count(&st.tape), 1);
	ck_assert_int_eq(st.dev.evd.in_progress, 0);
	st.tape.read = 1;
	story_dequeues(&st, 2);
}
