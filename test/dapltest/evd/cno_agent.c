/* SPDX-License-Identifier: BSD-3-Clause */
/* A CNO's proxy agent: one-shot, re-installed, and what it may do. */
#include "cno_story.h"

static struct cno_story cs;

static void
setup(void)
{
	cno_story_begin(&cs, 2);
}

static void
teardown(void)
{
	cno_story_end(&cs);
}

CASE("cno_agent:agent", setup, teardown);

TEST(agent__called_once_by_the_loop)
{
	struct cno_agent agent;

	cno_story_install(&cs);
	script_complete(&cs.dev[0], 1);
	ck_assert(script_deliver(&cs.dev[0]));
	ck_assert_int_eq(cs.calls, 0); /* not in the reader's call */
	cno_story_settle(&cs);
	ck_assert_int_eq(cs.calls, 1);
	ck_assert_ptr_eq(cs.last, &cs.dev[0]);
	ck_assert_int_eq(cno_query(cno_self(&cs.cno), &agent), 0);
	ck_assert(!agent.function);
	cno_story_arrive(&cs, 1, 2);
	ck_assert_int_eq(cs.calls, 1);
}

/* origin: peer.11 */
TEST(agent__installed_again__called_for_the_next_trigger)
{
	for (int i = 1; i <= 3; i++) {
		cno_story_install(&cs);
		cno_story_arrive(&cs, 0, (uint64_t)i);
		ck_assert_int_eq(cs.calls, i);
		cno_story_drains(&cs.dev[0], 1);
	}
}

/* clause: c.13.9 */
TEST(agent__installed_on_a_triggered_cno__called_by_the_loop)
{
	cno_story_arrive(&cs, 0, 1);
	cno_story_install(&cs);
	ck_assert_int_eq(cs.calls, 0);
	cno_story_settle(&cs);
	ck_assert_int_eq(cs.calls, 1);
	/* It saw that trigger: installed again, it waits for the next. */
	cno_story_install(&cs);
	cno_story_settle(&cs);
	ck_assert_int_eq(cs.calls, 1);
}

TEST(agent__removed_before_the_loop_ran__not_called)
{
	cno_story_install(&cs);
	cno_story_queue_call(&cs);
	ck_assert_int_eq(
	    cno_modify_agent(cno_self(&cs.cno), ((struct cno_agent){ NULL, NULL })), 0);
	cno_story_settle(&cs);
	ck_assert_int_eq(cs.calls, 0);
	cno_story_waits(&cs, &cs.dev[0]);
}

static void
drain(struct cno_story *s, void *evd)
{
	(void)s;
	cno_story_drains(evd, 1);
}

/* clause: c.13.8 */
/* origin: peer.12 */
TEST(agent__dequeues__no_lock_is_held)
{
	cs.then = drain;
	cno_story_install(&cs);
	ck_assert_int_eq(script_post(&cs.dev[0], 100), 0);
	cno_story_settle(&cs);
	ck_assert_int_eq(cs.calls, 1);
	cno_story_install(&cs);
	cno_story_arrive(&cs, 0, 1);
	ck_assert_int_eq(cs.calls, 2);
}

static void
drain_and_install(struct cno_story *s, void *evd)
{
	cno_story_drains(evd, 1);
	must(cno_modify_agent(cno_self(&s->cno), cno_story_agent(s)) == 0);
}

TEST(agent__installs_itself_again__persistent_and_not_called_for_nothing)
{
	cs.then = drain_and_install;
	cno_story_install(&cs);
	for (int i = 1; i <= 5; i++) {
		cno_story_arrive(&cs, i % 2, (uint64_t)i);
		ck_assert_int_eq(cs.calls, i);
		ck_assert_ptr_eq(cs.last, &cs.dev[i % 2]);
	}
}

TEST(agent__installs_itself_again__sees_both_of_two_triggered_evds)
{
	cs.then = drain_and_install;
	script_complete(&cs.dev[0], 1);
	script_complete(&cs.dev[1], 2);
	cno_story_settle(&cs);
	cno_story_install(&cs);
	cno_story_settle(&cs);
	ck_assert_int_eq(cs.calls, 2);
}

static void
complete_inside(struct cno_story *s, void *evd)
{
	s->then = drain_and_install;
	cno_story_drains(evd, 1);
	script_complete(evd, 7);
	must(cno_modify_agent(cno_self(&s->cno), cno_story_agent(s)) == 0);
}

TEST(agent__completion_while_it_runs__called_again)
{
	cs.then = complete_inside;
	cno_story_install(&cs);
	cno_story_arrive(&cs, 0, 1);
	ck_assert_int_eq(cs.calls, 2);
}

static void
free_evd(struct cno_story *s, void *evd)
{
	struct script *dev = evd;

	must(evd_free(evd_self(&dev->evd)) == 0);
	must(dev->destroyed == 1);
	cno_detach_evd(&s->cno);
	s->attached[dev - s->dev] = false;
}

/* origin: peer.13 */
TEST(agent__frees_the_evd_it_was_called_for)
{
	cs.then = free_evd;
	cno_story_install(&cs);
	script_complete(&cs.dev[0], 1);
	script_complete(&cs.dev[0], 2);
	cno_story_settle(&cs);
	ck_assert_int_eq(cs.calls, 1);
	cno_story_untriggered(&cs);
}

