/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits inside upcalls and agents, and wake-ups that come between a poll and a sleep. */
#include "cno_story.h"

static struct script other;
static struct cno cno;
static int result;
static void *handle;

static void
setup(void)
{
	struct script_options opt = { .channel = SCRIPT_SHARED };

	story_begin(&st, NULL);
	opt.loop = st.loop;
	script_init(&other);
	script_open(&other, &opt);
	cno_story_open_plain(&cno, opt.loop);
	ck_assert_int_eq(cno_attach_evd(cno_self(&cno)), 0);
	ck_assert_int_eq(evd_set_listener(evd_self(&other.evd), cno_listener(&cno), &cno), 0);
	story_run(&st);
}

static void
teardown(void)
{
	script_close(&other);
	cno_detach_evd(&cno);
	ck_assert_int_eq(cno_free(cno_self(&cno), false), 0);
	story_end(&st);
}

static void
complete_and_wait(struct tape *tape, uint64_t id)
{
	struct script_event event;
	int nmore;

	(void)tape;
	(void)id;
	/* Only this thread can read the loop's channel, and it is in here. */
	script_complete(&other, 1);
	must(script_raised(&other) == 1);
	result = evd_wait(evd_self(&other.evd), EVD_FOREVER, 1, &event, &nmore);
	must(result == 0 && script_id(&event) == 1);
	must(evd_set_listener(evd_self(&other.evd), NULL, NULL) == 0);
	script_complete(&other, 2);
	must(evd_wait(evd_self(&other.evd), EVD_FOREVER, 1, &event, &nmore) == 0);
}

CASE("evd_nested_wait:threads", setup, teardown);

TEST(nested_wait__evd_wait_in_an_upcall__the_waiter_runs_its_loop)
{
	st.tape.then = complete_and_wait;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	story_upcall(&st, 100);
	story_expect_nothing(&st);
}

static void *
complete_later(void *arg)
{
	script_sleep_ms(10);
	script_complete(arg, 3);
	return NULL;
}

static void
wait_for_later(struct tape *tape, uint64_t id)
{
	pthread_t thread;
	struct script_event event;
	int nmore;

	(void)tape;
	(void)id;
	must(pthread_create(&thread, NULL, complete_later, &other) == 0);
	result = evd_wait(evd_self(&other.evd), EVD_FOREVER, 1, &event, &nmore);
	pthread_join(thread, NULL);
}

TEST(nested_wait__evd_wait_in_an_upcall__notification_comes_while_it_sleeps)
{
	st.tape.then = wait_for_later;
	result = 1;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	story_upcall(&st, 100);
	ck_assert_int_eq(result, 0);
}

static void
complete_and_cno_wait(struct tape *tape, uint64_t id)
{
	(void)tape;
	(void)id;
	script_complete(&other, 1);
	result = cno_wait(cno_self(&cno), EVD_FOREVER, &handle);
}

TEST(nested_wait__cno_wait_in_an_upcall__the_waiter_runs_its_loop)
{
	st.tape.then = complete_and_cno_wait;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	story_upcall(&st, 100);
	ck_assert_int_eq(result, 0);
	ck_assert_ptr_eq(handle, &other);
	cno_story_drains(&other, 1);
}

static int agent_calls;

static void
cno_wait_in_agent(void *instance, void *evd)
{
	(void)instance;
	agent_calls++;
	handle = evd;
	must(cno_wait(cno_self(&cno), EVD_FOREVER, &evd) == 0); /* the trigger it was called for */
	must(script_post(&other, 200) == 0);
	must(cno_wait(cno_self(&cno), EVD_FOREVER, &evd) == 0);
}

TEST(nested_wait__cno_wait_in_an_agent__the_waiter_runs_its_loop)
{
	const struct cno_agent agent = { NULL, cno_wait_in_agent };

	ck_assert_int_eq(cno_modify_agent(cno_self(&cno), agent), 0);
	script_complete(&other, 1);
	story_run(&st);
	ck_assert_int_eq(agent_calls, 1);
	ck_assert_ptr_eq(handle, &other);
	cno_story_drains(&other, 2);
}

TEST(nested_wait__wake_between_the_poll_and_the_sleep__kept)
{
	struct waiter w;

	/* The hook runs while the waiter polls; the post waits for the lock and enters
	 * between that poll and the sleep, or after: either way the waiter must return. */
	for (uint64_t i = 0; i < 200; i++) {
		waiter_launch(&w, &st.dev, EVD_FOREVER, 1);
		ck_assert_int_eq(script_post(&st.dev, 100 + i), 0);
		ck_assert_int_eq(waiter_join(&w), 0);
		ck_assert_uint_eq(waiter_id(&w), 100 + i);
	}
}

TEST(nested_wait__a_notification_read_but_nothing_wanted__armed_again_before_the_sleep)
{
	struct waiter w;

	waiter_start(&w, &st.dev, EVD_FOREVER, 1);
	script_spurious(&st.dev);
	ck_assert(script_deliver(&st.dev));
	while (script_arms(&st.dev) < 2)
		script_sleep_ms(0);
	script_complete(&st.dev, 1);
	while (!script_deliver(&st.dev))
		if (!script_queued(&st.dev))
			break;
	ck_assert_int_eq(waiter_join(&w), 0);
}

/* origin: race.A2, race.A11 */
TEST(nested_wait__two_fire_before_the_wait__one_drained__the_other_not_forgotten)
{
	struct cno_story cs;

	cno_story_begin(&cs, 2);
	script_complete(&cs.dev[0], 1);
	script_complete(&cs.dev[1], 2);
	cno_story_settle(&cs);
	cno_story_waits(&cs, &cs.dev[0]);
	cno_story_drains(&cs.dev[0], 1);
	cno_story_waits(&cs, &cs.dev[1]);
	cno_story_drains(&cs.dev[1], 1);
	cno_story_untriggered(&cs);
	cno_story_end(&cs);
}