TEST(agent_and_waiter__both_hear_of_one_trigger)
{
	cno_story_install(&cs);
	cno_story_queue_call_and_take(&cs);
	cno_story_settle(&cs);
	ck_assert_int_eq(cs.calls, 1);
}

TEST(agent_call_due__evd_freed_meanwhile__called_without_one)
{
	cno_story_install(&cs);
	cno_story_queue_call_and_take(&cs);
	ck_assert_int_eq(evd_free(evd_self(&cs.dev[0].evd)), 0);
	cno_detach_evd(&cs.cno);
	cs.attached[0] = false;
	cno_story_settle(&cs);
	ck_assert_int_eq(cs.calls, 1);
	ck_assert_ptr_eq(cs.last, NULL);
}

TEST(agent_call_due__removed__not_called_nor_is_its_successor)
{
	cno_story_install(&cs);
	cno_story_queue_call_and_take(&cs);
	ck_assert_int_eq(
	    cno_modify_agent(cno_self(&cs.cno), ((struct cno_agent){ NULL, NULL })), 0);
	cno_story_install(&cs);
	cno_story_settle(&cs);
	ck_assert_int_eq(cs.calls, 0);
}

TEST(agent__installed_after_a_waiter_took_the_trigger__not_called)
{
	cno_story_arrive(&cs, 0, 1);
	cno_story_waits(&cs, &cs.dev[0]);
	cno_story_install(&cs);
	cno_story_settle(&cs);
	ck_assert_int_eq(cs.calls, 0);
}

TEST(agent_ran_and_is_installed_again__a_waiter_takes_that_trigger__not_called)
{
	cno_story_install(&cs);
	cno_story_arrive(&cs, 0, 1);
	ck_assert_int_eq(cs.calls, 1);
	cno_story_install(&cs);
	cno_story_waits(&cs, &cs.dev[0]);
	cno_story_install(&cs); /* looks whether a call is owed */
	cno_story_settle(&cs);
	ck_assert_int_eq(cs.calls, 1);
}

TEST(agent_ran__a_later_wait_still_finds_the_trigger)
{
	cno_story_install(&cs);
	cno_story_arrive(&cs, 0, 1);
	ck_assert_int_eq(cs.calls, 1);
	cno_story_waits(&cs, &cs.dev[0]);
	cno_story_untriggered(&cs);
}

static void
install_and_lose_a_trigger_to_a_wait(struct cno_story *s, void *evd)
{
	void *handle;

	s->then = NULL;
	cno_story_drains(evd, 1);
	must(cno_wait(cno_self(&s->cno), 0, &handle) ==
	     0); /* a waiter's copy of this call's trigger */
	must(cno_modify_agent(cno_self(&s->cno), cno_story_agent(s)) == 0);
	must(script_post(&s->dev[1], 100) == 0);
	must(cno_wait(cno_self(&s->cno), EVD_FOREVER, &handle) == 0); /* pumps the loop */
	must(handle == &s->dev[1]);
}

TEST(agent__installs_itself_and_waits_for_a_trigger__called_for_that_too)
{
	cs.then = install_and_lose_a_trigger_to_a_wait;
	cno_story_install(&cs);
	cno_story_arrive(&cs, 0, 1);
	ck_assert_int_eq(cs.calls, 2);
	ck_assert_ptr_eq(cs.last, &cs.dev[1]);
	cno_story_drains(&cs.dev[1], 1);
	cno_story_untriggered(&cs);
}

static void
install_again(struct cno_story *s, void *evd)
{
	(void)evd;
	must(cno_modify_agent(cno_self(&s->cno), cno_story_agent(s)) == 0);
}

TEST(agent_call_due__installed_again_in_it__not_called_for_that_again)
{
	cs.then = install_again;
	cno_story_install(&cs);
	cno_story_queue_call_and_take(&cs);
	cno_story_settle(&cs);
	ck_assert_int_eq(cs.calls, 1);
	cno_story_drains(&cs.dev[0], 1);
}

TEST(agent_call_due__replaced__the_new_one_is_called)
{
	cno_story_install(&cs);
	cno_story_queue_call_and_take(&cs);
	cno_story_install(&cs);
	cno_story_settle(&cs);
	ck_assert_int_eq(cs.calls, 1);
	ck_assert_ptr_eq(cs.last, &cs.dev[0]);
	cno_story_drains(&cs.dev[0], 1);
}

static int between;

static void
call_between(const struct cno_agent *agent, void *handle)
{
	between++;
	must(handle == &cs.dev[0]);
	agent->function(agent->instance, handle);
}

TEST(agent__with_a_function_that_calls_it__is_called_by_that_alone)
{
	struct cno_config config = cs.cno.cfg;

	cno_story_detach_all(&cs);
	ck_assert_int_eq(cno_free(cno_self(&cs.cno), false), 0);
	cs.destroyed = 0;
	config.call = call_between;
	ck_assert_int_eq(cno_create(&cs.cno, &config), 0);
	cno_story_attach(&cs, 0);
	cno_story_install(&cs);
	cno_story_arrive(&cs, 0, 1);
	ck_assert_int_eq(between, 1);
	ck_assert_int_eq(cs.calls, 1);
	ck_assert_ptr_eq(cs.last, &cs.dev[0]);
	cno_story_drains(&cs.dev[0], 1);
}
